import type { Build, SourceText } from '../../domain/build.ts';
import { isRetryable, messageOf, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/lists.ts';
import { createAllowance, listZip } from '../../log/decode/archive-members.ts';
import { decodeSource } from '../../log/decode/decode.ts';
import { artifactRoom } from '../../log/survey/open-artifact.ts';
import type { BuildSource, FetchedBuild } from '../../ports/build-source.ts';
import { withDeadline } from '../rest.ts';
import { createGithubAccess, type GithubAccessOptions } from './access.ts';
import { type GithubClient, githubError } from './client.ts';
import { download, fetchArtifacts, type GithubRun } from './download.ts';

export interface GithubBuildSourceOptions extends GithubAccessOptions {
  /** Of one whole fetch. */
  readonly timeoutMs: number;
  /** Of all logs of a build together, decompressed. */
  readonly maxLogBytes: number;
}

/** More failed jobs than this say nothing new: they are the cells of one matrix. */
const MAX_JOBS = 30;

/** Reads the logs of a run's failed jobs, and what its artifacts say, from GitHub Actions: as an App where it is installed, else with a token. */
export function createGithubBuildSource(options: GithubBuildSourceOptions): BuildSource {
  const access = createGithubAccess(options);
  const start = async (build: Build, signal: AbortSignal, room: number): Promise<Fetching> => {
    const run = runOf(build);
    const { client } = await access.forRepository(run, signal);
    return { client, run, signal, notes: [], room };
  };
  return {
    provider: 'github',
    fetch: (build, signal) =>
      withDeadline(`Fetching the logs of run ${build.externalId ?? build.number}`, options.timeoutMs, signal, async (within) =>
        fetchRun(await start(build, within, options.maxLogBytes)),
      ),
    fetchGreen: (build, signal, maxBytes) =>
      withDeadline(`Fetching the logs of the passed run ${build.externalId ?? build.number}`, options.timeoutMs, signal, async (within) =>
        fetchGreenLogs(await start(build, within, Math.min(maxBytes, options.maxLogBytes))),
      ),
  };
}

async function fetchRun(fetching: Fetching): Promise<FetchedBuild> {
  const jobs = await listJobs(fetching);
  const running = jobs.filter((job) => job.status !== 'completed').length;
  if (running > 0) fetching.notes.push(`${running} of the run's ${jobs.length} jobs had not finished when its logs were read.`);
  const failed = jobs.filter(
    (job) => job.conclusion === 'failure' || job.conclusion === 'timed_out' || job.conclusion === 'startup_failure',
  );
  const logs = await fetchLogs(fetching, failed);
  const { client, run, signal, notes } = fetching;
  const artifacts = await fetchArtifacts({ client, run, signal, notes, room: artifactRoom() }, logs.length);
  return { sources: [...logs, ...artifacts], testResults: [], notes: fetching.notes };
}

/** The failed jobs' own logs; where none can be had, the archive of the whole run. */
async function fetchLogs(fetching: Fetching, failed: readonly Job[]): Promise<SourceText[]> {
  const logs: SourceText[] = [];
  let firstError: unknown = null;
  for (const job of failed.slice(0, MAX_JOBS)) {
    try {
      logs.push(await fetchJobLog(fetching, job));
    } catch (error) {
      // What a later try may heal must not end as a half-read build.
      if (isRetryable(error) || fetching.signal.aborted) throw error;
      if (isMissing(error) && endedJustNow(job)) throw notYet(job, error);
      firstError ??= error;
      fetching.notes.push(`The log of job "${job.name}" could not be read: ${messageOf(error)}`);
    }
  }
  if (failed.length > MAX_JOBS) fetching.notes.push(`${failed.length} jobs failed; the logs of the first ${MAX_JOBS} were read.`);
  if (logs.length > 0) return logs;
  if (firstError instanceof TriageError && firstError.code !== 'not-found') throw firstError;
  return fetchRunArchive(fetching, failed);
}

function runOf(build: Build): GithubRun {
  const [owner, repo, ...rest] = build.repository.split('/');
  const id = build.externalId ?? '';
  if (owner === undefined || repo === undefined || rest.length > 0 || !/^\d{1,15}$/.test(id)) {
    throw new TriageError(
      'not-found',
      `Build ${build.number} of ${build.repository} has no GitHub Actions run, so there is no log to fetch.`,
    );
  }
  return { owner, repo, run_id: Number(id), attempt_number: build.attempt };
}

export interface Job {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly completed_at: string | null;
}

/** What one fetch needs; `room` is how many bytes of log may still come. */
export interface Fetching {
  readonly client: GithubClient;
  readonly run: GithubRun;
  readonly signal: AbortSignal;
  readonly notes: string[];
  room: number;
}

/** A log that is missing for longer than this after its job ended will not come. */
const LOG_DELAY_MS = 120_000;
const MAX_LISTED_JOBS = 1000;
const ZIP_ENTRIES = 2000;

/** The jobs of the run, at most a thousand. */
export async function listJobs({ client, run, signal }: Fetching): Promise<Job[]> {
  const jobs: Job[] = [];
  try {
    const pages = client.paginate.iterator(client.rest.actions.listJobsForWorkflowRunAttempt, {
      ...run,
      per_page: 100,
      request: { signal },
    });
    for await (const page of pages) {
      append(jobs, page.data);
      if (jobs.length >= MAX_LISTED_JOBS) break;
    }
  } catch (error) {
    throw githubError('the jobs of the run', error, 'Actions');
  }
  return jobs;
}

/** Whether it is not there: expired, deleted, or not written yet. */
export function isMissing(error: unknown): boolean {
  return error instanceof TriageError && error.code === 'not-found';
}

/** GitHub shows a job as ended some seconds before its log can be had. */
export function endedJustNow({ completed_at: endedAt }: Job): boolean {
  return endedAt !== null && Date.now() - Date.parse(endedAt) < LOG_DELAY_MS;
}

/** The error for a log that a later try may find. */
export function notYet(job: Job, cause: unknown): TriageError {
  return new TriageError('not-found', `The log of job "${job.name}" is not available yet; the job has just ended.`, {
    retryable: true,
    cause,
  });
}

/** One job's own log. */
export async function fetchJobLog(fetching: Fetching, job: Job): Promise<SourceText> {
  const { owner, repo } = fetching.run;
  const what = `the log of job "${job.name}"`;
  const bytes = await download(
    fetching.client,
    {
      what,
      route: 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs',
      parameters: { owner, repo, job_id: job.id },
      maxBytes: fetching.room,
    },
    fetching.signal,
  );
  return decode(fetching, logName(job), bytes);
}

/** The logs of failed jobs from the archive of the whole run; all that is in it where none of them is. */
export async function fetchRunArchive(fetching: Fetching, failed: readonly Job[]): Promise<SourceText[]> {
  const files = await archivedLogs(fetching);
  const names = new Set(failed.map((job) => inArchive(job.name)));
  const ofFailed = files.filter((file) => names.has(file.job));
  const chosen = ofFailed.length > 0 ? ofFailed : files;
  if (chosen.length === 0) throw new TriageError('not-found', `${ARCHIVE} contains no log.`);
  return chosen.map((file) => decode(fetching, file.name.replace(/\.txt$/, '.log'), file.bytes));
}

/** The logs of these jobs in the archive of the whole run, named as the jobs' own logs are. Jobs of one name have none. */
export async function logsInArchive(fetching: Fetching, jobs: readonly Job[]): Promise<SourceText[]> {
  const files = Map.groupBy(await archivedLogs(fetching), ({ job }) => job);
  return jobs.flatMap((job) => {
    const [file, second] = files.get(inArchive(job.name)) ?? [];
    return file === undefined || second !== undefined ? [] : [decode(fetching, logName(job), file.bytes)];
  });
}

const ARCHIVE = "the archive of the run's logs";

interface ArchivedLog {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Name of the job as far as the archive has kept it. */
  readonly job: string;
}

async function archivedLogs(fetching: Fetching): Promise<ArchivedLog[]> {
  const archive = await download(
    fetching.client,
    {
      what: ARCHIVE,
      route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/logs',
      parameters: { ...fetching.run },
      maxBytes: fetching.room,
    },
    fetching.signal,
  );
  // At the top lies one file for each job, `0_build.txt`; below it the same again, step by step.
  const members = await listZip(ARCHIVE, archive, createAllowance(fetching.room, ZIP_ENTRIES));
  const logs: ArchivedLog[] = [];
  for (const { path, read } of members.filter(({ path }) => /^[^/]+\.txt$/.test(path))) {
    logs.push({ name: path, bytes: await read(), job: inArchive(path.replace(/^-?\d+_/, '').replace(/\.txt$/, '')) });
  }
  return logs;
}

function logName(job: Job): string {
  return `${job.name}.log`;
}

/** GitHub drops from file names what a file system may refuse. */
function inArchive(name: string): string {
  return name.replace(/[/\\:*?"<>|]/g, '').trim();
}

function decode(fetching: Fetching, name: string, bytes: Uint8Array): SourceText {
  const source = decodeSource(name, bytes, 'log', { maxBytes: Math.max(1, fetching.room) });
  fetching.room -= Buffer.byteLength(source.text);
  return source;
}

/** More passed jobs than this are the cells of one matrix. */
const MAX_GREEN_JOBS = 60;
/** Logs fetched one by one, where the run's archive is too large or cannot be had. */
const MAX_SINGLE = 10;

/**
 * The logs of a run's passed jobs, each named as the log of a failed job of that name is. The archive of the run's logs has all
 * of them in one answer; where it is too large, as many logs as there is room for.
 */
export async function fetchGreenLogs(fetching: Fetching): Promise<SourceText[]> {
  const jobs = (await listJobs(fetching)).filter((job) => job.conclusion === 'success').slice(0, MAX_GREEN_JOBS);
  if (jobs.length === 0) return [];
  try {
    // A copy: what it takes of the room is free again where it fails.
    return await logsInArchive({ ...fetching }, jobs);
  } catch (error) {
    if (isRetryable(error) || fetching.signal.aborted) throw error;
    const isBare = isMissing(error) || (error instanceof TriageError && error.code === 'too-large');
    if (!isBare) throw error;
    return await oneByOne(fetching, jobs);
  }
}

async function oneByOne(fetching: Fetching, jobs: readonly Job[]): Promise<SourceText[]> {
  const logs: SourceText[] = [];
  for (const job of jobs.slice(0, MAX_SINGLE)) {
    try {
      logs.push(await fetchJobLog(fetching, job));
    } catch (error) {
      if (isRetryable(error) || fetching.signal.aborted) throw error;
      if (isMissing(error) && endedJustNow(job)) throw notYet(job, error);
      // One log too large, or gone, says nothing of the others.
      if (!(error instanceof TriageError) || error.code === 'upstream-auth') throw error;
    }
  }
  return logs;
}
