/**
 * The review queue and its items: rows, forms that open in place, the confirmation of risky acceptances, and
 * claims.
 */
import { arrivals, beforeSending, isBusy, parse, rename, say, show, visit } from './core.js';
import { actions, findControl } from './keys.js';

/** The time within which a risky acceptance must be confirmed by a second press, in milliseconds. */
const ARMED_MS = 5000;
/** The idle time after which the next item is prefetched, in milliseconds. */
const REST_MS = 500;

let armedTimer = 0;
let holdTimer = 0;
let restTimer = 0;
let lastActive = 0;
/** @type {{ link: string, url: string, text: string } | null} */
let ahead = null;

/** Opens or closes the form for correcting or rejecting. Typed text stays. @param {string} mode */
function setMode(mode) {
  const parts = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-mode]'));
  if (![...parts].some((part) => part.dataset.mode === mode && part.hidden)) return false;
  disarm();
  for (const part of parts) part.hidden = part.dataset.mode !== mode;
  const first = document.querySelector(
    mode === 'correct' ? '#correct-form [name=category]:checked' : mode === 'reject' ? '#reject' : 'main h1',
  );
  if (first instanceof HTMLElement) first.focus();
  // Starting to write claims the item. Viewing it does not.
  if (mode !== 'read') holding = renew();
  return true;
}

/** Forgets the first press of a risky acceptance. */
function disarm() {
  clearTimeout(armedTimer);
  const button = document.querySelector('[data-armed]');
  if (!(button instanceof HTMLButtonElement)) return false;
  button.form?.querySelector('[name=armed]')?.remove();
  rename(button.dataset.plain ?? location.href);
  button.className = 'main';
  delete button.dataset.armed;
  button.firstChild?.replaceWith('Accept ');
  say('');
  return true;
}

/** @param {number} by */
function moveRow(by) {
  const rows = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-row-link]'));
  const at = [...rows].findIndex((row) => row.closest('[data-row]')?.contains(document.activeElement));
  const row = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
  row?.focus();
  row?.scrollIntoView({ block: 'nearest' });
  return row !== undefined;
}

/**
 * Resolves when the current claim of the item is complete. Then the item has a new version. @type
 * {Promise<void>}
 */
let holding = Promise.resolve();

let evidenceAt = -1;

/** @param {number} by */
function moveEvidence(by) {
  const all = [...document.querySelectorAll('main [data-evidence]')].filter((one) => one.checkVisibility());
  if (document.body.dataset.place !== 'item' || all.length === 0) return false;
  evidenceAt = Math.min(all.length - 1, Math.max(0, evidenceAt + by));
  const one = all[evidenceAt];
  const target = one?.querySelector('a, summary') ?? one;
  one?.scrollIntoView({ block: 'center' });
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  return true;
}

/** Shows the prefetched next item at once. */
function stepAhead() {
  const link = findControl('next');
  if (!(link instanceof HTMLAnchorElement) || ahead?.link !== link.href || isBusy()) return false;
  const { url, text } = ahead;
  ahead = null;
  const left = document.querySelector('[data-review]');
  if (left instanceof HTMLElement && left.dataset.heldMs !== undefined)
    void fetch(`/review/${left.dataset.review}/release`, {
      method: 'POST',
      body: new URLSearchParams(),
      redirect: 'manual',
    }).catch(() => null);
  show(parse(text), url, true);
  return true;
}

async function fetchAhead() {
  const link = findControl('next');
  if (
    document.body.dataset.place !== 'item' ||
    !(link instanceof HTMLAnchorElement) ||
    ahead?.link === link.href
  )
    return;
  const address = new URL(link.href);
  address.searchParams.set('peek', '1');
  try {
    const answer = await fetch(address, { headers: { accept: 'text/html' } });
    const url = new URL(answer.url);
    if (!answer.ok || !url.pathname.startsWith('/review/')) return;
    ahead = { link: link.href, url: url.href, text: await answer.text() };
  } catch {
    // If the prefetch fails, the key requests the page when it is pressed.
  }
}

