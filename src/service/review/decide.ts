import type { Analysis } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import { createId } from '../../domain/ids.ts';
import { indexChanges, type LibraryEntry } from '../../domain/library.ts';
import type { Decision, DecisionInput, Review } from '../../domain/review.ts';
import type { WorkRequest } from '../../domain/work.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { toStorable } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { Database, Failpoint, Sql } from '../../ports/database.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { VectorNamespace } from '../../ports/vector-index.ts';
import type { NoticeStore } from '../../stores/notices.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { checkDecision, checkLines, isDifferent } from './check-decision.ts';
import { deriveLesson, explainHeldBack, findGreenFlag, type Lesson } from './learn.ts';
import {
  createObstacleError,
  createOutdatedError,
  createRacedError,
  createUnknownReviewError,
} from './queue.ts';
import type { DecisionView } from './views.ts';

export interface DecideDeps {
  readonly database: Database;
  readonly stores: Pick<
    ShownStores,
    'reviews' | 'analyses' | 'failures' | 'library' | 'work' | 'passingBuilds' | 'notices'
  >;
  /**
   * Writes these entries to the index. Returns false if that is done later. Never throws. If absent, a
   * background job writes them.
   */
  readonly indexNow?: (namespace: VectorNamespace, ids: readonly string[]) => Promise<boolean>;
  /**
   * The number of milliseconds for which a decision is not shown outside, so that it can be undone unnoticed;
   * 10,000 by default.
   */
  readonly undoMs?: number;
  /**
   * The archive that lists a build's texts, to check the lines in a correction. If absent, they are not
   * checked.
   */
  readonly archive?: Pick<BuildArchive, 'list'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly failpoint?: Failpoint;
}

interface DecisionRequest {
  readonly reviewId: string;
  /** The version of the review that the reviewer saw. */
  readonly version: number;
  readonly reviewer: string;
  readonly input: DecisionInput;
  /**
   * Set to decide the other waiting items of the same fingerprint in the same repository, too. If absent,
   * only this one is decided.
   */
  readonly alsoFor?: 'same-fingerprint';
  /**
   * The ids of the other items that the reviewer was shown. Only these are decided as well; all if absent.
   */
  readonly also?: readonly string[];
}

/**
 * Stores a person's decision, its audit event and its lesson in one transaction, and then adds the lesson to
 * the index. Throws TriageError `not-found`, `invalid-input`, or `conflict` (held by another reviewer,
 * already decided, outdated version) with the current review in its details.
 */
export async function decideReview(deps: DecideDeps, request: DecisionRequest): Promise<DecisionView> {
  const review = await getCurrentReview(deps, request);
  const analysis = await deps.stores.analyses.find(review.analysisId);
  if (analysis === null)
    throw new TriageError('not-found', `The analysis ${review.analysisId} of this review is not stored.`);
  const { input, reviewer } = request;
  checkDecision(input, analysis);
  // An unavailable archive must not prevent a decision.
  if (input.shownBy !== undefined)
    checkLines(input, (await deps.archive?.list(analysis.buildId).catch(() => [])) ?? []);
  const others = await findOthers(deps, request);
  const now = deps.clock.now();
  const batchId = others.length === 0 ? null : createId('bat', now);
  const decision = await createDecision({ input, reviewer, review, batchId, now }, deps.masker);
  const companions = await createCompanions({ decision, analysis }, others, deps);
  const previous = await deps.stores.library.recall({
    fingerprint: analysis.fingerprint,
    repository: review.repository,
  });
  const lesson = await prepareLesson(deps, decision, analysis, review, previous);
  const { changes, ...decided } = await store(deps, request, { decision, companions, lesson });
  const ids = changes.map(({ key }) => key);
  if (ids.length > 0) await deps.indexNow?.('error_library', ids);
  const facts = {
    reviewId: review.id,
    analysisId: analysis.id,
    type: decision.type,
    reviewer,
    also: decided.also.length,
  };
  deps.logger.info(facts, 'review decided');
  return { ...decided, ...lesson };
}

async function getCurrentReview(
  deps: DecideDeps,
  { reviewId, version, reviewer }: DecisionRequest,
): Promise<Review> {
  const review = await deps.stores.reviews.find(reviewId);
  if (review === null) throw createUnknownReviewError(reviewId);
  const refused = createObstacleError(review, reviewer);
  if (refused !== null) throw refused;
  if (review.version !== version) throw createOutdatedError(review, version);
  return review;
}

