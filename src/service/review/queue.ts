import { TriageError } from '../../domain/errors.ts';
import {
  createNewReview,
  type Decision,
  type Principal,
  type Review,
  type ReviewerQuestion,
} from '../../domain/review.ts';
import { TRIAGE } from '../../domain/work.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { toStorable } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { ReviewFilter, ReviewSort } from '../../stores/review-queue.ts';
import type { ShownStores } from '../../stores/stores.ts';
import type { WorkNotifier } from '../../work/notifier.ts';

export interface QueueDeps {
  readonly stores: Pick<ShownStores, 'reviews'>;
  /** The time for which a claim is valid, in milliseconds. */
  readonly claimMs: number;
  readonly clock: Clock;
}

/** The number of milliseconds for which a skipped item is not offered to the same reviewer. */
const SKIPPED_MS = 30 * 60_000;
/** The number of milliseconds after which any reviewer may take over a claimed item. */
const HELD_MS = 15 * 60_000;

interface NextRequest {
  readonly reviewer: string;
  readonly filter?: Omit<ReviewFilter, 'state'>;
  readonly sort?: ReviewSort;
  /** The item that the reviewer just left. It is not offered again at once. */
  readonly after?: string;
}

/**
 * Claims the next item for a reviewer. Items that others hold, and items that this reviewer skipped in the
 * last half hour, are left out. Concurrent calls get different items. Returns null if there is none.
 */
export async function claimNext(
  { stores, claimMs }: QueueDeps,
  { reviewer, filter = {}, sort, after }: NextRequest,
): Promise<Review | null> {
  return await stores.reviews.next(filter, {
    reviewer,
    claimMs,
    skippedMs: SKIPPED_MS,
    ...omitUndefined({ sort, after }),
  });
}

/**
 * Skips an item for this reviewer, and releases it if they hold it. Throws `not-found`, and `conflict` if it
 * is decided.
 */
export async function skipReview(
  { stores }: Pick<QueueDeps, 'stores'>,
  id: string,
  reviewer: string,
): Promise<Review> {
  const skipped = await stores.reviews.skip(id, reviewer);
  if (skipped !== null) return skipped;
  const review = await stores.reviews.find(id);
  if (review === null) throw createUnknownReviewError(id);
  throw createObstacleError(review, reviewer) ?? createRacedError(review);
}

/**
 * Checks whether this reviewer may take over an item from its holder: an admin at any time, everyone after a
 * quarter of an hour.
 */
export function mayTakeOver(
  { claimedAt }: Pick<Review, 'claimedAt'>,
  isAdmin: boolean,
  now: number,
): boolean {
  return isAdmin || (claimedAt !== null && now - Date.parse(claimedAt) >= HELD_MS);
}

/**
 * Takes over an item from its holder. Throws `not-found`, and `conflict` if it is decided or was not held
 * long enough.
 */
export async function takeOverReview(
  { stores, claimMs, clock }: QueueDeps,
  { id, reviewer, isAdmin }: { readonly id: string; readonly reviewer: string; readonly isAdmin: boolean },
): Promise<Review> {
  const review = await stores.reviews.find(id);
  if (review === null) throw createUnknownReviewError(id);
  if (
    review.state === 'claimed' &&
    review.claimedBy !== reviewer &&
    !mayTakeOver(review, isAdmin, clock.now())
  )
    throw createHeldByAnotherError(review);
  const taken = await stores.reviews.takeOver(id, reviewer, claimMs);
  if (taken !== null) return taken;
  throw (
    createObstacleError(review, reviewer) ??
    new TriageError('conflict', 'This review is already decided.', { details: { review } })
  );
}

export interface OpenReviewDeps {
  readonly stores: Pick<ShownStores, 'reviews' | 'analyses' | 'builds'>;
  readonly clock: Clock;
}

/**
 * Returns the review of an analysis and opens it if there is none yet, because a person may judge any
 * published answer. Throws `not-found`.
 */
export async function openReviewFor(
  deps: OpenReviewDeps,
  { analysisId, by }: { readonly analysisId: string; readonly by: string },
): Promise<Review> {
  const { reviews, analyses, builds } = deps.stores;
  const known = await reviews.findByAnalysis(analysisId);
  if (known !== null) return known;
  const analysis = await analyses.find(analysisId);
  const build = analysis === null ? null : await builds.find(analysis.buildId);
  if (analysis === null || build === null)
    throw new TriageError('not-found', `There is no analysis ${analysisId}.`);
  const why = [`published automatically; ${by} requested a review`];
  return await reviews.open(
    createNewReview(build, analysis, { now: deps.clock.now(), origin: 'asked', why }),
  );
}

/**
 * Returns the reason why `reviewer` may not act on the review now, or null. An expired claim counts as
 * waiting; the store ensures that.
 */
