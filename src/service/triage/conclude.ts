import { type Analysis, isUnread, NO_USAGE, UNREAD } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { CATEGORIES, mapCategories } from '../../domain/category.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { Failure } from '../../domain/failure.ts';
import { createId } from '../../domain/ids.ts';
import { withPrecedent } from '../../domain/precedent.ts';
import type { PublishBound } from '../../domain/publish-bound.ts';
import type { FailureGroup } from '../../domain/reading.ts';
import { createNewReview, type NewReview } from '../../domain/review.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { isDrawn } from '../../lib/statistics.ts';
import type { Clock } from '../../lib/time.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { Database, Failpoint, Sql } from '../../ports/database.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { Stores } from '../../stores/stores.ts';
import type { Draft } from './draft-answer.ts';
import { createRuleAnalysis, recallAnalysis } from './recall.ts';
import type { TriageRun } from './triage-run.ts';
import { withEarlierFixes } from './with-earlier-fixes.ts';

export interface ConcludeDeps {
  readonly database: Database;
  readonly stores: Pick<
    Stores,
    'publications' | 'analyses' | 'experiments' | 'library' | 'notices' | 'reviews' | 'rules' | 'triages'
  >;
  /**
   * The grades of earlier answers to the same failure, and the bound in force. If absent, they are unknown.
   */
  readonly precedents?: {
    readonly count: Stores['grades']['precedent'];
    readonly listFixedBefore: Stores['grades']['listFixedBefore'];
    readonly bound: () => Promise<PublishBound | null>;
  };
  /** The publishers that every confident answer is sent to. */
  readonly publishers: readonly string[];
  /**
   * The sampling interval of reviews: one in this number of confident answers is also reviewed. None if
   * absent or 0.
   */
  readonly auditEvery?: number;
  /** Wakes the worker after work was requested, so that it does not wait for its next check. */
  readonly wakeWorker?: () => void;
  /** Runs after each new answer was saved. Must not throw. */
  readonly onConcluded?: (build: Build, analysis: Analysis) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Deletes the checkpoints of a triage. */
  readonly forget: (triageId: string) => Promise<void>;
  readonly failpoint?: Failpoint;
}

/** Counts uses of people's decisions and rules. */
interface Counters {
  readonly library: Pick<Stores['library'], 'seen'>;
  readonly rules: Pick<Stores['rules'], 'used'>;
}

/**
 * Creates the analysis of a draft. `counters` count a recall or the use of a rule, in the transaction that
 * saves it.
 */
export async function createAnalysis(draft: Draft, counters?: Counters, sql?: Sql): Promise<Analysis> {
  if (draft.kind === 'investigated') return { ...draft.analysis, ...draft.owner };
  const { subject, startedAt, endedAt, owner } = draft;
  const at = new Date(startedAt).toISOString();
  // A person's answer is not rewritten. Version changes are only listed.
  const listed = omitUndefined({ changes: subject.changes });
  if (draft.kind === 'recalled') {
    const seen = (await counters?.library.seen(draft.entry.id, at, sql)) ?? draft.entry.timesSeen;
    return { ...recallAnalysis(subject, draft.entry, seen, startedAt, endedAt), ...owner, ...listed };
  }
  const used = (await counters?.rules.used(draft.match.rule, at, sql)) ?? draft.match.rule.timesUsed;
  return { ...createRuleAnalysis(subject, draft.match, used, startedAt, endedAt), ...owner, ...listed };
}

/**
 * Saves the answer. In the same transaction, opens a review if a person must check it, or adds work for every
 * publisher if it is confident, and requests an update of the notices. Throws `cancelled` if the worker has
 * lost the build in the meantime; then nothing is written. Concluding the same triage again changes nothing.
 * The graph's checkpoints are deleted after the commit; an error in that is only logged.
 */
export async function conclude(
  build: Build,
  draft: Draft,
  deps: ConcludeDeps,
  run: TriageRun,
): Promise<Analysis> {
  const { stores, precedents } = deps;
  const bound = (await precedents?.bound()) ?? null;
  const saved = await deps.database.transaction(async (sql) => {
    if (!(await run.holds(sql)))
      throw new TriageError('cancelled', 'Another worker has taken over this build', { retryable: true });
    const drafted = await createAnalysis(draft, stores, sql);
    const precedent = await precedents?.count(build, drafted, sql);
    const earlierFixes = (await precedents?.listFixedBefore(build.id, drafted, MAX_EARLIER_FIXES, sql)) ?? [];
    const answered = precedent === undefined ? drafted : withPrecedent(build, drafted, precedent, bound);
    const analysis = withEarlierFixes(answered, earlierFixes);
    const { analysis: stored, created } = await stores.analyses.insertOnce(analysis, sql);
    if (!created) return { stored, created };
    await stores.triages.conclude(stored.triageId, stored.id, sql);
    // The experiment may have been reported before its answer existed.
    await stores.experiments.apply(build.id, sql);
    if (isSure(stored))
      await stores.publications.add(
        { publishers: deps.publishers, buildId: build.id, analysisId: stored.id },
        sql,
      );
    const review = createReview(build, stored, deps);
    if (review !== null) await stores.reviews.open(review, sql);
    await stores.notices.changed({ buildId: build.id, delayMs: 0 }, sql);
    deps.failpoint?.('concluding', build.id);
    return { stored, created };
  });
  deps.failpoint?.('concluded', build.id);
  if (saved.created) run.progressed?.();
  if (saved.created) deps.onConcluded?.(build, saved.stored);
  if (saved.created) deps.wakeWorker?.();
  await forget(saved.stored.triageId, deps);
  return saved.stored;
}

