import type { Analysis } from '../../domain/analysis.ts';
import { getKindRow, type Kind } from '../../domain/category.ts';
import type { Failure } from '../../domain/failure.ts';
import { createId } from '../../domain/ids.ts';
import { type GreenFlag, isInUse, type LibraryEntry, toLibraryVector } from '../../domain/library.ts';
import type { Decision } from '../../domain/review.ts';
import { toComparedFailure } from '../../log/fingerprint/failure-likeness.ts';
import { areKnownLines, listIdentifyingLines } from '../../log/green/green-diff.ts';
import { shortenTitle } from '../../log/title.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { VectorIndex } from '../../ports/vector-index.ts';
import type { LibraryStore } from '../../stores/library.ts';
import type { PassingBuildStore } from '../../stores/passing-builds.ts';
import type { ShownStores } from '../../stores/stores.ts';

/** The entry that a decision adds to the library, and a sentence about it for the reviewer. */
export interface Lesson {
  readonly entry: LibraryEntry | null;
  readonly teaching: string;
}

interface LessonFacts {
  readonly decision: Decision;
  readonly analysis: Analysis;
  readonly repository: string;
  /** The failures of the analysis. */
  readonly failures: readonly Failure[];
  /** The entry in use for this fingerprint in this repository. */
  readonly previous: LibraryEntry | null;
}

const MAX_MESSAGE = 4000;

/**
 * Derives the lesson of a decision: an acceptance teaches the machine's answer, a correction the reviewer's
 * text, and a rejection nothing. A generic failure ("exit code 1") without a test teaches nothing either,
 * because every later failure would match it; one with a test is shown when that test fails again. A failed
 * analysis teaches nothing unless someone named its cause.
 */
export function deriveLesson(facts: LessonFacts): Lesson {
  if (facts.decision.type === 'reject')
    return { entry: null, teaching: 'Rejected. A rejection does not change the library.' };
  if (namesNoCause(facts)) {
    return {
      entry: null,
      teaching:
        'Not added to the library: the analysis failed, so there is no cause to store. ' +
        'Correct the cause to add one.',
    };
  }
  const failure = facts.failures.find(({ excerpt }) => excerpt !== null) ?? facts.failures[0];
  if (failure === undefined) return { entry: null, teaching: GONE };
  if (failure.generic && failure.test === null) {
    return {
      entry: null,
      teaching: 'Not added to the library: this failure is too general to be recognized again.',
    };
  }
  const entry = createEntry(facts, failure);
  const replaces =
    facts.previous === null
      ? ''
      : ` It replaces the answer that ${facts.previous.confirmedBy} confirmed ` +
        `on ${facts.previous.confirmedAt.slice(0, 10)}.`;
  return {
    entry,
    teaching: `${failure.generic ? TAUGHT_TEST : TAUGHT}${replaces}`,
  };
}

/**
 * Explains in one sentence what a stored decision taught, or why it taught nothing. It is shown when a user
 * returns to the decision.
 */
export async function explainTaught(
  stores: Pick<ShownStores, 'library' | 'analyses' | 'failures'>,
  decision: Decision,
): Promise<string> {
  const [entry] = await stores.library.ofDecision(decision.id);
  if (entry !== undefined && entry.flag !== null && entry.stays === null) return explainHeldBack(entry.flag);
  const analysis = await stores.analyses.find(decision.analysisId);
  if (analysis === null) return entry === undefined ? GONE : TAUGHT;
  const ids = new Set(analysis.failureIds);
  const failures = (await stores.failures.listByBuild(analysis.buildId)).filter(({ id }) => ids.has(id));
  const lesson = deriveLesson({ decision, analysis, repository: '', failures, previous: null });
  if (entry !== undefined) return lesson.entry === null ? TAUGHT : lesson.teaching;
  return lesson.entry === null ? lesson.teaching : 'What it added to the library was withdrawn.';
}

const TAUGHT =
  'Added to the library: the next failure like this one in this repository gets this answer at once.';
const TAUGHT_TEST =
  'Added to the library: the next time this test fails, this decision is shown. ' +
  'The failure is too general to be answered by it at once.';
const GONE = 'Not added to the library: the failures of this analysis are no longer stored.';

/** Returns the sentence for an entry that passing builds contradict. */
export function explainHeldBack(flag: GreenFlag): string {
  return `Saved, but not used yet. ${flagSentence(flag)}: confirm the entry if it is right.`;
}

/**
 * Checks whether the decision names no cause. The cause of a failed analysis is only the error that stopped
 * it.
 */
function namesNoCause({ decision, analysis }: LessonFacts): boolean {
  if (analysis.terminationReason !== 'failed') return false;
  return decision.rootCause === undefined || decision.rootCause.trim() === analysis.answer.rootCause.trim();
}

