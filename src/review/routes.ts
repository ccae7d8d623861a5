import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { Review } from '../domain/review.ts';
import type { ScopedStores } from '../ports/stores.ts';
import { answerConflict } from './answer-conflict.ts';
import { blindStateOf } from './blind.ts';
import { notHeld, obstacle, raced, unknownReview } from './conflicts.ts';
import { type DecideDeps, decideReview } from './decide.ts';
import { registerLibraryRoutes } from './library-routes.ts';
import { openQuestions, type QuestionDeps, registerQuestionRoutes } from './question-routes.ts';
import { registerQueueRoutes } from './queue-routes.ts';
import { reviewerOf } from './reviewer.ts';
import { registerRuleRoutes } from './rules/routes.ts';
import { registerUndoRoutes } from './undo-routes.ts';
import { DecisionBody, DecisionView, ReviewConflict, ReviewDetail, ReviewList, ReviewQuery } from './views.ts';

export interface ReviewDeps extends DecideDeps, Omit<QuestionDeps, 'stores'> {
  readonly stores: ScopedStores;
  /** How long a claim holds, in milliseconds. */
  readonly claimMs: number;
  /** One item in so many hides its verdict at first; 0: none. */
  readonly blindEvery: number;
}

const Params = z.object({ id: z.string().min(1).max(100) });
const access = { access: { role: 'review' } } as const;
const tags = ['Review'];

/** The review queue: read it, hold an item, give it back, decide it. The reviewer is whoever the token names. */
export function registerReviewRoutes(app: FastifyInstance, deps: ReviewDeps): void {
  registerReading(app, deps);
  registerHolding(app, deps);
  registerDecision(app, deps);
  registerUndoRoutes(app, deps);
  registerQueueRoutes(app, deps);
  registerLibraryRoutes(app, deps);
  registerRuleRoutes(app, deps);
  registerQuestionRoutes(app, deps);
}

function registerReading(app: FastifyInstance, { stores, blindEvery }: ReviewDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get(
    '/api/reviews',
    {
      config: access,
      schema: {
        tags,
        operationId: 'listReviews',
        summary: 'List the queue, oldest first by default',
        querystring: ReviewQuery,
        response: { 200: ReviewList },
      },
    },
    async ({ query: { limit, offset, sort, why, fingerprint, state, category, repository } }) => {
      const filter = { ...(state && { state }), ...(category && { category }), ...(repository && { repository }) };
      const more = { ...(why && { why }), ...(fingerprint && { fingerprint }) };
      const items = await stores.reviews.list({ ...filter, ...more }, { limit, offset }, sort);
      const questions =
        offset > 0 || (state ?? 'waiting') !== 'waiting'
          ? []
          : await openQuestions({ stores }, { ...(category && { category }), ...(repository && { repository }) });
      return { items, questions, limit, offset, next: items.length < limit ? null : offset + limit };
    },
  );
  typed.get(
    '/api/reviews/:id',
    {
      config: access,
      schema: {
        tags,
        operationId: 'getReview',
        summary: 'One item with its analysis and history',
        params: Params,
        response: { 200: ReviewDetail },
      },
    },
    async (request) => {
      const { id } = request.params;
      const review = await stores.reviews.find(id);
      if (review === null) throw unknownReview(id);
      const [analysis, events] = await Promise.all([stores.analyses.find(review.analysisId), stores.reviews.events(id)]);
      if (analysis === null) throw new TriageError('not-found', `The analysis ${review.analysisId} of this review is not stored.`);
      const { blind } = await blindStateOf({ stores, blindEvery }, review, reviewerOf(request));
      return { review, analysis, events, blind };
    },
  );
}

function registerHolding(app: FastifyInstance, { stores, claimMs }: ReviewDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/reviews/:id/claim',
    {
      config: access,
      errorHandler: answerConflict,
      schema: {
        tags,
        operationId: 'claimReview',
        summary: 'Claim an item, or extend the claim',
        params: Params,
        response: { 200: Review, 409: ReviewConflict },
      },
    },
    async (request) => {
      const { id } = request.params;
      const reviewer = reviewerOf(request);
      const claimed = await stores.reviews.claim(id, reviewer, claimMs);
      if (claimed !== null) return claimed;
      const review = await stores.reviews.find(id);
      if (review === null) throw unknownReview(id);
      throw obstacle(review, reviewer) ?? raced(review);
    },
  );
  typed.post(
    '/api/reviews/:id/release',
    {
      config: access,
      errorHandler: answerConflict,
      schema: {
        tags,
        operationId: 'releaseReview',
        summary: 'Release an item',
        params: Params,
        response: { 200: Review, 409: ReviewConflict },
      },
    },
    async (request) => {
      const { id } = request.params;
      const reviewer = reviewerOf(request);
      const released = await stores.reviews.release(id, reviewer);
      if (released !== null) return released;
      const review = await stores.reviews.find(id);
      if (review === null) throw unknownReview(id);
      throw obstacle(review, reviewer) ?? notHeld(review);
    },
  );
}

function registerDecision(app: FastifyInstance, deps: ReviewDeps): void {
  app.withTypeProvider<ZodTypeProvider>().post(
    '/api/reviews/:id/decision',
    {
      config: access,
      errorHandler: answerConflict,
      schema: {
        tags,
        operationId: 'decideReview',
        summary: 'Accept, correct or reject the answer',
        description:
          'Accept and correct update the library: the next failure with the same fingerprint in the same repository gets this answer at once.',
        params: Params,
        body: DecisionBody,
        response: { 200: DecisionView, 409: ReviewConflict },
      },
    },
    async (request) => {
      const { version, alsoFor, also, ...input } = request.body;
      const bulk = { ...(alsoFor && { alsoFor }), ...(also && { also }) };
      const decided = await decideReview(deps, { reviewId: request.params.id, version, reviewer: reviewerOf(request), input, ...bulk });
      return { ...decided, also: [...decided.also] };
    },
  );
}
