import { arrivals, parse, say } from './core.js';
import { actions } from './keys.js';

/**
 * Logs: opens gaps in place, marks and copies lines, and moves between evidence and hits with n and p.
 * Without scripts, all of these are links or forms.
 */

/** The maximum number of rows on a page. Rows that are farther away become a gap again. */
const MAX_LOG_ROWS = 3000;
/** The number of lines that such a gap shows at a time. */
const GAP_STEP = 200;

const opening = new IntersectionObserver(
  (seen) => {
    for (const { isIntersecting, target } of seen) {
      const link = isIntersecting ? target.querySelector('a') : null;
      if (link !== null) void openGap(link, false);
    }
  },
  { rootMargin: '300px' },
);
/** The line at which a marked range began. */
let markedFrom = 0;
/** @type {Element | null} */
let visited = null;

export function startLog() {
  arrivals.push(prepareLog);
  document.addEventListener('click', onLogClick);
  const before = { ...actions };
  Object.assign(actions, {
    'next-evidence': (/** @type {string} */ key) => walk(1) || (before['next-evidence']?.(key) ?? false),
    'previous-evidence': (/** @type {string} */ key) =>
      walk(-1) || (before['previous-evidence']?.(key) ?? false),
    expand,
    leave: (/** @type {string} */ key) => (before.leave?.(key) ?? false) || unmark(),
  });
}

/** @param {HTMLElement} main */
function prepareLog(main) {
  opening.disconnect();
  visited = null;
  for (const gap of main.querySelectorAll('[data-opening]')) opening.observe(gap);
  for (const button of main.querySelectorAll('button[data-copy]')) button.removeAttribute('hidden');
  if (document.body.dataset.place !== 'log') return;
  const { searchParams } = new URL(location.href);
  if (location.hash === '' && !['q', 'from', 'view'].some((name) => searchParams.has(name)))
    main.querySelector('.lines .cited')?.scrollIntoView({ block: 'center' });
  const [, first, last = first] = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash) ?? [];
  if (first === undefined || last === undefined) return;
  const lines = new URL(location.href).searchParams.get('L');
  if (last === first && (lines !== null || document.getElementById(`L${first}`) !== null)) return;
  location.replace(placeOf(Math.min(+first, +last), Math.max(+first, +last)));
}

/** Returns the address that shows and marks these lines. @param {number} from @param {number} to */
function placeOf(from, to) {
  const address = new URL(location.href);
  for (const name of ['from', 'to', 'view', 'hit']) address.searchParams.delete(name);
  address.searchParams.set('L', from === to ? `${from}` : `${from}-${to}`);
  address.hash = `L${from}`;
  return address.href;
}

/** @param {MouseEvent} event */
function onLogClick(event) {
  const target = event.target instanceof Element ? event.target : null;
  const link = target?.closest('.lines a') ?? null;
  const copy = target?.closest('button[data-copy]');
  if (copy instanceof HTMLElement) void copyOf(copy.dataset.copy === 'lines');
  if (target?.closest('a[data-walk]') && walk(1)) return event.preventDefault();
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.button !== 0) return;
  if (link.dataset.gap !== undefined) {
    event.preventDefault();
    void openGap(link, true);
  } else if (link.matches('.n') && document.body.dataset.place === 'log') {
    event.preventDefault();
    markTo(lineOf(link.closest('li')), event.shiftKey);
  }
}

/** @param {Element | null | undefined} row */
function lineOf(row) {
  return Number(row instanceof HTMLElement ? row.dataset.line : 0);
}

/** Replaces a gap by its lines. @param {HTMLAnchorElement} link @param {boolean} focus */
async function openGap(link, focus) {
  const gap = link.closest('li');
  if (gap === null || gap.ariaBusy === 'true') return;
  gap.ariaBusy = 'true';
  opening.unobserve(gap);
  const address = new URL(link.href);
  address.searchParams.set('part', link.dataset.gap ?? '');
  const answer = await fetch(address).catch(() => null);
  const rows = answer?.ok ? [...parse(await answer.text()).querySelectorAll('body > ol > li')] : [];
  if (rows.length === 0) {
    gap.ariaBusy = null;
    return say('These lines could not be read. Try again.');
  }
  const list = gap.parentElement;
  keepingPlace(() => {
    for (const row of rows) gap.before(row);
    gap.remove();
    for (const row of rows) if ('opening' in gap.dataset && row.matches('.gap')) observeGap(row);
    foldFar(list);
  });
  const first = rows.find((row) => lineOf(row) > 0)?.querySelector('.n');
  if (focus && first instanceof HTMLElement) first.focus();
}

/** @param {Element} gap */
function observeGap(gap) {
  gap.setAttribute('data-opening', '');
  opening.observe(gap);
}

/** Changes rows without moving the lines in view. @param {() => void} change */
function keepingPlace(change) {
  const middle = innerHeight / 2;
  const rows = [...document.querySelectorAll('.lines li[data-line]')];
  const still = rows.find(
    (row) => row.getBoundingClientRect().bottom > 0 && row.getBoundingClientRect().top < middle,
  );
  const before = still?.getBoundingClientRect().top ?? 0;
  change();
  const scroller = still?.closest('.column, .split > *, main');
  if (still?.isConnected && scroller) scroller.scrollTop += still.getBoundingClientRect().top - before;
  const shown = document.querySelector('#shown');
  if (shown !== null)
    shown.textContent = document.querySelectorAll('.lines li[data-line]').length.toLocaleString('en-US');
}

/**
 * Collapses rows beyond the maximum into a gap, at the end that is farther away. @param {Element | null} list
 */
