// Drives a headless Chromium over the DevTools protocol on a pipe: file descriptors 3 and 4, with
// JSON messages that end in NUL. It needs Node 18 or later and no package. Each page of the browser
// collects its problems: console errors, exceptions and violations of its content security policy.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const KEYS = {
  '`': { code: 'Backquote', windowsVirtualKeyCode: 192, text: '`' },
  Enter: { code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  ' ': { code: 'Space', windowsVirtualKeyCode: 32, text: ' ' },
  Escape: { code: 'Escape', windowsVirtualKeyCode: 27 },
  Tab: { code: 'Tab', windowsVirtualKeyCode: 9 },
  ArrowUp: { code: 'ArrowUp', windowsVirtualKeyCode: 38 },
  ArrowDown: { code: 'ArrowDown', windowsVirtualKeyCode: 40 },
  c: { code: 'KeyC', windowsVirtualKeyCode: 67 },
};
export const ALT = 1;
export const CTRL = 2;
export const META = 4;
export const SHIFT = 8;

export class Browser {
  #child;
  #profile = mkdtempSync(join(tmpdir(), 'stoka-page-'));
  #next = 1;
  #waiting = new Map();
  #listeners = new Map(); // by session
  #rest = [];

  constructor(program = process.env.CHROMIUM ?? PROGRAMS.find(existsSync)) {
    if (!program) throw new Error('no Chromium found; name one in CHROMIUM');
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const args = [
      '--headless=new',
      '--remote-debugging-pipe',
      `--user-data-dir=${this.#profile}`,
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-extensions',
      '--disable-dev-shm-usage',
      '--hide-scrollbars',
      ...root,
      'about:blank',
    ];
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
    this.#child = spawn(program, args, { stdio });
    this.#child.stdio[4].on('data', (bytes) => this.#read(bytes));
    this.#child.on('exit', () => this.#lost(new Error('Chromium has ended')));
    this.#child.on('error', (error) => this.#lost(error));
    this.#child.stdio[3].on('error', () => {});
  }

  async page({ width = 1280, height = 800, before = [] } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.#listeners.set(sessionId, (message) => page.onMessage(message));
    await page.start(width, height, before);
    return page;
  }

  send(method, params = {}, sessionId) {
    const id = this.#next++;
    this.#child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((resolve, reject) => this.#waiting.set(id, { method, resolve, reject }));
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode === null) {
      this.send('Browser.close').catch(() => {});
      await Promise.race([ended, sleep(3000)]);
      if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #read(bytes) {
    let end;
    while ((end = bytes.indexOf(0)) >= 0) {
      this.#rest.push(bytes.subarray(0, end));
      this.#take(JSON.parse(Buffer.concat(this.#rest).toString('utf8')));
      this.#rest = [];
      bytes = bytes.subarray(end + 1);
    }
    this.#rest.push(bytes);
  }

  #take(message) {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return this.#listeners.get(message.sessionId)?.(message);
    this.#waiting.delete(message.id);
    if (!message.error) return waiting.resolve(message.result);
    waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
  }

  #lost(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

export class Page {
  problems = []; // errors and warnings of the console
  requests = []; // {method, url, body} of every request

  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target });
    this.listeners = new Map();
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  on(method, listener) {
    this.listeners.set(method, listener);
  }

  onMessage({ method, params }) {
    if (method === 'Runtime.exceptionThrown') {
      const { text, exception } = params.exceptionDetails;
      this.problems.push(`exception: ${exception?.description ?? text}`);
    }
    if (
      method === 'Runtime.consoleAPICalled' &&
      ['error', 'warning', 'assert'].includes(params.type)
    ) {
      this.problems.push(
        `console: ${params.args.map((arg) => arg.value ?? arg.description).join(' ')}`,
      );
    }
    // Errors of requests are left out: the tests check how the page shows them.
    if (
      method === 'Log.entryAdded' &&
      params.entry.level === 'error' &&
      params.entry.source !== 'network'
    ) {
      this.problems.push(`${params.entry.source}: ${params.entry.text}`);
    }
    if (method === 'Audits.issueAdded' && params.issue.code === 'ContentSecurityPolicyIssue') {
      this.problems.push(`policy: ${JSON.stringify(params.issue.details)}`);
    }
    if (method === 'Network.requestWillBeSent') {
      const { method: verb, url, postData } = params.request;
      this.requests.push({ method: verb, url, body: postData });
    }
    this.listeners.get(method)?.(params);
  }

  async start(width, height, before) {
    for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Audits'])
      await this.send(`${domain}.enable`);
    for (const source of before)
      await this.send('Page.addScriptToEvaluateOnNewDocument', { source });
    await this.size(width, height);
  }

  size(width, height) {
    return this.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 500,
    });
  }

  async open(url) {
    const loaded = new Promise((resolve) => this.on('Page.loadEventFired', resolve));
    const { errorText } = await this.send('Page.navigate', { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  // The value of an expression or the result of a function in the page; promises are awaited.
  async get(source, ...args) {
    const expression =
      typeof source === 'function'
        ? `(${source})(${args.map((arg) => JSON.stringify(arg)).join(',')})`
        : source;
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  // Waits until the expression is true; throws an Error that names it after 15 s.
  async until(source, ...args) {
    for (const end = Date.now() + 15_000; Date.now() < end; await sleep(20)) {
      const value = await this.get(source, ...args).catch(() => false);
      if (value) return value;
    }
    throw new Error(`never true: ${source} ${args.join(' ')}`);
  }

  async press(key, modifiers = 0) {
    const { text, ...rest } = KEYS[key];
    const typed = text && !modifiers ? { text } : {};
    await this.send('Input.dispatchKeyEvent', {
      type: 'keyDown',
      key,
      modifiers,
      ...rest,
      ...typed,
    });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, modifiers, ...rest });
  }

  type(text) {
    return this.send('Input.insertText', { text });
  }

  async click(x, y) {
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  // The accessibility tree as [{role, name, ...}].
  async accessible() {
    const { nodes } = await this.send('Accessibility.getFullAXTree');
    return nodes
      .filter((node) => !node.ignored)
      .map((node) => ({
        role: node.role?.value,
        name: node.name?.value ?? '',
        ...Object.fromEntries(
          (node.properties ?? []).map(({ name, value }) => [name, value.value]),
        ),
      }));
  }

  async shot(file) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  close() {
    return this.browser.send('Target.closeTarget', { targetId: this.target });
  }
}
