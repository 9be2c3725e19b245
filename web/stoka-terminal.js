// <stoka-terminal>: talk to a stoka server from any page. One file, no build step, no dependency.
//
//   <script type="module" src="https://HOST/stoka-terminal.js"></script>
//   <stoka-terminal></stoka-terminal>
//
// It should be the last child of <body>, or be in the footer. The label is a part of the page and
// sticks to the bottom of the window within its parent. The open panel is fixed there; the page
// gets room for it at its end.
//
// Attributes   api         base URL of the server; default: the origin of this file
//              open        whether the panel is open; set and removed when it opens and closes
//              autofocus   takes the focus when the element is added to the page
//              page        the page that is sent to the server; default: the path
//              page-title  the title that is sent; default: the document's title
// Properties   token       a JWT for `Authorization: Bearer`, or null
//              open        the same as the attribute
// CSS          --stoka-height  --stoka-font  --stoka-background  --stoka-text  --stoka-muted
//              --stoka-accent (rules, focus)  --stoka-title (links)  --stoka-error
// Keys         ` opens and closes the panel, except while the visitor types elsewhere; Escape stops
//              an answer, or closes the panel; Ctrl-C stops; up and down recall earlier questions.
//
// A Content-Security-Policy of the page must allow HOST in script-src and connect-src; styles need
// nothing. If the server has another origin than the page, its CORS list must have the page's
// origin. localStorage holds one key, STORE_KEY: the ids from the server, the slugs of pages read
// here (for 30 days) and earlier questions. Without localStorage these last as long as the page.
// Text from the server becomes text nodes and links to http and https addresses, never markup.

const STORE_KEY = 'stoka-terminal';
const DAY_MS = 24 * 60 * 60 * 1000;
const SEEN_DAYS = 30;
const MAX_SEEN = 200;
const MAX_SEEN_SENT = 100;
const MAX_ASKED = 50;
const MAX_CHARACTERS = 2000;
const COUNT_FROM = 1800;
// The server pings every 15 s. After three missed pings the connection counts as lost.
const SILENCE_MS = 50_000;
// Nothing is sent before the model answers, and it may have to be loaded first.
const FIRST_BYTE_MS = 130_000;
const MAX_LINE = 1 << 20;

// ---- server-sent events -------------------------------------------------------------------------

// Decodes bytes in any split to {name, data}. An incomplete event at the end is dropped.
export class SseDecoder {
  #utf8 = new TextDecoder();
  #line = '';
  #after_cr = false;
  #name = '';
  #data = [];

