import { CATEGORIES } from '../../domain/category.ts';
import { itemCategory, type Review, type ReviewCounts, type ReviewerQuestion } from '../../domain/review.ts';
import { percent } from '../../notifications/answer-view.ts';
import type { ReviewGroup } from '../../stores/reviews.ts';
import { buildAddress, reviewAddress } from '../addresses.ts';
import { actionButton, ageOf, postForm } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { isFiltered, type QueueQuery, searchOf } from './queue-query.ts';

/** One row of the queue: an item, or several of one fingerprint. */
export interface QueueRow extends ReviewGroup {
  /** The verdict is hidden from this reviewer. */
  readonly blind: boolean;
}

export interface QueueView {
  readonly query: QueueQuery;
  readonly reviewer: string;
  readonly rows: readonly QueueRow[];
  readonly questions: readonly ReviewerQuestion[];
  readonly counts: ReviewCounts;
  /** Whether there are further rows. */
  readonly more: boolean;
  /** The decision that can be taken back; null: none. */
  readonly undo: string | null;
  readonly now: number;
}

export const PAGE_ROWS = 50;

/** The queue: what waits in the order of its risk, what is asked, and how the day went. */
export function queueMain(view: QueueView): Html {
  const { query, rows, questions } = view;
  const nothing = rows.length + questions.length === 0;
  return html`<div class="headline"><h1 tabindex="-1">Review</h1>${tabs(view)}</div>
${filters(view)}
${nothing ? emptyState(view) : html`<ul class="queue">${questions.map((one) => questionRow(one, view))}${rows.map((row, at) => reviewRow(row, at, view))}</ul>`}
${pages(query, view.more)}`;
}

/** What the queue's bar holds. */
export function queueBar({ query, counts, undo }: QueueView): Html {
  const start =
    counts.waiting > 0 &&
    html`<a class="button first" href="/review/next${searchOf({ ...query, n: 1, of: counts.waiting })}" data-swap>Start</a>`;
  const back = undo !== null && postForm(`${reviewAddress(undo)}/undo`, {}, actionButton('undo', 'Undo my last decision'));
  return html`${start}${back}<a class="button" data-action="keys" href="/me#keys-here">Keys <kbd aria-hidden="true">?</kbd></a>`;
}

function tabs({ query, counts }: QueueView): Html {
  const tab = (state: QueueQuery['state'], name: string, count: number) => {
    const address = `/review${searchOf({ ...query, state, offset: 0, n: undefined, of: undefined })}`;
    return html`<li><a href="${address}" data-swap${query.state === state && html` aria-current="page"`}>${name} <span class="count">${count}</span></a></li>`;
  };
  return html`<nav aria-label="Which items"><ul class="tabs">${tab('all', 'All', counts.waiting)}${tab('mine', 'Mine', counts.mine)}${tab('decided', 'Decided today', counts.decidedToday)}</ul></nav>`;
}

function filters({ query }: QueueView): Html {
  const option = (value: string, words: string, chosen: boolean) =>
    html`<option value="${value}"${chosen && html` selected`}>${words}</option>`;
  const orders = { risk: 'Highest risk first', age: 'Oldest first', confidence: 'Least confident first' };
  return html`<form class="filters" action="/review" role="search" aria-label="Filter the queue">
${query.state !== 'all' && html`<input type="hidden" name="state" value="${query.state}">`}
<label>Category <select name="category">${option('', 'any', query.category === undefined)}${CATEGORIES.map((one) => option(one, one, one === query.category))}</select></label>
<label>Repository <input name="repo" value="${query.repo}" placeholder="owner/name" data-action="search" size="16"></label>
<label>Review reason <input name="why" value="${query.why}" placeholder="words" size="16"></label>
<label>Sort <select name="sort">${Object.entries(orders).map(([value, name]) => option(value, name, value === query.sort))}</select></label>
<button>Show</button>${isFiltered(query) && html` <a class="button" href="${clearAddress(query)}" data-swap>Clear filters</a>`}</form>`;
}

function clearAddress({ state, sort }: QueueQuery): string {
  return `/review${searchOf({ state, sort, offset: 0, category: undefined, repo: undefined, why: undefined, n: undefined, of: undefined })}`;
}

