import { z } from 'zod';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import {
  CONNECT_MS,
  type Connection,
  createTestDeliveryId,
  HookId,
  type RepositoryWebhooks,
} from '../connection.ts';
import { type CiJob, createRunSource, createUnknownBuildError, type RunLimits } from '../job-logs.ts';
import { buildPath, createRestClient, RERUN_MS, type RestClient } from '../rest-client.ts';
import { computeHmac } from '../webhook.ts';

export interface CircleciOptions {
  readonly baseUrl: string;
  readonly token: string | null;
}

export function createCircleciClient({ baseUrl, token }: CircleciOptions, timeoutMs: number): RestClient {
  const headers = { accept: 'application/json', ...(token === null ? {} : { 'circle-token': token }) };
  return createRestClient({
    label: 'CircleCI',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_CIRCLECI_TOKEN',
    timeoutMs,
  });
}

/** Encodes `gh/owner/name` for use in a path. Throws `not-found` if it is not a project slug. */
export function encodeProjectSlug(slug: string): string {
  const parts = slug.split('/');
  if (parts.length !== 3 || parts.some((part) => !/^[\w.-]{1,100}$/.test(part) || /^\.+$/.test(part)))
    throw new TriageError(
      'not-found',
      `${slug.slice(0, 200)} is not a CircleCI project; use a slug such as gh/owner/name.`,
    );
  return parts.map(encodeURIComponent).join('/');
}

/** The maximum number of pages of a list that are read. Later pages are ignored. */
const MAX_PAGES = 20;

const Workflows = z.array(z.object({ id: z.string(), name: z.string(), created_at: z.string() }));
const Jobs = z.array(
  z.object({
    name: z.string(),
    status: z.string(),
    job_number: z.int().nullish(),
    project_slug: z.string().nullish(),
    stopped_at: z.string().nullish(),
  }),
);
/** The steps of a job in API version 1.1, the only version that returns the location of a step's output. */
const Steps = z.object({
  steps: z.array(
    z.object({ name: z.string(), actions: z.array(z.object({ output_url: z.string().nullish() })) }),
  ),
});
const Output = z.array(z.object({ message: z.string() }));

interface CircleciJob extends CiJob {
  readonly project: string;
}

/**
 * Creates the source of a workflow's logs: the output of the steps of its failed jobs, or of its passed jobs
 * if it passed.
 */
export function createCircleciBuildSource(options: CircleciOptions & RunLimits): BuildSource {
  const client = createCircleciClient(options, options.timeoutMs);
  return createRunSource<CircleciJob>('circleci', options, (build, signal) => ({
    listJobs: () => listJobs(client, build, signal),
    fetchLog: (job, maxBytes) => fetchOutput(client, job, { signal, maxBytes }),
  }));
}

/** Reruns the failed jobs of a workflow and the jobs that depend on them. */
export async function rerunOnCircleci(
  options: CircleciOptions,
  build: Build,
  signal: AbortSignal,
): Promise<void> {
  const client = createCircleciClient(options, RERUN_MS);
  const { id } = await getNewestRun(client, build, signal);
  const change = {
    method: 'POST',
    path: buildPath`/v2/workflow/${id}/rerun`,
    what: 'the re-run of its failed jobs',
    signal,
  } as const;
  await client.send(z.unknown(), { ...change, body: { from_failed: true }, right: 'build the project' });
}

async function listJobs(client: RestClient, build: Build, signal: AbortSignal): Promise<CircleciJob[]> {
  const run = await getNewestRun(client, build, signal);
  const jobs = await listAllPages(client, Jobs, buildPath`/v2/workflow/${run.id}/job`, {
    what: 'the jobs of the workflow',
    signal,
  });
  // An approval job has no number and no log.
  return jobs.flatMap(({ job_number: id, project_slug: project, name, status, stopped_at: endedAt }) => {
    if (id == null || project == null) return [];
    const outcome = toOutcome(status);
    return [
      {
        id,
        project,
        name,
        isOver: endedAt != null,
        outcome,
        endedAt: endedAt ?? null,
        url: toJobPage(build, run.id, id),
      },
    ];
  });
}

/**
 * Returns the newest run of the build's workflow among those that began before the build ended. Each rerun
 * has an ID of its own. Throws `not-found` if there is none.
 */
async function getNewestRun(
  client: RestClient,
  build: Build,
  signal: AbortSignal,
): Promise<z.infer<typeof Workflows>[number]> {
  const [, pipeline, name] = /^([0-9a-f-]{36})\/(.+)$/.exec(build.externalId ?? '') ?? [];
  if (pipeline === undefined) throw createUnknownBuildError(build, 'CircleCI');
  const workflows = await listAllPages(client, Workflows, buildPath`/v2/pipeline/${pipeline}/workflow`, {
    what: 'the workflows of the pipeline',
    signal,
  });
  const until = build.finishedAt === null ? Number.POSITIVE_INFINITY : Date.parse(build.finishedAt);
  const runs = workflows.filter(
    (workflow) => workflow.name === name && Date.parse(workflow.created_at) <= until,
  );
  const run = runs.sort((left, right) => Date.parse(right.created_at) - Date.parse(left.created_at))[0];
  if (run === undefined)
    throw new TriageError('not-found', `The workflow "${name}" of the pipeline no longer exists.`);
  return run;
}

