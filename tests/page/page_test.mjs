// Tests of the page and <stoka-terminal> in a headless Chromium.
//   node tests/page/page_test.mjs BASE_URL        a running server; tests of faults are skipped
//   node tests/page/page_test.mjs --serve BINARY  starts a server over the sample site
//   node tests/page/page_test.mjs --mock          a mock server, which also misbehaves on demand
// --ask TEXT      the question for a real server (default: "what is this?")
// --shots DIR     writes screenshots, 1280x800 and 375x700
// --only WORD     only the tests whose name contains WORD
// It prints TAP-like lines, then "N passed, M failed"; the exit code is 1 if a test failed.
// A run makes about 20 chat and 50 context requests, which the server's rate limits must allow.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SHIFT } from './chromium.mjs';
import { ask, browser, mock, ONLY, opened, other, QUESTION, real, SHOTS, tests, visit } from './visitor.mjs';

for (const cases of ['opening', 'asking', 'drawing', 'access', 'storage', 'embedding', 'faults']) {
  await import(`./cases/${cases}.mjs`);
}

async function shots(dir) {
  mkdirSync(dir, { recursive: true });
  for (const [name, width, height] of [
    ['wide', 1280, 800],
    ['narrow', 375, 700],
  ]) {
    const page = await visit('/', { width, height });
    await page.until(`$('.ambient')`);
    await sleep(250); // until the panel has opened
    await page.shot(join(dir, `${name}-empty.png`));
    await ask(page, mock ? 'all of it, please' : QUESTION);
    await page.shot(join(dir, `${name}-end.png`));
    await page.get(`$('[role=log]').scrollTop = 0`);
    await page.shot(join(dir, `${name}-answer.png`));
    if (!mock) continue;
    await ask(page, 'slow', 'answering');
    await page.until(`$$('.turn').at(-1).innerText.includes('three')`);
    await page.get(`$('[role=log]').scrollTop = 1e6`);
    await page.shot(join(dir, `${name}-answering.png`));
    await page.press('Escape');
    await ask(page, `limit ${name}`, 'error');
    await page.type('x'.repeat(1850));
    await page.shot(join(dir, `${name}-error.png`));
    const embedded = await visit('/site.html', { width, height });
    await embedded.shot(join(dir, `${name}-site-collapsed.png`));
    await embedded.press('`');
    await embedded.until(`$('.ambient')`);
    await sleep(250);
    await embedded.press('Tab', SHIFT);
    await embedded.shot(join(dir, `${name}-site-open.png`));
  }
}

// Runs a test; every test begins with an empty storage.
async function run({ name, run: body }) {
  try {
    await body();
    const problems = opened.flatMap((page) => page.problems);
    assert.deepEqual(problems, [], 'nothing red in the console');
    console.log(`ok - ${name}`);
    return true;
  } catch (error) {
    console.log(`not ok - ${name}\n${String(error.stack).replace(/^/gm, '    ')}`);
    return false;
  } finally {
    for (const page of opened.splice(0)) {
      await page.get('localStorage.clear()').catch(() => {});
      await page.close().catch(() => {});
    }
  }
}

let passed = 0;
let failed = 0;
try {
  for (const item of tests.filter(({ name }) => name.includes(ONLY))) {
    if (item.skip) console.log(`ok - ${item.name} # skip`);
    else if (await run(item)) ++passed;
    else ++failed;
  }
  if (SHOTS) await shots(SHOTS);
} finally {
  await browser.close();
  mock?.stop();
  real?.stop();
  other?.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
