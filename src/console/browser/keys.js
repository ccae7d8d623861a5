import { isBusy } from './core.js';

/** Keyboard shortcuts. The page lists them in `#keys`; other keys do nothing. */

/**
 * Handlers of actions that do more than press a control. They return `true` if they did something.
 * @type {Record<string, (key: string) => boolean>}
 */
export const actions = { keys: openList, leave };

/** The maximum time between the two keys of a sequence, in milliseconds. */
const PREFIX_MS = 1500;
let prefix = '';
let prefixTimer = 0;

/** @param {string} action @param {string} [key] */
export function findControl(action, key) {
  const controls = [...document.querySelectorAll(`[data-action="${action}"]`)];
  const fitting =
    action === 'choose'
      ? controls.filter((one) => one instanceof HTMLElement && one.dataset.key === key)
      : controls;
  // The tools of a log may be collapsed on a narrow screen. Their keys work even then.
  const isThere = (/** @type {Element} */ one) => one.checkVisibility() || one.closest('.tools') !== null;
  return (
    fitting.find((one) => one instanceof HTMLElement && isThere(one) && !one.hasAttribute('disabled')) ?? null
  );
}

/** @param {string} action @param {string} key */
function act(action, key) {
  if (actions[action]?.(key)) return true;
  const control = findControl(action, key);
  if (!(control instanceof HTMLElement)) return false;
  if (isTypedInto(control)) control.focus();
  else control.click();
  return true;
}

function openList() {
  const list = document.querySelector('#keys');
  if (list instanceof HTMLDialogElement) list.showModal();
  return true;
}

function leave() {
  const active = document.activeElement;
  if (active instanceof HTMLElement && isTypedInto(active)) {
    active.blur();
    return true;
  }
  return false;
}

/** @param {Element | null} element */
function isTypedInto(element) {
  if (element instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'submit', 'reset'].includes(element.type);
  return (
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement ||
    (element instanceof HTMLElement && element.isContentEditable)
  );
}

/** Returns the action of a key on this page. @param {string} pressed @param {boolean} typing */
function actionOf(pressed, typing) {
  const off = document.documentElement.dataset.keys === 'off';
  for (const row of document.querySelectorAll('#keys [data-keys]')) {
    if (!(row instanceof HTMLElement) || ((typing || off) && row.dataset.typing === undefined)) continue;
    if ((row.dataset.keys ?? '').split('|').includes(pressed)) return row.dataset.binding ?? null;
  }
  return null;
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (
    event.repeat ||
    event.isComposing ||
    event.defaultPrevented ||
    document.querySelector('dialog[open]') !== null
  )
    return;
  const held = event.ctrlKey || event.metaKey;
  if (event.altKey || (held && event.key !== 'Enter' && event.key !== 'k')) return;
  const active = document.activeElement;
  // Enter never decides, but browsers would submit the form.
  if (
    event.key === 'Enter' &&
    !held &&
    active instanceof HTMLInputElement &&
    active.form?.id === 'correct-form'
  )
    return event.preventDefault();
  const typing = isTypedInto(active);
  const key = held ? `Ctrl+${event.key}` : event.key;
  const pressed = prefix === '' ? key : `${prefix} ${key}`;
  clearTimeout(prefixTimer);
  prefix = '';
  if (pressed === 'g' && !typing && document.documentElement.dataset.keys !== 'off') {
    prefix = 'g';
    prefixTimer = setTimeout(() => {
      prefix = '';
    }, PREFIX_MS);
    return;
  }
  const action = actionOf(pressed, typing);
  if (action === null || isBusy()) return;
  if (act(action, key)) event.preventDefault();
}

export function startKeys() {
  document.addEventListener('keydown', onKey);
}
