import { arrivals, parse } from './core.js';
import { actions, findControl } from './keys.js';

/** Fields with suggestions. Without scripts, they have the browser's own list, or are plain search fields. */

/**
 * The maximum number of suggestions, and of pages and actions among them. Then the pause before the server is
 * asked, in milliseconds.
 */
const MOST_SHOWN = 10;
const MOST_HERE = 4;
const OFFER_REST_MS = 120;

let combos = 0;
let openPalette = () => {};

/** @typedef {{ text: string, note: string, take: () => void, isExact?: boolean }} Suggestion */
/** @typedef {{ open: (found: Suggestion[], first: number) => void, close: () => void }} SuggestionList */

/**
 * Creates the list below a field. Arrow keys move in it, Enter selects, and Escape closes it.
 * @param {HTMLInputElement} field
 * @returns {SuggestionList}
 */
function makeList(field) {
  const list = document.createElement('ul');
  combos += 1;
  list.className = 'suggest';
  list.id = `suggest-${combos}`;
  list.hidden = true;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-expanded', 'false');
  field.setAttribute('aria-controls', list.id);
  field.after(list);
  /** @type {Suggestion[]} */
  let shown = [];
  let chosen = -1;
  const choose = (/** @type {number} */ at) => {
    chosen = at;
    for (const [n, row] of [...list.children].entries()) row.setAttribute('aria-selected', String(n === at));
    const row = list.children[at];
    if (row === undefined) return field.removeAttribute('aria-activedescendant');
    field.setAttribute('aria-activedescendant', row.id);
    row.scrollIntoView({ block: 'nearest' });
  };
  const close = () => {
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    choose(-1);
  };
  const open = (/** @type {Suggestion[]} */ found, /** @type {number} */ first) => {
    shown = found.slice(0, MOST_SHOWN);
    list.replaceChildren();
    for (const [at, one] of shown.entries()) list.append(makeRow(one, `${list.id}-${at}`));
    list.hidden = shown.length === 0;
    field.setAttribute('aria-expanded', String(!list.hidden));
    choose(shown.length === 0 ? -1 : first);
  };
  field.addEventListener('blur', close);
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || list.hidden) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) choose((chosen + step + shown.length) % shown.length);
    else if (event.key === 'Enter' && chosen >= 0) shown[chosen]?.take();
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  });
  return { open, close };
}

/** @param {Suggestion} suggestion @param {string} id */
function makeRow({ text, note, take }, id) {
  const row = document.createElement('li');
  const meta = document.createElement('span');
  row.id = id;
  row.setAttribute('role', 'option');
  meta.className = 'meta';
  meta.append(note);
  row.append(text, meta);
  // Without this, pressing the mouse button would take the focus from the field.
  row.addEventListener('pointerdown', (event) => event.preventDefault());
  row.addEventListener('click', take);
  return row;
}

/**
 * Returns the typed text in the form in which it is compared with suggestions. @param {HTMLInputElement}
 * field
 */
const typedInto = (field) => field.value.trim().toLowerCase();

/**
 * Adds suggestions to a field from its own list of values. With `data-first`, Enter selects the first one and
 * submits the form.
 * @param {HTMLInputElement} field
 */
function makeOptionField(field) {
  const options = [...(field.list?.options ?? [])].map(({ value, label }) => ({ value, label }));
  field.removeAttribute('list');
  const isFirst = 'first' in field.dataset;
  const list = makeList(field);
  const take = (/** @type {string} */ value) => () => {
    field.value = value;
    list.close();
    if (isFirst) field.form?.requestSubmit();
  };
  const suggest = () => {
    const typed = typedInto(field);
    const found = options.filter(({ value }) => value.toLowerCase().includes(typed));
    const rows = found.map(({ value, label }) => ({
      text: value,
      note: label === value ? '' : label,
      take: take(value),
    }));
    list.open(rows, isFirst && typed !== '' ? 0 : -1);
  };
  field.addEventListener('input', suggest);
  field.addEventListener('focus', suggest);
}

/**
 * Adds suggestions to the search field of the frame: the pages and actions of this page at once, then the
 * server's results.
 * @param {HTMLInputElement} field
 */
