import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CATEGORIES } from '../../domain/category.ts';
import { itemCategory, type Review, type ReviewerQuestion } from '../../domain/review.ts';
import { formatConfidence } from '../../lib/text.ts';
import { nextFor, openQuestions, requireReviewer } from '../../service/review/queue.ts';
import type { ReviewGroup } from '../../stores/reviews.ts';
import { buildAddress, reviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { actionButton, actionLink, formatAge, hiddenFields, options, pager, postForm } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { misreadBanner } from '../http.ts';
import { answerPage, type ConsoleApp, readerOrUsual, route, sendPage } from '../page.ts';
import { undoable } from './item-view.ts';
import {
  describeLastAction,
  formatQuery,
  isFiltered,
  QueueQuery,
  Said,
  toReviewFilter,
} from './queue-query.ts';

const Query = z.object({ ...QueueQuery.shape, ...Said.shape });
const NextQuery = z.object({
  ...QueueQuery.shape,
  /** The item that the reviewer comes from, in either direction. */
  after: z.string().max(100).optional(),
  before: z.string().max(100).optional(),
  peek: z.literal('1').optional(),
});

/**
 * Serves `/review`, the items that wait for a person, and `/review/next`, the first item that no one else
 * holds.
 */
export function registerQueue(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/review', route('review', { querystring: Query }), async (request, reply) => {
    const [read] = await Promise.allSettled([readQueue(deps, request.query, requireReviewer(request))]);
    if (read.status === 'rejected') return sendUnreadable(read.reason, request, reply, deps);
    const view = read.value;
    const said = await describeLastAction(request.query, deps.stores, request.query.n);
    const page = { title: 'Review', place: 'queue', part: 'review', live: {}, bar: queueBar(view) } as const;
    const main = html`${misreadBanner(request, Query)}${queueMain(view)}`;
    return answerPage(request, reply, deps, { ...page, main, ...(said !== null && { said }) });
  });
  app.get('/review/next', route('review', { querystring: NextQuery }), async (request, reply) => {
    return reply.redirect(await nextAddress(deps, request.query, requireReviewer(request)), 303);
  });
}

/**
 * Returns the address of the next or previous item in the order of the queue, even if the current item was
 * not decided. Without a current item, returns that of the first free item.
 */
async function nextAddress(
  { stores, config, clock }: ConsoleDeps,
  asked: z.infer<typeof NextQuery>,
  reviewer: string,
): Promise<string> {
  const { after, before, peek, ...query } = asked;
  const from = after ?? before;
  const filter = toReviewFilter(query);
  const n = Math.max(1, (query.n ?? 1) + (after !== undefined ? 1 : before !== undefined ? -1 : 0));
  const counted = { ...query, offset: 0, n };
  // A reviewer who moves past an item does not keep it from others.
  if (from !== undefined && peek === undefined) await stores.reviews.release(from, reviewer);
  if (from !== undefined) {
    const rows = await stores.reviews.listGroups(filter, { limit: NEAR, offset: 0 }, query.sort);
    const at = rows.findIndex(({ review }) => review.id === from);
    const neighbour = at < 0 ? undefined : rows[at + (before === undefined ? 1 : -1)];
    if (neighbour !== undefined) return `${reviewAddress(neighbour.review.id)}${formatQuery(counted)}`;
  }
  if (peek !== undefined) return `/review${formatQuery(query)}`;
  const how = { reviewer, filter, sort: query.sort, ...(from !== undefined && { after: from }) };
  const review = await nextFor({ stores, claimMs: config.review.claimMs, clock }, how);
  return review === null
    ? `/review${formatQuery({ ...query, n: undefined, of: undefined })}`
    : `${reviewAddress(review.id)}${formatQuery(counted)}`;
}

/** Reads the rows of the queue. A row is one item, or several of one fingerprint. */
async function readQueue(deps: ConsoleDeps, query: QueueQuery, reviewer: string) {
  const { stores, clock } = deps;
  const filter = toReviewFilter(query);
  const asked = query.state === 'all' && query.offset === 0 && query.why === undefined;
  const { category, repository } = filter;
  const [groups, questions, counts, undo] = await Promise.all([
    readGroups(deps, query, reviewer),
    asked
      ? openQuestions({ stores }, { ...(category && { category }), ...(repository && { repository }) })
      : [],
    stores.reviews.counts(reviewer),
    undoable(deps, reviewer),
  ]);
  const rows = groups.slice(0, PAGE_ROWS);
  const more = groups.length > PAGE_ROWS;
  return { query, reviewer, rows, questions, counts, more, undo: undo?.reviewId ?? null, now: clock.now() };
}

