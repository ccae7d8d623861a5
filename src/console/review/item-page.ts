import { type Category, KINDS } from '../../domain/category.ts';
import { type DecisionType, REJECT_REASONS, RejectReason, type Review } from '../../domain/review.ts';
import { counted, formatConfidence } from '../../lib/text.ts';
import { buildAddress, reviewAddress } from '../addresses.ts';
import { analysisParts, placeLine } from '../analysis.ts';
import { actionButton, actionLink, badge, formatAge, hiddenFields, options, postForm } from '../controls.ts';
import { dataTable, type Html, html, type Shown } from '../html.ts';
import { type ItemView, mustArm } from './item-view.ts';
import { clockTime, decisionWords } from './queue.ts';
import { formatQuery, type QueueQuery } from './queue-query.ts';

/**
 * Renders the item: what it is, how confident the answer is, why a person is asked, and everything needed to
 * check it.
 */
export function itemMain(view: ItemView): Html {
  const { review, facts, hold } = view;
  const place = placeLine(facts, [hold !== 'decided' && `waiting ${formatAge(review.openedAt, facts.now)}`]);
  const head = html`${headline(view)}${place}<div id="banners" data-live
    data-say>${banners(view)}</div>`;
  const decidable = hold === 'mine' || hold === 'free';
  const between = decidable && html`${correctForm(view)}${rejectForm(view)}${sameList(view)}`;
  return html`<div class="item" data-review="${review.id}"${
    hold === 'mine' && html` data-held-ms="${Date.parse(review.claimExpiresAt ?? '') - facts.now}"`
  }>${head}${analysisParts(facts, { why: review.why, between, editor: view.editor })}</div>`;
}

function headline({ queue, review, waiting, hold, stamps, same }: ItemView): Html {
  const n = queue.n ?? 1;
  const of = Math.max(queue.of ?? waiting, n);
  return html`<div class="headline"><h1 tabindex="-1">${review.title}</h1>
    <p class="position">${hold !== 'decided' && html`item ${n} of ${of}`}${
      same.length > 0 && html` · <a href="#same">${same.length} more like it</a>`
    } ${walkLinks(review.id, queue)} ${stampsLink(review.id, queue, stamps)}</p></div>`;
}

/** Renders a link to the same item with its timestamps shown or hidden. */
function stampsLink(id: string, queue: QueueQuery, stamps: boolean): Html {
  const address = `${reviewAddress(id)}${formatQuery(queue, { ts: stamps ? 0 : 1 })}`;
  return html`<a class="step" data-action="timestamps" href="${address}" data-swap>${stamps ? 'hide' : 'show'}
    timestamps${badge('timestamps')}</a>`;
}

/** Renders links to the previous and next items of the queue, which do not decide this one. */
function walkLinks(id: string, queue: QueueQuery): Html {
  const to = (direction: 'before' | 'after') => `/review/next${formatQuery(queue, { [direction]: id })}`;
  return html`<a class="step" data-action="previous" href="${to('before')}" data-swap>previous
    <kbd aria-hidden="true">k</kbd></a>
    <a class="step" data-action="next" href="${to('after')}" data-swap>next
    <kbd aria-hidden="true">j</kbd></a>`;
}

/** Renders notices of what prevents a decision or changes its meaning, each with what can be done. */
function banners(view: ItemView): Html {
  return html`${doneBanner(view)}${failureBanner(view)}${heldBanner(view)}${decidedBanner(view)}${greenBanner(view)}`;
}

/** Renders a notice of the last decision. Two items may look alike, so it says that this is the next one. */
function doneBanner({ done }: ItemView): Html {
  const decision = done?.decision ?? null;
  if (done === null || decision === null) return html``;
  const did = { accept: 'Accepted', correct: `Corrected to ${decision.category}`, reject: 'Rejected' }[
    decision.type
  ];
  return html`<div class="banner good" id="done">
    <p>${did}: <a href="${reviewAddress(done.id)}">${done.title}</a> in ${done.repository}.
    <strong>This is the next item.</strong></p></div>`;
}

function failureBanner({ failure, typed, hold }: ItemView): Html {
  if (failure === null) return html``;
  const kept = typed !== null && (hold === 'decided' || hold === 'others');
  return html`<div class="banner bad" id="failure"><p><strong>Not saved.</strong>
    ${failure}</p>${kept && keptText(typed)}</div>`;
}

/** Renders the text that was typed into a form that can no longer be saved. */
function keptText({ category, rootCause, fixRecommendation, reason }: NonNullable<ItemView['typed']>): Html {
  const text = [category, rootCause, fixRecommendation, reason]
    .filter((part) => part !== undefined && part !== '')
    .join('\n\n');
  return html`<p><label for="kept">Your text is kept
    here</label></p><textarea id="kept" readonly>${text}</textarea>`;
}