export function createObstacleError(review: Review, reviewer: string): TriageError | null {
  if (review.decision !== null || review.state === 'decided') return createDecidedAlreadyError(review);
  if (review.state === 'claimed' && review.claimedBy !== reviewer) return createHeldByAnotherError(review);
  return null;
}

/** Creates the error for a decision that was made on an outdated version. */
export function createOutdatedError(review: Review, version: number): TriageError {
  return createConflictError(
    `This review has changed since version ${version}; it is now at version ${review.version}. ` +
      'Reload it, then decide.',
    review,
  );
}

/** Creates the error for a release by a user who does not hold the item. */
export function createNotHeldError(review: Review): TriageError {
  return createConflictError('You do not hold this review, so there is nothing to release.', review);
}

/**
 * Creates the error for a write that lost a race although the item seems free again. The caller must read it
 * again.
 */
export function createRacedError(review: Review): TriageError {
  return createConflictError(
    'Someone else changed this review at the same time. Reload it and try again.',
    review,
  );
}

/** Creates the error for an unknown id. */
export function createUnknownReviewError(id: string): TriageError {
  return new TriageError('not-found', `There is no review ${id}.`);
}

/** Creates the error for undoing a review that is not decided. */
export function createNotDecidedError(review: Review): TriageError {
  return createConflictError('This review is not decided, so there is nothing to undo.', review);
}

/** Returns the reason why another user cannot undo a decision. */
export function getDecidedBy({ reviewer, decidedAt }: Decision): string {
  return `${reviewer} decided this at ${decidedAt}; only ${reviewer} or an admin can undo it.`;
}

function createDecidedAlreadyError(review: Review): TriageError {
  const { decision } = review;
  if (decision === null) return createConflictError('This review is already decided.', review);
  const verdict = decision.type === 'correct' ? `corrected to ${decision.category}` : `${decision.type}ed`;
  return createConflictError(
    `${decision.reviewer} decided this at ${decision.decidedAt}: ${verdict}.`,
    review,
  );
}

/** Creates the error for an item that another user holds. */
function createHeldByAnotherError(review: Review): TriageError {
  return createConflictError(
    `${review.claimedBy} holds this review until ${review.claimExpiresAt}.`,
    review,
    {
      holder: review.claimedBy,
      until: review.claimExpiresAt,
    },
  );
}

function createConflictError(
  message: string,
  review: Review,
  details: Record<string, unknown> = {},
): TriageError {
  return new TriageError('conflict', message, { details: { ...details, review } });
}

/** The caller of a route. It is known in every route that declares a role. */
interface Asking {
  readonly principal: Principal | null;
}

/** Returns the reviewer: the name of the caller's token. */
export function requireReviewer(request: Asking): string {
  if (request.principal === null)
    throw new TriageError('unauthenticated', 'Reviewing needs a token with the role review.');
  return request.principal.name;
}

/** Checks whether the caller may also change the decisions of other users. */
export function isAdmin({ principal }: Asking): boolean {
  return principal?.roles.includes('admin') === true;
}

export interface QuestionDeps {
  readonly stores: Pick<ShownStores, 'questions'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly notifier: Pick<WorkNotifier, 'notify'>;
  readonly logger: Logger;
}

const MANY = 200;

/** Lists the questions that wait for a person, oldest first. The queue shows them next to analyses. */
export async function openQuestions(
  { stores }: Pick<QuestionDeps, 'stores'>,
  filter: Omit<Parameters<ShownStores['questions']['list']>[0], 'state'>,
): Promise<ReviewerQuestion[]> {
  return await stores.questions.list({ ...filter, state: 'waiting' }, { limit: MANY, offset: 0 });
}

/**
 * Stores a reviewer's answer to a question, masked. Throws `not-found`, and `conflict` if the question was
 * answered or has expired.
 */
export async function answerQuestion(
  id: string,
  answer: string,
  reviewer: string,
  deps: QuestionDeps,
): Promise<ReviewerQuestion> {
  const masked = (await deps.masker.mask(toStorable(answer))).text;
  const question = await deps.stores.questions.answer(id, masked, reviewer);
  if (question === null) throw await explainUnanswered(id, deps);
  deps.logger.info({ questionId: id, buildId: question.buildId, reviewer }, 'question answered');
  deps.notifier.notify(TRIAGE, question.buildId);
  return question;
}

async function explainUnanswered(id: string, { stores }: QuestionDeps): Promise<TriageError> {
  const question = await stores.questions.find(id);
  if (question === null) return new TriageError('not-found', `There is no question ${id}.`);
  const how =
    question.state === 'answered'
      ? `was answered by ${question.answeredBy}`
      : 'has expired; the analysis went on without an answer';
  return new TriageError('conflict', `This question ${how}.`);
}
