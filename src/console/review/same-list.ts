import type { Review } from '../../domain/review.ts';
import { percent } from '../../publish/answer-facts.ts';
import { reviewAddress } from '../addresses.ts';
import { postForm } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { type ItemView, mustArm } from './item-view.ts';
import { searchOf } from './queue-query.ts';

/** The other waiting items of this fingerprint: listed first, then one press accepts the answer for all of them. */
export function sameList(view: ItemView): Html {
  const { same, review, queue, facts } = view;
  if (same.length === 0) return html``;
  const fields = {
    type: 'accept',
    version: review.version,
    queue: searchOf(queue),
    alsoFor: 'same-fingerprint',
    openedAt: new Date(facts.now).toISOString(),
  };
  const armed = mustArm(facts) ? { armed: '1' } : {};
  const button = html`${sameRows(same)}<p><button>${mustArm(facts) ? `Accept all ${same.length + 1} anyway: the change touches ${facts.overlap[0]}` : `Accept this answer for all ${same.length + 1}`}</button></p>`;
  return html`<details class="same"><summary>Also ${same.length} waiting ${same.length === 1 ? 'item' : 'items'} with the same fingerprint</summary>
${postForm(`${reviewAddress(review.id)}/decision`, { ...fields, ...armed }, button)}</details>`;
}

/** Them, each with the field that names it: only what was listed is decided. */
export function sameRows(same: readonly Review[]): Html {
  return html`<ul class="same-rows">${same.map(
    ({ id, title, category, confidence, buildId, repository }) =>
      html`<li><input type="hidden" name="also" value="${id}"><a href="${reviewAddress(id)}">${title}</a> <span class="quiet"><span class="category">${category}</span> ${percent(confidence)} · ${repository} · ${buildId}</span></li>`,
  )}</ul>`;
}