/** The maximum number of fixes of earlier failures that are suggested. */
const MAX_EARLIER_FIXES = 3;

function isSure({ verdict }: Analysis): boolean {
  return verdict.action === 'auto_notify';
}

/** Deletes the checkpoints. Any that remain are deleted at the next start. */
async function forget(triageId: string, deps: ConcludeDeps): Promise<void> {
  try {
    await deps.forget(triageId);
  } catch (error) {
    deps.logger.warn({ triageId, error }, 'the checkpoints of a concluded triage could not be deleted');
  }
}

/**
 * Creates the review of an answer that a person must check, or of a confident answer that was drawn as a
 * sample. Returns null for all others.
 */
function createReview(
  build: Build,
  analysis: Analysis,
  { clock, auditEvery = 0 }: ConcludeDeps,
): NewReview | null {
  // A reviewer cannot judge a log that could not be read. The settings and Health pages show it to the
  // operator.
  if (isUnread(analysis)) return null;
  if (!isSure(analysis))
    return createNewReview(build, analysis, {
      now: clock.now(),
      origin: 'unsure',
      why: analysis.verdict.reasons,
    });
  // An answer that repeats a person's decision says nothing about the machine's accuracy.
  if (analysis.terminationReason === 'known_failure' || !isDrawn(sampleName(build, analysis), auditEvery))
    return null;
  const why = [`published automatically; one in ${auditEvery} such answers is reviewed`];
  return createNewReview(build, analysis, { now: clock.now(), origin: 'audit', why });
}

/** Names the build for the draw, so that a build that is read again gets the same result. */
function sampleName(
  { provider, repository, pipeline, number, attempt }: Build,
  { fingerprint }: Analysis,
): string {
  return JSON.stringify([provider, repository, pipeline, number, attempt, fingerprint]);
}

const MAX_EVIDENCE = 3;
const TITLE = 'Faultline could not analyze this failure';
const UNREAD_TITLE = 'The log could not be read';

/**
 * Creates the analysis that is stored if the analysis of a group failed, so that the failure is not lost. It
 * makes no claims, shows the place of the failure, and waits for a person. `error` is a masked sentence.
 */
function createFailedAnalysis(input: {
  readonly buildId: string;
  readonly triageId: string;
  readonly group: FailureGroup;
  readonly error: string;
  readonly now: number;
}): Analysis {
  const { buildId, triageId, group, error, now } = input;
  const evidence = listEvidence(group);
  const at = new Date(now).toISOString();
  return {
    id: createId('ana', now),
    buildId,
    triageId,
    failureIds: group.failures.map((failure) => failure.id),
    fingerprint: group.fingerprint.value,
    category: 'CODE_ERROR',
    kind: 'unknown',
    classification: guess(),
    answer: createFailedAnswer(error, isUnread({ fingerprint: group.fingerprint.value })),
    verdict: createVerdict(evidence, describeReason(group, error)),
    evidence,
    steps: [
      { node: 'give_up', round: 0, startedAt: at, milliseconds: 0, summary: `the analysis failed: ${error}` },
    ],
    usage: NO_USAGE,
    analyst: 'none',
    model: null,
    promptHashes: {},
    notes: [],
    terminationReason: 'failed',
    recalled: null,
    reduction: { logLines: 0, logBytes: 0, keptLines: 0, tokens: 0 },
    milliseconds: 0,
    createdAt: at,
  };
}

function guess(): Analysis['classification'] {
  return {
    category: 'CODE_ERROR',
    kind: 'unknown',
    confidence: 0,
    probabilities: mapCategories(() => 1 / CATEGORIES.length),
    abstained: true,
    because: 'the analysis failed, so there is no answer',
  };
}

function createFailedAnswer(error: string, isUnread: boolean): Analysis['answer'] {
  return {
    title: isUnread ? UNREAD_TITLE : TITLE,
    // The title already says so.
    rootCause: isUnread ? error.replace(/^The log could not be read: /, '') : error,
    fixRecommendation: isUnread
      ? 'Fix what prevented the log from being read, then rerun the build or upload its log.'
      : 'Read the build log and correct this answer with what you find.',
    confidence: 0,
    claims: [],
    suspects: [],
    hypotheses: [],
  };
}

/** Returns the reason for the review. */
function describeReason({ fingerprint }: FailureGroup, error: string): string {
  return fingerprint.algorithm === UNREAD ? error : `the analysis failed: ${error}`;
}

