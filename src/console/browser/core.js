/** Pages that replace each other in place: every form and link works without this; with it the next page comes without a blink. */

const { trustedTypes } =
  /** @type {{ trustedTypes?: { createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string } } }} */ (
    /** @type {unknown} */ (globalThis)
  );
const policy = trustedTypes?.createPolicy('faultline', { createHTML: (text) => text });

/** The only place where fetched text becomes a document. Nothing in it runs: scripts of a parsed document are inert. @param {string} text */
export function parse(text) {
  return new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html');
}

/** Told of the main part of each page that has come, the first included. @type {((main: HTMLElement) => void)[]} */
export const arrivals = [];

/** Reads a sentence aloud, and shows it. @param {string} sentence */
export function say(sentence) {
  const status = document.querySelector('#status');
  if (status !== null) status.textContent = sentence;
}

let busy = false;
/** When the page that is shown was requested, by `performance.now()`. */
export let requestedAt = 0;
/** The address of the page that is shown, without its place on it. */
let shown = pageHere();

function pageHere() {
  return location.href.split('#')[0];
}

/** Gives the page that is shown another address. @param {string} address */
export function rename(address) {
  history.replaceState(null, '', address);
  shown = pageHere();
}

/** A link within the page, and the way back from it, change the address too: the page stays, with all that is typed into it. Logs go to the lines. */
function onAddress() {
  if (pageHere() !== shown || document.body.dataset.place === 'log')
    void visit(location.href, { push: false });
}

/** Whether a page is on its way: whoever presses again meanwhile means the same. */
export function isBusy() {
  return busy;
}

/**
 * Goes to a page without leaving this one. What cannot be sent stays as it is, and is said.
 * @param {string} address
 * @param {{ method?: string, body?: URLSearchParams, push?: boolean }} [how]
 */
export async function visit(address, { method = 'GET', body, push = true } = {}) {
  if (busy) return;
  busy = true;
  const begunAt = performance.now();
  try {
    // A server that never answers does not hold the keys for good: a minute is what gateways bear as well.
    const signal = AbortSignal.timeout(60_000);
    const answer = await fetch(address, {
      method,
      signal,
      body: body ?? null,
      headers: { accept: 'text/html' },
    });
    if (method === 'POST' && answer.status >= 500)
      return say('Not saved. Nothing was lost; press the key again.');
    const page = parse(await answer.text());
    if (page.querySelector('#main') === null) return location.assign(address);
    // An error's page holds nothing of what was typed: this one stays. Who is signed out gets the form to go on with it.
    const why =
      method === 'POST' && !answer.ok && answer.status !== 401 ? page.querySelector('.notice p') : null;
    if (why !== null) return say(`Not saved. ${why.textContent}`);
    requestedAt = begunAt;
    // A form that was refused has no page of its own: its address stays that of the form.
    show(
      page,
      answer.url + new URL(address, location.href).hash,
      push && (method === 'GET' || answer.redirected),
    );
  } catch {
    say(
      method === 'POST'
        ? 'Not saved. Nothing was lost; press the key again.'
        : 'Faultline is not responding. Try again.',
    );
  } finally {
    busy = false;
  }
}

/** Puts a page in the place of this one. @param {Document} page @param {string} address @param {boolean} push */
export function show(page, address, push) {
  if (push && address !== location.href) history.pushState(null, '', address);
  shown = pageHere();
  document.title = page.title;
  for (const [name, value] of Object.entries(page.documentElement.dataset))
    document.documentElement.dataset[name] = value;
  document.body.dataset.place = page.body.dataset.place ?? 'page';
  document.body.className = page.body.className;
  for (const part of ['.head', '.nav', '#bar', '#keys', '#main']) {
    const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
    if (old !== null && fresh !== null) old.replaceWith(fresh);
  }
  const [status, said] = [document.querySelector('#status'), page.querySelector('#status')];
  if (status !== null && said !== null) status.replaceWith(said);
  arrive();
}

/** Focus goes to what the page is about, or to what its address points at. */
function arrive() {
  const main = document.querySelector('main');
  if (main === null) return;
  for (const arrival of arrivals) arrival(main);
  const pointed =
    location.hash === '' ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (pointed !== null) pointed.scrollIntoView();
  const first = main.querySelector('[autofocus]') ?? main.querySelector('h1');
  if (first instanceof HTMLElement) first.focus({ preventScroll: pointed !== null });
}

/** What a form waits for before it is read and sent. @type {Array<() => Promise<unknown>>} */
export const beforeSending = [];

/** Sends a form as the browser would, with the button that was pressed. @param {HTMLFormElement} form @param {HTMLElement | null} button */
export async function send(form, button) {
  for (const wait of beforeSending) await wait();
  await visit(form.action, { method: 'POST', body: bodyOf(form, button) });
}

/** What a form sends, with the button that was pressed. @param {HTMLFormElement} form @param {HTMLElement | null} button */
export function bodyOf(form, button) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  if (button instanceof HTMLButtonElement && button.name !== '') body.append(button.name, button.value);
  return body;
}

export function startPages() {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== 'post' || 'whole' in form.dataset) return;
    event.preventDefault();
    void send(form, event.submitter);
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-swap]') : null;
    if (
      !(link instanceof HTMLAnchorElement) ||
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.button !== 0
    )
      return;
    event.preventDefault();
    void visit(link.href);
  });
  addEventListener('popstate', onAddress);
  const main = document.querySelector('main');
  if (main !== null) for (const arrival of arrivals) arrival(main);
}
