import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { nameCategory } from '../../domain/category-words.ts';
import { formatItemCategory, type Review, type ReviewerQuestion } from '../../domain/review.ts';
import { formatCount, startUpper } from '../../lib/text.ts';
import { claimNext, openQuestions, requireReviewer } from '../../service/review/queue.ts';
import type { ReviewGroup } from '../../stores/review-queue.ts';
import { formatReviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { actionButton, formatAge, keysLink, pager, postForm } from '../controls.ts';
import { applyTypedFilter, type Filtering, filterBar, unknownFilter } from '../filters.ts';
import { type Html, html, type Shown } from '../html.ts';
import { misreadBanner, Words } from '../http.ts';
import { renderCsvLink } from '../lists-as-csv.ts';
import { answerPage, type ConsoleApp, loadErrorReader, route, sendPage } from '../page.ts';
import { icon } from '../parts/icons.ts';
import { categoryTile, iconTile } from '../parts/marks.ts';
import { bulkForm, pickBox, undoBulk } from './bulk.ts';
import { readFiltering, sendQueue } from './queue-filters.ts';
import {
  describeLastAction,
  formatQuery,
  isFiltered,
  QueueQuery,
  Said,
  toReviewFilter,
} from './queue-query.ts';
import { findUndoable } from './undoable.ts';

const Query = z.object({
  ...QueueQuery.shape,
  ...Said.shape,
  /** The text that was typed into the field of filters. */
  filter: Words,
  csv: z.literal('1').optional().catch(undefined),
});
const NextQuery = z.object({
  ...QueueQuery.shape,
  /** The reviewer's previous item, before or after the requested one. */
  after: z.string().max(100).optional(),
  before: z.string().max(100).optional(),
  peek: z.literal('1').optional(),
});

/**
 * Registers `/review`, the items that wait for a person, and `/review/next`, the first item that no one else
 * holds.
 */
export function registerQueue(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/review', route('review', { querystring: Query }), async (request, reply) => {
    if (request.query.csv !== undefined) return await sendQueue(reply, deps, request.query);
    const [read] = await Promise.allSettled([readQueue(deps, request.query, requireReviewer(request))]);
    if (read.status === 'rejected') return sendUnreadable(read.reason, request, reply, deps);
    const view = { ...read.value, filtering: await readFiltering(deps, request.query) };
    const filtered = applyTypedFilter(reply, request.query.filter, view.filtering);
    if (filtered !== undefined) return filtered;
    const lastAction = await describeLastAction(request.query, deps.stores, request.query.n);
    const page = {
      title: 'Review',
      place: 'queue',
      part: 'review',
      live: {},
      fills: true,
      bar: queueBar(view),
      scope: request.query,
    } as const;
    const above = html`${misreadBanner(request, Query)}${unknownFilter(request.query.filter)}${listTools(view)}`;
    const main = html`<div class="split" data-show="list">${queuePart(view, 'h1', above)}${startPart(
      view,
    )}</div>`;
    const undo = undoBulk(request.query);
    return answerPage(request, reply, deps, {
      ...page,
      main,
      ...(lastAction !== null && { said: lastAction, undo }),
    });
  });
  app.get('/review/next', route('review', { querystring: NextQuery }), async (request, reply) => {
    return reply.redirect(await findNextAddress(deps, request.query, requireReviewer(request)), 303);
  });
}

/**
 * Returns the address of the next or previous item in the queue, even if the current item was not decided.
 * Without a current item, returns that of the first free item.
 */
