import { z } from 'zod';
import type { Build, SourceText } from '../../domain/build.ts';
import { createArtifactRoom } from '../../log/inventory/open-artifact.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { fetchArtifacts } from '../artifacts.ts';
import {
  type CiJob,
  createRunSource,
  createUnknownBuildError,
  isMissing,
  type RunLimits,
} from '../job-logs.ts';
import { buildPath, type RestClient } from '../rest-client.ts';
import { createGiteaClient, type GiteaOptions, PAGE, splitOwnerAndName } from './client.ts';

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
        html_url: z.string().nullish(),
      }),
    )
    .nullable(),
});
const Artifacts = z.object({
  artifacts: z
    .array(
      z.object({ id: z.int(), name: z.string(), size_in_bytes: z.number(), expired: z.boolean().nullish() }),
    )
    .nullable(),
});

interface Asking {
  readonly client: RestClient;
  readonly owner: string;
  readonly repo: string;
  readonly runId: number;
  readonly signal: AbortSignal;
  readonly notes: string[];
}

/**
 * Reads the logs of a run's failed jobs and the content of its artifacts from Gitea Actions, or from a
 * Forgejo that provides them.
 */
export function createGiteaBuildSource(options: GiteaOptions & RunLimits): BuildSource {
  return createRunSource('gitea', options, (build, signal, notes) => {
    const asking = {
      client: createGiteaClient(options, options.timeoutMs),
      ...parseRun(build),
      signal,
      notes,
    };
    const { client, owner, repo } = asking;
    return {
      listJobs: () => listJobs(asking, build.attempt),
      fetchLog: ({ id, name }, maxBytes) =>
        client.bytes({
          path: buildPath`/repos/${owner}/${repo}/actions/jobs/${id}/logs`,
          what: `the log of job "${name}"`,
          signal,
          maxBytes,
        }),
      more: (_jobs, logs) => runArtifacts(asking, logs),
    };
  });
}

/** Lists the jobs of an attempt. Gitea before 1.27 only lists the jobs of the whole run. */
async function listJobs(
  { client, owner, repo, runId, signal, notes }: Asking,
  attempt: number,
): Promise<CiJob[]> {
  try {
    return await listRunJobs(
      client,
      buildPath`/repos/${owner}/${repo}/actions/runs/${runId}/attempts/${attempt}/jobs`,
      signal,
    );
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const all = await listRunJobs(
    client,
    buildPath`/repos/${owner}/${repo}/actions/runs/${runId}/jobs`,
    signal,
  );
  const jobsOfAttempt = all.filter(({ attempt: of }) => of === null || of === attempt);
  if (jobsOfAttempt.length > 0 || all.length === 0) return jobsOfAttempt;
  notes.push(`The jobs of attempt ${attempt} are no longer listed; those of a later attempt were read.`);
  return all;
}

async function listRunJobs(
  client: RestClient,
  path: string,
  signal: AbortSignal,
): Promise<(CiJob & { readonly attempt: number | null })[]> {
  const what = 'the jobs of the run';
  const Page = Jobs.transform(({ jobs }) => jobs ?? []);
  const listed = await client.list(
    Page,
    { path, what, signal },
    { sizeName: 'limit', size: PAGE, maxPages: MAX_LISTED_JOBS / PAGE },
  );
  return listed.map(({ id, name, status, conclusion, run_attempt, completed_at, html_url }) => ({
    id,
    name,
    url: html_url ?? null,
    isOver: status === 'completed',
    outcome: conclusion === 'failure' ? 'failed' : conclusion === 'success' ? 'passed' : 'other',
    endedAt: completed_at ?? null,
    attempt: run_attempt ?? null,
  }));
}

function runArtifacts(
  { client, owner, repo, runId, signal, notes }: Asking,
  logs: number,
): Promise<SourceText[]> {
  const list = async () => {
    const path = buildPath`/repos/${owner}/${repo}/actions/runs/${runId}/artifacts`;
    try {
      const { artifacts } = await client.get(Artifacts, {
        path,
        what: "the run's artifacts",
        signal,
        query: { limit: PAGE },
      });
      const kept = (artifacts ?? []).filter(({ expired }) => expired !== true);
      return kept.map(({ id, name, size_in_bytes: bytes }) => ({ id, name, bytes }));
    } catch (error) {
      // A server without this list has no artifacts to read.
      if (isMissing(error)) return [];
      throw error;
    }
  };
  const download = ({ id }: { id: number }, what: string, maxBytes: number) =>
    client.bytes({
      path: buildPath`/repos/${owner}/${repo}/actions/artifacts/${id}/zip`,
      what,
      signal,
      maxBytes,
    });
  return fetchArtifacts({ list, download, signal, notes, room: createArtifactRoom() }, logs);
}

function parseRun(build: Build): Pick<Asking, 'owner' | 'repo' | 'runId'> {
  const id = build.externalId ?? '';
  if (!/^\d{1,15}$/.test(id)) throw createUnknownBuildError(build, 'Gitea or Forgejo');
  return { ...splitOwnerAndName(build.repository), runId: Number(id) };
}