function reviewRow({ review, count, blind }: QueueRow, at: number, view: QueueView): Html {
  const { query, counts, reviewer, now } = view;
  const number = query.offset + at + 1;
  const address = `${reviewAddress(review.id)}${searchOf({ ...query, offset: 0, n: number, of: Math.max(counts.waiting, number) })}`;
  const held = review.state === 'claimed' && review.claimedBy !== reviewer;
  const words = blind ? html`<em>Choose a category before the verdict is shown</em>` : review.title;
  return html`<li data-row${held && html` class="held"`}>
<span class="sureness">${blind || review.confidence === 0 ? '–' : percent(review.confidence)}</span> <span class="category">${blind ? 'BLIND' : itemCategory(review)}${!blind && riskSign(review)}</span>
<span class="what"><a class="title" href="${address}" data-swap data-row-link>${words}</a>${count > 1 && html` <span class="count" title="${count} items with the same fingerprint">×${count}</span>`}</span>
<span class="from">${review.repository} · <a href="${buildAddress(review.buildId)}">build</a> · ${ageOf(review.openedAt, now)}</span>
<span class="why">${held ? `under review by ${review.claimedBy} since ${clockTime(review.claimedAt)}` : whyOf(review, blind)}</span></li>`;
}

/** The answer excuses a change that touches its own suspect: the costliest mistake where it is one. */
function riskSign({ risk }: Review): Shown {
  return (
    (risk === 4 || risk === 12) &&
    html` <span class="warn" title="the change touches a suspect file">⚠<span class="visually-hidden"> the change touches a suspect file</span></span>`
  );
}

function whyOf({ why, pullRequest, decision, origin }: Review, blind: boolean): string {
  if (decision !== null) return decisionWords(decision);
  const parts = [
    ...(pullRequest === null ? [] : [`blocks PR ${pullRequest}`]),
    ...(origin === 'audit' ? ['sample of published answers'] : []),
    ...(blind ? [] : why),
  ];
  return parts.join(' · ');
}

/** "ada accepted it", "ada corrected it to CONFIG_ERROR". */
export function decisionWords({ type, category, reviewer }: NonNullable<Review['decision']>): string {
  const did = { accept: 'accepted it', correct: `corrected it to ${category}`, reject: 'rejected it' };
  return `${reviewer} ${did[type]}`;
}

/** 14:02, in UTC. */
export function clockTime(iso: string | null): string {
  return iso === null ? 'a while ago' : `${iso.slice(11, 16)} UTC`;
}

function questionRow({ id, question, repository, buildId, openedAt }: ReviewerQuestion, { now }: QueueView): Html {
  return html`<li data-row class="asked"><span class="sureness">?</span> <span class="category">QUESTION</span>
<span class="what"><a class="title" href="${reviewAddress(id)}" data-swap data-row-link>“${question}”</a></span>
<span class="from">${repository} · <a href="${buildAddress(buildId)}">build</a> · ${ageOf(openedAt, now)}</span><span class="why">an analysis is waiting for this answer</span></li>`;
}

function emptyState({ query, counts }: QueueView): Html {
  if (isFiltered(query)) {
    const named = [query.category && `category:${query.category}`, query.repo && `repo:${query.repo}`, query.why && `why:${query.why}`];
    return html`<p class="empty">No ${query.state === 'decided' ? 'decided' : 'waiting'} item matches ${named.filter((one) => one !== undefined).join(' ')}. <a class="button" href="${clearAddress(query)}" data-swap>Clear filters</a></p>`;
  }
  if (query.state === 'mine')
    return html`<p class="empty">You have no items. <a class="button" href="/review" data-swap>All waiting items</a></p>`;
  if (query.state === 'decided')
    return html`<p class="empty">No decisions today. <a class="button" href="/review" data-swap>All waiting items</a></p>`;
  if (counts.waiting > 0)
    return html`<p class="empty">No more rows. <a class="button" href="/review" data-swap>Back to the first page</a></p>`;
  const agreed = counts.decidedToday > 0 && `, ${Math.round((100 * counts.agreedToday) / counts.decidedToday)} % agreed with Faultline`;
  return html`<p class="empty">The queue is empty. ${counts.decidedToday} decided today${agreed}. <a class="button" href="/builds">See recent builds</a></p>`;
}

function pages(query: QueueQuery, more: boolean): Html {
  const at = (offset: number) => `/review${searchOf({ ...query, offset })}`;
  const earlier = query.offset > 0 && html`<a class="button" href="${at(Math.max(0, query.offset - PAGE_ROWS))}" data-swap>Earlier</a>`;
  return html`${(more || query.offset > 0) && html`<p class="pages">${earlier}${more && html`<a class="button" href="${at(query.offset + PAGE_ROWS)}" data-swap>More</a>`}</p>`}`;
}
