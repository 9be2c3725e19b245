// What localStorage holds, and what happens without it.
import assert from 'node:assert/strict';
import { ask, chats, QUESTION, site, STORE, test, visit } from '../visitor.mjs';

test('a storage that throws breaks nothing', async () => {
  const full = `Storage.prototype.setItem = () => {
    throw new DOMException('full', 'QuotaExceededError');
  }`;
  const forbidden = `Object.defineProperty(window, 'localStorage', {
    get() { throw new DOMException('no', 'SecurityError'); },
  })`;
  for (const before of [[full], [forbidden]]) {
    const page = await visit('/', { before });
    await ask(page, QUESTION);
    await ask(page, 'and then?');
    const [first, second] = chats(page);
    assert.equal(first.session_id, null);
    assert.match(second.session_id, /^[0-9a-f-]{36}$/);
    await page.press('ArrowUp');
    assert.equal(await page.get(`$('input').value`), 'and then?');
  }
});

test('invalid data in the storage is ignored', async () => {
  for (const rubbish of [
    '{',
    '7',
    'null',
    '{"session_id":"x","visitor_id":7,"seen":[1,{}],"asked":{"a":1}}',
    '{"seen":{"ok":1,"a/b":NOW,"__proto__":NOW,"n":null,"later":1e15},"asked":["fine",3,null]}',
  ]) {
    const page = await visit('/');
    await page.get(
      (text) => localStorage.setItem('stoka-terminal', text.replaceAll('NOW', Date.now())),
      rubbish,
    );
    await ask(page, QUESTION);
    const { session_id, visitor_id, seen_slugs } = chats(page)[0];
    assert.deepEqual([session_id, visitor_id, seen_slugs], [null, null, []], rubbish);
  }
});

test('the reading history is forgotten after 30 days', async () => {
  const page = await visit('/');
  await page.get(() => {
    const day = 24 * 60 * 60 * 1000;
    const seen = { old: Date.now() - 31 * day, recent: Date.now() - 29 * day };
    localStorage.setItem('stoka-terminal', JSON.stringify({ seen }));
  });
  await ask(page, QUESTION);
  assert.deepEqual(chats(page)[0].seen_slugs, ['recent']);
});

test('the stored data is bounded', async () => {
  const page = await site();
  await page.get(() => {
    const seen = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`s-${i}`, Date.now() - i * 1000]),
    );
    const asked = Array.from({ length: 80 }, (_, i) => `q ${i}`);
    localStorage.setItem('stoka-terminal', JSON.stringify({ seen, asked }));
  });
  await page.press('`');
  await ask(page, QUESTION);
  const { seen_slugs } = chats(page)[0];
  assert.deepEqual([seen_slugs.length, seen_slugs[0], seen_slugs[99]], [100, 's-0', 's-99']);
  const stored = await page.get(STORE);
  assert.deepEqual(
    [Object.keys(stored.seen).length, stored.asked.length, stored.asked.at(-1)],
    [200, 50, QUESTION],
  );
});

test('two tabs do not overwrite the data of each other', async () => {
  const [one, two] = [await visit('/'), await visit('/')];
  for (const [page, path] of [
    [one, '/blog/a'],
    [two, '/blog/b'],
    [one, '/blog/c'],
  ]) {
    await page.get((value) => $t().setAttribute('page', value), path);
    await ask(page, `/${path.at(-1)}`, null);
  }
  const stored = await one.get(STORE);
  assert.deepEqual(Object.keys(stored.seen).sort(), ['a', 'b', 'c']);
  assert.deepEqual(stored.asked, ['/a', '/b', '/c']);
});
