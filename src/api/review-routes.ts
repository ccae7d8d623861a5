import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError, typedText } from '../domain/errors.ts';
import { Review, ReviewCounts, ReviewerQuestion } from '../domain/review.ts';
import { pageOf } from '../ports/database.ts';
import { type DecideDeps, decideReview, listSame } from '../service/review/decide.ts';
import {
  answerQuestion,
  type BlindDeps,
  blindStateOf,
  isAdmin,
  nextFor,
  notHeld,
  type OpenReviewDeps,
  obstacle,
  openQuestions,
  openReviewFor,
  type QuestionDeps,
  type QueueDeps,
  raced,
  recordBlindGuess,
  reviewerOf,
  skipReview,
  takeOverReview,
  unknownReview,
} from '../service/review/queue.ts';
import { type UndoDeps, undoDecision } from '../service/review/undo.ts';
import {
  CountsQuery,
  DecisionBody,
  DecisionView,
  GroupList,
  GroupQuery,
  GuessBody,
  GuessView,
  LastDecisionView,
  NextBody,
  NextView,
  ReviewConflict,
  ReviewDetail,
  ReviewList,
  ReviewQuery,
  SameView,
  UndoBody,
  UndoView,
} from '../service/review/views.ts';
import type { ReviewFilter, ReviewSort } from '../stores/reviews.ts';
import type { ScopedStores } from '../stores/stores.ts';
import { registerLibraryRoutes, registerRuleRoutes } from './library-routes.ts';
import { route } from './route.ts';

export interface ReviewDeps extends DecideDeps, Omit<QuestionDeps, 'stores'> {
  readonly stores: ScopedStores;
  /** How long a claim holds, in milliseconds. */
  readonly claimMs: number;
  /** One item in so many hides its verdict at first; 0: none. */
  readonly blindEvery: number;
}

const Params = z.object({ id: z.string().min(1).max(100) });

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
    route('review', 'Review', 'listReviews', 'List the queue, oldest first by default', {
      querystring: ReviewQuery,
      response: { 200: ReviewList },
    }),
    async ({ query: { limit, offset, sort, why, fingerprint, state, category, repository } }) => {
      const filter = { ...(state && { state }), ...(category && { category }), ...(repository && { repository }) };
      const more = { ...(why && { why }), ...(fingerprint && { fingerprint }) };
      const items = await stores.reviews.list({ ...filter, ...more }, { limit, offset }, sort);
      const questions =
        offset > 0 || (state ?? 'waiting') !== 'waiting'
          ? []
          : await openQuestions({ stores }, { ...(category && { category }), ...(repository && { repository }) });
      return { ...pageOf(items, { limit, offset }), questions };
    },
  );
  typed.get(
    '/api/reviews/:id',
    route('review', 'Review', 'getReview', 'One item with its analysis and history', { params: Params, response: { 200: ReviewDetail } }),
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
    route('review', 'Review', 'claimReview', 'Claim an item, or extend the claim', {
      params: Params,
      response: { 200: Review, 409: ReviewConflict },
    }),
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
    route('review', 'Review', 'releaseReview', 'Release an item', { params: Params, response: { 200: Review, 409: ReviewConflict } }),
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
    route('review', 'Review', 'decideReview', 'Accept, correct or reject the answer', {
      description:
        'Accept and correct update the library: the next failure with the same fingerprint in the same repository gets this answer at once.',
      params: Params,
      body: DecisionBody,
      response: { 200: DecisionView, 409: ReviewConflict },
    }),
    async (request) => {
      const { version, alsoFor, also, ...input } = request.body;
      const bulk = { ...(alsoFor && { alsoFor }), ...(also && { also }) };
      const decided = await decideReview(deps, { reviewId: request.params.id, version, reviewer: reviewerOf(request), input, ...bulk });
      return { ...decided, also: [...decided.also] };
    },
  );
}

