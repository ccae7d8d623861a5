import { RejectReason } from '../../domain/review.ts';
import { reviewAddress } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import type { ItemView } from './item-view.ts';
import { searchOf } from './queue-query.ts';

const REASONS: Readonly<Record<RejectReason, string>> = {
  evidence_does_not_support: 'The evidence does not support it',
  right_category_wrong_cause: 'Right category, wrong cause',
  not_a_failure: 'Not a failure',
  cannot_be_told: 'Cannot tell from this log',
};

/** Why it is rejected; choosing saves at once. */
export function rejectForm({ review, queue, mode, typed, facts }: ItemView): Html {
  const address = reviewAddress(review.id);
  const choices = RejectReason.options.map(
    (reason, at) =>
      html`<button name="reasonCode" value="${reason}" data-action="choose" data-key="${at + 1}">${REASONS[reason]} <kbd aria-hidden="true">${at + 1}</kbd></button>`,
  );
  return html`<section class="card" data-mode="reject"${mode !== 'reject' && html` hidden`} aria-labelledby="reject"><h2 id="reject" tabindex="-1">Reason for rejection</h2>
<form method="post" action="${address}/decision"><input type="hidden" name="type" value="reject"><input type="hidden" name="version" value="${review.version}"><input type="hidden" name="queue" value="${searchOf(queue)}"><input type="hidden" name="openedAt" value="${new Date(facts.now).toISOString()}">
<p class="acts">${choices}</p>
<p><label for="reason">Comment (optional)</label> <input id="reason" name="reason" maxlength="4000" value="${typed?.reason}"></p>
<p><a class="button" data-close href="${address}${searchOf(queue)}" data-swap>Cancel <kbd aria-hidden="true">Esc</kbd></a></p></form></section>`;
}
