import type { Build, SourceText } from '../../domain/build.ts';
import { isRetryable, TriageError } from '../../domain/errors.ts';
import { createAllowance, listZip } from '../../log/decode/archive-members.ts';
import { createArtifactRoom } from '../../log/inventory/open-artifact.ts';
import type { BuildSource, FetchedBuild } from '../../ports/build-source.ts';
import { fetchArtifacts } from '../artifacts.ts';
import {
  type CiJob,
  createUnknownBuildError,
  decodeLog,
  fetchFailedLogs,
  fetchPassedLogs,
  getLogName,
  isMissing,
  type LogFetching,
  withPage,
} from '../job-logs.ts';
import type { NamedRun } from '../named-runs.ts';
import type { PastRuns } from '../provider.ts';
import { withDeadline } from '../rest-client.ts';
import type { WebhookContent } from '../webhook.ts';
import { createGithubAccess, type GithubAccessOptions } from './access.ts';
import { createGithubError, download, type GithubClient, type GithubRun } from './client.ts';
import { readGithubEvent } from './webhook.ts';

export interface GithubBuildSourceOptions extends GithubAccessOptions {
  /** The time limit of one whole fetch in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum size of all logs of a build together, decompressed. */
  readonly maxLogBytes: number;
}

/**
 * Creates the source of the logs of a run's failed jobs, and of the contents of its artifacts, from GitHub
 * Actions: as an App if it is installed, else with a token.
 */
export function createGithubBuildSource(options: GithubBuildSourceOptions): BuildSource {
  const access = createGithubAccess(options);
  const start = async (build: Build, signal: AbortSignal, room: number): Promise<Fetching> => {
    const run = parseRun(build);
    const { client } = await access.forRepository(run, signal);
    const { owner, repo } = run;
    const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs';
    const fetchLog = ({ id, name }: CiJob, maxBytes: number) =>
      download(
        client,
        { what: `the log of job "${name}"`, route, parameters: { owner, repo, job_id: id }, maxBytes },
        signal,
      );
    return { github: { client, run }, fetchLog, signal, notes: [], room };
  };
  return {
    provider: 'github',
    fetch: (build, signal) =>
      withDeadline(
        `Fetching the logs of run ${build.externalId ?? build.number}`,
        options.timeoutMs,
        signal,
        async (within) => fetchRun(await start(build, within, options.maxLogBytes)),
      ),
    fetchGreen: (build, signal, maxBytes) =>
      withDeadline(
        `Fetching the logs of the passed run ${build.externalId ?? build.number}`,
        options.timeoutMs,
        signal,
        async (within) => fetchGreenLogs(await start(build, within, Math.min(maxBytes, options.maxLogBytes))),
      ),
  };
}

interface Fetching extends LogFetching {
  readonly github: { readonly client: GithubClient; readonly run: GithubRun };
}

/** Fetches the logs of the failed jobs, or the archive of the whole run if none of them is available. */
async function fetchRun(fetching: Fetching): Promise<FetchedBuild> {
  const jobs = await listJobs(fetching);
  const failedLogs = await fetchFailedLogs(fetching, jobs);
  const failed = jobs.filter(({ outcome }) => outcome === 'failed');
  const logs = failedLogs.length > 0 ? failedLogs : await fetchRunArchive(fetching, failed);
  return {
    sources: [...logs, ...(await runArtifacts(fetching, logs.length))],
    testResults: [],
    notes: fetching.notes,
  };
}

function runArtifacts(
  { github: { client, run }, signal, notes }: Fetching,
  logs: number,
): Promise<SourceText[]> {
  const { owner, repo, run_id } = run;
  const list = async () => {
    const asked = client.rest.actions.listWorkflowRunArtifacts({
      owner,
      repo,
      run_id,
      per_page: 100,
      request: { signal },
    });
    const { data } = await asked.catch((error: unknown) => {
      throw createGithubError("the run's artifacts", error, 'read Actions');
    });
    return data.artifacts
      .filter(({ expired }) => !expired)
      .map(({ id, name, size_in_bytes: bytes }) => ({ id, name, bytes }));
  };
  const route = 'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip';
  const fetchOne = ({ id }: { id: number }, what: string, maxBytes: number) =>
    download(client, { what, route, parameters: { owner, repo, artifact_id: id }, maxBytes }, signal);
  return fetchArtifacts({ list, download: fetchOne, signal, notes, room: createArtifactRoom() }, logs);
}

/** The maximum number of passed jobs that are read. More are the cells of one matrix. */
const MAX_GREEN_JOBS = 60;

/**
 * Fetches the logs of a run's passed jobs, each named like the log of a failed job with the same name. The
 * archive of the run's logs contains all
 * of them in one response. If it is too large, as many single logs as fit are fetched.
 */
