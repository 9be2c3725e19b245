// Chat requests, and what is sent with a question.
import assert from 'node:assert/strict';
import { answer, ask, base, chats, QUESTION, site, STORE, test, visit } from '../visitor.mjs';

test('a question is answered, and its request names the page', async () => {
  const page = await site();
  await page.press('`');
  await ask(page, QUESTION);
  assert.match(await answer(page), /\S{2}/);
  assert.equal(await page.get(`$('.question').textContent`), QUESTION);
  const [body] = chats(page);
  assert.deepEqual(Object.keys(body), [
    'query',
    'session_id',
    'visitor_id',
    'page',
    'page_title',
    'scroll_pct',
    'seen_slugs',
  ]);
  assert.deepEqual(
    [body.query, body.session_id, body.page, body.page_title, body.scroll_pct],
    [QUESTION, null, '/blog/some-essay', 'some essay', 0],
  );
});

test('ids are kept over a reload, /new keeps the visitor', async () => {
  const page = await visit('/');
  await ask(page, QUESTION);
  const { session_id, visitor_id } = await page.get(STORE);
  assert.match(session_id, /^[0-9a-f-]{36}$/);
  assert.match(visitor_id, /^[0-9a-f-]{36}$/);
  await page.open(`${base}/`);
  await page.until(`$('input')`);
  await ask(page, 'and then?');
  const second = chats(page).at(-1);
  assert.deepEqual([second.session_id, second.visitor_id], [session_id, visitor_id]);
  await ask(page, '/new', null);
  await ask(page, 'and now?');
  const third = chats(page).at(-1);
  assert.deepEqual([third.session_id, third.visitor_id], [null, visitor_id]);
});

test('pages read and citations opened are sent as the reading history', async () => {
  const page = await site();
  await page.get(`$t().setAttribute('page', '/blog/another-essay.html?x=1#y')`);
  await page.get(`$t().setAttribute('page', '/blog/')`);
  await page.get(`$t().setAttribute('page', '/blog/a third')`);
  await page.get(`$t().setAttribute('page', '/blog/current')`);
  await page.press('`');
  await page.get(() => {
    const link = Object.assign(document.createElement('a'), { href: '#x' });
    link.dataset.slug = 'opened-cite';
    $('[role=log]').append(link);
    link.click();
  });
  await ask(page, QUESTION);
  assert.deepEqual(chats(page)[0].seen_slugs, [
    'opened-cite',
    'blog',
    'another-essay',
    'some-essay',
  ]);
  await ask(page, '/seen', null);
  assert.match(
    await page.get(`$$('.note').at(-1).innerText`),
    /opened-cite\s+current\s+blog\s+another-essay\s+some-essay/,
  );
});

test('up and down recall earlier questions', async () => {
  const page = await visit('/');
  for (const text of ['/a', '/b', '/a', '/c', '/d', '/d']) await ask(page, text, null);
  await page.type('draft');
  const walk = async (key, steps) => {
    const seen = [];
    for (let i = 0; i < steps; ++i) {
      await page.press(key);
      seen.push(await page.get(`$('input').value`));
    }
    return seen.join(' ');
  };
  assert.equal(await walk('ArrowUp', 5), '/d /c /a /b /b');
  assert.equal(await walk('ArrowDown', 5), '/a /c /d draft draft');
});

test('commands answer without the server', async () => {
  const page = await visit('/');
  await page.until(`$$('[role=log] > *').length === 1`);
  await ask(page, '/help', null);
  assert.match(await page.get(`$('.note').textContent`), /\/new[^]*\/seen[^]*\/clear/);
  await ask(page, '/nothing', null);
  assert.match(await page.get(`$$('.note').at(-1).textContent`), /no command \/nothing/);
  await ask(page, '/clear', null);
  assert.equal(await page.get(`$('[role=log]').childElementCount`), 0);
  assert.equal(chats(page).length, 0);
});

test('a question of 2000 characters is sent, one of 2001 is not', async () => {
  const page = await visit('/');
  await page.type('ü'.repeat(1799));
  assert.equal(await page.get(`$('.count').textContent`), '');
  await page.type('🦉'.repeat(202));
  assert.equal(await page.get(`$('.count').textContent`), '2001 / 2000');
  assert.equal(await page.get(`$('input').getAttribute('aria-invalid')`), 'true');
  await page.press('Enter');
  assert.equal(chats(page).length, 0);
  await page.get(`$('input').setSelectionRange(0, 1)`);
  await page.get(`document.execCommand('delete')`);
  await page.press('Enter');
  await page.until(`$status() === 'done' || $status() === 'error'`);
  assert.equal([...chats(page)[0].query].length, 2000);
});
