import type { Analysis } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import { debtsOf, type LibraryEntry } from '../domain/library.ts';
import type { Decision, DecisionInput, Review } from '../domain/review.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Database, Failpoint, Sql } from '../ports/database.ts';
import type { ShownStores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { OwedVector, VectorNamespace } from '../ports/vector-index.ts';
import { blindStateOf } from './blind.ts';
import { checkDecision, checkLines } from './check-decision.ts';
import { obstacle, outdated, raced, unknownReview } from './conflicts.ts';
import { flagSentence, greenFlagOf } from './green-flag.ts';
import { type Lesson, lessonOf } from './learn.ts';
import { newDecision } from './new-decision.ts';
import { type Companion, companionsOf, decideCompanions, listSame } from './same.ts';
import { UNDO_DELAY_MS, wantNotices } from './want-notices.ts';

export interface DecideDeps {
  readonly database: Database;
  readonly stores: Pick<ShownStores, 'reviews' | 'analyses' | 'failures' | 'library' | 'vectorDebts' | 'greens' | 'notices'>;
  /** Gives the index what it is owed; `false` where it does not take it yet and it stays owed. Never throws. Absent: it is paid in the background. */
  readonly payVectors?: (namespace: VectorNamespace, ids: readonly string[]) => Promise<boolean>;
  /** How long a decision is kept from being shown outside, so that it can be taken back unseen, in milliseconds. Absent: 10 s. */
  readonly undoMs?: number;
  /** Knows the build's texts, so that lines named by a correction are checked; absent: they are believed. */
  readonly archive?: Pick<BuildArchive, 'list'>;
  /** One item in so many hides its verdict until the reviewer has said what it is; absent: none does where this is called from. */
  readonly blindEvery?: number;
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
  /** Decides the other waiting items of the same fingerprint in the same repository too; absent: this one only. */
  readonly alsoFor?: 'same-fingerprint';
  /** Of those, only these: the ones that the reviewer was shown. Absent: all. */
  readonly also?: readonly string[];
}

export interface DecisionOutcome {
  readonly review: Review;
  /** The library entry that the decision became; null where it teaches nothing. */
  readonly entry: LibraryEntry | null;
  /** One sentence for the reviewer: what was taught, or why nothing. */
  readonly teaching: string;
  /** Other items that were decided with it. */
  readonly also: readonly Review[];
}

/**
 * Stores a person's decision, its audit event and what it teaches, all or nothing; then puts the lesson into the index.
 * Throws TriageError `not-found`, `invalid-input` (also for an item whose verdict is still hidden from the reviewer), or `conflict` (held by another, decided already, outdated version) with
 * the current review in its details.
 */
export async function decideReview(deps: DecideDeps, request: DecisionRequest): Promise<DecisionOutcome> {
  const review = await currentReview(deps, request);
  const analysis = await deps.stores.analyses.find(review.analysisId);
  if (analysis === null) throw new TriageError('not-found', `The analysis ${review.analysisId} of this review is not stored.`);
  const { input, reviewer } = request;
  checkDecision(input, analysis);
  // An archive that is away keeps nobody from deciding.
  if (input.shownBy !== undefined) checkLines(input, (await deps.archive?.list(analysis.buildId).catch(() => [])) ?? []);
  if ((await blindStateOf({ stores: deps.stores, blindEvery: deps.blindEvery ?? 0 }, review, reviewer)).blind)
    throw new TriageError('invalid-input', 'The verdict of this item is hidden from you. Choose a category first.');
  const others = await othersOf(deps, request);
  const guess = await deps.stores.reviews.guessOf(review.id, reviewer);
  const now = deps.clock.now();
  const batchId = others.length === 0 ? null : newId('bat', now);
  const decision = await newDecision({ input, reviewer, review, guess, batchId, now }, deps.masker);
  const companions = await companionsOf({ decision, analysis }, others, deps);
  const previous = await deps.stores.library.recall({ fingerprint: analysis.fingerprint, repository: review.repository });
  const lesson = await prepareLesson(deps, decision, analysis, review, previous);
  const { owed, ...decided } = await store(deps, request, { decision, companions, lesson });
  const ids = owed.map(({ id }) => id);
  if (ids.length > 0) await deps.payVectors?.('error_library', ids);
  const facts = { reviewId: review.id, analysisId: analysis.id, type: decision.type, reviewer, also: decided.also.length };
  deps.logger.info(facts, 'review decided');
  return { ...decided, ...lesson };
}

async function currentReview(deps: DecideDeps, { reviewId, version, reviewer }: DecisionRequest): Promise<Review> {
  const review = await deps.stores.reviews.find(reviewId);
  if (review === null) throw unknownReview(reviewId);
  const refused = obstacle(review, reviewer);
  if (refused !== null) throw refused;
  if (review.version !== version) throw outdated(review, version);
  return review;
}

/** The other items that are decided along. */
async function othersOf(deps: DecideDeps, request: DecisionRequest): Promise<{ review: Review; analysis: Analysis }[]> {
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
  const { entry, teaching } = lessonOf({ decision, analysis, repository, failures, previous });
  const flag = entry === null ? null : await greenFlagOf(deps.stores.greens, repository, entry.telling);
  if (entry === null || flag === null) return { entry, teaching };
  return {
    entry: { ...entry, flag },
    teaching: `Saved, but not used yet. ${flagSentence(flag)}: confirm the entry if it is right.`,
  };
}

interface Parts {
  readonly decision: Decision;
  readonly companions: readonly Companion[];
  readonly lesson: Lesson;
}

interface Stored extends Pick<DecisionOutcome, 'review' | 'also'> {
  readonly owed: readonly OwedVector[];
}

/** The one transaction of a decision. */
async function store(deps: DecideDeps, request: DecisionRequest, parts: Parts): Promise<Stored> {
  const { reviews } = deps.stores;
  const decided = await deps.database.transaction(async (sql) => {
    const review = await reviews.decide(request.reviewId, request.version, parts.decision, sql);
    if (review === null) return null;
    const also = await decideCompanions(parts.companions, reviews, sql);
    const owed = parts.lesson.entry === null ? [] : await teach(deps, parts.lesson.entry, sql);
    await wantNotices(deps.stores.notices, [review, ...also], deps.undoMs ?? UNDO_DELAY_MS, sql);
    deps.failpoint?.('deciding', request.reviewId);
    return { review, also, owed };
  });
  deps.failpoint?.('decided', request.reviewId);
  if (decided !== null) return decided;
  throw raced(await currentReview(deps, request));
}

/** What the index is owed: the entry for what answered until now, or nothing where it does not answer, as where another came first. */
async function teach({ stores: { library, vectorDebts } }: DecideDeps, entry: LibraryEntry, sql: Sql): Promise<readonly OwedVector[]> {
  const key = { fingerprint: entry.fingerprint.value, repository: entry.repository };
  await library.alone(key, sql);
  const before = await library.recall(key, sql);
  await library.insert(entry, sql);
  const answering = await library.recall(key, sql);
  const owed = answering?.id === entry.id ? debtsOf(entry, before?.id ?? null) : [];
  await vectorDebts.owe(owed, sql);
  return owed;
}
