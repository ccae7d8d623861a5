import { type Html, html, type Shown } from './html.ts';

/** The part of the console in which a key works. */
export type Place = 'queue' | 'item' | 'log' | 'page';

/**
 * A key with its description and its action. The action is the control with that `data-action`, or the
 * browser handler of that name.
 */
export interface KeyBinding {
  /** The key as in `KeyboardEvent.key`. Spaces separate two keys in a row, and bars separate alternatives. */
  readonly keys: string;
  readonly action: string;
  readonly places: readonly Place[];
  readonly does: string;
  /** True if the key works while a person types. Only such a key may be combined with Ctrl or Cmd. */
  readonly whileTyping?: true;
}

const EVERYWHERE: readonly Place[] = ['queue', 'item', 'log', 'page'];

/**
 * All keys. Handlers, badges and the list of keys are derived from this table. Enter, Space, Backspace,
 * Delete and the arrow keys never decide, because people may press them in the belief that they are in a text
 * field.
 */
export const KEYS: readonly KeyBinding[] = [
  { keys: 'a', action: 'accept', places: ['item'], does: 'accept, and go to the next item' },
  { keys: 'c', action: 'correct', places: ['item'], does: 'correct' },
  { keys: 'x', action: 'reject', places: ['item'], does: 'reject, then 1–4 for the reason' },
  {
    keys: '1|2|3|4|5',
    action: 'choose',
    places: ['item'],
    does: 'the category, or the reason of a rejection',
  },
  {
    keys: 'Ctrl+Enter',
    action: 'save',
    places: ['item'],
    does: 'save, and go to the next item',
    whileTyping: true,
  },
  { keys: 's', action: 'skip', places: ['item'], does: 'skip: it stays in the queue' },
  { keys: 'u', action: 'undo', places: ['item', 'queue', 'page'], does: 'undo what I did last' },
  { keys: 'j', action: 'next', places: ['item', 'queue'], does: 'next item, or next row' },
  { keys: 'k', action: 'previous', places: ['item', 'queue'], does: 'previous item, or previous row' },
  { keys: 'n', action: 'next-evidence', places: ['item', 'log'], does: 'next evidence or hit' },
  { keys: 'p', action: 'previous-evidence', places: ['item', 'log'], does: 'previous evidence or hit' },
  { keys: 'e', action: 'expand', places: ['item', 'log'], does: 'show more lines around the evidence' },
  { keys: 'o', action: 'open', places: ['item', 'queue'], does: 'open the build, or the row' },
  { keys: 'x', action: 'pick', places: ['queue'], does: 'select the row, or not' },
  { keys: 'f', action: 'filter', places: ['queue', 'page'], does: 'filter the list' },
  { keys: 'l', action: 'full-log', places: ['item', 'log'], does: 'the full log, or back to the item' },
  { keys: 't', action: 'timestamps', places: ['item', 'log'], does: 'timestamps on or off' },
  { keys: 'q', action: 'ask', places: ['item'], does: 'ask about it' },
  { keys: '/', action: 'search', places: EVERYWHERE, does: 'search all failures, or in a log its lines' },
  { keys: 'g o', action: 'go-overview', places: EVERYWHERE, does: 'go to Overview' },
  { keys: 'g r', action: 'go-review', places: EVERYWHERE, does: 'go to Review' },
  { keys: 'g c', action: 'go-causes', places: EVERYWHERE, does: 'go to Causes' },
  { keys: 'g b', action: 'go-builds', places: EVERYWHERE, does: 'go to Builds' },
  { keys: 'g t', action: 'go-tests', places: EVERYWHERE, does: 'go to Tests' },
  { keys: 'g i', action: 'go-insights', places: EVERYWHERE, does: 'go to Insights' },
  {
    keys: 'Ctrl+k',
    action: 'palette',
    places: EVERYWHERE,
    does: 'go to a page, build, test or cause, or do something here',
    whileTyping: true,
  },
  { keys: '?', action: 'keys', places: EVERYWHERE, does: 'this list' },
  {
    keys: 'Escape',
    action: 'leave',
    places: EVERYWHERE,
    does: 'close, leave a field, or cancel',
    whileTyping: true,
  },
];

/** Returns the keys that work here, in the order of the table. */
export function listKeys(place: Place): readonly KeyBinding[] {
  return KEYS.filter(({ places }) => places.includes(place));
}

/** Returns the key of an action for its badge, or null if the action has none. */
function findKey(action: string): string | null {
  return KEYS.find((binding) => binding.action === action)?.keys ?? null;
}

/** Renders the badge of an action's key, or nothing if it has none. */
export function badge(action: string): Html {
  const key = findKey(action);
  return html`${key !== null && html` <kbd aria-hidden="true">${key}</kbd>`}`;
}

/** Renders a link that can be followed by a key. */
export function actionLink(action: string, address: string, words: Shown): Html {
  return html`<a class="btn" data-action="${action}" href="${address}">${words}${badge(action)}</a>`;
}