/** Extends the claim of the item, and updates the version in its forms. Typed text stays. */
async function renew() {
  const item = document.querySelector('[data-review]');
  if (!(item instanceof HTMLElement)) return;
  try {
    const answer = await fetch(`/review/${item.dataset.review}/claim`, {
      method: 'POST',
      body: new URLSearchParams(),
    });
    const page = parse(await answer.text());
    const [fresh, version] = [page.querySelector('[data-held-ms]'), page.querySelector('[name=version]')];
    if (!item.isConnected) return;
    if (!(fresh instanceof HTMLElement) || !(version instanceof HTMLInputElement))
      return say('Someone else has this item now. Your text is kept here.');
    for (const field of document.querySelectorAll('[name=version]'))
      if (field instanceof HTMLInputElement) field.value = version.value;
    item.dataset.heldMs = fresh.dataset.heldMs;
    document.querySelector('#expired')?.remove();
    keepHold();
  } catch {
    say('Faultline is not responding. Your text is kept here.');
  }
}

/**
 * Extends the claim while the user works on the item. After inactivity, tells the user that others may take
 * it.
 */
function keepHold() {
  clearTimeout(holdTimer);
  const item = document.querySelector('[data-held-ms]');
  if (!(item instanceof HTMLElement)) return;
  const half = Math.max(500, Number(item.dataset.heldMs) / 2);
  const since = Date.now();
  holdTimer = setTimeout(() => {
    if (lastActive > since) return void renew();
    holdTimer = setTimeout(() => (lastActive > since ? void renew() : offerHold(item)), half);
  }, half);
}

/** @param {HTMLElement} item */
function offerHold(item) {
  const note = document.createElement('p');
  note.id = 'expired';
  note.className = 'banner';
  const button = document.createElement('button');
  button.type = 'button';
  button.append('Claim again');
  button.addEventListener('click', () => void renew());
  note.append('You no longer hold this item. ', button);
  item.querySelector('.place')?.after(note);
}

function onActivity() {
  lastActive = Date.now();
  clearTimeout(restTimer);
  restTimer = setTimeout(() => void fetchAhead(), REST_MS);
}

/** @param {MouseEvent} event */
function onClick(event) {
  const control =
    event.target instanceof Element ? event.target.closest('a[data-action], a[data-close]') : null;
  if (!(control instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { action = 'read' } = control.dataset;
  const done =
    action === 'keys'
      ? actions.keys?.('?')
      : ['correct', 'reject', 'read'].includes(action) && setMode(action);
  if (done) event.preventDefault();
}

/**
 * Opens the first item next to the queue, where both fit and nothing else was asked for: the list itself
 * (`#list`), or the page after an action, which says what it did.
 */
async function openFirst() {
  // The page that is being shown is complete only after this turn.
  await null;
  const room = document.querySelector('[data-start]');
  const link = document.querySelector('[data-row-link]');
  const isAsked = location.hash !== '' || document.querySelector('#status')?.textContent.trim() !== '';
  if (!room?.checkVisibility() || !(link instanceof HTMLAnchorElement) || isAsked) return;
  const { href } = link;
  await visit(href, { push: false });
  if (document.body.dataset.place === 'item') rename(href);
}

function arriveAtItem() {
  evidenceAt = -1;
  clearTimeout(armedTimer);
  if (document.querySelector('[data-armed]') !== null) armedTimer = setTimeout(disarm, ARMED_MS);
  keepHold();
  onActivity();
}

export function startReview() {
  const inQueue = () => document.body.dataset.place === 'queue';
  const leave = actions.leave;
  Object.assign(actions, {
    correct: () => setMode('correct'),
    reject: () => setMode('reject'),
    leave: (/** @type {string} */ key) => leave?.(key) === true || disarm() || setMode('read'),
    next: () => (inQueue() ? moveRow(1) : stepAhead()),
    previous: () => inQueue() && moveRow(-1),
    open: () => {
      const row = inQueue()
        ? document.activeElement?.closest('[data-row]')?.querySelector('[data-row-link]')
        : null;
      if (row instanceof HTMLElement) row.click();
      return row instanceof HTMLElement;
    },
    pick: () => {
      const box = document.activeElement?.closest('[data-row]')?.querySelector('[data-pick]');
      if (box instanceof HTMLElement) box.click();
      return box instanceof HTMLElement;
    },
    'next-evidence': () => moveEvidence(1),
    'previous-evidence': () => moveEvidence(-1),
  });
  document.addEventListener('click', onClick);
  for (const kind of ['keydown', 'pointerdown', 'input'])
    document.addEventListener(kind, onActivity, { passive: true });
  beforeSending.push(() => holding);
  arrivals.push(arriveAtItem, () => void openFirst());
}