async function findNextAddress(
  { stores, config, clock }: ConsoleDeps,
  asked: z.infer<typeof NextQuery>,
  reviewer: string,
): Promise<string> {
  const { after, before, peek, ...query } = asked;
  const from = after ?? before;
  const filter = toReviewFilter(query);
  const n = Math.max(1, (query.n ?? 1) + (after !== undefined ? 1 : before !== undefined ? -1 : 0));
  const counted = { ...query, offset: 0, n };
  // A reviewer who moves past an item releases it.
  if (from !== undefined && peek === undefined) await stores.reviews.release(from, reviewer);
  if (from !== undefined) {
    const rows = await stores.reviews.listGroups(filter, { limit: NEAR, offset: 0 }, query.sort);
    const at = rows.findIndex(({ review }) => review.id === from);
    const neighbour = at < 0 ? undefined : rows[at + (before === undefined ? 1 : -1)];
    if (neighbour !== undefined) return `${formatReviewAddress(neighbour.review.id)}${formatQuery(counted)}`;
  }
  if (peek !== undefined) return `/review${formatQuery(query)}`;
  const how = { reviewer, filter, sort: query.sort, ...(from !== undefined && { after: from }) };
  const review = await claimNext({ stores, claimMs: config.review.claimMs, clock }, how);
  return review === null
    ? `/review${formatQuery({ ...query, n: undefined, of: undefined })}`
    : `${formatReviewAddress(review.id)}${formatQuery(counted)}`;
}

/** Reads the rows of the queue. A row is one item, or several of the same fingerprint. */
export async function readQueue(deps: ConsoleDeps, query: QueueQuery, reviewer: string, size = PAGE_ROWS) {
  const { stores, clock } = deps;
  const filter = toReviewFilter(query);
  const asked = query.state === 'all' && query.offset === 0 && query.why === undefined;
  const { category, repository } = filter;
  const [groups, questions, counts, undo] = await Promise.all([
    readGroups(deps, query, reviewer, size),
    asked
      ? openQuestions({ stores }, { ...(category && { category }), ...(repository && { repository }) })
      : [],
    stores.reviews.counts(reviewer),
    findUndoable(deps, reviewer),
  ]);
  const rows = groups.slice(0, size);
  const more = groups.length > size;
  return { query, reviewer, rows, questions, counts, more, undo: undo?.reviewId ?? null, now: clock.now() };
}

/** Reads one group more than a page shows, to determine whether there are more. */
async function readGroups(
  { stores }: ConsoleDeps,
  query: QueueQuery,
  reviewer: string,
  size: number,
): Promise<readonly ReviewGroup[]> {
  const page = { limit: size + 1, offset: query.offset };
  const filter = toReviewFilter(query);
  if (query.state === 'all') return await stores.reviews.listGroups(filter, page, query.sort);
  const alone =
    query.state === 'mine'
      ? (
          await stores.reviews.list({ ...filter, state: 'claimed' }, { limit: 200, offset: 0 }, query.sort)
        ).filter((review) => review.claimedBy === reviewer)
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
    <a class="btn" href="${request.url}">Try again</a></p></div>`;
  const page = { title: 'Review', place: 'queue', part: 'review', main } as const;
  return sendPage(request, reply, page, await loadErrorReader(request, deps), status);
}

/** The number of rows of the queue in which neighbors are searched. */
const NEAR = 200;

type QueueView = Awaited<ReturnType<typeof readQueue>>;

const PAGE_ROWS = 50;

/**
 * Renders the queue: the waiting items by risk, the open questions, and the number of today's decisions.
 * `current` is the item that is open next to it.
 */
export function queuePart(
  view: QueueView,
  level: 'h1' | 'h2',
  above: Shown = null,
  current: string | null = null,
): Html {
  const { query, rows, questions, counts } = view;
  const nothing = rows.length + questions.length === 0;
  const heading =
    level === 'h1'
      ? html`<h1 tabindex="-1">Review</h1>`
      : html`<h2><a href="/review" data-swap>Review</a></h2>`;
  const list = html`<ul class="rows">${questions.map((item) => questionRow(item, view, current))}${rows.map(
    (row, at) => reviewRow(row, at, view, current),
  )}</ul>`;
  const decided = counts.decidedToday === 0 ? 'Nothing' : counts.decidedToday;
  const day = html`<p class="pad meta">${decided} decided today${describeAgreement(counts)}.</p>`;
  return html`<section aria-label="Queue"><header class="top">${heading}${tabs(view)}</header>
    ${level === 'h1' ? above : chosenPart(query)}
    <div id="queue" data-live="item">${nothing ? emptyState(view) : list}</div>
    ${
      level === 'h1' &&
      html`<div class="pad">${pager(
        { offset: query.offset, size: PAGE_ROWS, more: view.more },
        (offset) => `/review${formatQuery({ ...query, offset })}`,
        ['Earlier', 'More'],
        html` class="btn" data-swap`,
      )}${rows.length > 0 && renderCsvLink(`/review${formatQuery({ ...query, offset: 0 }, { csv: 1 })}`)}</div>`
    }${!nothing && day}</section>`;
}

const ORDERS = { risk: 'Riskiest first', age: 'Oldest first', confidence: 'Least sure first' } as const;

/** Renders the order and the filters of the queue next to an item, with the way to change them. */
function chosenPart(query: QueueQuery): Html {
  const { category, repository } = toReviewFilter(query);
  const chosen = [category !== undefined && nameCategory(category), repository].filter(
    (part) => typeof part === 'string',
  );
  const list = `/review${formatQuery({ ...query, n: undefined, of: undefined })}#list`;
  return html`<p class="pad line meta"><span>${[ORDERS[query.sort], ...chosen].join(', ')}</span><a
    href="${list}">Filter or select several</a></p>`;
}