/** Renders the link to the keys that work on the page. */
export function keysLink(): Html {
  return html`<a class="btn bare only-wide" data-action="keys" href="/me#keys-here">Keys${badge('keys')}</a>`;
}

/** Renders a button that can be pressed by a key. `name` and `value` tell the buttons of one form apart. */
export function actionButton(
  action: string,
  words: Shown,
  field?: { readonly name: string; readonly value: string },
): Html {
  const named = field === undefined ? null : html` name="${field.name}" value="${field.value}"`;
  return html`<button data-action="${action}"${named}>${words}${badge(action)}</button>`;
}

/** Renders a form that posts these fields, with its buttons. */
export function postForm(address: string, fields: Fields, controls: Shown): Html {
  return html`<form method="post" action="${address}">${renderHiddenFields(fields)}${controls}</form>`;
}

/** Renders the form that undoes the last change. */
export function renderUndo(address: string, fields: Fields = {}): Html {
  return postForm(address, fields, actionButton('undo', 'Undo'));
}

type Fields = Readonly<Record<string, string | number | undefined>>;

/** Renders the hidden fields of a form. Fields with undefined values are omitted. */
export function renderHiddenFields(fields: Fields): Html[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}">`],
  );
}

/** Renders the choices of a `select`, each with its own label if that differs from its value. */
export function renderOptions(
  choices: readonly (string | number | readonly [value: string, words: string])[],
  chosen: Shown,
): Html[] {
  return choices.map((choice) => {
    const [value, words] = typeof choice === 'object' ? choice : [choice, choice];
    return html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`;
  });
}

/** Renders links between related pages. `look` contains additional attributes of the `nav`. */
export function tabs(
  label: string,
  links: readonly { readonly address: string; readonly words: Shown; readonly isHere: boolean }[],
  look: Shown = null,
): Html {
  const items = links.map(
    ({ address, words, isHere }) =>
      html`<a href="${address}"${isHere && html` aria-current="page"`}>${words}</a>`,
  );
  return html`<nav class="tabs" aria-label="${label}"${look}>${items}</nav>`;
}

/** Renders the position of a page, from the outermost place to the innermost. */
export function crumbs(places: readonly Shown[]): Html {
  const crumbs = places.filter((place) => place !== null && place !== undefined && place !== false);
  return html`<nav aria-label="Where you are"><ol class="crumbs">${crumbs.map(
    (place) => html`<li>${place}</li>`,
  )}</ol></nav>`;
}

/**
 * Renders links to the previous and next page of a list, or nothing if there are none. `look` contains
 * additional attributes of the links.
 */
export function pager(
  { offset, size, more }: { readonly offset: number; readonly size: number; readonly more: boolean },
  at: (offset: number) => string,
  [before, after]: readonly [string, string] = ['Newer', 'Older'],
  look: Shown = null,
): Html {
  const link = (rel: string, to: number, words: string) =>
    html`<a rel="${rel}"${look} href="${at(to)}">${words}</a>`;
  const links = [
    offset > 0 && link('prev', Math.max(0, offset - size), before),
    more && link('next', offset + size, after),
  ];
  return html`${(offset > 0 || more) && html`<nav class="pages" aria-label="Pages">${links}</nav>`}`;
}

/** Renders a field for a UTC day. */
export function dayField(name: string, day: string | undefined, words = name): Html {
  return html`<label>${words} <input type="date" name="${name}" value="${day ?? ''}"></label>`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Formats a UTC day: "12 Nov", followed by the year if it is not the current one. */
export function formatDay(iso: string): string {
  const year = iso.slice(0, 4);
  const words = `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1]}`;
  return year === String(new Date().getUTCFullYear()) ? words : `${words} ${year}`;
}

/** Renders a time for people in UTC, with the exact time in its tooltip and in `datetime`. */
export function renderTime(iso: string): Html {
  return html`<time datetime="${iso}"
    title="${iso.slice(0, 16).replace('T', ' ')} UTC">${formatMoment(iso)}</time>`;
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const DAY_MS = 86_400_000;

/** Formats a time in UTC: "14:38" today, "Mon 14:38" in the six days before, else "12 Nov 14:38". */
function formatMoment(iso: string): string {
  const time = iso.slice(11, 16);
  const today = Math.floor(Date.now() / DAY_MS);
  const day = Math.floor(Date.parse(iso) / DAY_MS);
  if (day === today) return time;
  const isRecent = day < today && day > today - 7;
  return `${isRecent ? WEEKDAYS[new Date(iso).getUTCDay()] : formatDay(iso)} ${time}`;
}

/** Formats a length of time: "26 min", "2 h 23 min", "3 d 4 h". */
export function formatSpan(milliseconds: number): string {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  const two = (large: number, unit: string, small: number, part: string) =>
    small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${part}`;
  if (minutes < 60) return minutes === 0 ? '< 1 min' : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? two(hours, 'h', minutes % 60, 'min')
    : two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** Formats how long ago a time was: "4 min", "3 h", "12 d". */
export function formatAge(iso: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(iso)) / 60_000));
  if (minutes < 60) return minutes === 0 ? '< 1 min' : `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}
