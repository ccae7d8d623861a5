import { type Category, KINDS } from '../../domain/category.ts';
import { REJECT_REASONS, RejectReason, type Review } from '../../domain/review.ts';
import { percent } from '../../notifications/answer-view.ts';
import { reviewAddress } from '../addresses.ts';
import { postForm } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { type ItemView, mustArm } from './item-view.ts';
import { searchOf } from './queue-query.ts';

/** The categories in the order of the digits that choose them, wherever a reviewer names one. */
export const CATEGORY_KEYS: readonly Category[] = ['CODE_ERROR', 'TEST_FAILURE', 'INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'];

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

/** Pieces of evidence that can be ticked. */
const MAX_EVIDENCE = 12;
/** Characters of a source's name that a decision takes; a longer one is not offered. */
const MAX_SOURCE = 300;

/** The machine's words to be changed, not typed anew: category, kind, cause, fix, and what shows it. */
export function correctForm(view: ItemView): Html {
  const { review, queue, mode, facts } = view;
  const address = reviewAddress(review.id);
  return html`<section class="card" data-mode="correct"${mode !== 'correct' && html` hidden`} aria-labelledby="correct"><h2 id="correct">Correct the answer</h2>
<form id="correct-form" method="post" action="${address}/decision"><input type="hidden" name="type" value="correct"><input type="hidden" name="version" value="${review.version}"><input type="hidden" name="queue" value="${searchOf(queue)}"><input type="hidden" name="openedAt" value="${new Date(facts.now).toISOString()}">
${whatIsIt(view)}${words(view)}${shownBy(view)}${appliesTo(view)}
<p class="acts"><button class="first" data-action="save">Save and next <kbd aria-hidden="true">Ctrl+Enter</kbd></button> <a class="button" data-close href="${address}${searchOf(queue)}" data-swap>Cancel <kbd aria-hidden="true">Esc</kbd></a></p></form></section>`;
}

function whatIsIt({ typed, facts: { analysis }, mode }: ItemView): Html {
  const chosen = typed?.category ?? analysis.category;
  const radios = CATEGORY_KEYS.map(
    (category, at) =>
      html`<label><input type="radio" name="category" value="${category}" data-action="choose" data-key="${at + 1}"${category === chosen && html` checked`}${category === chosen && mode === 'correct' && html` autofocus`}> ${category} <kbd aria-hidden="true">${at + 1}</kbd></label> `,
  );
  const kinds = KINDS.map(
    (kind) => html`<option value="${kind}"${kind === typed?.kind && html` selected`}>${kind.replaceAll('_', ' ')}</option>`,
  );
  return html`<fieldset><legend>What is it?</legend><p class="choices">${radios}</p>
<label>Kind <select name="kind"><option value="">automatic (now ${analysis.kind.replaceAll('_', ' ')})</option>${kinds}</select></label></fieldset>`;
}

function words({ typed, facts: { analysis } }: ItemView): Html {
  const { rootCause, fixRecommendation } = analysis.answer;
  return html`<p><label for="rootCause">Root cause</label><textarea id="rootCause" name="rootCause" rows="3" maxlength="4000" required>${typed?.rootCause ?? rootCause.slice(0, 4000)}</textarea></p>
<p><label for="fix">What to do</label><textarea id="fix" name="fixRecommendation" class="short" rows="2" maxlength="4000" required>${typed?.fixRecommendation ?? fixRecommendation.slice(0, 4000)}</textarea></p>`;
}

