import type { Build, SourceText } from '../../domain/build.ts';
import { isRetryable, messageOf, TriageError } from '../../domain/errors.ts';
import { artifactRoom } from '../../log/survey/open-artifact.ts';
import type { BuildSource, FetchedBuild } from '../../ports/build-source.ts';
import { withDeadline } from './bounded-read.ts';
import { fetchArtifacts } from './github-artifacts.ts';
import { createGithubAccess, type GithubAccessOptions, type GithubRun } from './github-client.ts';
import { fetchGreenLogs } from './github-green.ts';
import { endedJustNow, type Fetching, fetchJobLog, fetchRunArchive, isMissing, type Job, listJobs, notYet } from './github-logs.ts';

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
