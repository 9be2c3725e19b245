// What the cases share: the command line (see page_test.mjs), the servers, the browser, helpers.
import { parseArgs } from 'node:util';
import { Browser } from './chromium.mjs';
import { MockServer } from './mock_server.mjs';
import { OtherSite } from './other_site.mjs';
import { RealServer } from './real_server.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mock: { type: 'boolean', default: false },
    serve: { type: 'string', default: '' },
    ask: { type: 'string', default: 'what is this?' },
    shots: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
  },
});
if (positionals.length !== (values.mock || values.serve ? 0 : 1)) {
  console.error(
    'usage: page_test.mjs BASE_URL | --mock | --serve BINARY [--ask TEXT] [--shots DIR] [--only WORD]',
  );
  process.exit(2);
}

export const { shots: SHOTS, only: ONLY, ask: QUESTION } = values;
export const mock = values.mock ? await new MockServer().start() : null;
export const other = values.serve ? await new OtherSite().start() : null;
export const real = values.serve
  ? await new RealServer().start(values.serve, other.origin)
  : null;
if (other) other.stoka = real.base;
export const base = (mock ?? real)?.base ?? positionals[0].replace(/\/+$/, '');
export const browser = new Browser();
export const opened = []; // the pages of the running test

export const tests = [];
export const test = (name, run) => tests.push({ name, run });
// A test that needs the server that was started here, and the other site.
export const served = (name, run) => tests.push({ name, run, skip: !real });
// A test that needs the mock server.
export const fault = (name, run) => tests.push({ name, run, skip: !mock });

// Helpers in every page; $ and $$ search inside the element.
const HELPERS = `
  window.$t = () => document.querySelector('stoka-terminal');
  window.$ = (query) => $t().shadowRoot.querySelector(query);
  window.$$ = (query) => [...$t().shadowRoot.querySelectorAll(query)];
  window.$status = () => $('[role=status]').textContent;
  window.$focus = () => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at?.id || at?.className || at?.localName;
  };
  document.addEventListener('securitypolicyviolation',
    (event) => console.error('policy', event.violatedDirective, event.blockedURI));
`;
export const STORE = `JSON.parse(localStorage.getItem('stoka-terminal'))`;

export async function visit(path = '/', { before = [], ...size } = {}) {
  const page = await browser.page({ ...size, before: [HELPERS, ...before] });
  opened.push(page);
  await page.open(/^https?:/.test(path) ? path : base + path);
  await page.until(`customElements.get('stoka-terminal') && $('input')`);
  return page;
}

// A page of a site, made from the page at `/`, so that it works with any server.
export async function site(options = {}) {
  const page = await visit('/', options);
  await page.get(`history.replaceState(null, '', '/blog/some-essay')`);
  await page.get(() => {
    document.title = 'some essay';
    const make = (name, id) => Object.assign(document.createElement(name), { id, ariaLabel: id });
    const editable = make('div', 'editable');
    editable.contentEditable = 'true';
    const tall = make('div', 'tall');
    tall.style.height = '3000px';
    const button = Object.assign(make('button', 'button'), { textContent: 'a button' });
    document.body.replaceChildren(
      make('input', 'field'),
      make('textarea', 'area'),
      editable,
      button,
      tall,
      document.createElement('stoka-terminal'),
    );
  });
  return page;
}

export async function ask(page, text, status = 'done') {
  await page.get(`$('input').focus()`);
  await page.type(text);
  await page.press('Enter');
  if (status) await page.until((expected) => $status() === expected, status);
}

export const answer = (page) => page.get(`$$('.turn').at(-1)?.querySelector('.answer').innerText`);
export const focus = (page) => page.get('$focus()');
// The bodies of the page's chat requests.
export const chats = (page) =>
  page.requests
    .filter(({ method, url }) => method === 'POST' && url.endsWith('/api/stoka/chat'))
    .map(({ body }) => JSON.parse(body));

export const READY = [
  'ready',
  {
    session_id: '11111111-2222-4333-8444-555555555555',
    visitor_id: '11111111-2222-4333-8444-666666666666',
    route: 'new',
  },
];
export const DONE = ['done', { turns: 1, confidence: 'direct', latency_ms: 1 }];
export const token = (text) => ['token', { text }];
const wire = ([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

// Makes the browser answer every question with these events, so that it works with any server.
export async function canned(page, events) {
  const body = Buffer.from(events.map(wire).join('')).toString('base64');
  const responseHeaders = [{ name: 'Content-Type', value: 'text/event-stream' }];
  page.on('Fetch.requestPaused', ({ requestId }) =>
    page.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body }),
  );
  await page.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/stoka/chat' }] });
}