/** Finds the other items that are decided together with this one. */
async function findOthers(
  deps: DecideDeps,
  request: DecisionRequest,
): Promise<{ review: Review; analysis: Analysis }[]> {
  if (request.alsoFor === undefined) return [];
  const wanted = request.also === undefined ? null : new Set(request.also);
  const found: { review: Review; analysis: Analysis }[] = [];
  for (const review of await listSame(deps, request)) {
    if (wanted !== null && !wanted.has(review.id)) continue;
    const analysis = await deps.stores.analyses.find(review.analysisId);
    if (analysis !== null) found.push({ review, analysis });
  }
  return found;
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
  const { entry, teaching } = deriveLesson({ decision, analysis, repository, failures, previous });
  const flag =
    entry === null ? null : await findGreenFlag(deps.stores.passingBuilds, repository, entry.telling);
  if (entry === null || flag === null) return { entry, teaching };
  return { entry: { ...entry, flag }, teaching: explainHeldBack(flag) };
}

interface Parts {
  readonly decision: Decision;
  readonly companions: readonly Companion[];
  readonly lesson: Lesson;
}

interface Stored extends Pick<DecisionView, 'review' | 'also'> {
  readonly changes: readonly WorkRequest[];
}

/** Stores the decision in one transaction. */
async function store(deps: DecideDeps, request: DecisionRequest, parts: Parts): Promise<Stored> {
  const { reviews } = deps.stores;
  const decided = await deps.database.transaction(async (sql) => {
    const review = await reviews.decide(request.reviewId, request.version, parts.decision, sql);
    if (review === null) return null;
    const also = await decideCompanions(parts.companions, reviews, sql);
    const changes = parts.lesson.entry === null ? [] : await teach(deps, parts.lesson.entry, sql);
    await requestNotices(deps.stores.notices, [review, ...also], deps.undoMs ?? UNDO_DELAY_MS, sql);
    deps.failpoint?.('deciding', request.reviewId);
    return { review, also, changes };
  });
  deps.failpoint?.('decided', request.reviewId);
  if (decided !== null) return decided;
  throw createRacedError(await getCurrentReview(deps, request));
}

/**
 * Adds the entry and returns the index changes. The entry replaces the one in use. Returns no changes if the
 * new entry is not used, for example because another one came first.
 */
async function teach(
  { stores: { library, work } }: DecideDeps,
  entry: LibraryEntry,
  sql: Sql,
): Promise<readonly WorkRequest[]> {
  const key = { fingerprint: entry.fingerprint.value, repository: entry.repository };
  await library.alone(key, sql);
  const before = await library.recall(key, sql);
  await library.insert(entry, sql);
  const answering = await library.recall(key, sql);
  const changes = answering?.id === entry.id ? indexChanges(entry, before?.id ?? null) : [];
  await work.add(changes, sql);
  return changes;
}

/** The maximum number of items that one decision can settle. */
const MAX_SAME = 200;

/**
 * Lists the undecided items with the same fingerprint and repository that this reviewer could decide together
 * with this one, oldest first. Throws `not-found`.
 */
export async function listSame(
  deps: { readonly stores: Pick<ShownStores, 'reviews'> },
  { reviewId, reviewer }: { readonly reviewId: string; readonly reviewer: string },
): Promise<Review[]> {
  if ((await deps.stores.reviews.find(reviewId)) === null) throw createUnknownReviewError(reviewId);
  return await deps.stores.reviews.listSame(reviewId, reviewer, MAX_SAME);
}

/** An item that is decided along with another one. */
interface Companion {
  readonly review: Review;
  readonly decision: Decision;
}

/**
 * Creates the decisions for the other items. If a decision accepts or corrects a cause, each item with a
 * different answer is corrected to it, and each item with the same answer is accepted.
 */
async function createCompanions(
  main: { readonly decision: Decision; readonly analysis: Analysis },
  others: readonly { readonly review: Review; readonly analysis: Analysis }[],
  deps: { readonly masker: Pick<Masker, 'mask'> },
): Promise<Companion[]> {
  const now = Date.parse(main.decision.decidedAt);
  const { reviewer, batchId = null } = main.decision;
  return await Promise.all(
    others.map(async ({ review, analysis }) => {
      const input = createDecisionInput(main, analysis);
      return {
        review,
        decision: await createDecision({ input, reviewer, review, batchId, now }, deps.masker),
      };
    }),
  );
}