  push(bytes) {
    let text = this.#utf8.decode(bytes, { stream: true });
    if (text === '') return [];
    if (this.#after_cr && text[0] === '\n') text = text.slice(1);
    this.#after_cr = text.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop();
    if (this.#line.length > MAX_LINE) throw new SyntaxError('line too long');
    return lines.map((line) => this.#take(line)).filter(Boolean);
  }

  #take(line) {
    if (line === '') return this.#dispatch();
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (field === 'event') this.#name = value;
    if (field === 'data') this.#data.push(value);
    return null;
  }

  #dispatch() {
    const event = { name: this.#name || 'message', data: this.#data.join('\n') };
    const empty = this.#data.length === 0;
    this.#name = '';
    this.#data = [];
    return empty ? null : event;
  }
}

// ---- requests -----------------------------------------------------------------------------------

class Failure extends Error {
  constructor(message, { hint = '', retryable = false, wait_s = 0, stopped = false } = {}) {
    super(message);
    Object.assign(this, { hint, retryable, wait_s, stopped });
  }
}

// Yields ready, token, cite and done events with parsed data; throws a Failure on any other end.
async function* chat(url, body, token, controller) {
  let began = false;
  let timer = 0;
  const listen = () => {
    clearTimeout(timer);
    const failure = new Failure('the server does not respond', { retryable: true });
    timer = setTimeout(() => controller.abort(failure), began ? SILENCE_MS : FIRST_BYTE_MS);
  };
  try {
    listen();
    const reader = (await open_stream(url, body, token, controller.signal)).getReader();
    const decoder = new SseDecoder();
    for (began = true; ; listen()) {
      const { done, value } = await reader.read();
      if (done) throw new Failure('the answer broke off', { retryable: true });
      for (const { name, data } of decoder.push(value)) {
        const parsed = JSON.parse(data) ?? {};
        if (name === 'error') throw broken(parsed);
        yield { name, data: parsed };
        if (name === 'done') return;
      }
    }
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : failure_of(error, began);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

const broken = ({ message, retryable }) =>
  new Failure(text_of(message) || 'no answer', { retryable: retryable === true });

async function open_stream(url, body, token, signal) {
  const headers = { 'Content-Type': 'application/json', Accept: 'text/event-stream' };
  if (token) headers.Authorization = `Bearer ${token}`;
  const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const response = await fetch(url, request);
  if (!response.ok) throw await refusal(response);
  const type = response.headers.get('Content-Type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) return response.body;
  throw new Failure('this is not a stoka server', { hint: `it sent ${type || 'nothing'}` });
}

// The Failure for an HTTP error, whose body should be application/problem+json.
async function refusal(response) {
  const problem = (await response.json().catch(() => null)) ?? {};
  const { status } = response;
  const detail = text_of(problem.detail) || text_of(problem.title);
  return new Failure(detail || `the server answered ${status}`, {
    hint: text_of(problem.hint),
    retryable: status === 408 || status === 429 || status >= 500,
    wait_s: seconds_of(response.headers.get('Retry-After')),
  });
}

// Retry-After: seconds or an HTTP date.
function seconds_of(header) {
  if (!header) return 0;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Math.max(0, Math.ceil(seconds)) || 0;
}

function failure_of(error, began) {
  if (error instanceof Failure) return error;
  if (error instanceof SyntaxError) return new Failure('this is not a stoka server');
  if (navigator.onLine === false) return new Failure('you are offline', { retryable: true });
  const message = began ? 'the answer broke off' : 'the server is out of reach';
  return new Failure(message, { retryable: true });
}

const text_of = (value) => (typeof value === 'string' ? value : '');

// ---- storage ------------------------------------------------------------------------------------

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SLUG = /^[\p{L}\p{N}][\p{L}\p{N}._~-]{0,199}$/u;

// Every change reads, changes and writes at once, so that tabs do not lose each other's changes.
class Memory {
  #refused = null;  // the data, if the storage has refused it

  read() {
    if (this.#refused) return this.#refused;
    try {
      return sound(JSON.parse(localStorage.getItem(STORE_KEY)));
    } catch {
      return sound(null);
    }
  }

  change(edit) {
    const data = this.read();
    edit(data);
    try {
      localStorage.setItem(STORE_KEY, JSON.stringify(sound(data)));
      this.#refused = null;
    } catch {
      this.#refused = sound(data);
    }
  }

  see(slug) {
    if (slug) this.change((data) => (data.seen = { ...data.seen, [slug]: Date.now() }));
  }

  // The slugs, the latest first.
  seen() {
    const { seen } = this.read();
    return Object.keys(seen).sort((a, b) => seen[b] - seen[a]);
  }
}

// The storage is shared by the whole site, so it may hold anything.
function sound(data) {
  const id = (value) => (UUID.test(value) ? String(value) : null);
  const since = Date.now() - SEEN_DAYS * DAY_MS;
  const seen = Object.entries(Object(data?.seen))
    .filter(([slug, time]) => SLUG.test(slug) && time > since && time <= Date.now() + DAY_MS)
    .sort((a, b) => b[1] - a[1]);
  const asked = Array.isArray(data?.asked) ? data.asked : [];
  return {
    session_id: id(data?.session_id),
    visitor_id: id(data?.visitor_id),
    seen: Object.fromEntries(seen.slice(0, MAX_SEEN)),
    asked: asked.filter((text) => typeof text === 'string').slice(-MAX_ASKED),
  };
}

// "/blog/bounded-execution/" -> "bounded-execution"; '' if the last segment names no document.
function slug_of(page) {
  const last = page.split(/[?#]/)[0].split('/').filter(Boolean).pop() ?? '';
  try {
    const slug = decodeURIComponent(last).replace(/\.html?$/i, '');
    return SLUG.test(slug) && slug !== 'index' ? slug : '';
  } catch {
    return '';
  }
}

// ---- drawing ------------------------------------------------------------------------------------

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== ''));
  return node;
}

const KINDS = ['block', 'inline', 'product', 'code'];

// The link of a citation: an http or https URL, or a path of the site of this page. Empty for
// anything else.
function href_of(url) {
  const fit = /^(https?:\/\/|\/(?![/\\]))/i.test(url) && !/[\u0000-\u001f\u007f]/.test(url);
  try {
    return fit ? new URL(url, document.baseURI).href : '';
  } catch {
    return '';
  }
}

// The parts that are not empty, as "philosophy · 8 min read · Apr 12".
function meta_of(...parts) {
  return el('figcaption', { class: 'meta' }, parts.filter(Boolean).join(' · '));
}

// The accessible name of the citation is its link, which the style stretches over the citation. The
// number 0 is not shown.
function draw_cite(event, number) {
  const cite = {};
  for (const name of ['slug', 'title', 'quote', 'type', 'reading_time', 'date', 'url']) {
    cite[name] = text_of(event?.[name]).trim();
  }
  const kind = KINDS.includes(event?.kind) ? event.kind : 'block';
  const href = href_of(cite.url);
  const link = (text) => {
    const name = number ? `[${number}] ${text}` : text;
    if (!href) return el('span', { class: 'title' }, name);
    return el('a', { class: 'title', href, 'data-slug': cite.slug }, name);
  };
  const title = cite.title || cite.slug;
  const read = cite.reading_time && `${cite.reading_time} read`;
  if (kind === 'inline') return el('span', {}, cite.quote && `“${cite.quote}” `, link(title));
  const figure = el('figure', { class: `cite ${kind}`, dir: 'auto' });
  if (kind === 'code') {
    figure.append(link(cite.slug), el('pre', {}, el('code', {}, cite.quote)));
    figure.append(meta_of(title, read, cite.date));
  } else if (kind === 'product') {
    const badge = el('span', { class: 'badge' }, 'product');
    figure.append(el('div', { class: 'head' }, link(title), badge));
    figure.append(el('p', { class: 'quote' }, cite.quote), meta_of(read, cite.date));
  } else {
    figure.append(link(title), el('blockquote', { class: 'quote' }, `“${cite.quote}”`));
    figure.append(meta_of(cite.type, read, cite.date));
  }
  return figure;
}

// Draws text and citations of one answer in order. White space next to a block is dropped.
class Answer {
  node = el('div', { class: 'answer', dir: 'auto', 'aria-live': 'off', 'aria-busy': 'true' });
  #gap = '';
  #text = null;

  get empty() {
    return !this.node.hasChildNodes();
  }

  text(piece) {
    const words = piece.trim();
    const start = words === '' ? piece.length : piece.indexOf(words);
    this.#gap += piece.slice(0, start);
    if (words === '') return;
    this.#write(words);
    this.#gap = piece.slice(start + words.length);
  }

  cite(event, number = 0) {
    const drawn = draw_cite(event, number);
    if (drawn.localName !== 'figure') return this.#write(drawn);
    this.node.append(drawn);
    this.#text = null;
  }

  #write(piece) {
    if (!this.#text) this.node.append((this.#text = el('p')));
    const gap = this.#gap.replace(/\n\s*\n\s*/g, '\n\n');
    this.#text.append(this.#text.hasChildNodes() ? gap : '', piece);
    this.#gap = '';
  }

  end(...marks) {
    this.node.append(...marks);
    this.node.removeAttribute('aria-busy');
  }

  spoken() {
    return [...this.node.children].map((part) => part.textContent).join('\n');
  }
}

// A retry button, which is disabled and counts down until Retry-After has passed.
function retry_button(wait_s, again) {
  const button = el('button', { type: 'button', class: 'retry' });
  const tick = () => {
    button.disabled = wait_s > 0;
    button.textContent = wait_s > 0 ? `retry in ${wait_s} s` : 'retry';
    if (wait_s-- > 0) setTimeout(tick, 1000);
  };
  tick();
  button.addEventListener('click', again);
  return button;
}

const HELP = `/new    a new session
/seen   what was read here in the last ${SEEN_DAYS} days
/clear  an empty screen
\`       opens and closes, Escape stops and closes`;

// ---- the element --------------------------------------------------------------------------------

const TYPES_TEXT = 'input, textarea, select, [role="textbox"]';

function is_backtick(event) {
  const { ctrlKey, metaKey, altKey, isComposing, repeat } = event;
  if (ctrlKey || metaKey || altKey || isComposing || repeat) return false;
  const dead = event.key === 'Dead' && event.code === 'Backquote' && !event.shiftKey;
  return event.key === '`' || dead;  // on many keyboard layouts the backtick is a dead key
}

// How far the page is scrolled, from 0 to 100.
function scrolled() {
  const page = document.scrollingElement ?? document.documentElement;
  const way = page.scrollHeight - page.clientHeight;
  return way > 0 ? Math.min(100, Math.max(0, Math.round((100 * page.scrollTop) / way))) : 0;
}

class StokaTerminal extends HTMLElement {
  static observedAttributes = ['open', 'page'];

  token = this.token ?? null;  // it may have been set before the element was defined
  #memory = new Memory();
  #root = this.attachShadow({ mode: 'open' });
  #controller = null;  // the AbortController of the current request
  #focused = null;     // the element that had the focus before the panel was opened
  #hinted = null;      // the page whose ambient line was requested
  #recalled = -1;      // index into the earlier questions, from the last one; -1: none is recalled
  #typed = '';

  #label = el('button', { type: 'button', class: 'label', 'aria-controls': 'body' }, 'stoka');
  #status = el('span', { role: 'status', class: 'status' });
  #stop = el('button', { type: 'button', class: 'stop', hidden: '' }, 'stop');
  #close = el('button', { type: 'button', class: 'close', 'aria-label': 'close stoka' }, 'close');
  #log = el('div', {
    role: 'log', 'aria-live': 'polite', 'aria-label': 'stoka, conversation', tabindex: 0,
  });
  #spoken = el('div', { class: 'unseen', 'aria-live': 'polite' });
  #count = el('span', { class: 'count', id: 'count' });
  #input = el('input', {
    type: 'text', id: 'input', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    enterkeyhint: 'send', 'aria-describedby': 'count',
  });
  #form = el('form', {},
    el('label', { for: 'input' },
      el('span', { 'aria-hidden': 'true' }, '>'), el('span', { class: 'unseen' }, 'ask stoka')),
    this.#input, this.#count);
  #body = el('div', { id: 'body' }, this.#log, this.#spoken, this.#form);
  #panel = el('section', { class: 'panel', 'aria-label': 'stoka' },
    el('div', { class: 'bar' }, this.#label, this.#status, this.#stop, this.#close), this.#body);

  constructor() {
    super();
    const style = new CSSStyleSheet();
    style.replaceSync(STYLE);
    this.#root.adoptedStyleSheets = [style];
    this.#root.append(this.#panel);
    this.#label.addEventListener('click', () => this.#toggle());
    this.#close.addEventListener('click', () => this.#toggle());
    this.#stop.addEventListener('click', () => this.#stop_answer());
    this.#input.addEventListener('input', () => this.#show_count());
    this.#panel.addEventListener('keydown', (event) => this.#on_panel_key(event));
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    for (const kind of ['click', 'auxclick']) {
      this.#log.addEventListener(kind, ({ target, button }) => {
        if (button !== 2) this.#memory.see(target.dataset?.slug);
      });
    }
  }