function createVerdict(evidence: readonly Evidence[], why: string): Analysis['verdict'] {
  return {
    grades: Object.fromEntries(evidence.map((item) => [item.id, 'ambiguous' as const])),
    unsupportedClaims: [],
    gaps: ['The cause was not investigated.'],
    confidence: 0,
    action: 'human_review',
    reasons: [why],
  };
}

/** Returns the places of the group's first failures in the log, or their messages if they have no place. */
function listEvidence({ failures }: FailureGroup): Evidence[] {
  const places = failures.map(toPlaceKey);
  return failures
    .filter((_, index) => places.indexOf(places[index] ?? '') === index)
    .slice(0, MAX_EVIDENCE)
    .map((failure, index) => ({ id: `E${index + 1}`, tool: 'log', ...toFinding(failure) }));
}

function toFinding({ excerpt, test, message }: Failure): Omit<Evidence, 'id' | 'tool'> {
  if (excerpt === null)
    return {
      title: test?.name ?? 'failure',
      text: message,
      source: test?.at?.source ?? test?.file ?? 'build',
    };
  const { source, lineStart, lineEnd, text, reason } = excerpt;
  return { title: reason, text, source, lineStart, lineEnd };
}

function toPlaceKey({ id, excerpt }: Failure): string {
  return excerpt === null ? id : `${excerpt.source}:${excerpt.lineStart}`;
}

interface GiveUpDeps extends ConcludeDeps {
  readonly stores: Pick<Stores, 'builds' | 'failures'> & ConcludeDeps['stores'];
  readonly masker: Masker;
}

const MAX_SENTENCE = 500;

/**
 * Saves the answer to a build that cannot be triaged, so that its failures are not lost: each failure group
 * without an answer, or one that represents the whole build, gets a failed analysis that waits for a person.
 * Throws if even that cannot be stored.
 */
export async function escalateToReviewer(
  buildId: string,
  error: unknown,
  deps: GiveUpDeps,
  run: TriageRun,
): Promise<void> {
  const build = await deps.stores.builds.find(buildId);
  if (build === null) throw new TriageError('not-found', `Build ${buildId} is not stored`);
  const saveOpen = async (groups: readonly FailureGroup[]) =>
    await openGroups(build, await deps.stores.failures.saveGroups(build.id, groups), deps);
  const known = await saveOpen([]);
  // If all known groups are answered, the error concerns something that is not known yet.
  const open = known.length > 0 ? known : await saveOpen([createWholeBuildGroup(build, error)]);
  for (const { group, triageId } of open) await escalateGroup({ build, group, triageId }, error, deps, run);
}

/** Saves the answer to one failure group whose analysis failed with `error`. */
export async function escalateGroup(
  {
    build,
    group,
    triageId,
  }: { readonly build: Build; readonly group: FailureGroup; readonly triageId: string },
  error: unknown,
  deps: Omit<GiveUpDeps, 'stores'> & ConcludeDeps,
  run: TriageRun,
): Promise<Analysis> {
  deps.logger.error({ buildId: build.id, triageId, error }, 'analysis failed; sent to review');
  const sentence = await maskErrorMessage(error, deps.masker);
  const analysis = createFailedAnalysis({
    buildId: build.id,
    triageId,
    group,
    error: sentence,
    now: deps.clock.now(),
  });
  return conclude(build, { kind: 'investigated', analysis, owner: {} }, deps, run);
}

async function openGroups(build: Build, groups: readonly FailureGroup[], deps: GiveUpDeps) {
  const open: { group: FailureGroup; triageId: string }[] = [];
  for (const group of groups) {
    const triage = await deps.stores.triages.open(build.id, group.fingerprint.value);
    if (triage.analysisId === null) open.push({ group, triageId: triage.id });
  }
  return open;
}

/**
 * Creates the group that represents a build that could not be read. The failure is generic, so that nothing
 * is learned from it. The group is not, and has a unique fingerprint, because it must not join the build's
 * generic group, which may be answered.
 */
function createWholeBuildGroup(build: Build, error: unknown): FailureGroup {
  // If there is a log, a person can read it.
  const hasLog = !(error instanceof TriageError && error.code === 'not-found');
  const fingerprint = {
    algorithm: UNREAD,
    version: 1,
    value: `${hasLog ? 'unfinished' : UNREAD}-${build.id}`,
  };
  const message = 'The build failed, but the reason could not be read.';
  const failure = {
    id: createId('fal'),
    buildId: build.id,
    test: null,
    message,
    frames: [],
    excerpt: null,
    fingerprint,
    generic: true,
  };
  return { fingerprint, generic: false, failures: [failure] };
}

/** Masks the message of an error, which may quote the data that caused it. */
async function maskErrorMessage(error: unknown, masker: Masker): Promise<string> {
  const message = getErrorMessage(error).trim() || 'The analysis failed without a message.';
  try {
    return (await masker.mask(message)).text.slice(0, MAX_SENTENCE);
  } catch {
    return 'The analysis failed, and its error message could not be masked.';
  }
}
