// A mock of `stoka serve` that also misbehaves on demand: the first word of a question selects the
// answer, see SCENES. It serves the page like `stoka serve` does, and on a second port a site of
// another origin that embeds the element.
//   node tests/page/mock_server.mjs [PORT]     runs it for manual tests
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'self'";

const SESSION = '11111111-2222-4333-8444-555555555555';
const VISITOR = '99999999-8888-4777-8666-555555555555';
const file = (path) => readFileSync(fileURLToPath(new URL(path, import.meta.url)));
const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

export const CITES = {
  block: {
    slug: 'bounded-execution',
    title: 'The Philosophy of Bounded Execution',
    quote: 'Autonomy without constraint is just chaos with better marketing.',
    type: 'philosophy',
    reading_time: '8 min',
    date: 'Nov 25, 2002',
    score: 0.91,
    kind: 'block',
    url: '/site.html?opened=bounded-execution#:~:text=Autonomy%20without%20constraint',
    published: '2002-11-25',
  },
  product: {
    slug: 'debono',
    title: 'Debono',
    quote: 'Six perspectives on one decision, and a record of who changed their mind.',
    type: 'product',
    reading_time: '2 min',
    date: '',
    score: 0.72,
    kind: 'product',
    url: 'https://shop.example/debono#:~:text=Six,mind%2E',
    published: null,
  },
  code: {
    slug: 'lib/agents/kill_switch.rs',
    title: 'Kill switch',
    quote: 'fn stop(&self) -> Result<()> {\n  self.budget.exhaust();\n  self.agents.join_all()\n}',
    type: 'code',
    reading_time: '1 min',
    date: 'May 2',
    score: 0.7,
    kind: 'code',
    url: null,
    published: '2026-05-02',
  },
  inline: {
    slug: 'akatsuki-parallel',
    title: 'Patch Notes: Akatsuki Parallel Execution',
    quote: '',
    type: 'patch-notes',
    reading_time: '4 min',
    date: 'Apr 12',
    score: 0.6,
    kind: 'inline',
    url: '/patch-notes/akatsuki-parallel#results',
    published: '2026-04-12',
  },
};

const words = (text) => text.split(/(?<= )/).map((word) => event('token', { text: word }));
const READY = event('ready', { session_id: SESSION, visitor_id: VISITOR, route: 'new' });
const DONE = event('done', { turns: 1, confidence: 'direct', latency_ms: 12 });

// A string is sent, a number is a pause in ms, and 'drop' closes the connection.
const SCENES = {
  all: () => [
    READY,
    ...words('Most people read that essay and think it is about limits. It is not.\n\n'),
    event('cite', CITES.block),
    ...words('\n\nSeven agents ran in parallel last week, as '),
    event('cite', CITES.inline),
    ...words(' tells. What stopped them:'),
    event('cite', CITES.code),
    ...words('And the thing it was built for.\n'),
    event('cite', CITES.product),
    ...words('\nWhich of them would you have stopped first?'),
    DONE,
  ],
  slow: () => [
    READY,
    ...words('one two three four five six seven eight nine ten ').flatMap((w) => [w, 120]),
    DONE,
  ],
  long: () => [READY, ...words('a line that is followed to its end.\n'.repeat(60)), DONE],
  fault: () => [
    READY,
    ...words('the first half '),
    event('error', { message: 'the generator went away', retryable: true }),
  ],
  final: () => [READY, event('error', { message: 'no such model', retryable: false })],
  drop: () => [READY, ...words('cut off in the mid'), 60, 'drop'],
  end: () => [READY, ...words('ends without an end')],
  linger: () => [READY, DONE, 60_000],
  'linger-error': () => [READY, event('error', { message: 'm', retryable: false }), 60_000],
  silent: () => [READY, 60_000],
  garbage: () => [READY, 'event: token\ndata: {"text":\n\n'],
  markup: () => [
    READY,
    event('token', { text: '<img src=x onerror="document.title=1"><b>bold</b>' }),
    event('cite', {
      slug: 'javascript:alert(1)',
      title: '<i>t</i>',
      quote: '<script>document.title=1</script>',
      type: '<u>',
      kind: 'constructor',
      url: 'javascript:document.title=1',
    }),
    DONE,
  ],
};

function refuse(response, status, problem, headers = {}) {
  response.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers });
  response.end(JSON.stringify({ type: 'about:blank', status, request_id: 'r-1', ...problem }));
}

