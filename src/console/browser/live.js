import { arrivals, isBusy, parse, requestedAt, say, visit } from './core.js';

/**
 * Pages that update while they are open. Each visible tab uses one stream, because browsers allow only six
 * connections to a host.
 */

/**
 * The time after which a broken connection is reported, and the minimum interval between states that are read
 * aloud, in milliseconds.
 */
const PATIENCE_MS = 3000;
const SAY_EVERY_MS = 5000;
/** The maximum pause before a broken connection is opened again, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;
/**
 * The delay before a page opens its stream, so that pages that are left soon open none, and the minimum
 * interval between requests for the page, in milliseconds.
 */
const SETTLE_MS = 1000;
const REFRESH_MS = 3000;
/** The time without a connection after which a page no longer counts as live, in milliseconds. */
const STALE_MS = 30_000;

let endStream = () => {};

/**
 * Keeps a stream open while its part is on the page and the tab is visible. Reopens it if it breaks.
 * @param {HTMLElement} part
 * @param {() => string} address
 * @param {Record<string, (event: MessageEvent) => void>} listeners
 * @param {string} [broken]
 */
function holdStream(part, address, listeners, broken) {
  /** @type {EventSource | null} */
  let source = null;
  let waitMs = PATIENCE_MS;
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    if (source !== null || !part.isConnected || document.hidden) return;
    source = new EventSource(address());
    source.addEventListener('open', () => {
      waitMs = PATIENCE_MS;
    });
    source.addEventListener('error', () => {
      close();
      timer = setTimeout(() => {
        if (broken !== undefined) say(broken);
        open();
      }, waitMs);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    });
    for (const [name, listener] of Object.entries(listeners)) source.addEventListener(name, listener);
  };
  const toggle = () => (document.hidden ? close() : open());
  document.addEventListener('visibilitychange', toggle);
  endStream = () => {
    close();
    document.removeEventListener('visibilitychange', toggle);
  };
  open();
}

/** Adds the steps of a running analysis as they end. @param {HTMLElement} main @param {HTMLElement} list */
function watchRun(main, list) {
  let saidAt = 0;
  const listeners = {
    /** @param {MessageEvent} event */
    step: ({ data, lastEventId }) => {
      if (Number(lastEventId) <= Number(list.dataset.last)) return;
      list.dataset.last = lastEventId;
      for (const row of [...parse(data).body.children]) list.append(row);
    },
    /** @param {MessageEvent} event */
    state: ({ data }) => {
      const state = main.querySelector('#live-state');
      const text = parse(data).body.textContent ?? '';
      if (state === null || state.textContent === text) return;
      state.textContent = text;
      if (Date.now() - saidAt < SAY_EVERY_MS) return;
      saidAt = Date.now();
      say(text);
    },
    /** @param {MessageEvent} event */
    done: ({ data }) => {
      endStream();
      say('Answered.');
      void visit(data);
    },
  };
  holdStream(list, () => `${list.dataset.events}?after=${list.dataset.last}`, listeners, 'Reconnecting …');
}

/** Requests the page again when something changed. @param {HTMLElement} main */
function followPage(main) {
  let readAt = requestedAt;
  let timer = 0;
  const change = () => {
    if (timer !== 0) return;
    timer = setTimeout(
      () => {
        timer = 0;
        readAt = performance.now();
        if (main.isConnected && !document.hidden) void refresh(main, false);
      },
      Math.max(0, readAt + REFRESH_MS - performance.now()),
    );
  };
  let lostTimer = 0;
  const open = () => {
    clearTimeout(lostTimer);
    lostTimer = 0;
    showConnected(true);
  };
  const error = () => {
    lostTimer ||= setTimeout(() => showConnected(false), STALE_MS);
  };
  const address = () => {
    const events = new URL(main.dataset.events ?? '', location.href);
    events.searchParams.set('age', `${Math.round(performance.now() - readAt)}`);
    return events.href;
  };
  const settle = setTimeout(
    () => main.isConnected && holdStream(main, address, { change, open, error }),
    SETTLE_MS,
  );
  endStream = () => clearTimeout(settle);
}

/** Shows whether the page receives changes. @param {boolean} isConnected */
function showConnected(isConnected) {
  document.querySelector('#connected')?.toggleAttribute('hidden', !isConnected);
  document.querySelector('#disconnected')?.toggleAttribute('hidden', isConnected);
}

/**
 * Updates the live parts of the page. New rows of a list are added only when the user asks for them.
 * @param {HTMLElement} main
 * @param {boolean} all
 */
