import { setTimeout as sleep } from 'node:timers/promises';
import { type Build, type NewBuild, WHOLE_BUILD } from '../domain/build.ts';
import type { Category } from '../domain/category.ts';
import { getErrorMessage, isRetryable, TriageError } from '../domain/errors.ts';
import { Blame, blameByText, isBlameRight } from '../domain/experiment.ts';
import { append } from '../lib/collections.ts';
import { computeBackoff } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { BuildSource, FetchedBuild } from '../ports/build-source.ts';
import type { Database } from '../ports/database.ts';
import type { PastRun, PastRuns } from '../providers/provider.ts';
import type { Intake } from '../providers/webhook.ts';
import type { Stores } from '../stores/stores.ts';
import { storeBuild } from './intake/delivery-processor.ts';
import { maskSources } from './triage/read-build.ts';

export interface ImportDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly stores: Pick<Stores, 'builds' | 'triages' | 'passingBuilds' | 'work' | 'notices' | 'ciLinks'>;
  readonly archive: Pick<BuildArchive, 'put'>;
  readonly masker: Masker;
}

export interface ImportRequest {
  readonly provider: Build['provider'];
  readonly repository: string;
  readonly since: Date;
  /** The maximum number of runs to import, newest first. */
  readonly maxRuns: number;
  readonly runs: PastRuns;
  readonly source: Pick<BuildSource, 'fetch'>;
  /** The unit of delays between attempts, in milliseconds. A second by default; tests use less. */
  readonly retryUnitMs?: number;
}

/**
 * The outcome of a run. `known`: it is already stored. `withoutLog`: it failed, but its log no longer exists,
 * so it is stored only for the history. `leftOut`: it neither failed nor passed, was deleted, or could not be
 * read.
 */
export type ImportOutcome = 'failed' | 'passed' | 'known' | 'withoutLog' | 'leftOut';

export type ImportEvent =
  | { readonly type: 'listed'; readonly runs: number; readonly isCut: boolean }
  | { readonly type: 'waiting'; readonly ms: number; readonly because: string }
  | {
      readonly type: 'run';
      /** The number of the run, from 1. */
      readonly place: number;
      readonly of: number;
      readonly outcome: ImportOutcome;
      /** A description of the run, with the reason if it was left out or has no log. */
      readonly says: string;
      /** The id of a failed build that was or will be answered; null for others. */
      readonly buildId: string | null;
    };

/** The maximum number of attempts at a request that fails without a retry time. */
const TRIES = 5;
const MAX_BACKOFF_MS = 60_000;
/** The maximum delay in milliseconds that a host can request. */
const MAX_WAIT_MS = 2 * 60 * 60_000;
/**
 * The number of consecutive unreadable runs after which the host counts as unavailable and the import stops.
 */
const MAX_UNREADABLE = 5;

/**
 * Stores past runs as builds, oldest first and one at a time, with the logs of failed runs. A triage is
 * requested for each failed run, but its answers are not published. Runs that are already stored are skipped,
 * so that an interrupted import continues. Waits as long as the host requests. Throws if the runs cannot be
 * listed, the token is refused, the host is unavailable, or the caller aborts.
 */
export async function* importRuns(
  deps: ImportDeps,
  request: ImportRequest,
  signal: AbortSignal,
): AsyncGenerator<ImportEvent> {
  const listed = yield* retryPatiently(() => listRuns(request, signal), request, signal);
  yield { type: 'listed', runs: listed.runs.length, isCut: listed.isCut };
  let unreadable = 0;
  for (const [index, run] of listed.runs.toReversed().entries()) {
    signal.throwIfAborted();
    const place = { type: 'run', place: index + 1, of: listed.runs.length } as const;
    try {
      yield { ...place, ...(yield* importRun(deps, request, run, signal)) };
      unreadable = 0;
    } catch (error) {
      unreadable += 1;
      if (
        signal.aborted ||
        !(error instanceof TriageError) ||
        error.code === 'upstream-auth' ||
        unreadable >= MAX_UNREADABLE
      )
        throw error;
      yield { ...place, outcome: 'leftOut', says: `run ${run.externalId}: ${error.message}`, buildId: null };
    }
  }
}

/** Lists the newest runs, each once, although new runs may shift the list while it is read. */
async function listRuns({ runs, repository, since, maxRuns }: ImportRequest, signal: AbortSignal) {
  const found = new Map<string, PastRun>();
  for await (const run of runs.list(repository, since, signal)) {
    if (found.size >= maxRuns) return { runs: [...found.values()], isCut: true };
    found.set(`${run.externalId} ${run.attempt ?? ''}`, run);
  }
  return { runs: [...found.values()], isCut: false };
}