// Sends the steps of a scene; with `split` byte by byte, with CRLF and comments.
async function stream(response, scene, { split = false } = {}) {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache',
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  for (const step of scene) {
    if (response.destroyed) return;
    if (step === 'drop') return response.destroy();
    if (typeof step === 'number') await sleep(step, undefined, { ref: false });
    else if (!split) response.write(step);
    else {
      for (const byte of Buffer.from(`: ping\r\n\r\n${step.replaceAll('\n', '\r\n')}`)) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
    }
  }
  response.end();
}

export class MockServer {
  asked = []; // the bodies of chat requests
  tokens = []; // the Authorization headers of chat requests
  left = 0; // how many streams the client has closed early
  #refused = new Set();
  #servers = [];

  async start(port = 0) {
    this.base = await this.#listen(port);
    this.site = await this.#listen(0);
    return this;
  }

  stop() {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections?.();
    }
  }

  async #listen(port) {
    const server = createServer((request, response) => this.#answer(request, response));
    await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.#servers.push(server);
    return `http://127.0.0.1:${server.address().port}`;
  }

  async #answer(request, response) {
    const url = new URL(request.url, this.base);
    const foreign =
      request.headers.origin === this.site && request.headers.host !== new URL(this.site).host;
    if (foreign) {
      response.setHeader('Access-Control-Allow-Origin', this.site);
      response.setHeader('Access-Control-Allow-Headers', 'content-type, authorization');
      response.setHeader('Access-Control-Expose-Headers', 'retry-after');
    }
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    if (url.pathname === '/') return this.#page(response, '../../web/index.html');
    if (url.pathname === '/strict.html') {
      const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:";
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy });
      return response.end(
        '<link rel="icon" href="data:,"><script type="module" src="/stoka-terminal.js"></script>' +
          '<stoka-terminal></stoka-terminal>',
      );
    }
    if (url.pathname === '/site.html') return this.#page(response, 'site.html');
    if (url.pathname === '/embed.html') {
      const html = file('site.html')
        .toString()
        .replace('/stoka-terminal.js', `${this.base}/stoka-terminal.js`);
      return response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(html);
    }
    if (url.pathname === '/stoka-terminal.js') {
      response.writeHead(200, { 'Content-Type': 'text/javascript; charset=utf-8' });
      return response.end(file('../../web/stoka-terminal.js'));
    }
    if (url.pathname === '/api/stoka/context')
      return this.#context(response, url.searchParams.get('page'));
    if (url.pathname === '/api/stoka/chat') return this.#chat(request, response);
    refuse(response, 404, { title: 'not found', detail: `nothing at ${url.pathname}` });
  }

  #page(response, path) {
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
    });
    response.end(file(path));
  }

  async #context(response, page) {
    if (page === '/late') await sleep(300);
    if (page === '/broken')
      return refuse(response, 500, { title: 'broken', detail: 'the index cannot be read' });
    const hint =
      page === '/quiet'
        ? null
        : 'the front page is the part everyone reads. the patch notes are the part that happened.';
    const cite = page === '/site.html' ? CITES.block : null;
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ hint, cite }));
  }

  async #chat(request, response) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = JSON.parse(Buffer.concat(pieces));
    this.asked.push(body);
    this.tokens.push(request.headers.authorization);
    response.on('close', () => (this.left += response.writableEnded ? 0 : 1));
    const [word] = body.query.split(' ');
    if (word === 'limit' && !this.#refused.has(body.query)) {
      this.#refused.add(body.query);
      return refuse(
        response,
        429,
        { title: 'too many requests', detail: 'too many questions', hint: 'a pause helps' },
        { 'Retry-After': '2' },
      );
    }
    if (word === 'refuse')
      return refuse(response, 400, {
        title: 'bad request',
        detail: 'page is too long',
        hint: 'send the path alone',
      });
    if (word === 'html')
      return response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>hello</h1>');
    if (word === 'bare') return response.writeHead(502).end('<h1>bad gateway</h1>');
    if (word === 'split') {
      return stream(
        response,
        [READY, ...words('naïve — 日本語 🦉 ends.'), event('cite', CITES.block), DONE],
        { split: true },
      );
    }
    const scene =
      SCENES[word] ?? (() => [READY, ...words(`you wrote ${body.query.length} characters.`), DONE]);
    return stream(response, scene());
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await new MockServer().start(Number(process.argv[2] ?? 8787));
  console.log(`${server.base}/\n${server.base}/site.html\n${server.site}/embed.html`);
}
