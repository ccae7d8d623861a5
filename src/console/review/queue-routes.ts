import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DEFAULT_PREFERENCES } from '../../domain/access.ts';
import { blindStateOf, nextFor, openQuestions, reviewerOf } from '../../service/review/queue.ts';
import type { ReviewFilter, ReviewGroup, ReviewSort } from '../../stores/reviews.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { reviewAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { html } from '../html.ts';
import { misreadBanner } from '../http.ts';
import { readerOf, sendPage } from '../page.ts';
import { undoable } from './item-view.ts';
import { PAGE_ROWS, type QueueView, queueBar, queueMain } from './queue-page.ts';
import { filterOf, QueueQuery, Said, searchOf, sentenceOf } from './queue-query.ts';

const access = { role: 'review' } as const;

const Query = z.object({ ...QueueQuery.shape, ...Said.shape });
const NextQuery = z.object({
  ...QueueQuery.shape,
  /** The item that somebody comes from, in either direction. */
  after: z.string().max(100).optional(),
  before: z.string().max(100).optional(),
  peek: z.literal('1').optional(),
});

/** `/review`: what waits for a person. `/review/next`: the first of it that nobody else holds. */
export function registerQueue(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/review', { config: { access }, schema: { querystring: Query } }, async (request, reply) => {
    const view = await readQueue(deps, request.query, reviewerOf(request)).catch((thrown: unknown) => thrown);
    if (!isView(view)) return sendUnreadable(view, request, reply, deps);
    const said = await sentenceOf(request.query, deps.stores, request.query.n);
    const page = {
      title: 'Review',
      place: 'queue' as const,
      part: 'review' as const,
      main: html`${misreadBanner(request, Query)}${queueMain(view)}`,
      bar: queueBar(view),
    };
    return sendPage(request, reply, { ...page, ...(said !== null && { said }) }, await readerOf(request, deps));
  });
  typed.get('/review/next', { config: { access }, schema: { querystring: NextQuery } }, async (request, reply) => {
    const { after, before, peek, ...query } = request.query;
    const address = await nextAddress(deps, query, { reviewer: reviewerOf(request), after, before, peek: peek === '1' });
    return reply.redirect(address, 303);
  });
}

interface Step {
  readonly reviewer: string;
  readonly after: string | undefined;
  readonly before: string | undefined;
  readonly peek: boolean;
}

/** The neighbour in the queue's order, undecided too; without one to come from, the first that is free. */
async function nextAddress({ stores, config, clock }: ConsoleDeps, query: QueueQuery, step: Step): Promise<string> {
  const { reviewer, after, before, peek } = step;
  const from = after ?? before;
  const filter = filterOf(query);
  const n = Math.max(1, (query.n ?? 1) + (after !== undefined ? 1 : before !== undefined ? -1 : 0));
  const counted = { ...query, offset: 0, n };
  // Whoever only walks past an item does not keep it from others.
  if (from !== undefined && !peek) await stores.reviews.release(from, reviewer);
  if (from !== undefined) {
    const neighbour = await neighbourOf(stores, { filter, sort: query.sort, id: from, back: before !== undefined });
    if (neighbour !== null) return `${reviewAddress(neighbour)}${searchOf(counted)}`;
  }
  if (peek) return `/review${searchOf(query)}`;
  const how = { reviewer, filter, sort: query.sort, ...(from !== undefined && { after: from }) };
  const review = await nextFor({ stores, claimMs: config.review.claimMs, clock }, how);
  return review === null
    ? `/review${searchOf({ ...query, n: undefined, of: undefined })}`
    : `${reviewAddress(review.id)}${searchOf(counted)}`;
}

async function readQueue(deps: ConsoleDeps, query: QueueQuery, reviewer: string): Promise<QueueView> {
  const { stores, clock, config } = deps;
  const filter = filterOf(query);
  const asked = query.state === 'all' && query.offset === 0 && query.why === undefined;
  const { category, repository } = filter;
  const [groups, questions, counts, undo] = await Promise.all([
    readGroups(deps, query, reviewer),
    asked ? openQuestions({ stores }, { ...(category && { category }), ...(repository && { repository }) }) : [],
    stores.reviews.counts(reviewer),
    undoable(deps, reviewer),
  ]);
  const shown = groups.slice(0, PAGE_ROWS);
  const rows = await Promise.all(
    shown.map(async (group) => {
      const { blind } = await blindStateOf({ stores, blindEvery: config.review.blindEvery }, group.review, reviewer);
      return { ...group, blind };
    }),
  );
  const more = groups.length > PAGE_ROWS;
  return { query, reviewer, rows, questions, counts, more, undo: undo?.reviewId ?? null, now: clock.now() };
}

/** One more than a page shows, to know whether there are more. */
async function readGroups({ stores }: ConsoleDeps, query: QueueQuery, reviewer: string): Promise<readonly ReviewGroup[]> {
  const page = { limit: PAGE_ROWS + 1, offset: query.offset };
  const filter = filterOf(query);
  if (query.state === 'all') return await stores.reviews.listGroups(filter, page, query.sort);
  const alone =
    query.state === 'mine'
      ? (await stores.reviews.list({ ...filter, state: 'claimed' }, { limit: 200, offset: 0 }, query.sort)).filter(
          (one) => one.claimedBy === reviewer,
        )
      : await stores.reviews.list({ ...filter, decidedToday: true }, page);
  return alone.map((review) => ({ review, count: 1 }));
}

function isView(value: unknown): value is QueueView {
  return typeof value === 'object' && value !== null && 'rows' in value && 'counts' in value;
}

/** What was decided is safe, and said to be. */
async function sendUnreadable(thrown: unknown, request: FastifyRequest, reply: FastifyReply, deps: ConsoleDeps): Promise<FastifyReply> {
  const { status, message } = deps.refused(thrown, request, reply);
  const main = html`<div class="notice"><h1 tabindex="-1">Review</h1>
<p>The queue could not be read (${message.replace(/\.$/, '')}). Your decisions are saved. <a class="button" href="${request.url}">Try again</a></p></div>`;
  const reader = await readerOf(request, deps).catch(() => ({
    principal: request.principal,
    preferences: DEFAULT_PREFERENCES,
    waiting: null,
  }));
  return sendPage(request, reply, { title: 'Review', place: 'queue', part: 'review', main }, reader, status);
}

/** Rows of the queue within which neighbours are searched for. */
const NEAR = 200;

/** The item after (or before) this one in the queue's order, whoever holds it; null where it is not among the first rows, or the last. */
async function neighbourOf(
  { reviews }: Pick<ShownStores, 'reviews'>,
  { filter, sort, id, back }: { filter: Omit<ReviewFilter, 'state'>; sort: ReviewSort; id: string; back: boolean },
): Promise<string | null> {
  const rows = await reviews.listGroups(filter, { limit: NEAR, offset: 0 }, sort);
  const at = rows.findIndex(({ review }) => review.id === id);
  if (at < 0) return null;
  return rows[at + (back ? -1 : 1)]?.review.id ?? null;
}
