// The element of the real server, on a page of another origin.
import assert from 'node:assert/strict';
import { ask, chats, other, real, served, visit } from '../visitor.mjs';

served('a page of another origin embeds the element and gets answers', async () => {
  assert.notEqual(other.origin, new URL(real.base).origin);
  const page = await visit(`${other.origin}/`);
  await page.press('`');
  await page.until(`$('.ambient')`);
  await ask(page, 'tell me about bounded execution');
  assert.equal(await page.get(`$$('.turn').length`), 1);
  assert.match(await page.get(`$('.cite').innerText`), /Bounded Execution/);
  assert.equal(chats(page).length, 1);
  // The browser has sent a preflight request.
  const preflights = page.requests.filter(({ method }) => method === 'OPTIONS');
  assert.ok(preflights.some(({ url }) => url === `${real.base}/api/stoka/chat`));
});
