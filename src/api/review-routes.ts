import { z } from 'zod';
import { createTypedText, TriageError } from '../domain/errors.ts';
import { Review, ReviewCounts, ReviewerQuestion } from '../domain/review.ts';
import { omitUndefined } from '../lib/collections.ts';
import { pageQuery, takePage, toPage } from '../ports/database.ts';
import { readBuildAnswers } from '../service/answers/views.ts';
import { findShownWhose } from '../service/answers/whose.ts';
import { type DecideDeps, decideReview, listSame } from '../service/review/decide.ts';
import {
  answerQuestion,
  claimNext,
  createNotHeldError,
  createObstacleError,
  createRacedError,
  createUnknownReviewError,
  isAdmin,
  openQuestions,
  openReviewFor,
  type QuestionDeps,
  requireReviewer,
  skipReview,
  takeOverReview,
} from '../service/review/queue.ts';
import { undoDecision } from '../service/review/undo.ts';
import {
  CountsQuery,
  DecisionBody,
  DecisionView,
  GroupList,
  GroupQuery,
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
import type { ScopedStores } from '../stores/stores.ts';
import { registerLibraryRoutes, registerRuleRoutes } from './library-routes.ts';
import { type ApiApp, route } from './route.ts';

export interface ReviewDeps extends DecideDeps, Omit<QuestionDeps, 'stores'> {
  readonly stores: ScopedStores;
  /** The time for which a claim is valid, in milliseconds. */
  readonly claimMs: number;
}

const Params = z.object({ id: z.string().min(1).max(100) });

/**
 * Registers the routes of the review queue: to read it, and to claim, release and decide an item. The token
 * names the reviewer.
 */
export function registerReviewRoutes(app: ApiApp, deps: ReviewDeps): void {
  registerReading(app, deps);
  registerHolding(app, deps);
  registerDecision(app, deps);
  registerUndoRoutes(app, deps);
  registerLists(app, deps);
  registerNext(app, deps);
  registerOpening(app, deps);
  registerLibraryRoutes(app, deps);
  registerRuleRoutes(app, deps);
  registerQuestionRoutes(app, deps);
}

function registerReading(app: ApiApp, { stores }: ReviewDeps): void {
  app.get(
    '/api/reviews',
    route('review', 'Review', 'listReviews', 'List the queue, oldest first by default', {
      querystring: ReviewQuery,
      response: { 200: ReviewList },
    }),
    async ({ query: { limit, offset, sort, ...filter } }) => {
      const items = await stores.reviews.list(omitUndefined(filter), { limit, offset }, sort);
      const { state = 'waiting', category, repository } = filter;
      const asked =
        offset > 0 || state !== 'waiting'
          ? []
          : await openQuestions({ stores }, omitUndefined({ category, repository }));
      return { ...toPage(items, { limit, offset }), questions: asked };
    },
  );
  app.get(
    '/api/reviews/:id',
    route('review', 'Review', 'getReview', 'One item with its analysis and history', {
      params: Params,
      response: { 200: ReviewDetail },
    }),
    async (request) => {
      const { id } = request.params;
      const review = await stores.reviews.find(id);
      if (review === null) throw createUnknownReviewError(id);
      const [analysis, events] = await Promise.all([
        stores.analyses.find(review.analysisId),
        stores.reviews.events(id),
      ]);
      if (analysis === null)
        throw new TriageError('not-found', `The analysis ${review.analysisId} of this review is not stored.`);
      const answers = await readBuildAnswers(stores, analysis.buildId);
      const whose = answers.find((answer) => answer.analysis.id === analysis.id)?.whose ?? null;
      return { review, analysis, events, whose: findShownWhose(whose) };
    },
  );
}

function registerHolding(app: ApiApp, { stores, claimMs }: ReviewDeps): void {
  app.post(
    '/api/reviews/:id/claim',
    route('review', 'Review', 'claimReview', 'Claim an item, or extend the claim', {
      params: Params,
      response: { 200: Review, 409: ReviewConflict },
    }),
    async (request) => {
      const { id } = request.params;
      const reviewer = requireReviewer(request);
      const claimed = await stores.reviews.claim(id, reviewer, claimMs);
      if (claimed !== null) return claimed;
      const review = await stores.reviews.find(id);
      if (review === null) throw createUnknownReviewError(id);
      throw createObstacleError(review, reviewer) ?? createRacedError(review);
    },
  );
  app.post(
    '/api/reviews/:id/release',
    route('review', 'Review', 'releaseReview', 'Release an item', {
      params: Params,
      response: { 200: Review, 409: ReviewConflict },
    }),
    async (request) => {
      const { id } = request.params;
      const reviewer = requireReviewer(request);
      const released = await stores.reviews.release(id, reviewer);
      if (released !== null) return released;
      const review = await stores.reviews.find(id);
      if (review === null) throw createUnknownReviewError(id);
      throw createObstacleError(review, reviewer) ?? createNotHeldError(review);
    },
  );
}

function registerDecision(app: ApiApp, deps: ReviewDeps): void {
  app.post(
    '/api/reviews/:id/decision',
    route('review', 'Review', 'decideReview', 'Accept, correct or reject the answer', {
      description:
        'Accept and correct update the library: the next failure with the same fingerprint in the ' +
        'same repository gets this answer at once.',
      params: Params,
      body: DecisionBody,
      response: { 200: DecisionView, 409: ReviewConflict },
    }),
    async (request) => {
      const { version, alsoFor, also, ...input } = request.body;
      const decision = {
        reviewId: request.params.id,
        version,
        reviewer: requireReviewer(request),
        input,
        ...omitUndefined({ alsoFor, also }),
      };
      const decided = await decideReview(deps, decision);
      return { ...decided, also: [...decided.also] };
    },
  );
}

/** Registers the routes that undo decisions and list the items that can be decided together. */
function registerUndoRoutes(app: ApiApp, deps: ReviewDeps): void {
  app.post(
    '/api/reviews/:id/undo',
    route('review', 'Review', 'undoReview', 'Undo a decision', {
      description:
        'Your own decision, or anyone’s with the role admin. The item returns to the queue, its ' +
        'library entry is withdrawn, and the entry it replaced is used again. ' +
        'Decisions made together are undone together.',
      params: Params,
      body: UndoBody,
      response: { 200: UndoView, 409: ReviewConflict },
    }),
    async (request) => {
      const who = {
        reviewId: request.params.id,
        reviewer: requireReviewer(request),
        isAdmin: isAdmin(request),
      };
      const { review, undone, withdrawn, restored } = await undoDecision(deps, {
        ...who,
        ...omitUndefined({ version: request.body?.version }),
      });
      return { review, undone: [...undone], withdrawn: [...withdrawn], restored: [...restored] };
    },
  );
  app.get(
    '/api/reviews/last-decision',
    route('review', 'Review', 'getLastDecision', 'Your latest decision', {
      response: { 200: LastDecisionView },
    }),
    async (request) => ({ decision: await deps.stores.reviews.lastDecision(requireReviewer(request)) }),
  );
  app.get(
    '/api/reviews/:id/same',
    route('review', 'Review', 'listSameReviews', 'Items that can be decided together with this one', {
      params: Params,
      querystring: z.strictObject(pageQuery),
      response: { 200: SameView },
    }),
    async (request) => {
      const asked = { reviewId: request.params.id, reviewer: requireReviewer(request) };
      return takePage(await listSame(deps, asked), request.query);
    },
  );
}

function registerLists(app: ApiApp, { stores }: ReviewDeps): void {
  app.get(
    '/api/reviews/groups',
    route('review', 'Review', 'listReviewGroups', 'The queue, grouped by fingerprint', {
      querystring: GroupQuery,
      response: { 200: GroupList },
    }),
    async ({ query: { limit, offset, sort, ...filter } }) => {
      const items = await stores.reviews.listGroups(omitUndefined(filter), { limit, offset }, sort);
      return toPage(items, { limit, offset });
    },
  );
  app.get(
    '/api/reviews/counts',
    route('review', 'Review', 'countReviews', 'Queue status', {
      querystring: CountsQuery,
      response: { 200: ReviewCounts },
    }),
    async (request) => await stores.reviews.counts(requireReviewer(request), omitUndefined(request.query)),
  );
}

function registerNext(app: ApiApp, deps: ReviewDeps): void {
  app.post(
    '/api/reviews/next',
    route('review', 'Review', 'claimNextReview', 'Claim the next item', {
      description:
        'Skips items held by others and items you skipped in the last half hour. Null if none is left.',
      body: NextBody,
      response: { 200: NextView },
    }),
    async (request) => {
      const { sort, after, ...filter } = request.body ?? {};
      const how = { filter: omitUndefined(filter), ...omitUndefined({ sort, after }) };
      return { review: await claimNext(deps, { reviewer: requireReviewer(request), ...how }) };
    },
  );
  app.post(
    '/api/reviews/:id/skip',
    route('review', 'Review', 'skipReview', 'Skip an item', {
      params: Params,
      response: { 200: Review, 409: ReviewConflict },
    }),
    async (request) => await skipReview(deps, request.params.id, requireReviewer(request)),
  );
  app.post(
    '/api/reviews/:id/take-over',
    route('review', 'Review', 'takeOverReview', 'Take over an item', {
      description: 'With the role admin at any time, otherwise once it has been held for 15 minutes.',
      params: Params,
      response: { 200: Review, 409: ReviewConflict },
    }),
    async (request) =>
      await takeOverReview(deps, {
        id: request.params.id,
        reviewer: requireReviewer(request),
        isAdmin: isAdmin(request),
      }),
  );
}

function registerOpening(app: ApiApp, deps: ReviewDeps): void {
  app.post(
    '/api/analyses/:id/review',
    route('review', 'Review', 'openReview', 'Open a review of an answer', {
      description:
        'Also for automatically published answers. An analysis has one review: ' +
        'later calls return the same one.',
      params: Params,
      response: { 200: Review },
    }),
    async (request) =>
      await openReviewFor(deps, { analysisId: request.params.id, by: requireReviewer(request) }),
  );
}

/** Registers the routes that answer a question of a running triage. The waiting run continues after that. */
function registerQuestionRoutes(app: ApiApp, deps: ReviewDeps): void {
  app.post(
    '/api/reviews/:id/answer',
    route('review', 'Review', 'answerQuestion', 'Answer a question of a running triage', {
      description:
        'The answer becomes evidence with your name, and the analysis continues. ' +
        'A question can be answered once.',
      params: Params,
      body: z.strictObject({ answer: createTypedText(4000) }),
      response: { 200: ReviewerQuestion },
    }),
    async (request) =>
      await answerQuestion(request.params.id, request.body.answer, requireReviewer(request), deps),
  );
}