async function refresh(main, all) {
  const address = new URL(location.href);
  // Requests with these fields would claim the item.
  for (const name of ['edit', 'reject', 'armed']) address.searchParams.delete(name);
  const headers = { accept: 'text/html' };
  const answer = await fetch(address, { headers, signal: AbortSignal.timeout(60_000) }).catch(() => null);
  const text = answer?.ok && !answer.redirected ? await answer.text().catch(() => '') : '';
  if (text === '' || isBusy() || !main.isConnected) return;
  const page = parse(text);
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id);
    if (!(part instanceof HTMLElement) || fresh === null || isInUse(part)) continue;
    const rows = all ? [] : [...part.querySelectorAll('[data-row]')];
    if (rows.length > 0) changeRows(part, rows, [...fresh.querySelectorAll('[data-row]')]);
    else {
      const before = part.textContent;
      morph(part, fresh);
      const first = part.querySelector('p') ?? part;
      if (part.textContent !== before && part.dataset.say !== undefined)
        say(part.dataset.say || (first.textContent ?? '').trim());
    }
  }
}

/**
 * Tells whether the user typed in the part, selected something, or is about to decide.
 * @param {HTMLElement} part
 */
function isInUse(part) {
  const fields = [...part.querySelectorAll('input, textarea, select, [data-armed]')];
  return fields.some((field) => {
    if (field === document.activeElement) return true;
    if (field instanceof HTMLSelectElement)
      return [...field.options].some((one) => one.selected !== one.defaultSelected && one.index > 0);
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    return (
      !(field instanceof HTMLInputElement) ||
      field.value !== field.defaultValue ||
      field.checked !== field.defaultChecked
    );
  });
}

/**
 * Updates the rows that are already there, and counts the added and removed ones.
 * @param {HTMLElement} part
 * @param {Element[]} rows
 * @param {Element[]} fresh
 */
function changeRows(part, rows, fresh) {
  const came = fresh.filter((row) => !rows.some(({ id }) => id === row.id)).length;
  let last = fresh.length < rows.length ? rows.length : 0;
  for (const [at, row] of rows.entries()) {
    const same = fresh.find(({ id }) => id === row.id);
    if (same === undefined) continue;
    morph(row, same);
    last = Math.max(last, at);
  }
  // Rows after the last remaining one may only have moved to the next page.
  const gone = rows.filter((row, at) => at <= last && !fresh.some(({ id }) => id === row.id));
  for (const row of gone) row.setAttribute('data-gone', '');
  const words = [
    came > 0 && `${came} new ${part.dataset.live}${came > 1 ? 's' : ''}`,
    gone.length > 0 && `${gone.length} gone`,
  ];
  offer(part, words.filter(Boolean).join(', '));
}

/** @param {HTMLElement} part @param {string} words */
function offer(part, words) {
  const place = document.querySelector('#news');
  const text = words === '' ? '' : `${words} · Show`;
  if (place === null || place.textContent === text) return;
  const button = document.createElement('button');
  button.append(text);
  button.addEventListener('click', async () => {
    const known = [...part.querySelectorAll('[data-row]')].map(({ id }) => id);
    const main = part.closest('main');
    if (main === null) return;
    await refresh(main, true);
    place.replaceChildren();
    const first = [...part.querySelectorAll('[data-row]')].find(({ id }) => !known.includes(id)) ?? part;
    const target = first.querySelector('a') ?? main;
    target.focus();
  });
  place.replaceChildren(words === '' ? '' : button);
}

/**
 * Changes an element to equal a new one. Equal parts stay, with their focus, scroll position and open state.
 * @param {Element} old
 * @param {Element} fresh
 */
function morph(old, fresh) {
  const isKept = (/** @type {string} */ name) => name === 'open' || name === 'hidden';
  for (const name of old.getAttributeNames())
    if (!isKept(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (!isKept(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  let next = old.firstChild;
  for (const node of [...fresh.childNodes]) {
    const id = idOf(node);
    const found = id === '' ? next : [...old.children].find((one) => one.id === id);
    const kept = found?.nodeName === node.nodeName && idOf(found) === id ? found : undefined;
    if (kept instanceof Element && node instanceof Element) morph(kept, node);
    else if (kept !== undefined && kept.nodeValue !== node.nodeValue) kept.nodeValue = node.nodeValue;
    if (kept !== undefined && kept === next) next = kept.nextSibling;
    else old.insertBefore(kept ?? node, next);
  }
  while (next !== null) {
    const gone = next;
    next = gone.nextSibling;
    gone.remove();
  }
}

/** @param {Node} node */
function idOf(node) {
  return node instanceof Element ? node.id : '';
}

export function startLive() {
  arrivals.push((main) => {
    endStream();
    const list = main.querySelector('#steps[data-events]');
    if (list instanceof HTMLElement) watchRun(main, list);
    else if (main.dataset.events !== undefined) followPage(main);
  });
}