function createDecisionInput(
  { decision, analysis: main }: { decision: Decision; analysis: Analysis },
  other: Analysis,
): DecisionInput {
  const { type, reason, reasonCode } = decision;
  const why = omitUndefined({ reason, reasonCode });
  if (type === 'reject') return { type, ...why };
  if (type === 'accept' && other.category === main.category && other.kind === main.kind)
    return { type, ...why };
  const input: DecisionInput = {
    type: 'correct',
    category: decision.category ?? main.category,
    ...(decision.kind === undefined && type === 'correct' ? {} : { kind: decision.kind ?? main.kind }),
    rootCause: decision.rootCause ?? main.answer.rootCause,
    fixRecommendation: decision.fixRecommendation ?? main.answer.fixRecommendation,
    ...why,
  };
  return isDifferent(input, other) ? input : { type: 'accept', ...why };
}

/**
 * Stores the companion decisions. Items that another reviewer has taken are skipped. Returns the items that
 * are now decided.
 */
async function decideCompanions(
  companions: readonly Companion[],
  reviews: Pick<ShownStores['reviews'], 'decide'>,
  sql: Sql,
): Promise<Review[]> {
  const decided: Review[] = [];
  for (const { review, decision } of companions) {
    const now = await reviews.decide(review.id, review.version, decision, sql);
    if (now !== null) decided.push(now);
  }
  return decided;
}

interface DecisionFacts {
  readonly input: DecisionInput;
  readonly reviewer: string;
  readonly review: Review;
  readonly batchId: string | null;
  readonly now: number;
}

/**
 * The maximum counted time in seconds. A page that was open longer says nothing about how long the reviewer
 * thought.
 */
const MAX_SECONDS = 24 * 3600;

/** Creates a decision. Text from the reviewer is masked before it is stored. */
async function createDecision(facts: DecisionFacts, masker: Pick<Masker, 'mask'>): Promise<Decision> {
  const { input, reviewer, review, batchId, now } = facts;
  const { type, category, kind, reasonCode, shownBy } = input;
  const mask = async (text: string | undefined) =>
    text === undefined ? undefined : (await masker.mask(toStorable(text))).text;
  const [rootCause, fixRecommendation, reason] = [
    await mask(input.rootCause),
    await mask(input.fixRecommendation),
    await mask(input.reason),
  ];
  return {
    id: createId('dec', now),
    reviewId: review.id,
    analysisId: review.analysisId,
    reviewer,
    decidedAt: new Date(now).toISOString(),
    type,
    ...omitUndefined({ category, kind, rootCause, fixRecommendation, reason, reasonCode, shownBy }),
    ...omitUndefined({ batchId: batchId ?? undefined }),
    ...openTime(facts),
  };
}

/**
 * Returns the time that the item was open, as the page reports it, otherwise since the reviewer claimed it.
 */
function openTime({
  input,
  review,
  reviewer,
  now,
}: DecisionFacts): Pick<Decision, 'openedAt' | 'secondsOpen'> {
  const openedAt = input.openedAt ?? (review.claimedBy === reviewer ? review.claimedAt : null);
  if (openedAt === null || openedAt === undefined) return {};
  const seconds = (now - Date.parse(openedAt)) / 1000;
  return seconds < 0 || seconds > MAX_SECONDS ? {} : { openedAt, secondsOpen: Math.round(seconds * 10) / 10 };
}

/**
 * The default delay, in milliseconds, before a decision is shown outside. A decision that is undone within it
 * is never seen there.
 */
const UNDO_DELAY_MS = 10_000;

/**
 * Requests updates of the notices about the builds of these reviews. The builds are sorted, so that
 * concurrent decisions about the same builds do not deadlock.
 */
export async function requestNotices(
  notices: Pick<NoticeStore, 'changed'>,
  reviews: readonly Pick<Review, 'buildId'>[],
  delayMs: number,
  sql: Sql,
): Promise<void> {
  const builds = [...new Set(reviews.map(({ buildId }) => buildId))].toSorted();
  for (const buildId of builds) await notices.changed({ buildId, delayMs }, sql);
}
