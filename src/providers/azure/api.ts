import { z } from 'zod';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { createBasicAuth } from '../check.ts';
import {
  CONNECT_MS,
  type Connection,
  createTestDeliveryId,
  HookId,
  type RepositoryWebhooks,
} from '../connection.ts';
import { type CiJob, createRunSource, createUnknownBuildError, type RunLimits } from '../job-logs.ts';
import { buildPath, createRestClient, type RestClient } from '../rest-client.ts';

export interface AzureOptions {
  /** The URL of the organization. If null, no API is called. */
  readonly baseUrl: string | null;
  readonly token: string | null;
}

/** The query parameter of each request. */
export const API = { 'api-version': '7.0' };

/** Creates the client. Throws `invalid-config` without a URL. */
export function createAzureClient({ baseUrl, token }: AzureOptions, timeoutMs: number): RestClient {
  if (baseUrl === null)
    throw new TriageError(
      'invalid-config',
      'Cannot ask Azure Pipelines for builds: FAULTLINE_AZURE_URL is not set.',
    );
  const headers: Record<string, string> = token === null ? {} : { authorization: createBasicAuth('', token) };
  return createRestClient({
    label: 'Azure Pipelines',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_AZURE_TOKEN',
    timeoutMs,
  });
}

/** The maximum number of earlier attempts of one job that are searched. */
const MAX_ATTEMPTS = 10;

const Timeline = z.object({
  records: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      name: z.string(),
      state: z.string().nullish(),
      result: z.string().nullish(),
      finishTime: z.string().nullish(),
      log: z.object({ id: z.int() }).nullish(),
      previousAttempts: z
        .array(z.object({ attempt: z.int(), timelineId: z.string(), recordId: z.string().nullish() }))
        .nullish(),
    }),
  ),
});
type Entry = z.infer<typeof Timeline>['records'][number];