/**
 * Returns the URL of a job, derived from the build's URL. Returns null if the build's URL is not the page of
 * this workflow run.
 */
function toJobPage({ url }: Build, workflow: string, job: number): string | null {
  return url?.endsWith(`/workflows/${workflow}`) === true ? `${url}/jobs/${job}` : null;
}

function toOutcome(status: string): CiJob['outcome'] {
  if (status === 'success') return 'passed';
  return /^(?:failed|timedout|infrastructure_fail)$/.test(status) ? 'failed' : 'other';
}

interface Limits {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

/**
 * Returns the output of all steps, each under its name, in the format that `circleci local execute` prints.
 * Throws `too-large` if a response exceeds the remaining `maxBytes`.
 */
async function fetchOutput(
  client: RestClient,
  { id, name, project }: CircleciJob,
  { signal, maxBytes }: Limits,
): Promise<Buffer> {
  const path = `/v1.1/project/${encodeProjectSlug(project)}/${id}`;
  const { steps } = await client.get(Steps, { path, what: `the steps of job "${name}"`, signal });
  const parts: string[] = [];
  let room = maxBytes;
  for (const { name: step, actions } of steps)
    for (const { output_url: address } of actions) {
      if (address == null) continue;
      const request = {
        path: address,
        what: `the output of "${step}" in job "${name}"`,
        signal,
        maxBytes: Math.max(1, room),
      };
      const output = (await client.get(Output, request)).map(({ message }) => message).join('');
      room -= Buffer.byteLength(output);
      parts.push(`====>> ${step.replaceAll(/\s+/g, ' ')}\n${output}${output.endsWith('\n') ? '' : '\n'}`);
    }
  return Buffer.from(parts.join(''));
}

async function listAllPages<Item>(
  client: RestClient,
  items: z.ZodType<Item[]>,
  path: string,
  request: { readonly what: string; readonly signal: AbortSignal },
): Promise<Item[]> {
  const Page = z.object({ items, next_page_token: z.string().nullish() });
  const all: Item[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await client.get(Page, { path, query: { 'page-token': token }, ...request });
    for (const item of found.items) all.push(item);
    if (found.next_page_token == null) break;
    token = found.next_page_token;
  }
  return all;
}

const EVENTS = ['workflow-completed', 'job-completed'];

const Hooks = z.object({ items: z.array(z.object({ id: HookId, url: z.string() })) });
const Project = z.object({ id: z.string() });

export function createCircleciConnection({ baseUrl, token }: CircleciOptions): Connection {
  return {
    label: 'CircleCI',
    page: 'docs/start/circleci.md',
    events: EVENTS,
    secretSetting: 'FAULTLINE_CIRCLECI_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_CIRCLECI_TOKEN',
    rights: [
      {
        right: 'a personal API token of a user who may see the project',
        why: 'workflows and the output of their jobs',
      },
    ],
    steps: [
      'Open Project Settings → Webhooks → Add Webhook.',
      'Enter the address as Receiver URL and the secret as Secret token.',
      'Choose Workflow Completed and, for earlier answers, Job Completed.',
    ],
    createTestDelivery: (secret) => {
      const body = JSON.stringify({ id: createTestDeliveryId(), type: 'ping' });
      return {
        body,
        headers: { 'circleci-event-type': 'ping', 'circleci-signature': `v1=${computeHmac(secret, body)}` },
      };
    },
    hooks:
      token === null
        ? { because: 'FAULTLINE_CIRCLECI_TOKEN is not set' }
        : {
            nameFormat: 'gh/owner/name, the slug of the project',
            open: (slug) => openRepositoryWebhooks({ baseUrl, token }, slug),
          },
  };
}

function openRepositoryWebhooks(options: CircleciOptions, slug: string): RepositoryWebhooks {
  const client = createCircleciClient(options, CONNECT_MS);
  const path = `/v2/project/${encodeProjectSlug(slug)}`;
  const remedy = 'check the slug of the project (gh/owner/name), and that the user of the token may see it';
  return {
    client,
    checks: [
      { name: 'project', path, remedy },
      { name: 'pipelines', path: `${path}/pipeline`, remedy },
    ],
    list: async (signal) => {
      const query = { 'scope-id': await fetchProjectId(client, path, signal), 'scope-type': 'project' };
      const { items } = await client.get(Hooks, { path: '/v2/webhook', query, what: 'the webhooks', signal });
      return items.map(({ id, url: address }) => ({ id, address }));
    },
    create: async ({ address: url, secret }, signal) => {
      const scope = { id: await fetchProjectId(client, path, signal), type: 'project' };
      const body = {
        name: 'Faultline',
        url,
        events: EVENTS,
        'verify-tls': true,
        'signing-secret': secret,
        scope,
      };
      return { path: '/v2/webhook', body };
    },
    right: 'write webhooks (its user must be an administrator of the project)',
    buildTestPath: null,
    deliveries: null,
  };
}

async function fetchProjectId(client: RestClient, path: string, signal: AbortSignal): Promise<string> {
  return (await client.get(Project, { path, what: 'the project', signal })).id;
}
