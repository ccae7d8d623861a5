import { REJECT_REASONS, RejectReason, type Review } from '../../domain/review.ts';
import { actionButton, postForm, renderHiddenFields, renderOptions } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { formatQuery, type QueueQuery, type Said } from './queue-query.ts';

/** Renders the check box of a row. It belongs to the form of `bulkForm`. */
export function pickBox({ id, version, title }: Review): Html {
  return html`<label class="pick-box above"><input type="checkbox" name="pick" value="${id} ${version}"
    form="bulk" data-pick><span class="seen-not">Select ${title}</span></label>`;
}

/** Renders the actions on the selected items. They are visible only if there are any. */
export function bulkForm(query: QueueQuery): Html {
  const reasons = RejectReason.options.map((reason) => [reason, REJECT_REASONS[reason]] as const);
  return html`<form method="post" action="/review/bulk" id="bulk" class="picked"
    aria-label="Selected items">${renderHiddenFields({
      queue: formatQuery({ ...query, n: undefined, of: undefined, u: undefined }),
    })}<span class="meta">Selected items:</span><button name="type" value="accept">Accept</button><label>Reject
    because <select name="reasonCode">${renderOptions(reasons, '')}</select></label><button name="type"
      value="reject">Reject</button></form>`;
}

/** Renders the button that undoes decisions that were made together, if there are any. */
export function undoBulk({ ids, ...query }: QueueQuery & Said): Html | undefined {
  if (ids === undefined) return undefined;
  const fields = { ids, queue: formatQuery({ ...query, n: undefined, of: undefined, u: undefined }) };
  return postForm('/review/bulk/undo', fields, actionButton('undo', 'Undo'));
}
