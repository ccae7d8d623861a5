import { z } from 'zod';
import type { Build, SourceText } from '../../domain/build.ts';
import { createArtifactRoom } from '../../log/inventory/open-artifact.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { fetchArtifacts } from '../artifacts.ts';
import { type Connection, createTestDeliveryId } from '../connection.ts';
import { type CiJob, createRunSource, createUnknownBuildError, type RunLimits } from '../job-logs.ts';
import { buildPath, createRestClient, RERUN_MS, type RestClient, type RestRequest } from '../rest-client.ts';
import { computeHmac } from '../webhook.ts';

interface BuildkiteOptions {
  readonly baseUrl: string;
  readonly token: string | null;
}

const MAX_ARTIFACT_PAGES = 5;

const Jobs = z.object({
  jobs: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      name: z.string().nullish(),
      step_key: z.string().nullish(),
      state: z.string().nullish(),
      soft_failed: z.boolean().nullish(),
      finished_at: z.string().nullish(),
      web_url: z.string().nullish(),
      retried_in_job_id: z.string().nullish(),
    }),
  ),
});
const Artifacts = z.array(
  z.object({ id: z.string(), job_id: z.string(), path: z.string(), file_size: z.number().nullish() }),
);

/** Reads the logs of a build's failed jobs, and its artifacts, from Buildkite. */
export function createBuildkiteBuildSource(options: BuildkiteOptions & RunLimits): BuildSource {
  const client = createBuildkiteClient(options, options.timeoutMs);
  return createRunSource('buildkite', options, (build, signal, notes) => {
    const path = toApiPath(build);
    return {
      listJobs: () => listJobs(client, { path, what: 'the jobs of the build', signal }, build.finishedAt),
      fetchLog: ({ id, name }, maxBytes) =>
        client.bytes({
          path: `${path}${buildPath`/jobs/${id}/log.txt`}`,
          what: `the log of job "${name}"`,
          signal,
          maxBytes,
        }),
      more: (jobs, logs) =>
        buildArtifacts(client, { path, what: "the build's artifacts", signal }, { jobs, logs, notes }),
    };
  });
}

function createBuildkiteClient({ baseUrl, token }: BuildkiteOptions, timeoutMs: number): RestClient {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  return createRestClient({
    label: 'Buildkite',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_BUILDKITE_TOKEN',
    timeoutMs,
  });
}

/** Reruns the failed jobs of a build. */
export async function rerunOnBuildkite(
  options: BuildkiteOptions,
  build: Build,
  signal: AbortSignal,
): Promise<void> {
  const change = {
    method: 'POST',
    path: `${toApiPath(build)}/retry_failed_jobs`,
    what: 'the re-run of its failed jobs',
    signal,
  } as const;
  await createBuildkiteClient(options, RERUN_MS).send(z.unknown(), { ...change, right: 'write_builds' });
}

/**
 * Lists the jobs that had ended at `until`, when the build did, except those that had been retried by then.
 */
async function listJobs(client: RestClient, question: RestRequest, until: string | null): Promise<CiJob[]> {
  const { jobs } = await client.get(Jobs, { ...question, query: { include_retried_jobs: 'true' } });
  const isLater = (ended: string | null | undefined) =>
    until !== null && ended != null && Date.parse(ended) > Date.parse(until);
  const known = jobs.filter((job) => job.type === 'script' && !isLater(job.finished_at));
  const ids = new Set(known.map(({ id }) => id));
  return known
    .filter(({ retried_in_job_id: retry }) => retry == null || !ids.has(retry))
    .map(({ id, name, step_key, state, soft_failed, finished_at, web_url: url }) => ({
      id,
      name: name ?? step_key ?? 'job',
      isOver: finished_at != null,
      endedAt: finished_at ?? null,
      url: url ?? null,
      outcome:
        /^(?:failed|timed_out|expired)$/.test(state ?? '') && soft_failed !== true
          ? 'failed'
          : state === 'passed'
            ? 'passed'
            : 'other',
    }));
}

interface Read {
  readonly jobs: readonly CiJob[];
  readonly logs: number;
  readonly notes: string[];
}

function buildArtifacts(
  client: RestClient,
  { path, what, signal }: RestRequest,
  { jobs, logs, notes }: Read,
): Promise<SourceText[]> {
  const ids = new Set(jobs.map(({ id }) => id));
  const list = async () => {
    const pages = { sizeName: 'per_page', size: 100, maxPages: MAX_ARTIFACT_PAGES };
    const listed = await client.list(Artifacts, { path: `${path}/artifacts`, what, signal }, pages);
    return listed
      .filter(({ job_id }) => ids.has(job_id))
      .map((artifact) => ({ ...artifact, name: artifact.path, bytes: artifact.file_size ?? null }));
  };
  const download = ({ id, job_id }: z.infer<typeof Artifacts>[number], name: string, maxBytes: number) =>
    client.bytes({
      path: `${path}${buildPath`/jobs/${job_id}/artifacts/${id}/download`}`,
      what: name,
      signal,
      maxBytes,
    });
  return fetchArtifacts({ list, download, signal, notes, room: createArtifactRoom() }, Math.max(1, logs));
}

/** Builds the path of a build in the API. Throws `not-found` if it is no build of Buildkite. */
function toApiPath(build: Build): string {
  const [, organization, pipeline, number] =
    /^([\w.-]{1,100})\/([\w.-]{1,200})\/(\d{1,15})$/.exec(build.externalId ?? '') ?? [];
  if (organization === undefined || pipeline === undefined || number === undefined)
    throw createUnknownBuildError(build, 'Buildkite');
  return buildPath`/organizations/${organization}/pipelines/${pipeline}/builds/${number}`;
}

export function createBuildkiteConnection(): Connection {
  return {
    label: 'Buildkite',
    page: 'docs/start/buildkite.md',
    events: ['build.finished'],
    secretSetting: 'FAULTLINE_BUILDKITE_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_BUILDKITE_TOKEN',
    rights: [
      { right: 'read_builds, read_build_logs', why: 'jobs and their logs' },
      { right: 'read_artifacts', why: 'artifacts, such as test reports' },
    ],
    steps: [
      'In the organization, open Settings → Notification Services → Webhook → Add.',
      'Enter the address as Webhook URL and the secret as Token, sent as X-Buildkite-Signature.',
      'Choose the event build.finished, and the pipelines.',
    ],
    createTestDelivery: (secret, nowMs) => {
      const body = JSON.stringify({ event: 'ping' });
      const timestamp = Math.floor(nowMs / 1000);
      const signature = `timestamp=${timestamp},signature=${computeHmac(secret, `${timestamp}.`, body)}`;
      return {
        body,
        headers: {
          'x-buildkite-event': 'ping',
          'x-buildkite-request': createTestDeliveryId(),
          'x-buildkite-signature': signature,
        },
      };
    },
    hooks: { because: 'the REST API of Buildkite does not offer webhooks' },
  };
}
