import { reviewAddress } from '../addresses.ts';
import { postForm } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { CATEGORY_KEYS } from './category-keys.ts';
import type { ItemView } from './item-view.ts';
import { searchOf } from './queue-query.ts';

/** One item in some asks for the reviewer's own category before it shows the machine's. */
export function blindForm({ review, queue, hold }: ItemView): Html {
  if (hold === 'others') return html``;
  const choices = CATEGORY_KEYS.map(
    (category, at) =>
      html`<button name="category" value="${category}" data-action="choose" data-key="${at + 1}">${category} <kbd aria-hidden="true">${at + 1}</kbd></button>`,
  );
  return html`<section class="card" aria-labelledby="blind"><h2 id="blind">What is it?</h2>
<p>This item was picked for a blind review. Choose a category; Faultline's answer appears afterwards.</p>
${postForm(`${reviewAddress(review.id)}/guess`, { queue: searchOf(queue) }, html`<p class="acts">${choices}</p>`)}</section>`;
}