type Imported = Pick<Extract<ImportEvent, { type: 'run' }>, 'outcome' | 'says' | 'buildId'>;

async function* importRun(
  deps: ImportDeps,
  request: ImportRequest,
  run: PastRun,
  signal: AbortSignal,
): AsyncGenerator<ImportEvent, Imported> {
  const { provider, repository } = request;
  const { externalId, attempt } = run;
  const key = { provider, repository, externalId, ...(attempt === null ? {} : { attempt }) };
  const known = await deps.stores.builds.findByExternalId(key);
  // A run that was stored only in part, because a process crashed, is stored again.
  if (known !== null && known.status !== 'unknown') {
    const buildId = known.status === 'failed' ? known.id : null;
    return { outcome: 'known', says: formatBuildName(known), buildId };
  }
  const reading = yield* retryPatiently(() => run.load(signal), request, signal);
  if ('ignored' in reading)
    return { outcome: 'leftOut', says: `run ${externalId}: ${reading.ignored}`, buildId: null };
  const says = formatBuildName(reading.build);
  if (reading.build.status === 'passed') {
    await keepPassed(deps, reading);
    return { outcome: 'passed', says, buildId: null };
  }
  try {
    const asked = { ...reading.build, id: 'past', receivedAt: getEndTime(reading.build) };
    const fetched = yield* retryPatiently(() => request.source.fetch(asked, signal), request, signal);
    return { outcome: 'failed', says, buildId: await keepFailed(deps, reading, fetched) };
  } catch (error) {
    if (!(error instanceof TriageError) || (error.code !== 'not-found' && error.code !== 'too-large'))
      throw error;
    await keepWithoutLog(deps, reading);
    return { outcome: 'withoutLog', says: `${says}: ${error.message}`, buildId: null };
  }
}

function formatBuildName({
  pipeline,
  number,
  branch,
}: Pick<NewBuild, 'pipeline' | 'number' | 'branch'>): string {
  return `${pipeline} #${number}${branch === null ? '' : ` on ${branch}`}`;
}

/** Returns the time when a run ended, or, if its CI does not report it, when it began. */
function getEndTime({ finishedAt, startedAt }: NewBuild): string {
  return finishedAt ?? startedAt ?? new Date().toISOString();
}

async function keepPassed({ database, stores }: ImportDeps, intake: Intake): Promise<void> {
  await database.transaction(async (sql) => {
    await stores.builds.upsert(intake.build, sql, getEndTime(intake.build));
    await storeBuild({ stores }, intake, sql, async () => true);
  });
}

async function keepWithoutLog({ database, stores }: ImportDeps, { build }: Intake): Promise<void> {
  await database.transaction(async (sql) => {
    const { build: stored } = await stores.builds.upsert(build, sql, getEndTime(build));
    await stores.builds.addFailedPart(stored.id, WHOLE_BUILD, sql);
  });
}

/**
 * Stores the logs before the build, so that the build is complete when its triage begins and its logs are not
 * requested from the CI again.
 */
async function keepFailed(deps: ImportDeps, intake: Intake, fetched: FetchedBuild): Promise<string> {
  const { database, stores, archive, masker } = deps;
  const { build } = await stores.builds.upsert(
    { ...intake.build, status: 'unknown' },
    undefined,
    getEndTime(intake.build),
  );
  const { sources, own } = await maskSources(fetched.sources, masker);
  for (const source of sources) await archive.put(build.id, source);
  await stores.ciLinks.saveLogPages(build.id, sources);
  await stores.builds.saveTestResults(build.id, fetched.testResults);
  if (own.length > 0) await stores.builds.saveShownSecrets(build.id, own);
  await database.transaction(async (sql) => {
    const stored = await storeBuild({ stores }, intake, sql, async () => true);
    if (stored?.job != null) await stores.triages.markFetched(stored.job, sql);
  });
  return build.id;
}

/**
 * Repeats the work after temporary errors: after the delay that the host requests, or else with increasing
 * delays.
 */
async function* retryPatiently<Result>(
  work: () => Promise<Result>,
  { retryUnitMs = 1_000 }: Pick<ImportRequest, 'retryUnitMs'>,
  signal: AbortSignal,
): AsyncGenerator<ImportEvent, Result> {
  for (let failures = 1; ; ) {
    try {
      return await work();
    } catch (error) {
      const asked = error instanceof TriageError ? error.retryAfterMs : undefined;
      if (signal.aborted || !isRetryable(error) || (asked === undefined && failures >= TRIES)) throw error;
      const ms = Math.min(
        asked ?? computeBackoff({ firstMs: retryUnitMs, longestMs: MAX_BACKOFF_MS }, failures),
        MAX_WAIT_MS,
      );
      if (asked === undefined) failures += 1;
      yield { type: 'waiting', ms, because: getErrorMessage(error) };
      await sleep(ms, undefined, { signal });
    }
  }
}