async function fetchGreenLogs(fetching: Fetching): Promise<SourceText[]> {
  const jobs = (await listJobs(fetching))
    .filter(({ outcome }) => outcome === 'passed')
    .slice(0, MAX_GREEN_JOBS);
  if (jobs.length === 0) return [];
  try {
    // A copy is used, so that the space it takes is available again if it fails.
    return await readLogsInArchive({ ...fetching }, jobs);
  } catch (error) {
    if (isRetryable(error) || fetching.signal.aborted) throw error;
    const isBare = isMissing(error) || (error instanceof TriageError && error.code === 'too-large');
    if (!isBare) throw error;
    return await fetchPassedLogs(fetching, jobs);
  }
}

function parseRun(build: Build): GithubRun {
  const [owner, repo, ...rest] = build.repository.split('/');
  const id = build.externalId ?? '';
  if (owner === undefined || repo === undefined || rest.length > 0 || !/^\d{1,15}$/.test(id)) {
    throw createUnknownBuildError(build, 'GitHub');
  }
  return { owner, repo, run_id: Number(id), attempt_number: build.attempt };
}

const MAX_LISTED_JOBS = 1000;
const ZIP_ENTRIES = 2000;
const FAILED: readonly (string | null)[] = ['failure', 'timed_out', 'startup_failure'];

/** The permissions of an App's token for a re-run. */
const TO_RERUN = { actions: 'write', metadata: 'read' } as const;

/** Reruns the failed jobs of a run, and the jobs that depend on them. */
export async function rerunOnGithub(
  options: GithubAccessOptions,
  build: Build,
  signal: AbortSignal,
): Promise<void> {
  const run = parseRun(build);
  const { client } = await createGithubAccess({ ...options, rights: TO_RERUN }).forRepository(run, signal);
  const { owner, repo, run_id } = run;
  await client.rest.actions
    .reRunWorkflowFailedJobs({ owner, repo, run_id, request: { signal, retries: 0 } })
    .catch((error: unknown) => {
      throw createGithubError('the re-run of its failed jobs', error, 'write Actions');
    });
}

/** Lists the jobs of the run, at most a thousand. */
async function listJobs({ github: { client, run }, signal }: Fetching): Promise<CiJob[]> {
  const jobs: CiJob[] = [];
  try {
    const pages = client.paginate.iterator(client.rest.actions.listJobsForWorkflowRunAttempt, {
      ...run,
      per_page: 100,
      request: { signal },
    });
    for await (const page of pages) {
      for (const {
        id,
        name,
        status,
        conclusion,
        completed_at: endedAt,
        html_url: html,
        steps = [],
      } of page.data) {
        const outcome = FAILED.includes(conclusion)
          ? 'failed'
          : conclusion === 'success'
            ? 'passed'
            : 'other';
        const failed = steps.find((step) => FAILED.includes(step.conclusion));
        // The URL cannot refer to a line of the job's log, because its line numbers restart in each step.
        const url = html == null || failed === undefined ? html : `${html}#step:${failed.number}:1`;
        jobs.push({ id, name, isOver: status === 'completed', outcome, endedAt, url });
      }
      if (jobs.length >= MAX_LISTED_JOBS) break;
    }
  } catch (error) {
    throw createGithubError('the jobs of the run', error, 'read Actions');
  }
  return jobs;
}

/**
 * Returns the logs of failed jobs from the archive of the whole run, or all of its logs if it contains none
 * of them.
 */
async function fetchRunArchive(fetching: Fetching, failed: readonly CiJob[]): Promise<SourceText[]> {
  const files = await readArchivedLogs(fetching);
  const names = new Set(failed.map((job) => toArchiveName(job.name)));
  const ofFailed = files.filter((file) => names.has(file.job));
  const chosen = ofFailed.length > 0 ? ofFailed : files;
  if (chosen.length === 0) throw new TriageError('not-found', `${ARCHIVE} contains no log.`);
  const pages = new Map(failed.map(({ name, url }) => [toArchiveName(name), url]));
  return chosen.map((file) =>
    withPage(decodeLog(fetching, file.name.replace(/\.txt$/, '.log'), file.bytes), {
      url: pages.get(file.job) ?? null,
    }),
  );
}

/**
 * Returns the logs of these jobs from the archive of the whole run, with the names of the single logs. Jobs
 * that share a name are left out.
 */
async function readLogsInArchive(fetching: Fetching, jobs: readonly CiJob[]): Promise<SourceText[]> {
  const files = Map.groupBy(await readArchivedLogs(fetching), ({ job }) => job);
  return jobs.flatMap((job) => {
    const [file, second] = files.get(toArchiveName(job.name)) ?? [];
    return file === undefined || second !== undefined
      ? []
      : [decodeLog(fetching, getLogName(job), file.bytes)];
  });
}

