// PostgreSQL with pgvector as WebAssembly on a TCP port: node server.mjs FOLDER, where FOLDER contains
// node_modules. Prints its port as a line and exits when stdin is closed.
//
// All clients share a single backend. A client has it for one round (all messages up to Sync, or one
// Query), and longer only while a transaction is open. As behind a transaction pooler, settings made
// outside a transaction are lost when another client has the backend; only the settings of the startup
// message (options, application_name) are applied again for each round.
import { createRequire } from 'node:module'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'

const load = createRequire(path.join(process.argv[2], 'package.json'))
const { PGlite } = load('@electric-sql/pglite')
const { vector } = load('@electric-sql/pglite-pgvector')

const kMaxWaitMs = 60_000 // a client that waits for another transaction of its own thread would wait forever
const SSL = 80877103, GSS = 80877104, CANCEL = 80877102, VERSION_3 = 196608

// Creating a cluster takes much longer than copying one, so it is kept in a file.
const cluster = path.join(process.argv[2], 'cluster.tar')
if (!existsSync(cluster)) {
  const made = await PGlite.create({ extensions: { vector } })
  writeFileSync(`${cluster}.${process.pid}`, Buffer.from(await (await made.dumpDataDir('none')).arrayBuffer()))
  await made.close()
  renameSync(`${cluster}.${process.pid}`, cluster)
}
const db = await PGlite.create({ extensions: { vector }, loadDataDir: new Blob([readFileSync(cluster)]) })
let idle = true // no transaction is open
let settingsOwner = null // the client whose settings the backend has
let holder = null // the client that has the backend
const queue = [] // clients that wait for the backend

const message = (type, ...parts) => {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part + '\0') : part)))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const int32 = (value) => {
  const out = Buffer.alloc(4)
  out.writeInt32BE(value)
  return out
}
const refusal = (code, text) =>
  message('E', Buffer.from('S'), 'FATAL', Buffer.from('V'), 'FATAL', Buffer.from('C'), code, Buffer.from('M'), text, Buffer.alloc(1))

// Returns the backend's response, which also tells whether a transaction is open.
async function exec(bytes) {
  const answer = Buffer.from(await db.execProtocolRaw(bytes, { syncToFs: false }))
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readInt32BE(at + 1))
    if (answer[at] === 0x5a /* Z */) idle = answer[at + 5] === 0x49 /* I */
  return answer
}
const run = (sql) => exec(message('Q', sql))
const literal = (text) => `'${text.replaceAll("'", "''")}'`

function acquire(client) {
  if (holder === null || holder === client) {
    holder = client
    return Promise.resolve()
  }
  return new Promise((resolve, reject) => {
    const entry = { client, go: () => (clearTimeout(timer), resolve()) }
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(entry), 1)
      reject(new Error('another connection holds the only backend'))
    }, kMaxWaitMs)
    queue.push(entry)
  })
}

function release() {
  const next = queue.shift()
  holder = next ? next.client : null
  next?.go()
}

async function applySettings(client) {
  if (settingsOwner === client) return
  settingsOwner = client
  const sets = Object.entries(client.settings).map(([name, value]) => `set_config(${literal(name)}, ${literal(value)}, false)`)
  await run('RESET ALL')
  if (sets.length) await run('SELECT ' + sets.join(', '))
}

// Parses "-c name=value" and "-cname=value"; a backslash escapes a character.
function parseSettings(parameters) {
  const out = {}
  if (parameters.application_name) out.application_name = parameters.application_name
  const words = (parameters.options ?? '').match(/(?:\\.|[^\s\\])+/gs) ?? []
  for (const word of words.map((one) => one.replace(/\\(.)/gs, '$1'))) {
    const [, name, value] = word.match(/^(?:-c|--)?([^=-][^=]*)=(.*)$/s) ?? []
    if (name) out[name.replaceAll('-', '_')] = value
  }
  return out
}

const shown = {}
for (const name of ['server_version', 'server_encoding', 'client_encoding', 'DateStyle', 'IntervalStyle',
  'TimeZone', 'integer_datetimes', 'standard_conforming_strings', 'is_superuser'])
  shown[name] = Object.values((await db.query(`SHOW "${name.toLowerCase()}"`)).rows[0])[0]

let clients = 0
net.createServer((socket) => {
  const client = { settings: {}, started: false }
  let input = Buffer.alloc(0)
  let parts = [] // received after `input`
  let arrived = 0, needed = 0 // bytes: received in all, and required for the next message
  let round = [] // messages up to the next Sync or Query
  let work = Promise.resolve() // rounds are executed one after the other

  const fail = (error) => socket.destroyed || socket.end(refusal('53300', error.message))

  function start(packet) {
    const code = packet.readInt32BE(4)
    if (code === SSL || code === GSS) return socket.write('N')
    if (code === CANCEL) return socket.end()
    if (code >> 16 !== VERSION_3 >> 16) return fail(new Error('unknown protocol'))
    const words = packet.subarray(8).toString().split('\0')
    const parameters = {}
    for (let n = 0; n + 1 < words.length && words[n]; n += 2) parameters[words[n]] = words[n + 1]
    client.settings = parseSettings(parameters)
    client.started = true
    socket.write(Buffer.concat([
      message('R', int32(0)),
      ...Object.entries(shown).map(([name, value]) => message('S', name, value)),
      message('K', int32(++clients), int32(0)),
      message('Z', Buffer.from('I')),
    ]))
  }

  async function runRound(bytes) {
    await acquire(client)
    try {
      await applySettings(client)
      const answer = await exec(bytes)
      if (!socket.destroyed) socket.write(answer)
    } finally {
      if (idle) release()
    }
  }

  async function rollBackAndRelease() {
    if (holder !== client) return
    await run('ROLLBACK')
    release()
  }

  socket.on('data', (data) => {
    parts.push(data)
    arrived += data.length
    if (arrived < needed) return
    input = Buffer.concat([input, ...parts])
    parts = []
    for (;;) {
      const head = client.started ? 1 : 0
      const length = input.length < head + 4 ? head + 4 : head + input.readInt32BE(head)
      arrived = input.length
      needed = length
      if (arrived < needed) return
      const packet = input.subarray(0, length)
      input = input.subarray(length)
      if (!client.started) {
        start(packet)
        continue
      }
      const type = String.fromCharCode(packet[0])
      if (type === 'X') return socket.end()
      round.push(packet)
      if (type !== 'S' && type !== 'Q') continue
      const bytes = Buffer.concat(round)
      round = []
      work = work.then(() => (socket.destroyed ? undefined : runRound(bytes))).catch(fail)
    }
  })
  socket.on('error', () => {})
  socket.on('close', () => (work = work.then(rollBackAndRelease)))
}).listen(0, '127.0.0.1', function () {
  console.log(this.address().port)
})

for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
process.stdin.on('end', () => process.exit(0)).resume()