/** Reads one group more than a page shows, to know whether there are more. */
async function readGroups(
  { stores }: ConsoleDeps,
  query: QueueQuery,
  reviewer: string,
): Promise<readonly ReviewGroup[]> {
  const page = { limit: PAGE_ROWS + 1, offset: query.offset };
  const filter = toReviewFilter(query);
  if (query.state === 'all') return await stores.reviews.listGroups(filter, page, query.sort);
  const alone =
    query.state === 'mine'
      ? (
          await stores.reviews.list({ ...filter, state: 'claimed' }, { limit: 200, offset: 0 }, query.sort)
        ).filter((one) => one.claimedBy === reviewer)
      : await stores.reviews.list({ ...filter, decidedToday: true }, page);
  return alone.map((review) => ({ review, count: 1 }));
}

/** Sends the error page of the queue, which says that all decisions are saved. */
async function sendUnreadable(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
): Promise<FastifyReply> {
  const { status, message } = deps.refused(thrown, request, reply);
  const main = html`<div class="notice"><h1 tabindex="-1">Review</h1>
    <p>The queue could not be read (${message.replace(/\.$/, '')}). Your decisions are saved.
    <a class="button" href="${request.url}">Try again</a></p></div>`;
  const page = { title: 'Review', place: 'queue', part: 'review', main } as const;
  return sendPage(request, reply, page, await readerOrUsual(request, deps), status);
}

/** Rows of the queue within which neighbours are searched for. */
const NEAR = 200;

type QueueView = Awaited<ReturnType<typeof readQueue>>;

const PAGE_ROWS = 50;

/**
 * Renders the queue: the waiting items in the order of their risk, the open questions, and the counts of the
 * day's decisions.
 */
function queueMain(view: QueueView): Html {
  const { query, rows, questions } = view;
  const nothing = rows.length + questions.length === 0;
  return html`<div class="headline"><h1 tabindex="-1">Review</h1>${tabs(view)}</div>
    ${filters(view)}
    <div id="queue" data-live="item">${
      nothing
        ? emptyState(view)
        : html`<ul class="queue">${questions.map((one) => questionRow(one, view))}${rows.map((row, at) =>
            reviewRow(row, at, view),
          )}</ul>`
    }</div>
    ${pager(
      { offset: query.offset, size: PAGE_ROWS, more: view.more },
      (offset) => `/review${formatQuery({ ...query, offset })}`,
      ['Earlier', 'More'],
      html` class="button" data-swap`,
    )}`;
}

/** Renders the action bar of the queue. */
function queueBar({ query, counts, undo }: QueueView): Html {
  const start =
    counts.waiting > 0 &&
    html`<a class="button first" href="/review/next${formatQuery({ ...query, n: 1, of: counts.waiting })}"
      data-swap>Start</a>`;
  const back =
    undo !== null &&
    postForm(`${reviewAddress(undo)}/undo`, {}, actionButton('undo', 'Undo my last decision'));
  return html`${start}${back}${actionLink('keys', '/me#keys-here', 'Keys')}`;
}

function tabs({ query, counts }: QueueView): Html {
  const tab = (state: QueueQuery['state'], name: string, count: number) => {
    const address = `/review${formatQuery({ ...query, state, offset: 0, n: undefined, of: undefined })}`;
    return html`<li><a href="${address}"
      data-swap${query.state === state && html` aria-current="page"`}>${name}
      <span class="count">${count}</span></a></li>`;
  };
  return html`<nav aria-label="Which items" id="lists" data-live>
    <ul class="tabs">${tab('all', 'All', counts.waiting)}${tab('mine', 'Held by me', counts.mine)}${tab(
      'decided',
      'Decided today',
      counts.decidedToday,
    )}</ul></nav>`;
}

function filters({ query }: QueueView): Html {
  const orders = { risk: 'Highest risk first', age: 'Oldest first', confidence: 'Least confident first' };
  return html`<form class="filters" action="/review" role="search" aria-label="Filter the queue">
    ${query.state !== 'all' && hiddenFields({ state: query.state })}
    <label>Category <select name="category">${options(
      [['', 'any'], ...CATEGORIES],
      query.category ?? '',
    )}</select></label>
    <label>Repository <input name="repo" value="${query.repo}" placeholder="owner/name" data-action="search"
    size="16"></label>
    <label>Review reason <input name="why" value="${query.why}" placeholder="words" size="16"></label>
    <label>Sort <select name="sort">${options(Object.entries(orders), query.sort)}</select></label>
    <button>Show</button>${
      isFiltered(query) && html` <a class="button" href="${clearAddress(query)}" data-swap>Clear filters</a>`
    }</form>
    ${
      query.sort === 'risk' &&
      html`<p class="quiet">Highest risk first: failures that block a pull request, and answers that blame the
        environment or a flaky test, most of all if the change touches the suspected file. Items rise as they
        wait.</p>`
    }`;
}

