import { type Category, KINDS } from '../../domain/category.ts';
import { CATEGORY_WORDS, nameKind } from '../../domain/category-words.ts';
import { type DecisionType, REJECT_REASONS, RejectReason, type Review } from '../../domain/review.ts';
import { formatConfidence, formatCount } from '../../lib/text.ts';
import { clip } from '../../notifications/visible-text.ts';
import { buildAddress, formatReviewAddress } from '../addresses.ts';
import { answerBody } from '../answer/answer-page.ts';
import { answerHeadline, placeCrumbs } from '../answer/parts.ts';
import {
  actionButton,
  actionLink,
  badge,
  formatAge,
  keysLink,
  postForm,
  renderHiddenFields,
  renderOptions,
} from '../controls.ts';
import { dataTable, type Html, html, type Shown } from '../html.ts';
import { icon } from '../parts/icons.ts';
import { banner, renderCategory } from '../parts/marks.ts';
import { type ItemView, mustArm } from './item-view.ts';
import { describeDecision, formatClockTime, queuePart } from './queue.ts';
import { formatQuery } from './queue-query.ts';

/**
 * Renders the item next to the queue: why a person is asked, what failed, whose failure it is, and everything
 * needed to check it.
 */
export function itemMain(view: ItemView): Html {
  const { review, facts, hold, listed } = view;
  const holdAttribute =
    hold === 'mine' && html` data-held-ms="${Date.parse(review.claimExpiresAt ?? '') - facts.now}"`;
  return html`<div class="split" data-show="item">${queuePart(listed, 'h2', null, review.id)}
    <section class="item" aria-label="Item" data-review="${review.id}"${holdAttribute}><header class="top">${itemTop(
      view,
    )}</header><div class="page">${itemContent(view)}</div></section></div>`;
}

function itemContent(view: ItemView): Html {
  const { review, facts, texts, windows, hold } = view;
  const above = html`<div class="flow" id="banners" data-live data-say>${banners(view)}</div>`;
  const decidable = hold === 'mine' || hold === 'free';
  const between = decidable && html`${correctForm(view)}${rejectForm(view)}${sameList(view)}`;
  return html`${above}${decidable && whyBanner(view)}${answerHeadline(facts, texts, review.title)}${answerBody(
    facts,
    texts,
    windows,
    { between, editor: view.editor },
  )}`;
}

/** Renders why a person is asked. */
function whyBanner({ review: { why } }: ItemView): Shown {
  return (
    why.length > 0 &&
    banner(html`<b>You decide because</b> ${why.map((reason) => reason.replace(/\.$/, '')).join('; ')}.`, {
      tone: 'amber',
      sign: 'eye',
    })
  );
}

/** Renders the position of the item in the queue, with links to its neighbors. */
function itemTop({ queue, review, waiting, hold, stamps, same, facts }: ItemView): Html {
  const n = queue.n ?? 1;
  const of = Math.max(queue.of ?? waiting, n);
  const to = (direction: 'before' | 'after') =>
    `/review/next${formatQuery(queue, { [direction]: review.id })}`;
  const stampsAddress = `${formatReviewAddress(review.id)}${formatQuery(queue, { ts: stamps ? 0 : 1 })}`;
  return html`<a class="btn bare only-narrow" href="/review${formatQuery({ ...queue, n: undefined, of: undefined })}"
    data-swap>${icon('left')}Queue</a>${placeCrumbs(facts)}
    <div class="acts">${
      hold !== 'decided' && queue.n !== undefined && html`<span class="meta num">item ${n} of ${of}</span>`
    }${
      same.length > 0 && html`<a class="meta" href="#same">${same.length} more like it</a>`
    }<span class="acts only-wide"><a class="btn bare" data-action="timestamps" href="${stampsAddress}"
    data-swap>${stamps ? 'Hide time' : 'Time'}${badge('timestamps')}</a><a class="btn bare" data-action="previous"
    href="${to('before')}" data-swap>${icon('up')}<span class="seen-not">Previous</span><kbd
    aria-hidden="true">k</kbd></a><a class="btn bare" data-action="next" href="${to('after')}"
    data-swap>${icon('down')}<span class="seen-not">Next</span><kbd aria-hidden="true">j</kbd></a></span></div>`;
}

/** Renders notices of facts that prevent a decision or change its meaning, each with the possible actions. */
function banners(view: ItemView): Html {
  return html`${failureBanner(view)}${heldBanner(view)}${decidedBanner(view)}${greenBanner(view)}`;
}