function foldFar(list) {
  const rows = [...(list?.children ?? [])];
  const surplus = rows.filter((row) => lineOf(row) > 0).length - MAX_LOG_ROWS;
  const [top, bottom] = [rows[0], rows.at(-1)];
  if (list === null || surplus <= 0 || top === undefined || bottom === undefined) return;
  const isTop = -top.getBoundingClientRect().top > bottom.getBoundingClientRect().bottom - innerHeight;
  const folded = [];
  let left = surplus + GAP_STEP;
  for (const row of isTop ? rows : rows.reverse()) {
    if (left <= 0 && lineOf(row) > 0) break;
    folded.push(row);
    if (lineOf(row) > 0) left -= 1;
  }
  const numbers = folded.flatMap((row) =>
    row instanceof HTMLElement ? [row.dataset.line ?? [row.dataset.from, row.dataset.to]].flat() : [],
  );
  const ends = numbers.map(Number).sort((a, b) => a - b);
  const known = list.querySelector('a.n, a[data-gap]');
  const gap = gapOf(
    known instanceof HTMLAnchorElement ? known.href : location.href,
    ends[0] ?? 0,
    ends.at(-1) ?? 0,
    isTop,
  );
  for (const row of folded) row.remove();
  list[isTop ? 'prepend' : 'append'](gap);
  if (rows.some((row) => row.hasAttribute('data-opening'))) observeGap(gap);
}

/** @param {string} log @param {number} from @param {number} to @param {boolean} isTop */
function gapOf(log, from, to, isTop) {
  const [row, link, address] = [document.createElement('li'), document.createElement('a'), new URL(log)];
  for (const name of ['L', 'view', 'hit']) address.searchParams.delete(name);
  address.searchParams.set('from', `${isTop ? Math.max(from, to - GAP_STEP + 1) : from}`);
  address.searchParams.set('to', `${isTop ? to : Math.min(to, from + GAP_STEP - 1)}`);
  address.hash = '';
  const count = to - from + 1;
  Object.assign(link, {
    href: address.href,
    textContent: `⋯ ${count.toLocaleString('en-US')} lines not shown: show ${Math.min(count, GAP_STEP)}`,
  });
  Object.assign(link.dataset, { gap: `${from}-${to}` });
  Object.assign(row.dataset, { from, to });
  row.className = 'gap';
  row.append(link);
  return row;
}

/** Marks a line, or all lines from the one marked before. @param {number} line @param {boolean} extend */
function markTo(line, extend) {
  if (!extend || markedFrom === 0)
    markedFrom = lineOf(extend ? document.querySelector('.lines .sel') : null) || line;
  const [from, to] = [Math.min(markedFrom, line), Math.max(markedFrom, line)];
  for (const row of document.querySelectorAll('.lines li[data-line]'))
    row.classList.toggle('sel', lineOf(row) >= from && lineOf(row) <= to);
  history.replaceState(null, '', placeOf(from, to));
  say(from === to ? `Line ${from} is marked.` : `Lines ${from} to ${to} are marked.`);
}

function unmark() {
  const rows = [...document.querySelectorAll('.lines .sel')];
  for (const row of rows) row.classList.remove('sel');
  if (rows.length === 0) return false;
  const address = new URL(placeOf(lineOf(rows[0]), lineOf(rows[0])));
  address.searchParams.delete('L');
  history.replaceState(null, '', address.href.split('#')[0]);
  markedFrom = 0;
  say('No line is selected.');
  return true;
}

/** @param {boolean} lines */
async function copyOf(lines) {
  const rows = [...document.querySelectorAll('.lines .sel code')];
  if (lines && rows.length === 0)
    return say('Select lines first: click a line number, then Shift-click another.');
  const text = lines ? rows.map(textOfRow).join('\n') : location.href;
  await navigator.clipboard.writeText(text).then(
    () => say(lines ? `${rows.length} lines copied.` : 'Link copied.'),
    () => say('The browser does not allow copying.'),
  );
}

/** @param {Element} row */
function textOfRow(row) {
  const copy = /** @type {Element} */ (row.cloneNode(true));
  for (const extra of copy.querySelectorAll('.ts, .rest')) extra.remove();
  return copy.textContent ?? '';
}

/** Moves to the next piece of evidence or hit. @param {number} step */
function walk(step) {
  const stops = [...document.querySelectorAll('main .lines :is([data-evidence], li:has(mark))')];
  if (stops.length === 0 || document.body.dataset.place !== 'log') return false;
  const here = document.activeElement?.closest('.lines li') ?? visited;
  const at = here === null ? -1 : stops.indexOf(here);
  const next =
    stops[at === -1 ? (step > 0 ? 0 : stops.length - 1) : (at + step + stops.length) % stops.length];
  if (!(next instanceof HTMLElement)) return false;
  visited = next;
  next.scrollIntoView();
  const focus = next.querySelector('.n');
  if (focus instanceof HTMLElement) focus.focus({ preventScroll: true });
  return true;
}

/** Opens the gaps around the current piece of evidence. */
function expand() {
  const row =
    (document.activeElement?.closest('.lines li') ?? visited)?.closest('.lines li') ??
    document.querySelector('.lines [data-evidence]');
  let opened = false;
  for (const side of /** @type {const} */ (['previousElementSibling', 'nextElementSibling'])) {
    let gap = row?.[side];
    while (gap && !gap.matches('.gap')) gap = gap[side];
    const link = gap?.querySelector(side === 'previousElementSibling' ? 'a:last-of-type' : 'a');
    if (!(link instanceof HTMLAnchorElement)) continue;
    void openGap(link, false);
    opened = true;
  }
  return opened;
}
