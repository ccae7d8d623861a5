import type { Analysis } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { LibraryEntry } from '../domain/library.ts';
import type { Decision, DecisionInput, Review } from '../domain/review.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../ports/database.ts';
import type { Failpoint } from '../ports/failpoint.ts';
import type { Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import type { OwedVector } from '../ports/vector-debts.ts';
import type { VectorNamespace } from '../ports/vector-index.ts';
import { checkDecision } from './check-decision.ts';
import { obstacle, outdated, raced, unknownReview } from './conflicts.ts';
import { type Lesson, lessonOf } from './learn.ts';
import { debtsOf } from './library-index.ts';

export interface DecideDeps {
  readonly database: Database;
  readonly stores: Pick<Stores, 'reviews' | 'analyses' | 'failures' | 'library' | 'vectorDebts'>;
  /** Gives the index what it is owed; `false` where it does not take it yet and it stays owed. Never throws. Absent: it is paid in the background. */
  readonly payVectors?: (namespace: VectorNamespace, ids: readonly string[]) => Promise<boolean>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly failpoint?: Failpoint;
}

export interface DecisionRequest {
  readonly reviewId: string;
  /** The version of the review that the reviewer saw. */
  readonly version: number;
  readonly reviewer: string;
  readonly input: DecisionInput;
}

export interface DecisionOutcome {
  readonly review: Review;
  /** The library entry that the decision became; null where it teaches nothing. */
  readonly entry: LibraryEntry | null;
  /** One sentence for the reviewer: what was taught, or why nothing. */
  readonly teaching: string;
}

/**
 * Stores a person's decision, its audit event and what it teaches, all or nothing; then puts the lesson into the index.
 * Throws TriageError `not-found`, `invalid-input`, or `conflict` (held by another, decided already, outdated version) with
 * the current review in its details.
 */
export async function decideReview(deps: DecideDeps, request: DecisionRequest): Promise<DecisionOutcome> {
  const review = await currentReview(deps, request);
  const analysis = await deps.stores.analyses.find(review.analysisId);
  if (analysis === null) throw new TriageError('not-found', `The analysis ${review.analysisId} of this review is not stored.`);
  checkDecision(request.input, analysis);
  const decision = await newDecision(deps, request, review);
  const previous = await deps.stores.library.recall({ fingerprint: analysis.fingerprint, repository: review.repository });
  const lesson = await prepareLesson(deps, decision, analysis, review, previous);
  const owed = lesson.entry === null ? [] : debtsOf(lesson.entry, previous?.id ?? null);
  const decided = await store(deps, request, decision, lesson, owed);
  if (owed.length > 0) {
    await deps.payVectors?.(
      'error_library',
      owed.map(({ id }) => id),
    );
  }
  deps.logger.info({ reviewId: review.id, analysisId: analysis.id, type: decision.type, reviewer: decision.reviewer }, 'review decided');
  return { review: decided, ...lesson };
}

async function currentReview(deps: DecideDeps, { reviewId, version, reviewer }: DecisionRequest): Promise<Review> {
  const review = await deps.stores.reviews.find(reviewId);
  if (review === null) throw unknownReview(reviewId);
  const refused = obstacle(review, reviewer);
  if (refused !== null) throw refused;
  if (review.version !== version) throw outdated(review, version);
  return review;
}

/** What the reviewer typed is masked before it is stored; PostgreSQL takes neither NUL nor half a surrogate pair. */
async function newDecision(deps: DecideDeps, { input, reviewer }: DecisionRequest, review: Review): Promise<Decision> {
  const mask = async (text: string) => (await deps.masker.mask(text.toWellFormed().replaceAll('\0', '\ufffd'))).text;
  const now = deps.clock.now();
  return {
    id: newId('dec', now),
    reviewId: review.id,
    analysisId: review.analysisId,
    reviewer,
    decidedAt: new Date(now).toISOString(),
    type: input.type,
    ...(input.category === undefined ? {} : { category: input.category }),
    ...(input.kind === undefined ? {} : { kind: input.kind }),
    ...(input.rootCause === undefined ? {} : { rootCause: await mask(input.rootCause) }),
    ...(input.fixRecommendation === undefined ? {} : { fixRecommendation: await mask(input.fixRecommendation) }),
    ...(input.reason === undefined ? {} : { reason: await mask(input.reason) }),
  };
}

async function prepareLesson(
  deps: DecideDeps,
  decision: Decision,
  analysis: Analysis,
  { repository }: Review,
  previous: LibraryEntry | null,
): Promise<Lesson> {
  const ids = new Set(analysis.failureIds);
  const failures = (await deps.stores.failures.listByBuild(analysis.buildId)).filter(({ id }) => ids.has(id));
  return lessonOf({ decision, analysis, repository, failures, previous });
}

async function store(
  deps: DecideDeps,
  request: DecisionRequest,
  decision: Decision,
  lesson: Lesson,
  owed: readonly OwedVector[],
): Promise<Review> {
  const decided = await deps.database.transaction(async (sql) => {
    const review = await deps.stores.reviews.decide(request.reviewId, request.version, decision, sql);
    if (review !== null && lesson.entry !== null) await deps.stores.library.insert(lesson.entry, sql);
    if (review !== null) await deps.stores.vectorDebts.owe(owed, sql);
    deps.failpoint?.('deciding', request.reviewId);
    return review;
  });
  deps.failpoint?.('decided', request.reviewId);
  if (decided !== null) return decided;
  throw raced(await currentReview(deps, request));
}