function heldBanner({ review, hold, mayTakeOver, queue }: ItemView): Html {
  if (hold !== 'others') return html``;
  const take =
    mayTakeOver &&
    postForm(
      `${reviewAddress(review.id)}/claim`,
      { over: '1', queue: formatQuery(queue) },
      html`<button>Take over</button>`,
    );
  return html`<div class="banner"><p>${review.claimedBy} has been reviewing this since
    ${clockTime(review.claimedAt)}. You can read it, but only they can decide until
    ${clockTime(review.claimExpiresAt)}.</p>
    <p class="acts"><a class="button" href="/review/next${formatQuery(queue, { after: review.id })}"
    data-swap>Next item</a>${take}</p></div>`;
}

function decidedBanner({ review, hold, facts, taught }: ItemView): Html {
  const { decision } = review;
  if (hold !== 'decided' || decision === null) return html``;
  const said = [decision.reason, decision.type === 'correct' ? decision.rootCause : undefined].filter(
    (part) => part !== undefined,
  );
  return html`<div class="banner"><p><strong>${decisionWords(decision)}</strong>
    ${formatAge(decision.decidedAt, facts.now)} ago${
      decision.reasonCode !== undefined && html`: ${decision.reasonCode.replaceAll('_', ' ')}`
    }.</p>${said.map((part) => html`<p>${part}</p>`)}<p class="quiet">${taught}</p></div>`;
}

/**
 * Renders the notice that a later build of the same commit passed. A decision is still useful, but no one
 * waits for it.
 */
function greenBanner({ facts: { green } }: ItemView): Html {
  if (green === null) return html``;
  return html`<div class="banner good"><p>A later run of the same commit passed:
    <a href="${buildAddress(green.id)}">build ${green.number}</a>${
      green.attempt > 1 && html`, attempt ${green.attempt}`
    }. A decision still helps future answers.</p></div>`;
}

/** Renders the actions that are possible on the item now. */
export function itemBar(view: ItemView): Html {
  const { hold, mode } = view;
  const keys = actionLink('keys', '/me#keys-here', 'Keys');
  if (hold === 'others' || hold === 'decided') return html`${nextLink(view)}${undoForm(view)}${keys}`;
  const decide = html`${acceptForm(view)}${editLink(view, 'correct')}${editLink(view, 'reject')}${skipForm(view)}`;
  return html`<div class="acts" data-mode="read"${
    mode !== 'read' && html` hidden`
  }>${decide}${undoForm(view)}${keys}</div>
    <p class="acts" data-mode="correct"${mode !== 'correct' && html` hidden`}>Correcting:
    <kbd>Ctrl+Enter</kbd> saves, <kbd>Esc</kbd> cancels.</p>
    <p class="acts" data-mode="reject"${mode !== 'reject' && html` hidden`}>Rejecting: <kbd>1</kbd> to
    <kbd>4</kbd> saves, <kbd>Esc</kbd> cancels.</p>`;
}

/**
 * Renders the form for accepting. If the answer excuses a change that touches a suspect, the first press only
 * arms the button and the second one accepts.
 */
function acceptForm(view: ItemView): Html {
  const { review, queue, armed, facts } = view;
  const danger = mustArm(facts) && armed;
  const words = danger ? html`Accept anyway: the change touches ${facts.overlap[0]}` : 'Accept';
  const plain = `${reviewAddress(review.id)}${formatQuery(queue)}`;
  const button = html`<button class="${danger ? 'armed' : 'first'}"
    data-action="accept"${danger && html` data-armed data-plain="${plain}"`}>${words}
    <kbd aria-hidden="true">a</kbd></button>`;
  return postForm(
    `${reviewAddress(review.id)}/decision`,
    { ...decisionFields(view, 'accept'), ...(danger && { armed: '1' }) },
    button,
  );
}

/** Returns the fields that every form of a decision sends. */
function decisionFields({ review: { version }, queue, facts }: ItemView, type: DecisionType) {
  return { type, version, queue: formatQuery(queue), openedAt: new Date(facts.now).toISOString() };
}

function editLink({ review, queue }: ItemView, what: 'correct' | 'reject'): Html {
  const address = `${reviewAddress(review.id)}${formatQuery(queue, what === 'correct' ? { edit: 1 } : { reject: 1 })}`;
  return actionLink(what, address, what === 'correct' ? 'Correct' : 'Reject');
}

function skipForm({ review, queue }: ItemView): Html {
  return postForm(
    `${reviewAddress(review.id)}/skip`,
    { queue: formatQuery(queue) },
    actionButton('skip', 'Skip'),
  );
}

