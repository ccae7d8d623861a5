import type { Build, SourceText } from '../domain/build.ts';
import { getErrorMessage, isRetryable, TriageError } from '../domain/errors.ts';
import { decodeSource } from '../log/decode/decode.ts';
import type { BuildSource } from '../ports/build-source.ts';
import { withDeadline } from './rest-client.ts';

/** A job of a run, in terms that all hosts share. */
export interface CiJob {
  readonly id: number | string;
  readonly name: string;
  readonly isOver: boolean;
  readonly outcome: 'failed' | 'passed' | 'other';
  /** The time at which the job ended, as the host writes it; null if it does not state one. */
  readonly endedAt: string | null;
  /** Its URL, http or https. `{line}` in it stands for a line of its log. Null or absent if unknown. */
  readonly url?: string | null;
}

/** The input of one fetch. `room` is the number of bytes of log that may still be read. */
export interface LogFetching<Job extends CiJob = CiJob> {
  readonly signal: AbortSignal;
  readonly notes: string[];
  room: number;
  /** Fetches the log of one job, at most `maxBytes`. Throws as `BuildSource.fetch` does. */
  readonly fetchLog: (job: Job, maxBytes: number) => Promise<Buffer>;
}

/** One run, with the functions that request its parts from the CI. */
export interface CiRun<Job extends CiJob> {
  readonly listJobs: () => Promise<readonly Job[]>;
  readonly fetchLog: LogFetching<Job>['fetchLog'];
  /**
   * Fetches further texts in addition to the logs of the failed jobs. `logs` is the number of logs that were
   * read.
   */
  readonly more?: (jobs: readonly Job[], logs: number) => Promise<readonly SourceText[]>;
}

export interface RunLimits {
  /** The time limit of one whole fetch in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum size of all logs of a build together, decompressed. */
  readonly maxLogBytes: number;
}

/**
 * Creates the source of the logs of a run's failed jobs, or of its passed jobs if the run passed. `open`
 * opens the run of a build, and throws `not-found` if it has none; reading errors are added to its `notes`.
 */
export function createRunSource<Job extends CiJob>(
  provider: Build['provider'],
  { timeoutMs, maxLogBytes }: RunLimits,
  open: (build: Build, signal: AbortSignal, notes: string[]) => CiRun<Job>,
): BuildSource {
  const within = <Result>(
    build: Build,
    signal: AbortSignal,
    work: (run: CiRun<Job>, limits: Pick<LogFetching, 'signal' | 'notes'>) => Promise<Result>,
  ) =>
    withDeadline(
      `Fetching the logs of run ${build.externalId ?? build.number}`,
      timeoutMs,
      signal,
      (limit) => {
        const notes: string[] = [];
        return work(open(build, limit, notes), { signal: limit, notes });
      },
    );
  return {
    provider,
    fetch: (build, signal) =>
      within(build, signal, async (run, limits) => {
        const jobs = await run.listJobs();
        const logs = await fetchFailedLogs({ ...limits, fetchLog: run.fetchLog, room: maxLogBytes }, jobs);
        const sources = [...logs, ...((await run.more?.(jobs, logs.length)) ?? [])];
        if (sources.every(({ text }) => text === '')) throw createUnreadableError(build, limits.notes);
        return { sources, testResults: [], notes: limits.notes };
      }),
    fetchGreen: (build, signal, maxBytes) =>
      within(build, signal, async (run, limits) => {
        const fetching = { ...limits, fetchLog: run.fetchLog, room: Math.min(maxBytes, maxLogBytes) };
        return fetchPassedLogs(fetching, await run.listJobs());
      }),
  };
}

function createUnreadableError({ externalId, number }: Build, notes: readonly string[]): TriageError {
  return new TriageError(
    'not-found',
    `No log of run ${externalId ?? number} can be read. ${notes.join(' ')}`.trim(),
  );
}

/**
 * The maximum number of failed jobs whose logs are read. More are the cells of one matrix and add nothing.
 */
const MAX_FAILED = 30;
/** The maximum number of logs of passed jobs that are fetched one by one. */
const MAX_PASSED = 10;
/** The time after the end of a job, in milliseconds, in which a missing log may still appear. */
const LOG_DELAY_MS = 120_000;

