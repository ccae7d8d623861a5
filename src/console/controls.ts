import { type Html, html, type Shown } from './html.ts';
import { keyOf } from './keys.ts';

/** The badge of an action's key; nothing where it has none. */
export function badge(action: string): Html {
  const key = keyOf(action);
  return html`${key !== null && html` <kbd aria-hidden="true">${key}</kbd>`}`;
}

/** A link that a key presses. */
export function actionLink(action: string, address: string, words: Shown): Html {
  return html`<a class="button" data-action="${action}" href="${address}">${words}${badge(action)}</a>`;
}

/** A button that a key presses. Give `name` and `value` where its form tells buttons apart by them. */
export function actionButton(action: string, words: Shown, field?: { readonly name: string; readonly value: string }): Html {
  const named = field === undefined ? null : html` name="${field.name}" value="${field.value}"`;
  return html`<button data-action="${action}"${named}>${words}${badge(action)}</button>`;
}

/** A form that posts these fields, with its buttons. */
export function postForm(address: string, fields: Readonly<Record<string, string | number>>, controls: Shown): Html {
  const hidden = Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  return html`<form method="post" action="${address}">${hidden}${controls}</form>`;
}

/** A time as people read it, in UTC, exact in its tooltip and for machines. */
export function timeOf(iso: string): Html {
  return html`<time datetime="${iso}" title="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}

/** "4 min", "3 h", "12 d": how long ago. */
export function ageOf(iso: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(iso)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}
