// Opening, closing and the focus.
import assert from 'node:assert/strict';
import { ALT, CTRL, META } from '../chromium.mjs';
import { focus, site, test, visit } from '../visitor.mjs';

test('the page at / has its terminal open and focused', async () => {
  const page = await visit('/');
  assert.equal(await page.get('document.title'), 'stoka');
  assert.equal(await page.get('$t().open'), true);
  assert.equal(await focus(page), 'input');
  await page.until(`$$('[role=log] > *').length === 1`);
  assert.equal(await page.get(`$$('.turn').length`), 0);
});

test('an embedded element is collapsed and sends no request', async () => {
  const page = await site();
  const before = page.requests.length;
  assert.equal(await page.get('$t().open'), false);
  assert.equal(await page.get(`$('#body').checkVisibility()`), false);
  assert.equal(await page.get(`$('.label').getAttribute('aria-expanded')`), 'false');
  assert.equal(page.requests.length, before);
});

test('a backtick opens and closes the panel, and the focus returns', async () => {
  const page = await site();
  await page.get(`document.querySelector('#button').focus()`);
  await page.press('`');
  assert.equal(await page.get('$t().open'), true);
  assert.equal(await focus(page), 'input');
  assert.equal(await page.get(`$('input').value`), '');
  await page.press('`');
  assert.equal(await page.get('$t().open'), false);
  assert.equal(await focus(page), 'button');
});

test('a backtick in a text field does not open the panel', async () => {
  const page = await site();
  for (const id of ['field', 'area', 'editable']) {
    await page.get((name) => document.getElementById(name).focus(), id);
    await page.press('`');
    assert.equal(await page.get('$t().open'), false, id);
  }
  assert.equal(await page.get(`document.querySelector('#field').value`), '`');
  await page.get(`document.activeElement.blur()`);
  for (const modifiers of [CTRL, ALT, META]) {
    await page.press('`', modifiers);
    assert.equal(await page.get('$t().open'), false);
  }
  await page.press('`');
  await page.type('a');
  await page.press('`');
  assert.equal(await page.get('$t().open'), true);
  assert.equal(await page.get(`$('input').value`), 'a`');
});

test('the label opens it by keyboard, Escape closes it', async () => {
  for (const key of ['Enter', ' ']) {
    const page = await site();
    await page.get(`document.querySelector('#button').focus()`);
    await page.press('Tab');
    assert.equal(await focus(page), 'label');
    await page.press(key);
    assert.equal(await page.get('$t().open'), true);
    assert.equal(await focus(page), 'input');
    await page.press('Escape');
    assert.equal(await page.get('$t().open'), false);
    assert.equal(await focus(page), 'label');
  }
});

test('Tab goes through the panel and out of it', async () => {
  const page = await site();
  await page.press('`');
  const order = [];
  await page.get(`$('.label').focus()`);
  for (let i = 0; i < 4; ++i) {
    order.push(
      await page.get(`$focus() + '/' + $t().shadowRoot.activeElement?.getAttribute('role')`),
    );
    await page.press('Tab');
  }
  assert.deepEqual(order, ['label/null', 'close/null', 'div/log', 'input/null']);
});

test('an open panel leaves room at the end of the page', async () => {
  const page = await site();
  await page.press('`');
  await page.get(`scrollTo(0, 1e6)`);
  const gap = await page.get(
    `$('.panel').getBoundingClientRect().top -
     document.querySelector('#tall').getBoundingClientRect().bottom`,
  );
  assert.ok(gap >= 0, `covered by ${-gap} px`);
});

test('a script that sets open does not move the focus, one that removes it returns it', async () => {
  const page = await site();
  await page.get(`document.querySelector('#button').focus()`);
  await page.get(`$t().open = true`);
  assert.equal(await focus(page), 'button');
  await page.get(`$t().open = false`);
  assert.equal(await focus(page), 'button');
  await page.press('`');
  await page.get(`$t().removeAttribute('open')`);
  assert.equal(await focus(page), 'button');
});