const ARCHIVE = "the archive of the run's logs";

interface ArchivedLog {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The name of the job, as far as the archive contains it. */
  readonly job: string;
}

async function readArchivedLogs(fetching: Fetching): Promise<ArchivedLog[]> {
  const archive = await download(
    fetching.github.client,
    {
      what: ARCHIVE,
      route: 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/logs',
      parameters: { ...fetching.github.run },
      maxBytes: fetching.room,
    },
    fetching.signal,
  );
  // The top level contains one file for each job, `0_build.txt`; the folders contain the same logs again,
  // step by step.
  const members = await listZip(ARCHIVE, archive, createAllowance(fetching.room, ZIP_ENTRIES));
  const logs: ArchivedLog[] = [];
  for (const { path, read } of members.filter(({ path }) => /^[^/]+\.txt$/.test(path))) {
    logs.push({
      name: path,
      bytes: await read(),
      job: toArchiveName(path.replace(/^-?\d+_/, '').replace(/\.txt$/, '')),
    });
  }
  return logs;
}

/**
 * Returns the name of a job in the archive, from which GitHub omits characters that file systems may reject.
 */
function toArchiveName(name: string): string {
  return name.replace(/[/\\:*?"<>|]/g, '').trim();
}

const PAGE = 100;

/**
 * Creates the reader of past runs of Actions: as an App if it is installed, else with the token. GitHub lists
 * at most a thousand.
 */
export function createGithubPastRuns(options: GithubAccessOptions): PastRuns {
  const access = createGithubAccess(options);
  return {
    async *list(repository, since, signal) {
      const [owner, repo, ...rest] = repository.split('/');
      if (owner === undefined || repo === undefined || rest.length > 0)
        throw new TriageError(
          'not-found',
          `${repository.slice(0, 200)} is not a GitHub repository; use the form owner/name.`,
        );
      const { client } = await access.forRepository({ owner, repo }, signal);
      const asked = { owner, repo, request: { signal } };
      const refused = (what: string) => (error: unknown) => {
        throw createGithubError(what, error, 'read Actions');
      };
      const { data } = await client.rest.repos.get(asked).catch(refused(`the repository ${repository}`));
      const place = { full_name: data.full_name, default_branch: data.default_branch };
      for (let page = 1; ; page += 1) {
        const query = {
          status: 'completed',
          created: `>=${since.toISOString()}`,
          per_page: PAGE,
          page,
        } as const;
        const listed = await client.rest.actions
          .listWorkflowRunsForRepo({ ...asked, ...query })
          .catch(refused('the runs of the repository'));
        const { workflow_runs: runs } = listed.data;
        for (const run of runs) {
          const load = async () => toRunContent(run, place);
          yield { externalId: String(run.id), attempt: run.run_attempt ?? 1, load };
        }
        if (runs.length < PAGE) return;
      }
    },
  };
}

type WorkflowRun = Awaited<ReturnType<GithubClient['rest']['actions']['getWorkflowRun']>>['data'];

interface Place {
  readonly full_name: string;
  readonly default_branch: string;
}

/** Returns the content that the event of a run would have. */
function toRunContent(run: WorkflowRun, place: Place): WebhookContent {
  return readGithubEvent('workflow_run', {
    action: run.status ?? 'unknown',
    repository: place,
    workflow_run: { ...run, pull_requests: run.pull_requests ?? [] },
  });
}

/**
 * Reads one run of Actions, as an App if it is installed, else with the token. Throws `timeout` if GitHub
 * takes longer than `timeoutMs`.
 */
export async function loadGithubRun(
  options: GithubAccessOptions,
  { repository, id, attempt }: NamedRun,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WebhookContent> {
  const [owner = '', repo = ''] = repository.split('/');
  const refused = (what: string) => (error: unknown) => {
    throw createGithubError(what, error, 'read Actions');
  };
  return await withDeadline(`Asking GitHub for run ${id}`, timeoutMs, signal, async (within) => {
    const { client } = await createGithubAccess(options).forRepository({ owner, repo }, within);
    const { actions, repos } = client.rest;
    const asked = { owner, repo, request: { signal: within } };
    const { data: place } = await repos.get(asked).catch(refused(`the repository ${repository}`));
    const run = { ...asked, run_id: Number(id) };
    const { data } = await (attempt === null
      ? actions.getWorkflowRun(run)
      : actions.getWorkflowRunAttempt({ ...run, attempt_number: attempt })
    ).catch(refused(`run ${id} of ${repository}`));
    return toRunContent(data, place);
  });
}