function shownBy({ typed, facts: { analysis } }: ItemView): Html {
  const cited = new Set(analysis.answer.claims.flatMap(({ evidence }) => evidence));
  const isTicked = (id: string) => (typed?.evidence === undefined ? cited.has(id) && typed === null : typed.evidence.includes(id));
  const offered = analysis.evidence.filter(({ id, tool }) => cited.has(id) || tool === 'log').slice(0, MAX_EVIDENCE);
  const boxes = offered.map(
    ({ id, title }) =>
      html`<label title="${title}"><input type="checkbox" name="evidence" value="${id}"${isTicked(id) && html` checked`}> ${id}</label> `,
  );
  const onLines = analysis.evidence.filter(({ lineStart, source }) => lineStart !== undefined && source.length <= MAX_SOURCE);
  const sources = [...new Set(onLines.map(({ source }) => source))];
  return html`<fieldset><legend>Shown by</legend><p class="choices">${boxes}
<label><input type="checkbox" name="none" value="1"${typed?.none && html` checked`}> no line shows it</label></p>
${
  sources.length > 0 &&
  html`<label>Lines <input name="lines" size="14" placeholder="120-140, 188" pattern="[0-9 ,\\-]*" value="${typed?.lines}"></label>
<label>of <select name="source">${sources.map((source) => html`<option>${source}</option>`)}</select></label>`
}</fieldset>`;
}

function appliesTo({ same, typed }: ItemView): Html {
  if (same.length === 0) return html``;
  const also = typed?.same === true;
  return html`<fieldset class="applies"><legend>Applies to</legend>
<label><input type="radio" name="alsoFor" value=""${!also && html` checked`}> this cause</label>
<label><input type="radio" name="alsoFor" value="same-fingerprint"${also && html` checked`}> also ${same.length} waiting ${same.length === 1 ? 'item' : 'items'} with the same fingerprint</label>
<details${also && html` open`}><summary>show ${same.length === 1 ? 'it' : 'them'}</summary>${sameRows(same)}</details></fieldset>`;
}

/** Why it is rejected; choosing saves at once. */
export function rejectForm({ review, queue, mode, typed, facts }: ItemView): Html {
  const address = reviewAddress(review.id);
  const choices = RejectReason.options.map(
    (reason, at) =>
      html`<button name="reasonCode" value="${reason}" data-action="choose" data-key="${at + 1}">${REJECT_REASONS[reason]} <kbd aria-hidden="true">${at + 1}</kbd></button>`,
  );
  return html`<section class="card" data-mode="reject"${mode !== 'reject' && html` hidden`} aria-labelledby="reject"><h2 id="reject" tabindex="-1">Reason for rejection</h2>
<form method="post" action="${address}/decision"><input type="hidden" name="type" value="reject"><input type="hidden" name="version" value="${review.version}"><input type="hidden" name="queue" value="${searchOf(queue)}"><input type="hidden" name="openedAt" value="${new Date(facts.now).toISOString()}">
<p class="acts">${choices}</p>
<p><label for="reason">Comment (optional)</label> <input id="reason" name="reason" maxlength="4000" value="${typed?.reason}"></p>
<p><a class="button" data-close href="${address}${searchOf(queue)}" data-swap>Cancel <kbd aria-hidden="true">Esc</kbd></a></p></form></section>`;
}

/** The other waiting items of this fingerprint: listed first, then one press accepts the answer for all of them. */
export function sameList(view: ItemView): Html {
  const { same, review, queue, facts } = view;
  if (same.length === 0) return html``;
  const openedAt = new Date(facts.now).toISOString();
  const fields = { type: 'accept', version: review.version, queue: searchOf(queue), alsoFor: 'same-fingerprint', openedAt };
  const armed = mustArm(facts) ? { armed: '1' } : {};
  const button = html`${sameRows(same)}<p><button>${mustArm(facts) ? `Accept all ${same.length + 1} anyway: the change touches ${facts.overlap[0]}` : `Accept this answer for all ${same.length + 1}`}</button></p>`;
  return html`<details class="same"><summary>Also ${same.length} waiting ${same.length === 1 ? 'item' : 'items'} with the same fingerprint</summary>
${postForm(`${reviewAddress(review.id)}/decision`, { ...fields, ...armed }, button)}</details>`;
}

/** Them, each with the field that names it: only what was listed is decided. */
function sameRows(same: readonly Review[]): Html {
  return html`<ul class="same-rows">${same.map(
    ({ id, title, category, confidence, buildId, repository }) =>
      html`<li><input type="hidden" name="also" value="${id}"><a href="${reviewAddress(id)}">${title}</a> <span class="quiet"><span class="category">${category}</span> ${percent(confidence)} · ${repository} · ${buildId}</span></li>`,
  )}</ul>`;
}
