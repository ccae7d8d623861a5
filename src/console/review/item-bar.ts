import { reviewAddress } from '../addresses.ts';
import { actionButton, actionLink, postForm } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { type ItemView, mustArm } from './item-view.ts';
import { searchOf } from './queue-query.ts';

/** What can be done with the item as it stands. */
export function itemBar(view: ItemView): Html {
  const { hold, blind, mode } = view;
  const keys = html`<a class="button" data-action="keys" href="/me#keys-here">Keys <kbd aria-hidden="true">?</kbd></a>`;
  if (hold === 'others' || hold === 'decided') return html`${nextLink(view)}${undoForm(view)}${keys}`;
  const decide = blind.blind
    ? skipForm(view)
    : html`${acceptForm(view)}${editLink(view, 'correct')}${editLink(view, 'reject')}${skipForm(view)}`;
  return html`<div class="acts" data-mode="read"${mode !== 'read' && html` hidden`}>${decide}${undoForm(view)}${keys}</div>
<p class="acts" data-mode="correct"${mode !== 'correct' && html` hidden`}>Correcting: <kbd>Ctrl+Enter</kbd> saves, <kbd>Esc</kbd> cancels.</p>
<p class="acts" data-mode="reject"${mode !== 'reject' && html` hidden`}>Rejecting: <kbd>1</kbd> to <kbd>4</kbd> saves, <kbd>Esc</kbd> cancels.</p>`;
}

/** Where an excuse touches its own suspect the first press arms, and only the second accepts. */
function acceptForm({ review, queue, armed, facts }: ItemView): Html {
  const fields = { type: 'accept', version: review.version, queue: searchOf(queue), openedAt: new Date(facts.now).toISOString() };
  const danger = mustArm(facts) && armed;
  const words = danger ? html`Accept anyway: the change touches ${facts.overlap[0]}` : 'Accept';
  const plain = `${reviewAddress(review.id)}${searchOf(queue)}`;
  const button = html`<button class="${danger ? 'armed' : 'first'}" data-action="accept"${danger && html` data-armed data-plain="${plain}"`}>${words} <kbd aria-hidden="true">a</kbd></button>`;
  return postForm(`${reviewAddress(review.id)}/decision`, { ...fields, ...(danger && { armed: '1' }) }, button);
}

function editLink({ review, queue }: ItemView, what: 'correct' | 'reject'): Html {
  const address = `${reviewAddress(review.id)}${searchOf(queue, what === 'correct' ? { edit: 1 } : { reject: 1 })}`;
  return actionLink(what, address, what === 'correct' ? 'Correct' : 'Reject');
}

function skipForm({ review, queue }: ItemView): Html {
  return postForm(`${reviewAddress(review.id)}/skip`, { queue: searchOf(queue) }, actionButton('skip', 'Skip'));
}

/** On a decided item, its own decision; elsewhere the reviewer's newest. */
function undoForm({ review, undo, mayUndo, hold, queue }: ItemView): Shown {
  const id = hold === 'decided' ? (mayUndo ? review.id : null) : (undo?.reviewId ?? null);
  if (id === null) return null;
  const words = hold === 'decided' ? 'Undo' : 'Undo';
  return postForm(`${reviewAddress(id)}/undo`, { queue: searchOf(queue) }, actionButton('undo', words));
}

function nextLink({ queue, review }: ItemView): Html {
  return html`<a class="button first" href="/review/next${searchOf({ ...queue, n: undefined, of: undefined }, { after: review.id })}" data-swap>Next item</a>`;
}
