import type { Build, SourceText } from '../../domain/build.ts';
import { isRetryable, messageOf, TriageError } from '../../domain/errors.ts';
import { decodeSource } from '../../log/decode.ts';
import type { BuildSource, FetchedBuild } from '../../ports/build-source.ts';
import { withDeadline } from './bounded-read.ts';
import { createGithubClient, type GithubClient, type GithubClientOptions, type GithubRun, githubError } from './github-client.ts';
import { download } from './github-download.ts';
import { fetchReports } from './github-reports.ts';
import { readZip } from './read-zip.ts';

export interface GithubBuildSourceOptions extends GithubClientOptions {
  /** Of one whole fetch. */
  readonly timeoutMs: number;
  /** Of all logs of a build together, decompressed. */
  readonly maxLogBytes: number;
}

interface Job {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly completed_at: string | null;
}

/** What one fetch needs; `room` is how many bytes of log may still come. */
interface Fetching {
  readonly client: GithubClient;
  readonly run: GithubRun;
  readonly signal: AbortSignal;
  readonly notes: string[];
  room: number;
}

/** More failed jobs than this say nothing new: they are the cells of one matrix. */
const MAX_JOBS = 30;
/** A log that is missing for longer than this after its job ended will not come. */
const LOG_DELAY_MS = 120_000;
const MAX_LISTED_JOBS = 1000;
const ZIP_ENTRIES = 2000;

/** Reads the logs of a run's failed jobs and its JUnit artifacts from GitHub Actions. */
export function createGithubBuildSource(options: GithubBuildSourceOptions): BuildSource {
  const client = createGithubClient(options);
  return {
    provider: 'github',
    fetch: (build, signal) =>
      withDeadline(`Fetching the logs of run ${build.externalId ?? build.number}`, options.timeoutMs, signal, (within) => {
        const fetching: Fetching = { client, run: runOf(build), signal: within, notes: [], room: options.maxLogBytes };
        return fetchRun(fetching);
      }),
  };
}

async function fetchRun(fetching: Fetching): Promise<FetchedBuild> {
  const jobs = await listJobs(fetching);
  const running = jobs.filter((job) => job.status !== 'completed').length;
  if (running > 0) fetching.notes.push(`${running} of the run's ${jobs.length} jobs had not ended when its logs were read.`);
  const failed = jobs.filter(
    (job) => job.conclusion === 'failure' || job.conclusion === 'timed_out' || job.conclusion === 'startup_failure',
  );
  const logs = await fetchLogs(fetching, failed);
  const reports = await fetchReports(fetching, logs.length);
  return { sources: [...logs, ...reports], testResults: [], notes: fetching.notes };
}

async function listJobs({ client, run, signal }: Fetching): Promise<Job[]> {
  const jobs: Job[] = [];
  try {
    const pages = client.paginate.iterator(client.rest.actions.listJobsForWorkflowRunAttempt, {
      ...run,
      per_page: 100,
      request: { signal },
    });
    for await (const page of pages) {
      jobs.push(...page.data);
      if (jobs.length >= MAX_LISTED_JOBS) break;
    }
  } catch (error) {
    throw githubError('the jobs of the run', error);
  }
  return jobs;
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

function isMissing(error: unknown): boolean {
  return error instanceof TriageError && error.code === 'not-found';
}

/** GitHub shows a job as ended some seconds before its log can be had. */
function endedJustNow({ completed_at: endedAt }: Job): boolean {
  return endedAt !== null && Date.now() - Date.parse(endedAt) < LOG_DELAY_MS;
}

function notYet(job: Job, cause: unknown): TriageError {
  return new TriageError('not-found', `The log of job "${job.name}" is not there yet; the job has only just ended.`, {
    retryable: true,
    cause,
  });
}

async function fetchJobLog(fetching: Fetching, job: Job): Promise<SourceText> {
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
  return decode(fetching, `${job.name}.log`, bytes);
}

async function fetchRunArchive(fetching: Fetching, failed: readonly Job[]): Promise<SourceText[]> {
  const what = "the archive of the run's logs";
  const archive = await download(
    fetching.client,
    {
      what,
      route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/logs',
      parameters: { ...fetching.run },
      maxBytes: fetching.room,
    },
    fetching.signal,
  );
  // At the top lies one file for each job, `0_build.txt`; below it the same again, step by step.
  const files = await readZip(what, archive, (name) => /^[^/]+\.txt$/.test(name), { maxBytes: fetching.room, maxEntries: ZIP_ENTRIES });
  const names = new Set(failed.map((job) => inArchive(job.name)));
  const ofFailed = files.filter((file) => names.has(inArchive(file.name.replace(/^-?\d+_/, '').replace(/\.txt$/, ''))));
  const chosen = ofFailed.length > 0 ? ofFailed : files;
  if (chosen.length === 0) throw new TriageError('not-found', `${what} holds no log.`);
  return chosen.map((file) => decode(fetching, file.name.replace(/\.txt$/, '.log'), file.bytes));
}

/** GitHub drops from file names what a file system may refuse. */
function inArchive(name: string): string {
  return name.replace(/[/\\:*?"<>|]/g, '').trim();
}

function decode(fetching: Fetching, name: string, bytes: Buffer): SourceText {
  const source = decodeSource(name, bytes, 'log', { maxBytes: Math.max(1, fetching.room) });
  fetching.room -= Buffer.byteLength(source.text);
  return source;
}

function runOf(build: Build): GithubRun {
  const [owner, repo, ...rest] = build.repository.split('/');
  const id = build.externalId ?? '';
  if (owner === undefined || repo === undefined || rest.length > 0 || !/^\d{1,15}$/.test(id)) {
    throw new TriageError(
      'not-found',
      `Build ${build.number} of ${build.repository} names no run of GitHub Actions, so there is no log to fetch.`,
    );
  }
  return { owner, repo, run_id: Number(id), attempt_number: build.attempt };
}