function failureBanner({ failure, typed, hold }: ItemView): Html {
  if (failure === null) return html``;
  const kept = typed !== null && (hold === 'decided' || hold === 'others');
  const content = html`<p><strong>Not saved.</strong> ${failure}</p>${kept && keptText(typed)}`;
  return banner(content, { tone: 'red', id: 'failure' });
}

/** Renders the text that was typed into a form that can no longer be saved. */
function keptText({ category, rootCause, fixRecommendation, reason }: NonNullable<ItemView['typed']>): Html {
  const named = category === undefined ? undefined : CATEGORY_WORDS[category];
  const text = [named, rootCause, fixRecommendation, reason]
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
      `${formatReviewAddress(review.id)}/claim`,
      { over: '1', queue: formatQuery(queue) },
      html`<button>Take over</button>`,
    );
  return banner(
    html`<p>${review.claimedBy} has been reviewing this since ${formatClockTime(review.claimedAt)}. You can
      read it, but only they can decide until ${formatClockTime(review.claimExpiresAt)}.</p>
      <div class="acts"><a class="btn" href="/review/next${formatQuery(queue, { after: review.id })}"
      data-swap>Next item</a>${take}</div>`,
    { sign: 'clock' },
  );
}

function decidedBanner({ review, hold, facts, taught }: ItemView): Html {
  const { decision } = review;
  if (hold !== 'decided' || decision === null) return html``;
  const sentences = [decision.reason, decision.type === 'correct' ? decision.rootCause : undefined].filter(
    (part) => part !== undefined,
  );
  return banner(
    html`<p><strong>${describeDecision(decision)}</strong> ${formatAge(decision.decidedAt, facts.now)} ago${
      decision.reasonCode !== undefined && html`: ${decision.reasonCode.replaceAll('_', ' ')}`
    }.</p>${sentences.map((part) => html`<p>${part}</p>`)}<p class="quiet">${taught}</p>`,
    { sign: 'check' },
  );
}

/**
 * Renders the notice that a later build of the same commit passed. A decision is still useful, but it is not
 * urgent.
 */
function greenBanner({ facts: { green } }: ItemView): Html {
  if (green === null) return html``;
  return banner(
    html`A later run of the same commit passed: <a href="${buildAddress(green.id)}">build ${green.number}</a>${
      green.attempt > 1 && html`, attempt ${green.attempt}`
    }. A decision still helps future answers.`,
    { tone: 'green' },
  );
}