/** Taking decisions back, and what can be decided as one. */
function registerUndoRoutes(app: FastifyInstance, deps: UndoDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/reviews/:id/undo',
    route('review', 'Review', 'undoReview', 'Undo a decision', {
      description:
        'Your own decision, or anyone’s with the role admin. The item returns to the queue, its library entry is withdrawn, and the entry it replaced is used again. Decisions made together are undone together.',
      params: Params,
      body: UndoBody,
      response: { 200: UndoView, 409: ReviewConflict },
    }),
    async (request) => {
      const version = request.body?.version;
      const who = { reviewId: request.params.id, reviewer: reviewerOf(request), isAdmin: isAdmin(request) };
      const { review, undone, withdrawn, restored } = await undoDecision(deps, { ...who, ...(version === undefined ? {} : { version }) });
      return { review, undone: [...undone], withdrawn: [...withdrawn], restored: [...restored] };
    },
  );
  typed.get(
    '/api/reviews/last-decision',
    route('review', 'Review', 'getLastDecision', 'Your latest decision', { response: { 200: LastDecisionView } }),
    async (request) => ({ decision: await deps.stores.reviews.lastDecision(reviewerOf(request)) }),
  );
  typed.get(
    '/api/reviews/:id/same',
    route('review', 'Review', 'listSameReviews', 'Items that can be decided together with this one', {
      params: Params,
      response: { 200: SameView },
    }),
    async (request) => ({ items: await listSame(deps, { reviewId: request.params.id, reviewer: reviewerOf(request) }) }),
  );
}

type QueueRouteDeps = QueueDeps & BlindDeps & OpenReviewDeps & { readonly stores: QueueDeps['stores'] & OpenReviewDeps['stores'] };

/** The queue as a whole, and the way from item to item. */
function registerQueueRoutes(app: FastifyInstance, deps: QueueRouteDeps): void {
  registerLists(app, deps);
  registerNext(app, deps);
  registerOpening(app, deps);
}

function registerLists(app: FastifyInstance, { stores }: QueueRouteDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get(
    '/api/reviews/groups',
    route('review', 'Review', 'listReviewGroups', 'The queue, grouped by fingerprint', {
      querystring: GroupQuery,
      response: { 200: GroupList },
    }),
    async ({ query: { limit, offset, sort, ...asked } }) => {
      const items = await stores.reviews.listGroups(filterOf(asked), { limit, offset }, sort);
      return pageOf(items, { limit, offset });
    },
  );
  typed.get(
    '/api/reviews/counts',
    route('review', 'Review', 'countReviews', 'Queue status', { querystring: CountsQuery, response: { 200: ReviewCounts } }),
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
    route('review', 'Review', 'claimNextReview', 'Claim the next item', {
      description: 'Skips items held by others and items you skipped in the last half hour. Null if none is left.',
      body: NextBody,
      response: { 200: NextView },
    }),
    async (request) => {
      const { sort, after, ...asked } = request.body ?? {};
      const how = { ...(sort && { sort }), ...(after && { after }) };
      return { review: await nextFor(deps, { reviewer: reviewerOf(request), filter: filterOf(asked), ...how }) };
    },
  );
  typed.post(
    '/api/reviews/:id/skip',
    route('review', 'Review', 'skipReview', 'Skip an item', { params: Params, response: { 200: Review, 409: ReviewConflict } }),
    async (request) => await skipReview(deps, request.params.id, reviewerOf(request)),
  );
  typed.post(
    '/api/reviews/:id/take-over',
    route('review', 'Review', 'takeOverReview', 'Take over an item', {
      description: 'With the role admin at any time, otherwise once it has been held for 15 minutes.',
      params: Params,
      response: { 200: Review, 409: ReviewConflict },
    }),
    async (request) => await takeOverReview(deps, { id: request.params.id, reviewer: reviewerOf(request), isAdmin: isAdmin(request) }),
  );
}

function registerOpening(app: FastifyInstance, deps: QueueRouteDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/reviews/:id/guess',
    route('review', 'Review', 'guessReview', 'Choose a category before the verdict is shown', {
      description: 'Only your first choice on an item that is blind to you counts; later calls change nothing.',
      params: Params,
      body: GuessBody,
      response: { 200: GuessView },
    }),
    async (request) =>
      await recordBlindGuess(deps, { reviewId: request.params.id, reviewer: reviewerOf(request), category: request.body.category }),
  );
  typed.post(
    '/api/analyses/:id/review',
    route('review', 'Review', 'openReview', 'Open a review of an answer', {
      description: 'Also for automatically published answers. An analysis has one review: later calls return the same one.',
      params: Params,
      response: { 200: Review },
    }),
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

/** Answering what a running triage asked; the run that waits for it goes on. */
function registerQuestionRoutes(app: FastifyInstance, deps: QuestionDeps): void {
  app.withTypeProvider<ZodTypeProvider>().post(
    '/api/reviews/:id/answer',
    route('review', 'Review', 'answerQuestion', 'Answer a question of a running triage', {
      description: 'The answer becomes evidence with your name, and the analysis continues. A question can be answered once.',
      params: Params,
      body: z.strictObject({ answer: typedText(4000) }),
      response: { 200: ReviewerQuestion },
    }),
    async (request) => await answerQuestion(request.params.id, request.body.answer, reviewerOf(request), deps),
  );
}