/**
 * Fetches the logs of the failed jobs and notes why others could not be read. Returns none if no log is
 * available, but throws if a later attempt may find one.
 */
export async function fetchFailedLogs<Job extends CiJob>(
  fetching: LogFetching<Job>,
  jobs: readonly Job[],
): Promise<SourceText[]> {
  const { notes, signal } = fetching;
  const running = jobs.filter((job) => !job.isOver).length;
  if (running > 0)
    notes.push(`${running} of the run's ${jobs.length} jobs had not finished when its logs were read.`);
  const failed = jobs.filter((job) => job.outcome === 'failed');
  const logs: SourceText[] = [];
  let firstError: unknown = null;
  for (const job of failed.slice(0, MAX_FAILED)) {
    try {
      logs.push(await fetchJobLog(fetching, job));
    } catch (error) {
      // After an error that a later attempt may resolve, the build must not be read in part.
      if (isRetryable(error) || signal.aborted) throw error;
      if (isMissing(error) && hasJustEnded(job)) throw createNotYetError(job, error);
      firstError ??= error;
      notes.push(`The log of job "${job.name}" could not be read: ${getErrorMessage(error)}`);
    }
  }
  if (failed.length > MAX_FAILED)
    notes.push(`${failed.length} jobs failed; the logs of the first ${MAX_FAILED} were read.`);
  if (logs.length === 0 && firstError instanceof TriageError && firstError.code !== 'not-found')
    throw firstError;
  return logs;
}

/** Fetches the logs of the first passed jobs, as many as there is room for. */
export async function fetchPassedLogs<Job extends CiJob>(
  fetching: LogFetching<Job>,
  jobs: readonly Job[],
): Promise<SourceText[]> {
  const logs: SourceText[] = [];
  for (const job of jobs.filter(({ outcome }) => outcome === 'passed').slice(0, MAX_PASSED)) {
    try {
      logs.push(await fetchJobLog(fetching, job));
    } catch (error) {
      if (isRetryable(error) || fetching.signal.aborted) throw error;
      if (isMissing(error) && hasJustEnded(job)) throw createNotYetError(job, error);
      // If one log is too large or missing, the others may still be available.
      if (!(error instanceof TriageError) || error.code === 'upstream-auth') throw error;
    }
  }
  return logs;
}

/** Decodes a log and subtracts its size from the room. */
export function decodeLog(fetching: { room: number }, name: string, bytes: Uint8Array): SourceText {
  const source = decodeSource(name, bytes, 'log', { maxBytes: Math.max(1, fetching.room) });
  fetching.room -= Buffer.byteLength(source.text);
  return source;
}

/** Returns the name of a job's log, which is the same whether the job failed or passed. */
export function getLogName(job: Pick<CiJob, 'name'>): string {
  return `${job.name}.log`;
}

/** Checks whether the resource does not exist: it expired, was deleted, or is not written yet. */
export function isMissing(error: unknown): boolean {
  return error instanceof TriageError && error.code === 'not-found';
}

async function fetchJobLog<Job extends CiJob>(fetching: LogFetching<Job>, job: Job): Promise<SourceText> {
  return withPage(decodeLog(fetching, getLogName(job), await fetching.fetchLog(job, fetching.room)), job);
}

/** Adds the page of the job to its log, if that is a web address. */
export function withPage(log: SourceText, { url }: Pick<CiJob, 'url'>): SourceText {
  return url != null && url.length <= 2_000 && /^https?:\/\//.test(url) ? { ...log, url } : log;
}

/**
 * Checks whether the job ended so recently that its log may not be available yet, which takes some seconds.
 */
function hasJustEnded({ endedAt }: CiJob): boolean {
  return endedAt !== null && Date.now() - Date.parse(endedAt) < LOG_DELAY_MS;
}

/** Creates the error for a log that a later attempt may find. */
function createNotYetError(job: CiJob, cause: unknown): TriageError {
  const says = `The log of job "${job.name}" is not available yet; the job has just ended.`;
  return new TriageError('not-found', says, { retryable: true, cause });
}

/** Creates the error for a build of another system, or of none. */
export function createUnknownBuildError({ number, repository }: Build, label: string): TriageError {
  return new TriageError(
    'not-found',
    `Build ${number} of ${repository} is not known to ${label}, so there is no log to fetch.`,
  );
}