/** Renders the actions that are possible on the item now. */
export function itemBar(view: ItemView): Html {
  const { hold, mode } = view;
  const keys = keysLink();
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
 * Renders the form for accepting. If the answer excuses a change that touches a suspect, a second press must
 * confirm.
 */
function acceptForm(view: ItemView): Html {
  const { review, queue, armed, facts } = view;
  const danger = mustArm(facts) && armed;
  const words = danger ? html`Accept anyway: the change touches ${facts.overlap[0]}` : 'Accept';
  const plain = `${formatReviewAddress(review.id)}${formatQuery(queue)}`;
  const button = html`<button class="${danger ? 'amber' : 'main'}"
    data-action="accept"${danger && html` data-armed data-plain="${plain}"`}>${words}
    <kbd aria-hidden="true">a</kbd></button>`;
  return postForm(
    `${formatReviewAddress(review.id)}/decision`,
    { ...listDecisionFields(view, 'accept'), ...(danger && { armed: '1' }) },
    button,
  );
}

/** Returns the fields that every decision form sends. */
function listDecisionFields({ review: { version }, queue, facts }: ItemView, type: DecisionType) {
  return { type, version, queue: formatQuery(queue), openedAt: new Date(facts.now).toISOString() };
}

function editLink({ review, queue }: ItemView, what: 'correct' | 'reject'): Html {
  const form = formatQuery(queue, what === 'correct' ? { edit: 1 } : { reject: 1 });
  const address = `${formatReviewAddress(review.id)}${form}`;
  return actionLink(what, address, what === 'correct' ? 'Correct' : 'Reject');
}

function skipForm({ review, queue }: ItemView): Html {
  return postForm(
    `${formatReviewAddress(review.id)}/skip`,
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
    `${formatReviewAddress(id)}/undo`,
    { queue: formatQuery(hold === 'decided' ? { ...queue, u: queue.n } : queue) },
    actionButton('undo', 'Undo'),
  );
}

function nextLink({ queue, review }: ItemView): Html {
  return html`<a class="btn main"
    href="/review/next${formatQuery({ ...queue, n: undefined, of: undefined }, { after: review.id })}"
    data-swap>Next item</a>`;
}

/** Renders an item of an unknown kind as its raw fields. */
export function unknownItemMain(fields: object): Html {
  const rows = Object.entries(fields).map(
    ([name, value]) =>
      html`<tr><th scope="row">${name}</th>
        <td><code>${typeof value === 'string' ? value : JSON.stringify(value)}</code></td></tr>`,
  );
  return html`<h1 tabindex="-1">This item cannot be shown</h1>
    <p>This version cannot display items of type review without an analysis. These are its stored fields:</p>
    ${dataTable('Fields', ['Field', 'Stored value'], rows)}
    <p><a class="btn" href="/review">Back to the queue</a></p>`;
}

/** The categories in the order of the digit keys that choose them. */
export const CATEGORY_KEYS: readonly Category[] = [
  'CODE_ERROR',
  'TEST_FAILURE',
  'INFRA_ERROR',
  'CONFIG_ERROR',
  'DEPENDENCY_ERROR',
];

/** The maximum number of pieces of evidence that can be selected. */
const MAX_EVIDENCE = 12;
/**
 * The maximum length of a source's name in a decision, in characters. Sources with longer names are not
 * offered.
 */
const MAX_SOURCE = 300;

/** Renders the form for correcting, with the current answer: category, kind, cause, fix, and evidence. */
function correctForm(view: ItemView): Html {
  const { review, queue, mode } = view;
  const address = formatReviewAddress(review.id);
  return html`<section class="panel pad" data-mode="correct"${mode !== 'correct' && html` hidden`}
    aria-labelledby="correct"><h2 id="correct">Correct the answer</h2>
    ${categoryOnly(view)}
    <form id="correct-form" method="post"
    action="${address}/decision">${renderHiddenFields(listDecisionFields(view, 'correct'))}
    ${categoryFields(view)}${wordFields(view)}${detailFields(view)}${scopeFields(view)}
    <p class="acts"><button class="main" data-action="save">Save and next
    <kbd aria-hidden="true">Ctrl+Enter</kbd></button>
    <a class="btn" data-close href="${address}${formatQuery(queue)}" data-swap>Cancel
    <kbd aria-hidden="true">Esc</kbd></a></p></form></section>`;
}

/** Renders a button for each other category that saves at once and leaves the rest of the answer as it is. */
function categoryOnly(view: ItemView): Html {
  const { review, facts } = view;
  const others = CATEGORY_KEYS.filter((category) => category !== facts.analysis.category).map(
    (category) => html`<button name="category" value="${category}">${CATEGORY_WORDS[category]}</button>`,
  );
  return postForm(
    `${formatReviewAddress(review.id)}/decision`,
    listDecisionFields(view, 'correct'),
    html`<p class="acts"><span>Only the category is wrong? Save it as</span>${others}</p>`,
  );
}

function categoryFields({ typed, facts: { analysis }, mode }: ItemView): Html {
  const chosen = typed?.category ?? analysis.category;
  const radios = CATEGORY_KEYS.map(
    (category, at) =>
      html`<label><input type="radio" name="category" value="${category}" data-action="choose"
        data-key="${at + 1}"${category === chosen && html` checked`}${
          category === chosen && mode === 'correct' && html` autofocus`
        }>${CATEGORY_WORDS[category]} <kbd aria-hidden="true">${at + 1}</kbd></label> `,
  );
  return html`<fieldset><legend>What is it?</legend><p class="choices">${radios}</p></fieldset>`;
}

/** Renders the fields that few corrections need: the kind, and what shows the cause. */
function detailFields(view: ItemView): Html {
  const { typed, facts } = view;
  const kinds = renderOptions(
    KINDS.map((kind) => [kind, nameKind(kind)]),
    typed?.kind,
  );
  const isOpen = typed?.kind !== undefined || typed?.lines || typed?.none;
  return html`<details${isOpen && html` open`}><summary>Kind, and the lines that show it (optional)</summary>
    <p><label>Kind <select name="kind">
    <option value="">as it is, ${nameKind(facts.analysis.kind)}; unknown with another category</option>${
      kinds
    }</select></label></p>
    ${lineFields(view)}</details>`;
}

function wordFields({ typed, facts: { analysis } }: ItemView): Html {
  const { rootCause, fixRecommendation } = analysis.answer;
  return html`<p><label for="rootCause">Root
    cause</label><textarea id="rootCause" name="rootCause" rows="3" maxlength="4000">${
      typed?.rootCause ?? rootCause.slice(0, 4000)
    }</textarea></p>
    <p><label for="fix">What to do</label><textarea id="fix" name="fixRecommendation" class="short" rows="2"
    maxlength="4000">${typed?.fixRecommendation ?? fixRecommendation.slice(0, 4000)}</textarea></p>`;
}

function lineFields({ typed, facts: { analysis } }: ItemView): Html {
  const cited = new Set(analysis.answer.claims.flatMap(({ evidence }) => evidence));
  const isTicked = (id: string) =>
    typed?.evidence === undefined ? cited.has(id) && typed === null : typed.evidence.includes(id);
  const offered = analysis.evidence
    .filter(({ id, tool }) => cited.has(id) || tool === 'log')
    .slice(0, MAX_EVIDENCE);
  const boxes = offered.map(
    ({ id, title }) =>
      html`<label title="${title}"><input type="checkbox" name="evidence"
        value="${id}"${isTicked(id) && html` checked`}>${clip(title, 60)}</label> `,
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

function scopeFields({ same, typed }: ItemView): Html {
  if (same.length === 0) return html``;
  const also = typed?.same === true;
  return html`<fieldset class="applies"><legend>Applies to</legend>
    <label><input type="radio" name="alsoFor" value=""${!also && html` checked`}> this cause</label>
    <label><input type="radio" name="alsoFor" value="same-fingerprint"${also && html` checked`}>
    also ${same.length} waiting ${same.length === 1 ? 'item' : 'items'} with the same failure</label>
    <details${also && html` open`}>
    <summary>show ${same.length === 1 ? 'it' : 'them'}</summary>${sameRows(same)}</details></fieldset>`;
}

/** Renders the form for rejecting. Choosing a reason saves at once. */
function rejectForm(view: ItemView): Html {
  const { review, queue, mode, typed } = view;
  const address = formatReviewAddress(review.id);
  const choices = RejectReason.options.map(
    (reason, at) =>
      html`<button name="reasonCode" value="${reason}" data-action="choose" data-key="${at + 1}">${
        REJECT_REASONS[reason]
      } <kbd aria-hidden="true">${at + 1}</kbd></button>`,
  );
  return html`<section class="panel pad" data-mode="reject"${mode !== 'reject' && html` hidden`}
    aria-labelledby="reject"><h2 id="reject" tabindex="-1">Reason for rejection</h2>
    <form method="post" action="${address}/decision">${renderHiddenFields(listDecisionFields(view, 'reject'))}
    <p class="acts">${choices}</p>
    <p><label for="reason">Comment (optional)</label>
    <input id="reason" name="reason" maxlength="4000" value="${typed?.reason}"></p>
    <p><a class="btn" data-close href="${address}${formatQuery(queue)}" data-swap>Cancel
    <kbd aria-hidden="true">Esc</kbd></a></p></form></section>`;
}

/** Renders the other waiting items of this fingerprint. One press accepts the answer for all listed items. */
function sameList(view: ItemView): Html {
  const { same, review, facts } = view;
  if (same.length === 0) return html``;
  const fields = {
    ...listDecisionFields(view, 'accept'),
    alsoFor: 'same-fingerprint',
    ...(mustArm(facts) && { armed: '1' }),
  };
  const words = mustArm(facts)
    ? `Accept all ${same.length + 1} anyway: the change touches ${facts.overlap[0]}`
    : `Accept this answer for all ${same.length + 1}`;
  const controls = html`<p>${formatCount(same.length, 'more waiting item')} with the same failure.
    <button>${words}</button></p>
    <details><summary>Show ${same.length === 1 ? 'it' : 'them'}</summary>${sameRows(same)}</details>`;
  return html`<section class="same" id="same" aria-label="Items with the same failure">${postForm(
    `${formatReviewAddress(review.id)}/decision`,
    fields,
    controls,
  )}</section>`;
}

/** Renders these items, each with a hidden field, so that only listed items are decided. */
function sameRows(same: readonly Review[]): Html {
  return html`<ul class="same-rows">${same.map(
    ({ id, title, category, confidence, buildId, repository }) =>
      html`<li><input type="hidden" name="also" value="${id}"><a
        href="${formatReviewAddress(id)}">${title}</a>
        <span class="quiet">${renderCategory(category)} ${formatConfidence(confidence)} ·
        ${repository} · ${buildId}</span></li>`,
  )}</ul>`;
}