/**
 * Renders the undo button: for the item's own decision on a decided item, otherwise for the reviewer's newest
 * decision.
 */
function undoForm({ review, undo, mayUndo, hold, queue }: ItemView): Shown {
  const id = hold === 'decided' ? (mayUndo ? review.id : null) : (undo?.reviewId ?? null);
  if (id === null) return null;
  return postForm(
    `${reviewAddress(id)}/undo`,
    { queue: formatQuery(hold === 'decided' ? { ...queue, u: queue.n } : queue) },
    actionButton('undo', 'Undo'),
  );
}

function nextLink({ queue, review }: ItemView): Html {
  return html`<a class="button first"
    href="/review/next${formatQuery({ ...queue, n: undefined, of: undefined }, { after: review.id })}"
    data-swap>Next item</a>`;
}

/** Renders an item of an unknown kind as its raw fields, rather than nothing. */
export function unknownItemMain(fields: object): Html {
  const rows = Object.entries(fields).map(
    ([name, value]) =>
      html`<tr><th scope="row">${name}</th>
        <td><code>${typeof value === 'string' ? value : JSON.stringify(value)}</code></td></tr>`,
  );
  return html`<h1 tabindex="-1">This item cannot be shown</h1>
    <p>This version cannot display items of type review without an analysis. These are its stored fields:</p>
    ${dataTable('Fields', ['Field', 'Stored value'], rows)}
    <p><a class="button" href="/review">Back to the queue</a></p>`;
}

/** The categories in the order of the digits that choose them, wherever a reviewer names one. */
export const CATEGORY_KEYS: readonly Category[] = [
  'CODE_ERROR',
  'TEST_FAILURE',
  'INFRA_ERROR',
  'CONFIG_ERROR',
  'DEPENDENCY_ERROR',
];

/** Pieces of evidence that can be ticked. */
const MAX_EVIDENCE = 12;
/** Characters of a source's name that a decision takes; a longer one is not offered. */
const MAX_SOURCE = 300;

/**
 * Renders the form for correcting, filled with the existing answer: category, kind, cause, fix, and evidence.
 */
function correctForm(view: ItemView): Html {
  const { review, queue, mode } = view;
  const address = reviewAddress(review.id);
  return html`<section class="card" data-mode="correct"${mode !== 'correct' && html` hidden`}
    aria-labelledby="correct"><h2 id="correct">Correct the answer</h2>
    <form id="correct-form" method="post"
    action="${address}/decision">${hiddenFields(decisionFields(view, 'correct'))}
    ${whatIsIt(view)}${words(view)}${shownBy(view)}${appliesTo(view)}
    <p class="acts"><button class="first" data-action="save">Save and next
    <kbd aria-hidden="true">Ctrl+Enter</kbd></button>
    <a class="button" data-close href="${address}${formatQuery(queue)}" data-swap>Cancel
    <kbd aria-hidden="true">Esc</kbd></a></p></form></section>`;
}

function whatIsIt({ typed, facts: { analysis }, mode }: ItemView): Html {
  const chosen = typed?.category ?? analysis.category;
  const radios = CATEGORY_KEYS.map(
    (category, at) =>
      html`<label><input type="radio" name="category" value="${category}" data-action="choose"
        data-key="${at + 1}"${category === chosen && html` checked`}${
          category === chosen && mode === 'correct' && html` autofocus`
        }> ${category} <kbd aria-hidden="true">${at + 1}</kbd></label> `,
  );
  const kinds = options(
    KINDS.map((kind) => [kind, kind.replaceAll('_', ' ')]),
    typed?.kind,
  );
  return html`<fieldset><legend>What is it?</legend><p class="choices">${radios}</p>
    <label>Kind <select name="kind">
    <option value="">automatic (now ${analysis.kind.replaceAll('_', ' ')})</option>${kinds}</select></label>
    <span class="quiet">With another category, automatic means unknown.</span></fieldset>`;
}

function words({ typed, facts: { analysis } }: ItemView): Html {
  const { rootCause, fixRecommendation } = analysis.answer;
  return html`<p><label for="rootCause">Root
    cause</label><textarea id="rootCause" name="rootCause" rows="3" maxlength="4000" required>${
      typed?.rootCause ?? rootCause.slice(0, 4000)
    }</textarea></p>
    <p><label for="fix">What to do</label><textarea id="fix" name="fixRecommendation" class="short" rows="2"
    maxlength="4000" required>${typed?.fixRecommendation ?? fixRecommendation.slice(0, 4000)}</textarea></p>`;
}

