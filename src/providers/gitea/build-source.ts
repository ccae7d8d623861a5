import { z } from 'zod';
import type { Build, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { artifactRoom } from '../../log/survey/open-artifact.ts';
import type { BuildSource, FetchedBuild } from '../../ports/build-source.ts';
import { fetchArtifacts } from '../artifacts.ts';
import { type CiJob, fetchFailedLogs, fetchPassedLogs, isMissing, type LogFetching } from '../job-logs.ts';
import { withDeadline } from '../rest.ts';
import { at, type RestClient } from '../rest-client.ts';
import { createGiteaClient, type GiteaOptions, ownerAndName, PAGE } from './client.ts';

export interface GiteaBuildSourceOptions extends GiteaOptions {
  /** Of one whole fetch. */
  readonly timeoutMs: number;
  /** Of all logs of a build together, decompressed. */
  readonly maxLogBytes: number;
}

const MAX_LISTED_JOBS = 1_000;

const Jobs = z.object({
  jobs: z
    .array(
      z.object({
        id: z.int(),
        name: z.string(),
        status: z.string(),
        conclusion: z.string().nullish(),
        run_attempt: z.int().nullish(),
        completed_at: z.string().nullish(),
      }),
    )
    .nullable(),
});
const Artifacts = z.object({
  artifacts: z.array(z.object({ id: z.int(), name: z.string(), size_in_bytes: z.number(), expired: z.boolean().nullish() })).nullable(),
});

interface Run {
  readonly owner: string;
  readonly repo: string;
  readonly id: number;
  readonly attempt: number;
}

interface Fetching extends LogFetching {
  readonly client: RestClient;
  readonly run: Run;
}

/** Reads the logs of a run's failed jobs, and what its artifacts say, from Gitea Actions or a Forgejo that offers them. */
export function createGiteaBuildSource(options: GiteaBuildSourceOptions): BuildSource {
  const start = (build: Build, signal: AbortSignal, room: number): Fetching => {
    const client = createGiteaClient(options, options.timeoutMs);
    const run = runOf(build);
    const { owner, repo } = run;
    const fetchLog = ({ id, name }: CiJob, maxBytes: number) =>
      client.bytes({ path: at`/repos/${owner}/${repo}/actions/jobs/${id}/logs`, what: `the log of job "${name}"`, signal, maxBytes });
    return { client, run, fetchLog, signal, notes: [], room };
  };
  return {
    provider: 'gitea',
    fetch: (build, signal) =>
      withDeadline(`Fetching the logs of run ${build.externalId ?? build.number}`, options.timeoutMs, signal, (within) =>
        fetchRun(start(build, within, options.maxLogBytes)),
      ),
    fetchGreen: (build, signal, maxBytes) =>
      withDeadline(`Fetching the logs of the passed run ${build.externalId ?? build.number}`, options.timeoutMs, signal, async (within) => {
        const fetching = start(build, within, Math.min(maxBytes, options.maxLogBytes));
        return fetchPassedLogs(fetching, await listJobs(fetching));
      }),
  };
}

async function fetchRun(fetching: Fetching): Promise<FetchedBuild> {
  const jobs = await listJobs(fetching);
  const logs = await fetchFailedLogs(fetching, jobs);
  const artifacts = await runArtifacts(fetching, logs.length);
  if (logs.length === 0 && artifacts.every(({ text }) => text === ''))
    throw new TriageError('not-found', `No log of run ${fetching.run.id} can be read. ${fetching.notes.join(' ')}`.trim());
  return { sources: [...logs, ...artifacts], testResults: [], notes: fetching.notes };
}

/** Before 1.27 there is no list of an attempt's jobs, only of the run's. */
async function listJobs({ client, run, signal, notes }: Fetching): Promise<CiJob[]> {
  const { owner, repo, id, attempt } = run;
  try {
    return await pagesOf(client, at`/repos/${owner}/${repo}/actions/runs/${id}/attempts/${attempt}/jobs`, signal);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const all = await pagesOf(client, at`/repos/${owner}/${repo}/actions/runs/${id}/jobs`, signal);
  const own = all.filter(({ attempt: of }) => of === null || of === attempt);
  if (own.length > 0 || all.length === 0) return own;
  notes.push(`The jobs of attempt ${attempt} are not listed any more; those of a later attempt were read.`);
  return all;
}

async function pagesOf(client: RestClient, path: string, signal: AbortSignal): Promise<(CiJob & { readonly attempt: number | null })[]> {
  const what = 'the jobs of the run';
  const Page = Jobs.transform(({ jobs }) => jobs ?? []);
  const listed = await client.list(Page, { path, what, signal }, { sizeName: 'limit', size: PAGE, maxPages: MAX_LISTED_JOBS / PAGE });
  return listed.map(({ id, name, status, conclusion, run_attempt, completed_at }) => ({
    id,
    name,
    isOver: status === 'completed',
    outcome: conclusion === 'failure' ? 'failed' : conclusion === 'success' ? 'passed' : 'other',
    endedAt: completed_at ?? null,
    attempt: run_attempt ?? null,
  }));
}

function runArtifacts({ client, run, signal, notes }: Fetching, logs: number): Promise<SourceText[]> {
  const { owner, repo, id: runId } = run;
  const list = async () => {
    const path = at`/repos/${owner}/${repo}/actions/runs/${runId}/artifacts`;
    try {
      const { artifacts } = await client.get(Artifacts, { path, what: "the run's artifacts", signal, query: { limit: PAGE } });
      const kept = (artifacts ?? []).filter(({ expired }) => expired !== true);
      return kept.map(({ id, name, size_in_bytes: bytes }) => ({ id, name, bytes }));
    } catch (error) {
      // A server that does not know the list has none to read.
      if (isMissing(error)) return [];
      throw error;
    }
  };
  const download = ({ id }: { id: number }, what: string, maxBytes: number) =>
    client.bytes({ path: at`/repos/${owner}/${repo}/actions/artifacts/${id}/zip`, what, signal, maxBytes });
  return fetchArtifacts({ list, download, signal, notes, room: artifactRoom() }, logs);
}

function runOf(build: Build): Run {
  const id = build.externalId ?? '';
  if (!/^\d{1,15}$/.test(id))
    throw new TriageError(
      'not-found',
      `Build ${build.number} of ${build.repository} has no run of Gitea or Forgejo, so there is no log to fetch.`,
    );
  return { ...ownerAndName(build.repository), id: Number(id), attempt: build.attempt };
}