function clearAddress({ state, sort }: QueueQuery): string {
  return `/review${formatQuery({ state, sort, offset: 0, category: undefined, repo: undefined, why: undefined, n: undefined, of: undefined })}`;
}

function reviewRow({ review, count }: QueueView['rows'][number], at: number, view: QueueView): Html {
  const { query, counts, reviewer, now } = view;
  const number = query.offset + at + 1;
  const address = `${reviewAddress(review.id)}${formatQuery({ ...query, offset: 0, n: number, of: Math.max(counts.waiting, number) })}`;
  const held = review.state === 'claimed' && review.claimedBy !== reviewer;
  return html`<li id="${review.id}" data-row${held && html` class="held"`}>
    <span class="sureness">${
      review.confidence === 0 ? '–' : formatConfidence(review.confidence)
    }</span> <span class="category">${itemCategory(review)}${riskSign(review)}</span>
    <span class="what"><a class="title" href="${address}" data-swap data-row-link>${review.title}</a>${
      count > 1 &&
      html` <a class="count" href="${address}#same"
        aria-label="${count} items with the same fingerprint: decide them together"
        title="${count} items with the same fingerprint: decide them together">×${count}</a>`
    }</span>
    <span class="from">${review.repository} · <a href="${buildAddress(review.buildId)}">build</a>
    · ${formatAge(review.openedAt, now)}</span>
    <span class="why">${
      held
        ? `under review by ${review.claimedBy} since ${clockTime(review.claimedAt)}`
        : formatReasons(review)
    }</span></li>`;
}

/**
 * Renders the warning that the answer excuses a change that touches its own suspect. If such an answer is
 * wrong, the mistake is the most costly kind.
 */
function riskSign({ risk }: Review): Shown {
  return (
    (risk === 4 || risk === 12) &&
    html` <span class="warn" title="the change touches a suspect file">⚠<span class="visually-hidden">
      the change touches a suspect file</span></span>`
  );
}

function formatReasons({ why, pullRequest, decision, origin }: Review): string {
  if (decision !== null) return decisionWords(decision);
  const parts = [
    ...(pullRequest === null ? [] : [`blocks PR ${pullRequest}`]),
    ...(origin === 'audit' ? ['sample of published answers'] : []),
    ...why,
  ];
  return parts.join(' · ');
}

/** Describes a decision: "ada accepted it", "ada corrected it to CONFIG_ERROR". */
export function decisionWords({ type, category, reviewer }: NonNullable<Review['decision']>): string {
  const did = { accept: 'accepted it', correct: `corrected it to ${category}`, reject: 'rejected it' };
  return `${reviewer} ${did[type]}`;
}

/** Formats a time as 14:02, in UTC. */
export function clockTime(iso: string | null): string {
  return iso === null ? 'a while ago' : `${iso.slice(11, 16)} UTC`;
}

function questionRow(
  { id, question, repository, buildId, openedAt }: ReviewerQuestion,
  { now }: QueueView,
): Html {
  return html`<li id="${id}" data-row class="asked"><span class="sureness">?</span>
    <span class="category">QUESTION</span>
    <span class="what"><a class="title" href="${reviewAddress(id)}" data-swap
    data-row-link>“${question}”</a></span>
    <span class="from">${repository} · <a href="${buildAddress(buildId)}">build</a>
    · ${formatAge(openedAt, now)}</span><span class="why">an analysis is waiting for this answer</span></li>`;
}

function emptyState({ query, counts }: QueueView): Html {
  if (isFiltered(query)) {
    const named = [
      query.category && `category:${query.category}`,
      query.repo && `repo:${query.repo}`,
      query.why && `why:${query.why}`,
    ];
    return html`<p class="empty">No ${query.state === 'decided' ? 'decided' : 'waiting'} item matches
      ${named.filter((one) => one !== undefined).join(' ')}.
      <a class="button" href="${clearAddress(query)}" data-swap>Clear filters</a></p>`;
  }
  if (query.state === 'mine')
    return html`<p class="empty">You hold no items.
      <a class="button" href="/review" data-swap>All waiting items</a></p>`;
  if (query.state === 'decided')
    return html`<p class="empty">No decisions today.
      <a class="button" href="/review" data-swap>All waiting items</a></p>`;
  if (counts.waiting > 0)
    return html`<p class="empty">No more rows.
      <a class="button" href="/review" data-swap>Back to the first page</a></p>`;
  const agreed =
    counts.decidedToday > 0 &&
    `, ${Math.round((100 * counts.agreedToday) / counts.decidedToday)} % agreed with Faultline`;
  return html`<p class="empty">The queue is empty. ${counts.decidedToday} decided today${agreed}.
    <a class="button" href="/builds">See recent builds</a></p>`;
}