interface Asking {
  readonly client: RestClient;
  /** The API path of the build. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Reads the logs of a build's failed jobs from Azure Pipelines. */
export function createAzureBuildSource(options: AzureOptions & RunLimits): BuildSource {
  return createRunSource('azure', options, (build, signal) => {
    const client = createAzureClient(options, options.timeoutMs);
    const path = toApiPath(build);
    return {
      listJobs: () => listJobs({ client, path, signal }, build),
      fetchLog: ({ id, name }, maxBytes) =>
        client.bytes({
          path: `${path}${buildPath`/logs/${id}`}`,
          query: API,
          what: `the log of job "${name}"`,
          signal,
          maxBytes,
        }),
    };
  });
}

/**
 * Lists each job in its state at `until`, when the build ended. A job that was rerun later has its earlier
 * attempts in separate timelines.
 */
async function listJobs(asking: Asking, { finishedAt: until, url }: Build): Promise<CiJob[]> {
  const jobs = (await fetchTimeline(asking, '')).filter(({ type }) => type === 'Job');
  const found: CiJob[] = [];
  for (const newest of jobs) {
    const job = await findAtTime(asking, newest, until);
    // A job that never began has no log, and did not fail.
    if (job !== null && (job.log != null || job.result === 'failed')) found.push(toJob(job, url));
  }
  return found;
}

function toJob({ id, name, state, result, finishTime, log }: Entry, build: string | null): CiJob {
  const hasPassed = result === 'succeeded' || result === 'succeededWithIssues';
  const outcome = result === 'failed' ? 'failed' : hasPassed ? 'passed' : 'other';
  const url =
    build?.includes('/_build/results?buildId=') === true
      ? `${build}&view=logs&j=${encodeURIComponent(id)}`
      : null;
  return { id: log?.id ?? 0, name, isOver: state === 'completed', outcome, endedAt: finishTime ?? null, url };
}

async function findAtTime(asking: Asking, job: Entry, until: string | null): Promise<Entry | null> {
  const isLater = ({ finishTime }: Entry) =>
    until !== null && finishTime != null && Date.parse(finishTime) > Date.parse(until);
  if (!isLater(job)) return job;
  const before = [...(job.previousAttempts ?? [])]
    .sort((left, right) => right.attempt - left.attempt)
    .slice(0, MAX_ATTEMPTS);
  for (const { timelineId, recordId } of before) {
    const found = (await fetchTimeline(asking, buildPath`/${timelineId}`)).find(
      (record) => record.type === 'Job' && (record.id === recordId || record.name === job.name),
    );
    if (found !== undefined && !isLater(found)) return found;
  }
  return null;
}

async function fetchTimeline({ client, path, signal }: Asking, which: string): Promise<Entry[]> {
  const question = { path: `${path}/timeline${which}`, query: API, what: 'the jobs of the build', signal };
  return (await client.get(Timeline, question)).records;
}

/** Builds the path of a build in the API. Throws `not-found` if it is no build of Azure Pipelines. */
function toApiPath(build: Build): string {
  const [, project, id] = /^([^/]{1,200})\/(\d{1,15})$/.exec(build.externalId ?? '') ?? [];
  if (project === undefined || id === undefined || /^\.+$/.test(project))
    throw createUnknownBuildError(build, 'Azure Pipelines');
  return buildPath`/${project}/_apis/build/builds/${id}`;
}

const HOOK = {
  publisherId: 'tfs',
  eventType: 'build.complete',
  consumerId: 'webHooks',
  consumerActionId: 'httpRequest',
};

const Subscription = z.object({
  id: HookId,
  consumerInputs: z.object({ url: z.string().nullish() }).nullish(),
});
const Subscriptions = z.object({ value: z.array(Subscription) });
const Project = z.object({ id: z.string() });

export function createAzureConnection({ baseUrl, token }: AzureOptions): Connection {
  const isReadable = baseUrl !== null && token !== null;
  return {
    label: 'Azure Pipelines',
    page: 'docs/start/azure-pipelines.md',
    events: ['Build completed'],
    secretSetting: 'FAULTLINE_AZURE_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_AZURE_TOKEN',
    rights: [
      { right: 'Build (Read)', why: 'jobs and their logs' },
      {
        right: 'Project and Team (Read), and the permission Edit subscriptions',
        why: 'making the service hook with --create',
      },
    ],
    steps: [
      'Open Project settings → Service hooks → Create subscription → Web Hooks, with the trigger ' +
        'Build completed.',
      'Enter the address as URL, and the secret as basic authentication password (any username) or ' +
        'as the header X-Faultline-Token.',
      'Send all resource details.',
    ],
    createTestDelivery: (secret) => ({
      body: JSON.stringify({ id: createTestDeliveryId(), eventType: 'ping' }),
      headers: { authorization: createBasicAuth('', secret) },
    }),
    hooks: isReadable
      ? {
          nameFormat: 'the name of the project',
          open: (project) => openRepositoryWebhooks({ baseUrl, token }, project),
        }
      : { because: 'FAULTLINE_AZURE_URL and FAULTLINE_AZURE_TOKEN are not both set' },
  };
}

function openRepositoryWebhooks(options: AzureOptions, project: string): RepositoryWebhooks {
  const client = createAzureClient(options, CONNECT_MS);
  const path = '/_apis/hooks/subscriptions';
  return {
    client,
    checks: [
      {
        name: 'project',
        path: buildPath`/_apis/projects/${project}`,
        query: API,
        remedy: 'check its name, and give the token Project and Team (Read)',
      },
      {
        name: 'builds',
        path: buildPath`/${project}/_apis/build/builds`,
        query: { ...API, $top: 1 },
        remedy: 'give the token Build (Read)',
      },
      {
        name: 'service hooks',
        path,
        query: API,
        remedy:
          'for --create its user needs the permission View subscriptions; ' +
          'or add the service hook by hand',
      },
    ],
    list: async (signal) => {
      const query = { ...API, publisherId: HOOK.publisherId, eventType: HOOK.eventType };
      const { value } = await client.get(Subscriptions, { path, query, what: 'the service hooks', signal });
      return value.map(({ id, consumerInputs }) => ({ id, address: consumerInputs?.url ?? '' }));
    },
    create: async ({ address: url, secret }, signal) => {
      const question = {
        path: buildPath`/_apis/projects/${project}`,
        query: API,
        what: 'the project',
        signal,
      };
      const { id: projectId } = await client.get(Project, question);
      const consumerInputs = {
        url,
        basicAuthUsername: 'faultline',
        basicAuthPassword: secret,
        resourceDetailsToSend: 'all',
      };
      const body = { ...HOOK, resourceVersion: '2.0', publisherInputs: { projectId }, consumerInputs };
      return { path, query: API, body };
    },
    right: 'write service hooks (the permission Edit subscriptions)',
    buildTestPath: null,
    deliveries: null,
  };
}
