import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Review, ReviewCounts } from '../domain/review.ts';
import type { ReviewFilter, ReviewSort } from '../ports/reviews.ts';
import { answerConflict } from './answer-conflict.ts';
import { type BlindDeps, recordBlindGuess } from './blind.ts';
import { type OpenReviewDeps, openReviewFor } from './open-review.ts';
import { nextFor, type QueueDeps, skipReview, takeOverReview } from './queue.ts';
import { isAdmin, reviewerOf } from './reviewer.ts';
import { CountsQuery, GroupList, GroupQuery, GuessBody, GuessView, NextBody, NextView, ReviewConflict } from './views.ts';

type QueueRouteDeps = QueueDeps & BlindDeps & OpenReviewDeps & { readonly stores: QueueDeps['stores'] & OpenReviewDeps['stores'] };

const Params = z.object({ id: z.string().min(1).max(100) });
const access = { access: { role: 'review' } } as const;
const tags = ['Review'];

/** The queue as a whole, and the way from item to item. */
export function registerQueueRoutes(app: FastifyInstance, deps: QueueRouteDeps): void {
  registerLists(app, deps);
  registerNext(app, deps);
  registerOpening(app, deps);
}

function registerLists(app: FastifyInstance, { stores }: QueueRouteDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get(
    '/api/reviews/groups',
    {
      config: access,
      schema: {
        tags,
        operationId: 'listReviewGroups',
        summary: 'The queue, grouped by fingerprint',
        querystring: GroupQuery,
        response: { 200: GroupList },
      },
    },
    async ({ query: { limit, offset, sort, ...asked } }) => {
      const items = await stores.reviews.listGroups(filterOf(asked), { limit, offset }, sort);
      return { items, limit, offset, next: items.length < limit ? null : offset + limit };
    },
  );
  typed.get(
    '/api/reviews/counts',
    {
      config: access,
      schema: {
        tags,
        operationId: 'countReviews',
        summary: 'Queue status',
        querystring: CountsQuery,
        response: { 200: ReviewCounts },
      },
    },
    async (request) => {
      const { repository } = request.query;
      return await stores.reviews.counts(reviewerOf(request), repository === undefined ? {} : { repository });
    },
  );
}

function registerNext(app: FastifyInstance, deps: QueueRouteDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/reviews/next',
    {
      config: access,
      schema: {
        tags,
        operationId: 'claimNextReview',
        summary: 'Claim the next item',
        description: 'Skips items held by others and items you skipped in the last half hour. Null if none is left.',
        body: NextBody,
        response: { 200: NextView },
      },
    },
    async (request) => {
      const { sort, after, ...asked } = request.body ?? {};
      const how = { ...(sort && { sort }), ...(after && { after }) };
      return { review: await nextFor(deps, { reviewer: reviewerOf(request), filter: filterOf(asked), ...how }) };
    },
  );
  typed.post(
    '/api/reviews/:id/skip',
    {
      config: access,
      errorHandler: answerConflict,
      schema: {
        tags,
        operationId: 'skipReview',
        summary: 'Skip an item',
        params: Params,
        response: { 200: Review, 409: ReviewConflict },
      },
    },
    async (request) => await skipReview(deps, request.params.id, reviewerOf(request)),
  );
  typed.post(
    '/api/reviews/:id/take-over',
    {
      config: access,
      errorHandler: answerConflict,
      schema: {
        tags,
        operationId: 'takeOverReview',
        summary: 'Take over an item',
        description: 'With the role admin at any time, otherwise once it has been held for 15 minutes.',
        params: Params,
        response: { 200: Review, 409: ReviewConflict },
      },
    },
    async (request) => await takeOverReview(deps, { id: request.params.id, reviewer: reviewerOf(request), isAdmin: isAdmin(request) }),
  );
}

function registerOpening(app: FastifyInstance, deps: QueueRouteDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/reviews/:id/guess',
    {
      config: access,
      schema: {
        tags,
        operationId: 'guessReview',
        summary: 'Choose a category before the verdict is shown',
        description: 'Only your first choice on an item that is blind to you counts; later calls change nothing.',
        params: Params,
        body: GuessBody,
        response: { 200: GuessView },
      },
    },
    async (request) =>
      await recordBlindGuess(deps, { reviewId: request.params.id, reviewer: reviewerOf(request), category: request.body.category }),
  );
  typed.post(
    '/api/analyses/:id/review',
    {
      config: access,
      schema: {
        tags,
        operationId: 'openReview',
        summary: 'Open a review of an answer',
        description: 'Also for automatically published answers. An analysis has one review: later calls return the same one.',
        params: Params,
        response: { 200: Review },
      },
    },
    async (request) => await openReviewFor(deps, { analysisId: request.params.id, by: reviewerOf(request) }),
  );
}

interface Asked {
  readonly category?: ReviewFilter['category'] | undefined;
  readonly repository?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly why?: string | undefined;
  readonly sort?: ReviewSort | undefined;
}

function filterOf({ category, repository, fingerprint, why }: Asked): Omit<ReviewFilter, 'state'> {
  return { ...(category && { category }), ...(repository && { repository }), ...(fingerprint && { fingerprint }), ...(why && { why }) };
}
