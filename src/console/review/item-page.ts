import { buildAddress, reviewAddress } from '../addresses.ts';
import { analysisParts, evidencePart, placeLine } from '../analysis-parts.ts';
import { actionButton, actionLink, ageOf, badge, postForm } from '../controls.ts';
import { dataTable, type Html, html, type Shown } from '../html.ts';
import { blindForm, correctForm, rejectForm, sameList } from './item-forms.ts';
import { type ItemView, mustArm } from './item-view.ts';
import { clockTime, decisionWords } from './queue-page.ts';
import { type QueueQuery, searchOf } from './queue-query.ts';

/** The item: what it is, how sure, why a person, and everything to check it by. A blind one shows its evidence alone. */
export function itemMain(view: ItemView): Html {
  const { review, facts, hold, blind } = view;
  const title = itemTitle(view);
  const place = placeLine(facts, [hold !== 'decided' && `waiting ${ageOf(review.openedAt, facts.now)}`]);
  const head = html`${headline(title, view)}${place}${banners(view)}`;
  if (blind.blind) return html`<div class="item" data-review="${review.id}">${head}${blindForm(view)}${evidencePart(facts, 'logs')}</div>`;
  const decidable = hold === 'mine' || hold === 'free';
  const between = decidable && html`${correctForm(view)}${rejectForm(view)}${sameList(view)}`;
  return html`<div class="item" data-review="${review.id}"${hold === 'mine' && html` data-held-ms="${Date.parse(review.claimExpiresAt ?? '') - facts.now}"`}>${head}${analysisParts(facts, { why: review.why, between })}</div>`;
}

/** The machine's title gives its verdict away: a blind item is named by what failed. */
export function itemTitle({ review, facts, blind }: ItemView): string {
  if (!blind.blind) return review.title;
  const [first] = facts.failures;
  return first?.test?.name ?? first?.message ?? 'A failure';
}

function headline(title: string, { queue, review, waiting, hold, stamps }: ItemView): Html {
  const n = queue.n ?? 1;
  const of = Math.max(queue.of ?? waiting, n);
  return html`<div class="headline"><h1 tabindex="-1">${title}</h1>
<p class="position">${hold !== 'decided' && html`item ${n} of ${of}`} ${walkLinks(review.id, queue)} ${stampsLink(review.id, queue, stamps)}</p></div>`;
}

/** The same item, its log lines with or without their timestamps. */
function stampsLink(id: string, queue: QueueQuery, stamps: boolean): Html {
  const address = `${reviewAddress(id)}${searchOf(queue, { ts: stamps ? 0 : 1 })}`;
  return html`<a class="step" data-action="timestamps" href="${address}" data-swap>${stamps ? 'hide' : 'show'} timestamps${badge('timestamps')}</a>`;
}

/** To the neighbours in the queue, without deciding. */
function walkLinks(id: string, queue: QueueQuery): Html {
  const to = (direction: 'before' | 'after') => `/review/next${searchOf(queue, { [direction]: id })}`;
  return html`<a class="step" data-action="previous" href="${to('before')}" data-swap>previous <kbd aria-hidden="true">k</kbd></a> <a class="step" data-action="next" href="${to('after')}" data-swap>next <kbd aria-hidden="true">j</kbd></a>`;
}

/** What is in the way, or changes what a decision means; each says what can be done. */
function banners(view: ItemView): Html {
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

function decidedBanner({ review, hold, facts, taught }: ItemView): Html {
  const { decision } = review;
  if (hold !== 'decided' || decision === null) return html``;
  const said = [decision.reason, decision.type === 'correct' ? decision.rootCause : undefined].filter((part) => part !== undefined);
  return html`<div class="banner"><p><strong>${decisionWords(decision)}</strong> ${ageOf(decision.decidedAt, facts.now)} ago${decision.reasonCode !== undefined && html`: ${decision.reasonCode.replaceAll('_', ' ')}`}.</p>${said.map((part) => html`<p>${part}</p>`)}<p class="quiet">${taught}</p></div>`;
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

/** An item of a kind that this version does not know: its fields as they are, rather than nothing. */
export function unknownItemMain(type: string, fields: object): Html {
  const rows = Object.entries(fields).map(
    ([name, value]) =>
      html`<tr><th scope="row">${name}</th><td><code>${typeof value === 'string' ? value : JSON.stringify(value)}</code></td></tr>`,
  );
  return html`<h1 tabindex="-1">This item cannot be shown</h1>
<p>This version cannot display items of type ${type}. These are its stored fields:</p>
${dataTable('Fields', ['Field', 'Stored value'], rows)}
<p><a class="button" href="/review">Back to the queue</a></p>`;
}