/** The answers to the builds of a repository, published or not. */
export interface AnswerReport {
  readonly builds: { readonly failed: number; readonly passed: number; readonly unanswered: number };
  /** The answers, newest first. */
  readonly answers: readonly ReportedAnswer[];
  /** The causes, most frequent first. */
  readonly causes: readonly {
    readonly category: Category | null;
    readonly title: string;
    readonly count: number;
  }[];
  /** The accuracy of statements about whose fault a failure is, for failures with an experiment. */
  readonly guesses: readonly Guess[];
}

export interface Guess {
  readonly said: 'this change' | 'not this change' | 'flaky';
  readonly right: number;
  readonly of: number;
}

export interface ReportedAnswer {
  readonly analysisId: string;
  readonly build: Pick<Build, 'id' | 'pipeline' | 'number' | 'attempt' | 'branch' | 'url'> & {
    readonly at: string;
  };
  readonly category: Category | null;
  readonly title: string;
  /** The confidence, 0..1. */
  readonly confidence: number;
  /** True if it is confident enough to be published without a person. */
  readonly isPublished: boolean;
  readonly failures: number;
}

const PAGE = 200;
/** The maximum number of builds that are read. */
const MAX_BUILDS = 5_000;
const MAX_CAUSES = 10;

export async function readAnswerReport(
  {
    builds,
    analyses,
  }: {
    readonly builds: Pick<Stores['builds'], 'list'>;
    readonly analyses: Pick<Stores['analyses'], 'heads'>;
  },
  { repository, since }: { readonly repository: string; readonly since: Date },
): Promise<AnswerReport> {
  const counts = { failed: 0, passed: 0, unanswered: 0 };
  const answers: ReportedAnswer[] = [];
  const tried: Head[] = [];
  for (let offset = 0; offset < MAX_BUILDS; offset += PAGE) {
    const page = await builds.list({ repository }, { limit: PAGE, offset });
    const recent = page.filter(({ receivedAt }) => Date.parse(receivedAt) >= since.getTime());
    const failed = recent.filter(({ status }) => status === 'failed');
    counts.failed += failed.length;
    counts.passed += recent.filter(({ status }) => status === 'passed').length;
    const heads = Map.groupBy(await analyses.heads(failed.map(({ id }) => id)), ({ buildId }) => buildId);
    for (const build of failed) {
      const buildHeads = heads.get(build.id) ?? [];
      if (buildHeads.length === 0) counts.unanswered += 1;
      for (const head of buildHeads) answers.push(toReportedAnswer(build, head));
      append(
        tried,
        buildHeads.filter((head) => head.tried !== null),
      );
    }
    if (page.length < PAGE || recent.length < page.length) break;
  }
  return { builds: counts, answers, causes: countCauses(answers), guesses: scoreGuesses(tried) };
}

const SAID = { 'this-change': 'this change', 'not-this-change': 'not this change', flaky: 'flaky' } as const;

/** Scores the guesses about failures that an experiment has decided. */
export function scoreGuesses(heads: readonly Pick<Head, 'guess' | 'tried'>[]): Guess[] {
  const decided = heads.flatMap(({ guess, tried }) => {
    const truth = Blame.safeParse(tried);
    return truth.success ? [{ said: blameByText(guess), truth: truth.data }] : [];
  });
  return Blame.options.flatMap((blame) => {
    const ofBlame = decided.filter(({ said }) => said === blame);
    const right = ofBlame.filter(({ said, truth }) => isBlameRight(said, truth));
    return ofBlame.length === 0 ? [] : [{ said: SAID[blame], right: right.length, of: ofBlame.length }];
  });
}

type Head = Awaited<ReturnType<Stores['analyses']['heads']>>[number];

function toReportedAnswer(build: Build, head: Head): ReportedAnswer {
  const { id, pipeline, number, attempt, branch, url, receivedAt: at } = build;
  const { category, title, confidence, failures, action } = head;
  const facts = { id, pipeline, number, attempt, branch, url, at };
  return {
    analysisId: head.id,
    build: facts,
    category,
    title,
    confidence,
    failures,
    isPublished: action === 'auto_notify',
  };
}

function countCauses(answers: readonly ReportedAnswer[]): AnswerReport['causes'] {
  const groups = Map.groupBy(answers, ({ category, title }) => `${category} ${title}`);
  const causes = [...groups.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ category: first.category, title: first.title, count: more.length + 1 }],
  );
  return causes.sort((left, right) => right.count - left.count).slice(0, MAX_CAUSES);
}
