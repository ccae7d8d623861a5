import { z } from 'zod';
import type { Cause } from '../../domain/cause.ts';
import { renderHiddenFields } from '../controls.ts';
import { type Html, html } from '../html.ts';

/** The causes of a row, as a check box sends them: version, repository and fingerprint of each. */
export const Picks = z
  .string()
  .max(50_000)
  .regex(/^\d{1,9} \S+ \S+(?:,\d{1,9} \S+ \S+)*$/)
  .transform((text) =>
    text.split(',').map((part) => {
      const [version, repository = '', fingerprint = ''] = part.split(' ');
      return { version: Number(version), repository: decode(repository), fingerprint: decode(fingerprint) };
    }),
  );

/** Decodes a part of an address. Returns a part that is not encoded correctly unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Renders the check box of a row, for all its repositories. It belongs to the form of `bulkForm`. */
export function pickBox(causes: readonly Cause[], title: string): Html {
  const value = causes
    .map(({ version, repository, fingerprint }) =>
      [version, repository, fingerprint].map((field) => encodeURIComponent(field)).join(' '),
    )
    .join(',');
  return html`<label class="pick-box above"><input type="checkbox" name="pick" value="${value}" form="bulk"
    data-pick><span class="seen-not">Select ${title}</span></label>`;
}

/**
 * Renders the actions on the selected causes. They are visible only if there are any. `back` is the list to
 * return to, and `people` are the possible assignees.
 */
export function bulkForm(back: string, causes: readonly Cause[], people: readonly string[]): Html {
  const act = (what: string, words: string) => html`<button name="what" value="${what}">${words}</button>`;
  const targets = causes.map(
    ({ fingerprint, title, repository }) =>
      html`<option value="${fingerprint}">${title === '' ? fingerprint : title} · ${repository}</option>`,
  );
  return html`<form method="post" action="/causes/bulk" id="bulk" class="picked"
    aria-label="Selected causes">${renderHiddenFields({
      back,
    })}<span class="meta">Selected causes:</span>${act('taken', 'Take')}${act('acknowledged', 'Acknowledge')}${act(
      'fixed',
      'Mark as fixed',
    )}<details class="menu"><summary class="btn">Assign</summary><div>${personField(people, false)}${act(
      'assigned',
      'Assign',
    )}</div></details><details class="menu"><summary class="btn">Mute</summary><div><label>days <input
    name="days"
    type="number" min="1" max="365" placeholder="7"></label><label>or until seen again <input
      name="occurrences" type="number"
    min="1" max="10000"> times</label><label>because <input name="reason" maxlength="500"></label>${act(
      'muted',
      'Mute',
    )}</div></details><details class="menu"><summary class="btn">Merge</summary><div><label>into <select
      name="into"><option
    value="">the oldest one selected</option>${targets}</select></label>${act('merged', 'Merge')}</div></details></form>`;
}

/** Renders the field for a person or team, with suggestions. */
export function personField(people: readonly string[], isRequired: boolean, value = ''): Html {
  return html`<span class="combo"><input name="assignee" aria-label="Assign to" list="people" maxlength="100"
    value="${value}" autocomplete="off" placeholder="Name or team"${isRequired && html` required`}><datalist
    id="people">${people.map((name) => html`<option value="${name}"></option>`)}</datalist></span>`;
}
