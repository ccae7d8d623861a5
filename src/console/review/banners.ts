import { buildAddress, reviewAddress } from '../addresses.ts';
import { ageOf, postForm } from '../controls.ts';
import { type Html, html } from '../html.ts';
import type { ItemView } from './item-view.ts';
import { clockTime, decisionWords } from './queue-page.ts';
import { searchOf } from './queue-query.ts';

/** What stands in the way, or changes what a decision means; each says what can be done. */
export function banners(view: ItemView): Html {
  return html`${failureBanner(view)}${heldBanner(view)}${decidedBanner(view)}${greenBanner(view)}${guessBanner(view)}`;
}

function failureBanner({ failure, typed, hold }: ItemView): Html {
  if (failure === null) return html``;
  const kept = typed !== null && (hold === 'decided' || hold === 'others');
  return html`<div class="banner bad" id="failure"><p><strong>Not saved.</strong> ${failure}</p>${kept && keptText(typed)}</div>`;
}

/** What was typed into a form that cannot be saved any more. */
function keptText({ category, rootCause, fixRecommendation, reason }: NonNullable<ItemView['typed']>): Html {
  const text = [category, rootCause, fixRecommendation, reason].filter((part) => part !== undefined && part !== '').join('\n\n');
  return html`<p><label for="kept">Your text is kept here</label></p><textarea id="kept" readonly>${text}</textarea>`;
}

function heldBanner({ review, hold, mayTakeOver, queue }: ItemView): Html {
  if (hold !== 'others') return html``;
  const take =
    mayTakeOver && postForm(`${reviewAddress(review.id)}/claim`, { over: '1', queue: searchOf(queue) }, html`<button>Take over</button>`);
  return html`<div class="banner"><p>${review.claimedBy} has been reviewing this since ${clockTime(review.claimedAt)}. You can read it, but only they can decide until ${clockTime(review.claimExpiresAt)}.</p>
<p class="acts"><a class="button" href="/review/next${searchOf(queue, { after: review.id })}" data-swap>Next item</a>${take}</p></div>`;
}

function decidedBanner({ review, hold, facts }: ItemView): Html {
  const { decision } = review;
  if (hold !== 'decided' || decision === null) return html``;
  const said = [decision.reason, decision.type === 'correct' ? decision.rootCause : undefined].filter((part) => part !== undefined);
  return html`<div class="banner"><p><strong>${decisionWords(decision)}</strong> ${ageOf(decision.decidedAt, facts.now)} ago${decision.reasonCode !== undefined && html`: ${decision.reasonCode.replaceAll('_', ' ')}`}.</p>${said.map((part) => html`<p>${part}</p>`)}</div>`;
}

/** A later build of the same commit passed: still worth a decision, but nobody waits for it. */
function greenBanner({ facts: { green } }: ItemView): Html {
  if (green === null) return html``;
  return html`<div class="banner good"><p>Build <a href="${buildAddress(green.id)}">${green.number}</a> on the same commit is green. A decision still helps future answers.</p></div>`;
}

function guessBanner({ blind, review, hold }: ItemView): Html {
  if (blind.guess === null || hold === 'decided') return html``;
  const same = blind.guess === review.category ? 'and so does Faultline' : `Faultline says ${review.category}`;
  return html`<div class="banner"><p>You said ${blind.guess}, ${same}.</p></div>`;
}
