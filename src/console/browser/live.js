import { arrivals, parse, say, visit } from './core.js';

/** A run that goes on: its steps are added as they end. One stream a visible tab: browsers allow six connections to a host. */

/** How long a broken connection is nobody's business, and how often a state is read aloud at most, in milliseconds. */
const PATIENCE_MS = 3000;
const SAY_EVERY_MS = 5000;

/** @param {HTMLElement} main */
function watch(main) {
  const list = main.querySelector('#steps[data-events]');
  if (!(list instanceof HTMLElement)) return;
  /** @type {EventSource | null} */
  let source = null;
  let late = 0;
  let saidAt = 0;
  const close = () => {
    source?.close();
    source = null;
  };
  const open = () => {
    if (source !== null || !list.isConnected || document.hidden) return;
    source = new EventSource(`${list.dataset.events}?after=${list.dataset.last}`);
    source.addEventListener('open', () => clearTimeout(late));
    source.addEventListener('error', () => {
      clearTimeout(late);
      late = setTimeout(() => say('Reconnecting …'), PATIENCE_MS);
    });
    source.addEventListener('step', ({ data, lastEventId }) => {
      if (Number(lastEventId) <= Number(list.dataset.last)) return;
      list.dataset.last = lastEventId;
      for (const row of [...parse(data).body.children]) list.append(row);
    });
    source.addEventListener('state', ({ data }) => {
      if (!list.isConnected) return close();
      const state = main.querySelector('#live-state');
      const text = parse(data).body.textContent ?? '';
      if (state === null || state.textContent === text) return;
      state.textContent = text;
      if (Date.now() - saidAt < SAY_EVERY_MS) return;
      saidAt = Date.now();
      say(text);
    });
    source.addEventListener('done', ({ data }) => {
      close();
      say('Answered.');
      void visit(data);
    });
  };
  const toggle = () => {
    if (!list.isConnected) {
      close();
      document.removeEventListener('visibilitychange', toggle);
    } else if (document.hidden) close();
    else open();
  };
  document.addEventListener('visibilitychange', toggle);
  open();
}

export function startLive() {
  arrivals.push(watch);
}