function createEntry(
  { decision, analysis, repository, previous }: LessonFacts,
  failure: Failure,
): LibraryEntry {
  const { answer } = analysis;
  const category = decision.category ?? analysis.category;
  const rootCause = decision.rootCause ?? answer.rootCause;
  const { text, test } = toComparedFailure(failure);
  return {
    id: createId('lib', Date.parse(decision.decidedAt)),
    fingerprint: failure.fingerprint,
    message: text.slice(0, MAX_MESSAGE),
    test,
    repository,
    category,
    kind: decision.kind ?? chooseKind(analysis, category),
    title: rootCause.trim() === answer.rootCause.trim() ? answer.title : createTitleFrom(rootCause),
    rootCause,
    fixRecommendation: decision.fixRecommendation ?? answer.fixRecommendation,
    analysisId: analysis.id,
    confirmedBy: decision.reviewer,
    confirmedAt: decision.decidedAt,
    timesSeen: computeSightings(analysis, previous),
    lastSeenAt:
      previous !== null && previous.lastSeenAt > analysis.createdAt
        ? previous.lastSeenAt
        : analysis.createdAt,
    decisionId: decision.id,
    telling: listIdentifyingLines(failure),
    withdrawn: null,
    flag: null,
    stays: null,
  };
}

/**
 * Returns the kind of the entry. The machine's kind belongs to its category. With another category, it is
 * used only if it usually belongs to that one.
 */
function chooseKind(analysis: Analysis, category: Analysis['category']): Kind {
  return analysis.category === category || getKindRow(analysis.kind).category === category
    ? analysis.kind
    : 'unknown';
}

/**
 * Creates a title from the first sentence of a corrected cause. The machine's title describes its own cause.
 */
export function createTitleFrom(rootCause: string): string {
  const [line = ''] = rootCause.trim().split('\n');
  const sentence = /^.+?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
  return shortenTitle(sentence.replace(/\.$/, ''));
}

/** Returns the number of sightings. A recalled analysis was already counted when it was recalled. */
function computeSightings(analysis: Analysis, previous: LibraryEntry | null): number {
  if (previous === null) return 1;
  return previous.timesSeen + (analysis.recalled === null ? 1 : 0);
}

/** The maximum number of green logs that a new lesson is compared with, newest first. */
const GREEN_LOGS = 24;

/**
 * Finds the newest passing builds of a repository that contain all informative lines. Returns null if there
 * are none.
 */
export async function findGreenFlag(
  passingBuilds: Pick<PassingBuildStore, 'newest'>,
  repository: string,
  lines: readonly string[],
): Promise<GreenFlag | null> {
  if (lines.length === 0) return null;
  const same = (await passingBuilds.newest(repository, GREEN_LOGS)).filter(({ templates }) =>
    areKnownLines(lines, [templates]),
  );
  const [newest] = same;
  if (newest === undefined) return null;
  const since = same.map(({ seenAt }) => seenAt).sort()[0] ?? newest.seenAt;
  return { builds: new Set(same.map(({ build }) => build.buildId)).size, since, last: newest.build.buildId };
}

/** Formats the flag as a sentence for reviewers. */
export function flagSentence({ builds, since }: GreenFlag): string {
  return (
    `It also appears in ${builds === 1 ? 'a green build' : `${builds} green builds`} ` +
    `since ${since.slice(0, 10)}`
  );
}

interface LibraryIndexDeps {
  readonly library: Pick<LibraryStore, 'list'>;
  readonly vectorIndex: VectorIndex;
  readonly logger: Logger;
}

const PAGE = 200;

/**
 * Synchronizes the `error_library` namespace with the store: adds missing entries and removes all others. It
 * keeps the newest usable entry of each fingerprint in each repository. Meant for startup; safe to run at any
 * time and repeatedly. Throws the errors of the index and the store.
 */
export async function syncLibraryIndex(
  deps: LibraryIndexDeps,
  signal?: AbortSignal,
): Promise<{ indexed: number; removed: number }> {
  // The index is read first, so that an entry that is added concurrently is never removed.
  const present = new Set((await deps.vectorIndex.list('error_library')).map(({ id }) => id));
  const wanted = new Map((await listNewestEntries(deps.library)).map((entry) => [entry.id, entry]));
  const missing = [...wanted.values()].filter(({ id }) => !present.has(id));
  const stray = [...present].filter((id) => !wanted.has(id));
  if (stray.length > 0) await deps.vectorIndex.remove('error_library', stray);
  for (let from = 0; from < missing.length; from += PAGE) {
    await deps.vectorIndex.upsert(
      'error_library',
      missing.slice(from, from + PAGE).map(toLibraryVector),
      signal,
    );
  }
  deps.logger.info({ indexed: missing.length, removed: stray.length }, 'error library index is up to date');
  return { indexed: missing.length, removed: stray.length };
}

async function listNewestEntries(library: LibraryIndexDeps['library']): Promise<LibraryEntry[]> {
  const newest = new Map<string, LibraryEntry>();
  for await (const entry of listAllEntries(library)) {
    if (!isInUse(entry)) continue;
    const key = JSON.stringify([entry.repository, entry.fingerprint.value]);
    const known = newest.get(key);
    if (known === undefined || isNewer(entry, known)) newest.set(key, entry);
  }
  return [...newest.values()];
}

async function* listAllEntries(library: LibraryIndexDeps['library']): AsyncGenerator<LibraryEntry> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await library.list({ limit: PAGE, offset });
    yield* page;
    if (page.length < PAGE) return;
  }
}

function isNewer(left: LibraryEntry, right: LibraryEntry): boolean {
  return left.confirmedAt === right.confirmedAt ? left.id > right.id : left.confirmedAt > right.confirmedAt;
}
