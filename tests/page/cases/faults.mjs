// Slow, broken and hostile servers, and sites of other origins.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { CTRL } from '../chromium.mjs';
import { CITES } from '../mock_server.mjs';
import { answer, ask, fault, focus, mock, QUESTION, test, visit } from '../visitor.mjs';

// Waits until the page has closed that many streams early.
async function until_left(count) {
  for (let i = 0; mock.left < count && i < 300; ++i) await sleep(10);
  assert.equal(mock.left, count, 'the stream was closed');
}

test('an unreachable server is an error with a retry button', async () => {
  const page = await visit('/');
  await page.send('Network.emulateNetworkConditions', {
    offline: true,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await ask(page, QUESTION, 'error');
  assert.match(await answer(page), /offline|out of reach/);
  await page.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await page.get(`$('.retry').focus()`);
  await page.press('Enter');
  await page.until(`$status() === 'done'`);
  assert.equal(await focus(page), 'input');
  assert.equal(await page.get(`$$('.error').length`), 0);
});

fault('tokens are shown as they arrive, and the status says so', async () => {
  const page = await visit('/');
  await ask(page, 'slow', 'answering');
  await page.until(`$('.turn .answer').innerText.startsWith('one')`);
  assert.doesNotMatch(await answer(page), /ten/);
  assert.equal(await page.get(`$('.turn .answer').getAttribute('aria-busy')`), 'true');
  await page.type('next');
  await page.press('Enter');
  assert.equal(await page.get(`$('input').value`), 'next');
  assert.equal(mock.asked.at(-1).query, 'slow');
  await page.until(`$status() === 'done'`);
  assert.match(await answer(page), /^one two.* ten$/);
});

for (const how of ['Escape', 'Ctrl-C', 'the button']) {
  fault(`${how} stops an answer, what there is stays`, async () => {
    const page = await visit('/');
    const left = mock.left;
    await ask(page, 'slow', null);
    await page.until(`$('.turn .answer').innerText.startsWith('one two')`);
    if (how === 'Escape') await page.press('Escape');
    if (how === 'Ctrl-C') await page.press('c', CTRL);
    if (how === 'the button') {
      await page.get(`$('.stop').focus()`);
      await page.press('Enter');
    }
    await page.until(`$status() === 'stopped'`);
    const text = await answer(page);
    assert.match(text, /^one two[^]*stopped$/);
    assert.doesNotMatch(text, /ten/);
    assert.equal(await page.get('$t().open'), true);
    assert.equal(await focus(page), 'input');
    assert.equal(await page.get(`$('.stop').checkVisibility()`), false);
    await until_left(left + 1);
  });
}

fault('every fault is shown, with a retry button if a retry may help', async () => {
  const page = await visit('/');
  const cases = [
    ['fault', /^the first half[^]*error: the generator went away/, true],
    ['final', /^error: no such model/, false],
    ['drop', /^cut off in the mid[^]*error: the answer broke off/, true],
    ['end', /^ends without an end[^]*error: the answer broke off/, true],
    ['refuse', /^error: page is too long\s+send the path alone/, false],
    ['html', /^error: this is not a stoka server/, false],
    ['bare', /^error: the server answered 502/, true],
    ['garbage', /^error: this is not a stoka server/, false],
  ];
  for (const [query, expected, retryable] of cases) {
    await ask(page, query, null);
    await page.until(
      (text) => $$('.question').at(-1).textContent === text && $status() === 'error',
      query,
    );
    assert.match(await answer(page), expected, query);
    assert.equal(
      await page.get(`$$('.turn').at(-1).querySelector('.retry') !== null`),
      retryable,
      query,
    );
    assert.match(await page.get(`$('.unseen[aria-live]').textContent`), /error: /);
  }
});

fault('the retry button is disabled until Retry-After has passed', async () => {
  const page = await visit('/');
  await ask(page, 'limit', 'error');
  assert.match(await answer(page), /^error: too many questions\s+a pause helps\s+retry in [12] s/);
  assert.equal(await page.get(`$('.retry').disabled`), true);
  await page.until(`!$('.retry').disabled`);
  assert.equal(await page.get(`$('.retry').textContent`), 'retry');
  await page.get(`$('.retry').click()`);
  await page.until(`$status() === 'done'`);
  assert.equal(await page.get(`$$('.turn').length`), 1);
});

fault('a stream without pings is closed', async () => {
  const before = [
    `const later = setTimeout;
     window.setTimeout = (run, ms, ...rest) => later(run, ms === 50000 ? 400 : ms, ...rest);`,
  ];
  const page = await visit('/', { before });
  await ask(page, 'silent', 'error');
  assert.match(await answer(page), /^error: the server does not respond/);
  await ask(page, 'slow'); // takes longer, but is never silent for so long
});

fault('a stream of single bytes, CRLF and comments is read', async () => {
  const page = await visit('/');
  await ask(page, 'split');
  assert.match(await answer(page), /^naïve — 日本語 🦉 ends\.\s+\[1\] The Philosophy/);
});

fault('the log follows a long answer, unless the visitor reads further up', async () => {
  const page = await visit('/');
  await page.get(`window.$log = $('[role=log]')`);
  const at_end = `$log.scrollHeight - $log.scrollTop - $log.clientHeight < 4`;
  await ask(page, 'long');
  assert.ok(await page.get(at_end));
  await ask(page, 'slow', null);
  await page.until(`$status() === 'answering' && $$('.turn').at(-1).innerText.includes('two')`);
  assert.ok(await page.get(at_end));
  await page.get(`$log.scrollTop = 0`);
  await page.until(`$status() === 'done'`);
  assert.equal(await page.get(`$log.scrollTop`), 0);
});

fault('a stream that stays open after its end is closed', async () => {
  const page = await visit('/');
  for (const [query, status] of [
    ['linger', 'done'],
    ['linger-error', 'error'],
  ]) {
    const left = mock.left;
    await ask(page, query, status);
    await until_left(left + 1);
  }
});

fault('an ambient line comes once, may be missing, and its failure is shown', async () => {
  const page = await visit('/site.html');
  const contexts = () =>
    page.requests.filter(({ url }) => url.includes('/api/stoka/context')).length;
  await page.press('`');
  await page.until(`$('.ambient .cite.block')`);
  await page.press('`');
  await page.press('`');
  assert.equal(contexts(), 1);
  const quiet = await visit('/site.html');
  await quiet.get(`$t().setAttribute('page', '/quiet')`);
  await quiet.press('`');
  await sleep(200);
  assert.equal(await quiet.get(`$('[role=log]').childElementCount`), 0);
  const late = await visit('/site.html');
  await late.get(`$t().setAttribute('page', '/late')`);
  await late.press('`');
  await ask(late, 'before the hint');
  await sleep(600);
  assert.equal(await late.get(`$$('.ambient').length`), 0);
  const broken = await visit('/site.html');
  await broken.get(`$t().setAttribute('page', '/broken')`);
  await broken.press('`');
  await broken.until(`$('.ambient .error')`);
  assert.match(await broken.get(`$('.ambient').innerText`), /the index cannot be read/);
});

fault('a site of another origin embeds it; styles do not leak in, and the token is sent', async () => {
  const page = await visit(`${mock.site}/embed.html`);
  await page.get(`$t().token = 'a.b.c'`);
  await page.get(`scrollTo(0, 700)`);
  await page.press('`');
  assert.deepEqual(
    await page.get(
      `((style) => [style.fontStyle, style.letterSpacing, style.textTransform])(
        getComputedStyle($('input')))`,
    ),
    ['normal', 'normal', 'none'],
  );
  await ask(page, 'all');
  assert.equal(mock.tokens.at(-1), 'Bearer a.b.c');
  assert.deepEqual(
    [mock.asked.at(-1).page, mock.asked.at(-1).page_title],
    ['/embed.html', 'A page of a site'],
  );
  assert.ok(mock.asked.at(-1).scroll_pct > 10);
  // A path is resolved against the site that embeds the element.
  assert.equal(await page.get(`$('.turn a').href`), mock.site + CITES.block.url);
});

fault('a token that is set before the element is defined is kept', async () => {
  const before = [
    `new MutationObserver((_, observer) => {
       if (!$t() || customElements.get('stoka-terminal')) return;
       $t().token = 'early';
       observer.disconnect();
     }).observe(document, { childList: true, subtree: true });`,
  ];
  const page = await visit('/site.html', { before });
  assert.equal(await page.get('$t().token'), 'early');
});

fault('the element is styled on a page whose policy allows no styles', async () => {
  const page = await visit('/strict.html');
  await page.press('`');
  await ask(page, 'all');
  assert.equal(await page.get(`getComputedStyle($('.panel')).position`), 'fixed');
  assert.equal(await page.get(`getComputedStyle($('.block')).borderLeftWidth`), '3px');
});
