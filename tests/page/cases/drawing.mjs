// How an answer is drawn, and the decoder of its stream.
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
    `as [2] ${CITES.inline.title} tells.`,
    'cite code',
    'cite product',
  ]);
  const text = (query) => page.get((q) => $(q).innerText, query);
  assert.equal(await text('.block .title'), `[1] ${CITES.block.title}`);
  assert.equal(await text('.block .meta'), 'philosophy · 8 min read · Nov 25, 2002');
  assert.equal(await text('.block .quote'), `“${CITES.block.quote}”`);
  assert.equal(await text('.code .title'), `[3] ${CITES.code.slug}`);
  assert.equal(await text('.code pre'), CITES.code.quote);
  assert.equal(await text('.product .badge'), 'product');
  assert.equal(await text('.product .meta'), '2 min read');
  assert.equal(await page.get(`getComputedStyle($('.block')).borderLeftWidth`), '3px');
  const links = await page.get(`$$('.turn a').map((link) => link.href)`);
  assert.deepEqual(links, [base + CITES.block.url, base + CITES.inline.url, CITES.product.url]);
});

test('an inline citation shows its quote and its link in the line', async () => {
  const page = await visit('/');
  const quote = 'Locks die with their owner.';
  await canned(page, [READY, token('It goes on. '), ['cite', { ...CITES.inline, quote }], DONE]);
  await ask(page, 'more');
  const parts = await page.get(`$$('.turn .answer > *').map((part) => part.textContent)`);
  assert.deepEqual(parts, [`It goes on. “${quote}” [1] ${CITES.inline.title}`]);
});

test('a citation is drawn by its kind alone', async () => {
  const page = await visit('/');
  const kinds = [undefined, null, 'block', 'code', 'product', 'constructor', 5];
  await canned(page, [
    READY,
    ...kinds.map((kind, i) => ['cite', { slug: `s-${i}`, quote: 'const limit = 3;', kind }]),
    DONE,
  ]);
  await ask(page, 'draw');
  const drawn = await page.get(`$$('.turn .cite').map((cite) => cite.classList[1])`);
  assert.deepEqual(drawn, ['block', 'block', 'block', 'code', 'product', 'block', 'block']);
  assert.equal(await page.get(`$('.block .title').textContent`), '[1] s-0');
  assert.equal(await page.get(`$('.block .meta').textContent`), '');
});

test('only http and https URLs and paths of the site are linked', async () => {
  const page = await visit('/');
  const cases = [
    ['https://site.example/a#:~:text=a%2Cb', 'https://site.example/a#:~:text=a%2Cb'],
    ['HTTP://site.example/a', 'http://site.example/a'],
    ['/blog/a?b=c#d', `${base}/blog/a?b=c#d`],
    ['javascript:alert(1)', null],
    ['JaVaScRiPt:alert(1)', null],
    ['data:text/html,x', null],
    ['//evil.example/a', null],
    ['/\\evil.example/a', null],
    ['/\t/evil.example/a', null],
    ['blog/a', null],
    ['https://', null],
    ['', null],
    [null, null],
    [5, null],
  ];
  await canned(page, [
    READY,
    ...cases.map(([url], i) => ['cite', { slug: `s-${i}`, quote: 'q', url }]),
    DONE,
  ]);
  await ask(page, 'draw');
  const links = await page.get(`$$('.turn .cite .title').map((title) => title.href ?? null)`);
  cases.forEach(([url, href], i) => assert.equal(links[i], href, url));
});

test('citations are numbered through a conversation, and from one after /clear', async () => {
  const page = await visit('/');
  await canned(page, [READY, ['cite', CITES.block], ['cite', CITES.product], DONE]);
  const numbers = () => page.get(`$$('.turn .title').map((t) => t.textContent.split(' ')[0])`);
  await ask(page, 'first');
  assert.deepEqual(await numbers(), ['[1]', '[2]']);
  await ask(page, 'second');
  await page.until(`$$('.turn .title').length === 4`);
  assert.deepEqual(await numbers(), ['[1]', '[2]', '[3]', '[4]']);
  await ask(page, '/clear', null);
  await ask(page, 'third');
  await page.until(`$$('.turn .title').length === 2`);
  assert.deepEqual(await numbers(), ['[1]', '[2]']);
});

test('a citation is reached by keyboard and leads to its page', async () => {
  const page = await visit('/');
  await canned(page, [READY, ['cite', CITES.block], DONE]);
  await ask(page, 'draw');
  await page.press('Tab', SHIFT);
  assert.equal(await focus(page), 'title');
  assert.notEqual(await page.get(`getComputedStyle($('.cite.block')).outlineStyle`), 'none');
  await page.press('Enter');
  const [path] = CITES.block.url.split('#');
  await page.until((end) => location.href.endsWith(end), path).catch(() => {});
  assert.ok(page.requests.some(({ url }) => url.startsWith(base + path)));
});

test('markup from a server stays text', async () => {
  const page = await visit('/');
  const nasty = '<img src=x onerror="document.title=1"><b>bold</b>';
  await canned(page, [
    READY,
    token(nasty),
    ['cite', { slug: nasty, title: nasty, quote: nasty, type: nasty, url: `/${nasty}` }],
    DONE,
  ]);
  await ask(page, nasty);
  assert.equal(await page.get(`$$('.turn img, .turn b, .turn script').length`), 0);
  assert.ok((await answer(page)).startsWith(nasty));
  assert.ok((await page.get(`$('.turn a').href`)).startsWith(`${base}/%3Cimg%20src=x`));
  assert.equal(await page.get('document.title'), 'stoka');
});

test('the stream is decoded the same in every split', async () => {
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