function makePalette(field) {
  const list = makeList(field);
  const isAbout = (/** @type {string} */ typed) =>
    typedInto(field) === typed && document.activeElement === field;
  const suggest = async () => {
    const typed = typedInto(field);
    const here = findHere(typed).slice(0, typed === '' ? MOST_SHOWN : MOST_HERE);
    const words = `Search failures for “${field.value.trim()}”`;
    const search = { text: words, note: '', take: () => field.form?.requestSubmit() };
    // If the text begins the name of a page, that page comes first. Otherwise the search comes first.
    const named = here.findIndex(({ text }) => typed !== '' && text.toLowerCase().startsWith(typed));
    const known = typed === '' ? here : [...here, search];
    list.open(known, named >= 0 || typed === '' ? named : here.length);
    if (typed.length < 2) return;
    const found = await findThere(`${field.dataset.offers}?q=${encodeURIComponent(field.value.trim())}`);
    const exact = found.findIndex(({ isExact }) => isExact);
    if (isAbout(typed) && found.length > 0)
      list.open([...known, ...found], exact >= 0 ? known.length + exact : Math.max(named, here.length));
  };
  let timer = 0;
  field.addEventListener('input', () => {
    clearTimeout(timer);
    // Enter uses the typed text, not a suggestion that only begins with it.
    list.close();
    timer = setTimeout(() => void suggest(), OFFER_REST_MS);
  });
  openPalette = () => {
    field.focus();
    field.select();
    void suggest();
  };
}

/** Returns the links that the server suggests. @param {string} address @returns {Promise<Suggestion[]>} */
async function findThere(address) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) return [];
  return [...parse(await answer.text()).querySelectorAll('a')].map((link) => ({
    text: link.firstChild?.textContent ?? '',
    note: link.querySelector('.meta')?.textContent ?? '',
    take: () => location.assign(link.getAttribute('href') ?? '/'),
    isExact: 'exact' in link.dataset,
  }));
}

/**
 * Returns the pages of the menu and the actions of this page. @param {string} typed @returns {Suggestion[]}
 */
function findHere(typed) {
  const pages = [...document.querySelectorAll('.nav li a')].map((link) => ({
    text: (link.childNodes[1]?.textContent ?? '').trim() || (link.textContent ?? '').trim(),
    note: 'page',
    take: () => link instanceof HTMLElement && link.click(),
  }));
  const acts = [...document.querySelectorAll('#keys [data-binding]')].flatMap((row) => {
    const { binding = '', keys = '' } = row instanceof HTMLElement ? row.dataset : {};
    const control = binding.startsWith('go-') ? null : findControl(binding);
    const text = row.querySelector('dd')?.textContent ?? '';
    return control instanceof HTMLButtonElement || control instanceof HTMLAnchorElement
      ? [{ text: text.charAt(0).toUpperCase() + text.slice(1), note: keys, take: () => control.click() }]
      : [];
  });
  const seen = new Set();
  return [...pages, ...acts, ...findButtons()].filter(({ text }) => {
    const isNew = !seen.has(text) && text.toLowerCase().includes(typed);
    seen.add(text);
    return isNew;
  });
}

/**
 * Returns the buttons of this page that act at once. A button of each row of a list does not say which row it
 * means, so it is left out. @returns {Suggestion[]}
 */
function findButtons() {
  const buttons = [...document.querySelectorAll('main form[method=post] > button:not([data-action])')];
  const texts = buttons.map((button) => (button.textContent ?? '').trim());
  return buttons.flatMap((button, at) => {
    const text = texts[at] ?? '';
    const isClear = texts.indexOf(text) === texts.lastIndexOf(text) && button.checkVisibility();
    return isClear && button instanceof HTMLElement
      ? [{ text, note: 'on this page', take: () => button.click() }]
      : [];
  });
}

export function startCombos() {
  actions.palette = () => {
    openPalette();
    return true;
  };
  arrivals.push(() => {
    for (const field of document.querySelectorAll('.combo input:not([role])'))
      if (field instanceof HTMLInputElement)
        (field.dataset.offers === undefined ? makeOptionField : makePalette)(field);
  });
}