  get open() {
    return this.hasAttribute('open');
  }
  set open(value) {
    this.toggleAttribute('open', Boolean(value));
  }
  get #api() {
    const { origin } = new URL(import.meta.url);
    const url = new URL(this.getAttribute('api') || origin, document.baseURI);
    return /^https?:$/.test(url.protocol) ? url.href.replace(/\/+$/, '') : origin;
  }
  get #page() {
    return this.getAttribute('page') ?? location.pathname;
  }

  connectedCallback() {
    document.addEventListener('keydown', this.#on_page_key);
    this.#reflect();
    this.#memory.see(slug_of(this.#page));
    if (this.open && this.hasAttribute('autofocus')) this.#input.focus();
  }

  disconnectedCallback() {
    document.removeEventListener('keydown', this.#on_page_key);
    this.#stop_answer();
  }

  attributeChangedCallback(name, before, after) {
    if (!this.isConnected || before === after) return;
    if (name === 'page') this.#memory.see(slug_of(this.#page));
    this.#reflect();
  }

  focus(options) {
    (this.open ? this.#input : this.#label).focus(options);
  }

  // ---- opening and closing

  // The focus moves into the panel if the visitor opens it, but not if a script sets `open`.
  #toggle() {
    this.#focused = this.open ? this.#focused : this.#root.activeElement ?? document.activeElement;
    this.open = !this.open;
    if (this.open) this.#input.focus({ preventScroll: true });
  }

  #reflect() {
    const inside = document.activeElement === this && this.#root.activeElement !== this.#label;
    this.#label.setAttribute('aria-expanded', String(this.open));
    this.#body.hidden = this.#close.hidden = !this.open;
    if (this.open) this.#murmur();
    else if (inside) this.#give_back_focus();
  }

  #give_back_focus() {
    const there = this.#focused?.isConnected && this.#focused !== document.body;
    (there ? this.#focused : this.#label).focus({ preventScroll: true });
    this.#focused = null;
  }

  #on_page_key = (event) => {
    if (!is_backtick(event) || event.defaultPrevented) return;
    const [target] = event.composedPath();
    const types = target.isContentEditable || target.matches?.(TYPES_TEXT);
    if (types && (target !== this.#input || this.#input.value !== '')) return;
    event.preventDefault();
    this.#toggle();
  };

  #on_panel_key(event) {
    const { key } = event;
    if (event.isComposing) return;
    if (key === 'Escape' && this.open) {
      event.preventDefault();
      if (!this.#stop_answer()) this.#toggle();
    } else if (key === 'c' && event.ctrlKey && !this.#selected() && this.#stop_answer()) {
      event.preventDefault();
    } else if (event.target === this.#input && (key === 'ArrowUp' || key === 'ArrowDown')) {
      event.preventDefault();
      this.#recall(key === 'ArrowUp' ? 1 : -1);
    }
  }

  #selected() {
    const { selectionStart, selectionEnd } = this.#input;
    const shown = this.#root.getSelection?.() ?? document.getSelection();
    return selectionStart !== selectionEnd || String(shown) !== '';
  }

  // ---- the input

  #submit() {
    const text = this.#input.value.trim();
    if (text === '' || this.#characters() > MAX_CHARACTERS) return;
    if (this.#controller) return this.#say('still answering');
    this.#memory.change((data) => (data.asked = [...data.asked.filter((t) => t !== text), text]));
    this.#set_input('');
    this.#recalled = -1;
    if (/^\/\w*$/.test(text)) this.#command(text);
    else this.#ask(text);
  }

  #command(text) {
    if (text === '/clear') return this.#log.replaceChildren();
    if (text === '/help') return this.#note(HELP);
    if (text === '/seen') return this.#note(this.#memory.seen().join('\n') || 'nothing yet.');
    if (text !== '/new') return this.#note(`no command ${text}. /help names them.`);
    this.#memory.change((data) => (data.session_id = null));
    this.#note('new session.');
  }

  #recall(step) {
    const { asked } = this.#memory.read();
    if (this.#recalled < 0) this.#typed = this.#input.value;
    this.#recalled = Math.min(Math.max(this.#recalled + step, -1), asked.length - 1);
    this.#set_input(this.#recalled < 0 ? this.#typed : asked.at(-1 - this.#recalled));
  }

  #set_input(text) {
    this.#input.value = text;
    this.#show_count();
  }

  #characters() {
    return [...this.#input.value.trim()].length;
  }

  #show_count() {
    const count = this.#characters();
    const over = count > MAX_CHARACTERS;
    this.#count.textContent = count >= COUNT_FROM ? `${count} / ${MAX_CHARACTERS}` : '';
    this.#input.setAttribute('aria-invalid', String(over));
    if (over) this.#say(`at most ${MAX_CHARACTERS} characters`);
  }

  // ---- the log

  #say(status) {
    this.#status.textContent = status;
  }

  // Scrolls to the end unless the visitor has scrolled away from it.
  #draw(change) {
    const log = this.#log;
    const at_end = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
    change();
    if (at_end) log.scrollTop = log.scrollHeight;
  }

  #note(text) {
    this.#draw(() => this.#log.append(el('p', { class: 'note' }, text)));
  }

  #error(failure, again) {
    const node = el('div', { class: 'error' }, el('p', {}, `error: ${failure.message}`));
    if (failure.hint) node.append(el('p', { class: 'note' }, failure.hint));
    if (again && failure.retryable) node.append(retry_button(failure.wait_s, again));
    return node;
  }

  // Requests at most one ambient line for each page, and none after the first question.
  async #murmur() {
    const page = this.#page;
    if (this.#hinted === page || this.#log.querySelector('.turn')) return;
    this.#hinted = page;
    const answer = new Answer();
    try {
      const url = `${this.#api}/api/stoka/context?page=${encodeURIComponent(page)}`;
      const response = await fetch(url);
      if (!response.ok) throw await refusal(response);
      const { hint, cite } = await response.json();
      answer.text(text_of(hint));
      if (cite?.slug) answer.cite(cite);
      answer.end();
    } catch (error) {
      answer.end(this.#error(failure_of(error, false)));
    }
    if (answer.empty || page !== this.#page || this.#log.querySelector('.turn')) return;
    this.#draw(() => this.#log.append(el('div', { class: 'ambient' }, answer.node)));
  }

  #request(query) {
    const { session_id, visitor_id } = this.#memory.read();
    const page = this.#page;
    const title = this.getAttribute('page-title') ?? document.title;
    // The current page is not a part of the reading history.
    const seen = this.#memory.seen().filter((slug) => slug !== slug_of(page));
    return {
      query, session_id, visitor_id, page, page_title: title, scroll_pct: scrolled(),
      seen_slugs: seen.slice(0, MAX_SEEN_SENT),
    };
  }

  async #ask(query, turn = null) {
    const answer = new Answer();
    if (turn) {
      turn.lastChild.replaceWith(answer.node);
      this.#input.focus();  // the retry button that had the focus is removed
    } else {
      const question = el('p', { class: 'question', dir: 'auto' }, query);
      turn = el('div', { class: 'turn' }, question, answer.node);
      this.#log.append(turn);
      this.#log.scrollTop = this.#log.scrollHeight;
    }
    this.#begin();
    try {
      const [url, body] = [`${this.#api}/api/stoka/chat`, this.#request(query)];
      for await (const { name, data } of chat(url, body, this.token, this.#controller)) {
        this.#draw(() => this.#take(name, data, answer));
      }
      this.#finish(answer, 'done');
    } catch (failure) {
      const again = () => !this.#controller && this.#ask(query, turn);
      if (failure.stopped) this.#finish(answer, 'stopped', el('p', { class: 'note' }, 'stopped'));
      else this.#finish(answer, 'error', this.#error(failure, again));
    }
  }

  #take(name, data, answer) {
    if (name === 'token') answer.text(text_of(data.text));
    if (name === 'cite' && text_of(data.slug)) answer.cite(data, this.#next_number());
    if (name !== 'ready') return;
    const { session_id, visitor_id } = data;
    this.#memory.change((memory) => Object.assign(memory, { session_id, visitor_id }));
  }

  // The next number of a citation on the screen.
  #next_number() {
    return this.#log.querySelectorAll('.turn .title').length + 1;
  }

  #begin() {
    this.#controller = new AbortController();
    this.#stop.hidden = false;
    this.#say('answering');
  }

  #finish(answer, status, ...marks) {
    this.#draw(() => answer.end(...marks));
    this.#controller = null;
    if (this.#root.activeElement === this.#stop) this.#input.focus();
    this.#stop.hidden = true;
    this.#say(status);
    this.#spoken.textContent = answer.spoken();
  }

  // Returns whether there was a request to stop.
  #stop_answer() {
    this.#controller?.abort(new Failure('stopped', { stopped: true }));
    return this.#controller !== null;
  }
}