function describeAgreement({ decidedToday, agreedToday }: QueueView['counts']): string {
  return decidedToday === 0 ? '' : `, ${agreedToday} as Faultline said`;
}

/** Renders the right half of the page if no item is open. */
function startPart({ query, counts }: QueueView): Html {
  const words =
    counts.waiting === 0
      ? html`<h2>Nothing waits for a person</h2><p><a class="btn" href="/builds">See recent builds</a></p>`
      : html`<h2>${formatCount(counts.waiting, 'answer')} ${counts.waiting === 1 ? 'waits' : 'wait'} for a person</h2>
        <p class="meta">Highest risk first: failures that block a pull request, and answers that blame the
        environment or a flaky test, most of all if the change touches the suspected file.</p>
        <p><a class="btn" href="/review/next${formatQuery({ ...query, n: 1, of: counts.waiting })}"
        data-swap>Open the first</a></p>`;
  return html`<div class="empty only-wide" data-start>${icon('review')}${words}</div>`;
}

/** Renders the action bar of the queue. */
function queueBar({ query, counts, undo }: QueueView): Html {
  const start =
    counts.waiting > 0 &&
    html`<a class="btn main" href="/review/next${formatQuery({ ...query, n: 1, of: counts.waiting })}"
      data-swap>Start</a>`;
  const back =
    undo !== null &&
    postForm(`${formatReviewAddress(undo)}/undo`, {}, actionButton('undo', 'Undo my last decision'));
  return html`${start}${back}${keysLink()}`;
}

function tabs({ query, counts }: QueueView): Html {
  const tab = (state: QueueQuery['state'], name: string, count: number) => {
    const address = `/review${formatQuery({ ...query, state, offset: 0, n: undefined, of: undefined })}`;
    return html`<a href="${address}"
      data-swap${query.state === state && html` aria-current="page"`}>${name}
      <span class="count">${count}</span></a>`;
  };
  return html`<nav class="tabs" aria-label="Which items" id="lists" data-live>${tab(
    'all',
    'All',
    counts.waiting,
  )}${tab('mine', 'Mine', counts.mine)}${tab('decided', 'Decided', counts.decidedToday)}</nav>`;
}

/** Renders the filters of the queue, and the actions on the selected rows. */
function listTools(view: QueueView & { readonly filtering: Filtering }): Html {
  const { rows, query, filtering } = view;
  return html`<div class="pad">${filterBar('Filter the queue', filtering)}${
    rows.length > 0 && query.state !== 'decided' && bulkForm(query)
  }</div>`;
}

function formatClearAddress({ state, sort }: QueueQuery): string {
  return `/review${formatQuery({ ...QueueQuery.parse({}), state, sort })}`;
}

