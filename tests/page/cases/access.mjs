// Accessibility: the accessibility tree, contrast, narrow screens, reduced motion.
import assert from 'node:assert/strict';
import { CITES } from '../mock_server.mjs';
import { ask, canned, DONE, READY, test, token, visit } from '../visitor.mjs';

test('assistive technology finds the log, the input and the buttons by name', async () => {
  const page = await visit('/');
  const nodes = await page.accessible();
  const has = (role, name) =>
    assert.ok(
      nodes.some((node) => node.role === role && node.name === name),
      `${role} "${name}"`,
    );
  has('log', 'stoka, conversation');
  has('textbox', 'ask stoka');
  has('button', 'stoka');
  has('button', 'close stoka');
  has('region', 'stoka');
  assert.equal(nodes.find(({ role }) => role === 'log').live, 'polite');
  assert.ok(nodes.some(({ role }) => role === 'status'));
  assert.equal(
    nodes.find(({ role, name }) => role === 'button' && name === 'stoka').expanded,
    true,
  );
});

test('an answer is announced once, when it is complete', async () => {
  const page = await visit('/');
  await canned(page, [
    READY,
    ...'one two three'.split(/(?<= )/).map(token),
    ['cite', CITES.block],
    DONE,
  ]);
  await page.get(`window.$said = [];
    new MutationObserver(() => $said.push($('.unseen[aria-live]').textContent))
    .observe($('.unseen[aria-live]'), { childList: true, characterData: true, subtree: true })`);
  await ask(page, 'say');
  const said = await page.get('$said');
  assert.equal(said.length, 1);
  assert.match(said[0], /^one two three\n.*Bounded Execution/);
  assert.equal(await page.get(`$('.turn .answer').getAttribute('aria-live')`), 'off');
  assert.equal(await page.get(`$('.turn .answer').hasAttribute('aria-busy')`), false);
});

test('text has a contrast of at least 4.5', async () => {
  const page = await visit('/');
  await canned(page, [
    READY,
    token('text '),
    ...Object.values(CITES).map((cite) => ['cite', cite]),
    ['error', { message: 'm', retryable: true }],
  ]);
  await page.until(`$('.ambient')`);
  await ask(page, 'draw', 'error');
  const poor = await page.get(() => {
    const rgb = (color) => {
      const canvas = new OffscreenCanvas(1, 1).getContext('2d');
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (color) =>
      rgb(color)
        .map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = light(getComputedStyle($('.panel')).backgroundColor);
    return $$(
      '.ambient p, .question, .answer p, .title, .quote, .meta, .badge, code, .error p, .retry, ' +
        '.status, .close, .label, input',
    )
      .map((node) => [
        node.className || node.localName,
        (light(getComputedStyle(node).color) + 0.05) / (ground + 0.05),
      ])
      .filter(([, ratio]) => ratio < 5); // half a point for the tint below a citation
  });
  assert.deepEqual(poor, []);
});

test('nothing is wider than a screen of 375 or 320 pixels', async () => {
  for (const width of [375, 320]) {
    const page = await visit('/', { width, height: 700 });
    await canned(page, [
      READY,
      token('w'.repeat(200)),
      ...Object.values(CITES).map((cite) => [
        'cite',
        {
          ...cite,
          title: cite.title + 'y'.repeat(99),
          quote: cite.quote && cite.quote + 'x'.repeat(99),
        },
      ]),
      DONE,
    ]);
    await ask(page, `draw ${'q'.repeat(120)}`);
    const wide = await page.get(`[document.scrollingElement, $('[role=log]'), ...$$('.answer *')]
      .filter((node) => node.getBoundingClientRect().right > innerWidth ||
        (node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline'))
      .map((node) => node.className || node.localName)`);
    assert.deepEqual(wide, [], `${width}`);
    // Once the panel has opened.
    await page.until(`$('.close').getBoundingClientRect().right <= innerWidth &&
      $('input').getBoundingClientRect().bottom <= innerHeight`);
  }
});

test('there are no animations with prefers-reduced-motion', async () => {
  const page = await visit('/');
  const animation = `getComputedStyle($('.panel')).animationName`;
  assert.equal(await page.get(animation), 'rise');
  await page.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-reduced-motion', value: 'reduce' }],
  });
  assert.equal(await page.get(animation), 'none');
});