const STYLE = `
:host {
  all: initial; display: block; pointer-events: none;
  position: sticky; bottom: 0; z-index: 2147483000;
  --background: var(--stoka-background, #0b0f14);
  --text: var(--stoka-text, #cbd5e1);
  --muted: var(--stoka-muted, #8593a8);
  --accent: var(--stoka-accent, #10b981);
  --title: var(--stoka-title, #4ade80);
  --error: var(--stoka-error, #f87171);
  --height: var(--stoka-height, min(400px, 72dvh));
  --tint: color-mix(in srgb, var(--accent) 6%, transparent);
  --line: color-mix(in srgb, var(--text) 16%, transparent);
  font: 400 medium/1.6 var(--stoka-font, "JetBrains Mono", ui-monospace, "SF Mono", Menlo, Consolas,
    "DejaVu Sans Mono", monospace);
  color: var(--text); color-scheme: dark;
}
/* Room at the end of the page for the open panel. */
:host([open]) { height: var(--height); }
:host([hidden]), [hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
p, figure, blockquote, pre { margin: 0; }
button, input, pre, code { font: inherit; color: inherit; letter-spacing: inherit; }
button { background: none; border: 0; padding: 0.3em 0.9em; cursor: pointer; color: var(--muted); }
button:hover:enabled { color: var(--title); }
button:disabled { cursor: default; }
:focus-visible { outline: 2px solid var(--title); outline-offset: -2px; border-radius: 3px; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}

.panel {
  pointer-events: auto; background: var(--background); font-size: 0.875em;
  width: fit-content; margin-left: auto; border-radius: 6px 0 0 0;
}
.bar { display: flex; align-items: center; }
.label { letter-spacing: 0.04em; padding-inline: 1.2em; }
:host([open]) .panel {
  position: fixed; inset: auto 0 0 0; width: auto; height: min(var(--height), 100dvh);
  display: flex; flex-direction: column; border-radius: 0; border-top: 1px solid var(--line);
  animation: rise 0.16s ease-out;
}
:host([open]) .bar, [role="log"], form { padding-inline: max(1.2em, (100% - 76ch) / 2); }
:host([open]) .bar { border-bottom: 1px solid var(--line); }
:host([open]) .label { margin-left: -1.2em; color: var(--title); }
.close { margin-right: -0.9em; }
.status { flex: 1; color: var(--muted); font-size: 0.86em; text-align: right; }
.stop { color: var(--error); }
:host(:not([open])) .status, :host(:not([open])) .stop { display: none; }

#body { flex: 1; min-height: 0; display: flex; flex-direction: column; }
[role="log"] {
  flex: 1; min-height: 0; overflow: hidden auto; overscroll-behavior: contain; padding-block: 1em;
  scrollbar-width: thin; scrollbar-color: var(--line) transparent;
}
[role="log"] > * + * { margin-top: 1.2em; }
p, .quote, pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.answer > p { white-space: pre-line; }
.question { color: var(--muted); padding-left: 2ch; text-indent: -2ch; }
.question::before { content: "> "; content: "> " / ""; color: var(--accent); }
.answer { margin-top: 0.5em; }
.answer > * + * { margin-top: 0.8em; }
.answer[aria-busy]:empty::after, .answer[aria-busy] > p:last-child::after {
  content: "▍"; content: "▍" / ""; color: var(--accent);
  animation: blink 1.1s steps(2, jump-none) infinite;
}
.ambient, .note { color: var(--muted); }
.ambient .answer { margin: 0; }
.error p:first-child { color: var(--error); }
.retry { margin: 0.5em 0 0; border: 1px solid var(--line); border-radius: 4px; }
.retry:enabled { color: var(--text); }

a { color: var(--title); text-decoration: underline var(--accent); text-underline-offset: 0.2em; }
a:hover { text-decoration-thickness: 2px; }
.cite {
  position: relative; padding: 0.8em 1.1em; background: var(--tint); transition: background 0.2s;
  overflow-wrap: anywhere;
}
.cite:hover { background: color-mix(in srgb, var(--accent) 13%, transparent); }
.cite .title { font-weight: 600; text-decoration: none; }
span.title { color: var(--title); }
.cite a.title::after { content: ""; position: absolute; inset: 0; }
.cite .title:focus-visible { outline: none; }
.cite:has(:focus-visible) { outline: 2px solid var(--title); outline-offset: 1px; }
.block { border-left: 3px solid var(--accent); border-radius: 0 6px 6px 0; }
.product, .code { border: 1px solid var(--line); border-radius: 6px; }
.quote { color: color-mix(in srgb, var(--text) 84%, var(--muted)); margin: 0.35em 0; }
.block .quote { font-style: italic; }
.meta { color: var(--muted); font-size: 0.86em; }
.head { display: flex; flex-wrap: wrap; gap: 0 0.8em; justify-content: space-between; }
.badge {
  color: var(--accent); border: 1px solid; border-radius: 1em; padding: 0 0.75em;
  font-size: 0.8em; align-self: center;
}
.code { padding: 0; background: none; overflow: hidden; }
.code .title {
  display: block; padding: 0.35em 1.1em; font-weight: 400; background: var(--tint);
  border-bottom: 1px solid var(--line);
}
.code pre { padding: 0.7em 1.1em 0.4em; tab-size: 2; }
.code .meta { padding: 0 1.28em 0.7em; }

form {
  display: flex; align-items: center; gap: 1ch; padding-block: 0.4em 0.6em;
  border-top: 2px solid var(--line);
}
form:focus-within { border-color: var(--accent); }
form label { color: var(--accent); }
input, input:focus-visible { outline: none; caret-color: var(--title); }
input { flex: 1; min-width: 0; background: none; border: 0; padding: 0.3em 0; }
.count { color: var(--muted); font-size: 0.86em; }
[aria-invalid="true"] + .count { color: var(--error); }

@keyframes rise { from { transform: translateY(1.5em); opacity: 0; } }
@keyframes blink { to { opacity: 0; } }
@media (pointer: coarse) { button, input { min-height: 44px; } input { font-size: 16px; } }
@media (prefers-reduced-motion: reduce) {
  *, ::after { animation: none !important; transition: none !important; }
}
@media print { :host { display: none; } }
`;

if (!customElements.get('stoka-terminal')) customElements.define('stoka-terminal', StokaTerminal);