function reviewRow(
  { review, count }: QueueView['rows'][number],
  at: number,
  view: QueueView,
  current: string | null,
): Html {
  const { query, counts, reviewer, now } = view;
  const { id, repository, pullRequest, openedAt, state, claimedBy, claimedAt, title } = review;
  const number = query.offset + at + 1;
  const place = { n: number, of: Math.max(counts.waiting, number) };
  const address = `${formatReviewAddress(id)}${formatQuery({ ...query, offset: 0, ...place })}`;
  const isClaimed = state === 'claimed' && claimedBy !== reviewer;
  const reasons = isClaimed
    ? `Under review by ${claimedBy} since ${formatClockTime(claimedAt)}`
    : formatReasons(review);
  const together = `${count} items with the same failure: decide them together`;
  const isPicked = current === null && !isClaimed && review.decision === null;
  return html`<li id="${id}" data-row${id === current && html` aria-current="true"`}>${
    isPicked && pickBox(review)
  }${categoryTile(formatItemCategory(review))}<div class="grow"><a class="whole" href="${address}" data-swap
    data-row-link>${title}</a>${
      count > 1 &&
      html` <a class="count above" href="${address}#same" aria-label="${together}"
      title="${together}">×${count}</a>`
    }<p class="meta">${repository}${pullRequest !== null && `, pull request ${pullRequest}`}</p>
    ${reasons !== '' && html`<p class="meta${!isClaimed && isRisky(review) && ' is-amber'}">${reasons}</p>`}</div><span
    class="end meta num">${formatAge(openedAt, now)}</span></li>`;
}

/**
 * Tells whether the row is urgent: it blocks a pull request, or its answer excuses a change that touches a
 * suspect. Such a mistake would be the most costly kind.
 */
function isRisky({ risk, pullRequest, decision }: Review): boolean {
  return decision === null && (pullRequest !== null || risk === 4 || risk === 12);
}

function formatReasons({ why, pullRequest, decision, origin, risk }: Review): string {
  if (decision !== null) return describeDecision(decision);
  const excuses = risk === 4 || risk === 12;
  const parts = [
    pullRequest !== null && 'Blocks a pull request',
    excuses && 'The change touches a suspect file',
    origin === 'audit' && 'Sample of published answers',
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(', ') : startUpper(why[0]?.split(';')[0] ?? '');
}

/** Describes a decision: "ada accepted it", "ada corrected it to Configuration". */
export function describeDecision({ type, category, reviewer }: NonNullable<Review['decision']>): string {
  const did = {
    accept: 'accepted it',
    correct: `corrected it to ${nameCategory(category)}`,
    reject: 'rejected it',
  };
  return `${reviewer} ${did[type]}`;
}

/** Formats a time as 14:02, in UTC. */
export function formatClockTime(iso: string | null): string {
  return iso === null ? 'a while ago' : `${iso.slice(11, 16)} UTC`;
}

function questionRow(
  { id, question, repository, openedAt }: ReviewerQuestion,
  { now }: QueueView,
  current: string | null,
): Html {
  return html`<li id="${id}" data-row${id === current && html` aria-current="true"`}>${iconTile(
    'question',
    'Question',
  )}<div class="grow"><a class="whole" href="${formatReviewAddress(id)}" data-swap
    data-row-link>“${question}”</a><p class="meta">${repository}</p><p class="meta">An analysis is waiting for
    this answer</p></div><span class="end meta num">${formatAge(openedAt, now)}</span></li>`;
}

function emptyState({ query, counts }: QueueView): Html {
  if (isFiltered(query))
    return html`<div class="empty"><p>No ${query.state === 'decided' ? 'decided' : 'waiting'} item fits these
      filters.</p><p><a class="btn" href="${formatClearAddress(query)}"
      data-swap>Remove the filters</a></p></div>`;
  if (query.state === 'mine')
    return html`<p class="empty">You hold no items.
      <a class="btn" href="/review" data-swap>All waiting items</a></p>`;
  if (query.state === 'decided')
    return html`<p class="empty">No decisions today.
      <a class="btn" href="/review" data-swap>All waiting items</a></p>`;
  if (counts.waiting > 0)
    return html`<p class="empty">No more rows.
      <a class="btn" href="/review" data-swap>Back to the first page</a></p>`;
  return html`<p class="empty">The queue is empty. ${counts.decidedToday} decided
    today${describeAgreement(counts)}. <a class="btn" href="/builds">See recent builds</a></p>`;
}
