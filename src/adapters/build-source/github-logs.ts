import type { SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/lists.ts';
import { createAllowance } from '../../log/decode/archive-limits.ts';
import { listZip } from '../../log/decode/archive-zip.ts';
import { decodeSource } from '../../log/decode/decode.ts';
import { type GithubClient, type GithubRun, githubError } from './github-client.ts';
import { download } from './github-download.ts';

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
    throw githubError('the jobs of the run', error);
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
