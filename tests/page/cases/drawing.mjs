// What an answer looks like; the stream it is read from.
import assert from 'node:assert/strict';
import { SHIFT } from '../chromium.mjs';
import { CITES } from '../mock_server.mjs';
import { answer, ask, base, canned, DONE, focus, READY, test, token, visit } from '../visitor.mjs';

test('each of the four kinds of citation is drawn', async () => {
  const page = await visit('/');
  await canned(page, [
    READY,
    token('before.\n\n'),
    ['cite', CITES.block],
    token('\n\nas '),
    ['cite', CITES.inline],
    token(' tells.'),
    ['cite', CITES.code],
    ['cite', CITES.product],
    DONE,
  ]);
  await ask(page, 'draw');
  const parts = await page.get(
    `$$('.turn .answer > *').map((part) => part.className || part.textContent)`,
  );
  assert.deepEqual(parts, [
    'before.',
    'cite block',
    `as ${CITES.inline.title} tells.`,
    'cite code',
    'cite product',
  ]);
  const text = (query) => page.get((q) => $(q).innerText, query);
  assert.equal(await text('.block .meta'), 'philosophy · 8 min read · Apr 12');
  assert.equal(await text('.block .quote'), `“${CITES.block.quote}”`);
  assert.equal(await text('.code .title'), CITES.code.slug);
  assert.equal(await text('.code pre'), CITES.code.quote);
  assert.equal(await text('.product .badge'), 'product');
  assert.equal(await text('.product .meta'), '2 min read');
  assert.equal(await page.get(`getComputedStyle($('.block')).borderLeftWidth`), '3px');
  const links = await page.get(`$$('.turn a').map((link) => link.href)`);
  const slugs = [CITES.block, CITES.inline, CITES.code, CITES.product].map(({ slug }) => slug);
  assert.deepEqual(
    links,
    slugs.map((slug) => `${base}/api/stoka/open?slug=${encodeURIComponent(slug)}`),
  );
});

test('a quote that looks like code is drawn as code, prose is not', async () => {
  const page = await visit('/');
  const cases = [
    ['auto x = std::move(y);', 'code'],
    ['$ stoka index docs/', 'code'],
    ['const limit = 3', 'code'],
    ['one line\nanother line', 'code'],
    ['if (a && b) return', 'code'],
    ['Let me say it (again): nothing.', 'block'],
    ['One thing; another thing.', 'block'],
    ['A -> B is how most people draw it.', 'block'],
    ['Call it a class of errors: rare, loud.', 'block'],
    ['Rust & C++ agree: 1 < 2, 3 = 3.', 'block'],
  ];
  await canned(page, [
    READY,
    ...cases.map(([quote], i) => [
      'cite',
      { slug: `s-${i}`, title: '', quote, type: 'blog', reading_time: '', date: null, score: 1 },
    ]),
    DONE,
  ]);
  await ask(page, 'draw');
  const drawn = await page.get(`$$('.turn .cite').map((cite) => cite.classList[1])`);
  cases.forEach(([quote, kind], i) => assert.equal(drawn[i], kind, quote));
  assert.equal(await page.get(`$('.block .title').textContent`), 's-5');
  assert.equal(await page.get(`$('.block .meta').textContent`), 'blog');
});

test('a citation is reached by keyboard and leads to the server', async () => {
  const page = await visit('/');
  await canned(page, [READY, ['cite', CITES.block], DONE]);
  await ask(page, 'draw');
  await page.press('Tab', SHIFT);
  assert.equal(await focus(page), 'title');
  assert.notEqual(await page.get(`getComputedStyle($('.cite.block')).outlineStyle`), 'none');
  await page.press('Enter');
  await page
    .until(
      (slug) => location.href.includes('slug=') || location.href.includes(slug),
      CITES.block.slug,
    )
    .catch(() => {});
  assert.ok(
    page.requests.some(({ url }) => url.endsWith(`/api/stoka/open?slug=${CITES.block.slug}`)),
  );
});

test('markup from a server stays text', async () => {
  const page = await visit('/');
  const nasty = '<img src=x onerror="document.title=1"><b>bold</b>';
  await canned(page, [
    READY,
    token(nasty),
    ['cite', { slug: 'javascript:alert(1)', title: nasty, quote: nasty, type: nasty }],
    DONE,
  ]);
  await ask(page, nasty);
  assert.equal(await page.get(`$$('.turn img, .turn b, .turn script').length`), 0);
  assert.ok((await answer(page)).startsWith(nasty));
  assert.equal(await page.get(`new URL($('.turn a').href).pathname`), '/api/stoka/open');
  assert.equal(await page.get('document.title'), 'stoka');
});

test('the stream is decoded alike however it is cut', async () => {
  const page = await visit('/');
  const result = await page.get(async () => {
    const { SseDecoder } = await import('/stoka-terminal.js');
    const stream =
      '\uFEFF: ping\r\n\r\nevent: token\ndata: {"text":"ü 日本 🦉"}\n\n' +
      'event:x\rdata: a\rdata:  b\r\rdata\n\n' +
      'event: crlf\r\ndata: 1\r\ndata: 2\r\n\r\n' +
      'event: no data\n\nid: 1\nretry: 5\nfoo\ndata: a: b\n\r\nevent: lost\ndata: unfinished';
    const bytes = new TextEncoder().encode(stream);
    const run = (...cuts) => {
      const decoder = new SseDecoder();
      let from = 0;
      return JSON.stringify(
        [...cuts, bytes.length].flatMap((to) => decoder.push(bytes.slice(from, (from = to)))),
      );
    };
    const whole = run();
    const others = new Set();
    for (let i = 0; i <= bytes.length; ++i)
      for (let j = i; j <= bytes.length; ++j) others.add(run(i, j));
    others.add(run(...bytes.keys()));
    return { whole, others: [...others] };
  });
  assert.deepEqual(JSON.parse(result.whole), [
    { name: 'token', data: '{"text":"ü 日本 🦉"}' },
    { name: 'x', data: 'a\n b' },
    { name: 'message', data: '' },
    { name: 'crlf', data: '1\n2' },
    { name: 'message', data: 'a: b' },
  ]);
  assert.deepEqual(result.others, [result.whole]);
});
