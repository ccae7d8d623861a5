/**
 * Replaces one page by the next in place. Every form and link works without this script. With it, the next
 * page appears without a flash.
 */

const { trustedTypes } =
  /** @type {{ trustedTypes?: { createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string } } }} */ (
    /** @type {unknown} */ (globalThis)
  );
const policy = trustedTypes?.createPolicy('faultline', { createHTML: (text) => text });

/**
 * Parses fetched text as a document. No other function does. Scripts of a parsed document do not run.
 * @param {string} text
 */
export function parse(text) {
  return new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html');
}

/**
 * Functions that are called with the main part of each page, including the first one. @type {((main:
 * HTMLElement) => void)[]}
 */
export const arrivals = [];

/** Shows a sentence, and has screen readers read it aloud. @param {string} sentence */
export function say(sentence) {
  const status = document.querySelector('#status');
  if (status !== null) status.textContent = sentence;
}

let busy = false;
/** The time when the current page was requested, as in `performance.now()`. */
export let requestedAt = 0;
/** The address of the current page without its fragment. */
let shown = pageHere();

function pageHere() {
  return location.href.split('#')[0];
}

/** Changes the address of the current page. @param {string} address */
export function rename(address) {
  history.replaceState(null, '', address);
  shown = pageHere();
}

/**
 * Links within the page, and going back from them, also change the address. Then the page stays as it is,
 * with all typed text; a log scrolls to the lines.
 */
function onAddress() {
  if (pageHere() !== shown || document.body.dataset.place === 'log')
    void visit(location.href, { push: false });
}

/** Tells whether a page is being loaded. Pressing a control again meanwhile has no effect. */
export function isBusy() {
  return busy;
}

/**
 * Loads a page in place. If a form cannot be sent, the page stays as it is and shows the reason.
 * @param {string} address
 * @param {{ method?: string, body?: URLSearchParams, push?: boolean }} [how]
 */
export async function visit(address, { method = 'GET', body, push = true } = {}) {
  if (busy) return;
  busy = true;
  const begunAt = performance.now();
  try {
    // Without a limit, a server that never answers would block the controls. Gateways usually wait a minute,
    // too.
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
    // An error page does not contain the typed text, so the current page stays. A signed-out user gets a page
    // that sends the form again.
    const why =
      method === 'POST' && !answer.ok && answer.status !== 401 ? page.querySelector('.notice p') : null;
    if (why !== null) return say(`Not saved. ${why.textContent}`);
    requestedAt = begunAt;
    // A refused form is shown at the address of its form, because it has no address of its own.
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

/**
 * Replaces the current page by another. @param {Document} page @param {string} address @param {boolean} push
 */
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

/** Moves the focus to the main subject of the page, or to the target of its address. */
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

/** Functions to await before a form is read and sent. @type {Array<() => Promise<unknown>>} */
export const beforeSending = [];

/**
 * Sends a form as the browser would, including the pressed button.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} button
 */
export async function send(form, button) {
  for (const wait of beforeSending) await wait();
  await visit(form.action, { method: 'POST', body: bodyOf(form, button) });
}

/**
 * Returns the fields of a form, including the pressed button.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} button
 */
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