function shownBy({ typed, facts: { analysis } }: ItemView): Html {
  const cited = new Set(analysis.answer.claims.flatMap(({ evidence }) => evidence));
  const isTicked = (id: string) =>
    typed?.evidence === undefined ? cited.has(id) && typed === null : typed.evidence.includes(id);
  const offered = analysis.evidence
    .filter(({ id, tool }) => cited.has(id) || tool === 'log')
    .slice(0, MAX_EVIDENCE);
  const boxes = offered.map(
    ({ id, title }) =>
      html`<label title="${title}"><input type="checkbox" name="evidence"
        value="${id}"${isTicked(id) && html` checked`}> ${id}</label> `,
  );
  const onLines = analysis.evidence.filter(
    ({ lineStart, source }) => lineStart !== undefined && source.length <= MAX_SOURCE,
  );
  const sources = [...new Set(onLines.map(({ source }) => source))];
  return html`<fieldset><legend>Shown by</legend><p class="choices">${boxes}
    <label><input type="checkbox" name="none" value="1"${typed?.none && html` checked`}>
    no line shows it</label></p>
    ${
      sources.length > 0 &&
      html`<label>Lines <input name="lines" size="14" placeholder="120-140, 188" pattern="[0-9 ,\\-]*"
        value="${typed?.lines}"></label>
        <label>of <select name="source">${sources.map(
          (source) => html`<option>${source}</option>`,
        )}</select></label>`
    }</fieldset>`;
}

function appliesTo({ same, typed }: ItemView): Html {
  if (same.length === 0) return html``;
  const also = typed?.same === true;
  return html`<fieldset class="applies"><legend>Applies to</legend>
    <label><input type="radio" name="alsoFor" value=""${!also && html` checked`}> this cause</label>
    <label><input type="radio" name="alsoFor" value="same-fingerprint"${also && html` checked`}>
    also ${same.length} waiting ${same.length === 1 ? 'item' : 'items'} with the same fingerprint</label>
    <details${also && html` open`}>
    <summary>show ${same.length === 1 ? 'it' : 'them'}</summary>${sameRows(same)}</details></fieldset>`;
}

/** Renders the form for rejecting. Choosing a reason saves at once. */
function rejectForm(view: ItemView): Html {
  const { review, queue, mode, typed } = view;
  const address = reviewAddress(review.id);
  const choices = RejectReason.options.map(
    (reason, at) =>
      html`<button name="reasonCode" value="${reason}" data-action="choose" data-key="${at + 1}">${
        REJECT_REASONS[reason]
      } <kbd aria-hidden="true">${at + 1}</kbd></button>`,
  );
  return html`<section class="card" data-mode="reject"${mode !== 'reject' && html` hidden`}
    aria-labelledby="reject"><h2 id="reject" tabindex="-1">Reason for rejection</h2>
    <form method="post" action="${address}/decision">${hiddenFields(decisionFields(view, 'reject'))}
    <p class="acts">${choices}</p>
    <p><label for="reason">Comment (optional)</label>
    <input id="reason" name="reason" maxlength="4000" value="${typed?.reason}"></p>
    <p><a class="button" data-close href="${address}${formatQuery(queue)}" data-swap>Cancel
    <kbd aria-hidden="true">Esc</kbd></a></p></form></section>`;
}

/**
 * Renders the other waiting items of this fingerprint. One press accepts the answer for all that are listed.
 */
function sameList(view: ItemView): Html {
  const { same, review, facts } = view;
  if (same.length === 0) return html``;
  const fields = {
    ...decisionFields(view, 'accept'),
    alsoFor: 'same-fingerprint',
    ...(mustArm(facts) && { armed: '1' }),
  };
  const words = mustArm(facts)
    ? `Accept all ${same.length + 1} anyway: the change touches ${facts.overlap[0]}`
    : `Accept this answer for all ${same.length + 1}`;
  const controls = html`<p>${counted(same.length, 'more waiting item')} with the same fingerprint.
    <button>${words}</button></p>
    <details><summary>Show ${same.length === 1 ? 'it' : 'them'}</summary>${sameRows(same)}</details>`;
  return html`<section class="same" id="same" aria-label="Items with the same fingerprint">${postForm(
    `${reviewAddress(review.id)}/decision`,
    fields,
    controls,
  )}</section>`;
}

/** Renders these items, each with the field that names it, so that only listed items are decided. */
function sameRows(same: readonly Review[]): Html {
  return html`<ul class="same-rows">${same.map(
    ({ id, title, category, confidence, buildId, repository }) =>
      html`<li><input type="hidden" name="also" value="${id}"><a href="${reviewAddress(id)}">${title}</a>
        <span class="quiet"><span class="category">${category}</span> ${formatConfidence(confidence)} ·
        ${repository} · ${buildId}</span></li>`,
  )}</ul>`;
}
