import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { type BuildStatus, createProvisionalNumber, WHOLE_BUILD } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import {
  createShortTextSchema,
  createWebUrlSchema,
  pullRequestNumber,
  toTextOrNull,
  toUtc,
} from '../read-input.ts';
import {
  createRefusedError,
  createWebhook,
  matchesAny,
  readDeployment,
  readRequiredHeader,
  requireRecent,
  type WebhookContent,
  type WebhookRequest,
} from '../webhook.ts';

const SECRET = 'FAULTLINE_GITLAB_WEBHOOK_SECRET';
/** The prefix of a signing token; base64 follows. */
const SIGNING_TOKEN = 'whsec_';

/**
 * Authenticates the sender by a token or a signature. Either proves that the sender knows a secret; GitLab
 * may send both.
 */
function authenticate(request: WebhookRequest, secrets: readonly string[], nowMs: number): void {
  const token = request.header('x-gitlab-token');
  const signature = request.header('webhook-signature');
  if (token !== undefined && matchesAny(token, secrets)) return;
  if (signature !== undefined) checkSigned(request, signature, secrets, nowMs);
  else if (token !== undefined)
    throw createRefusedError(`X-Gitlab-Token does not match any configured secret (${SECRET}).`);
  else
    throw createRefusedError(
      'The delivery contains no secret: X-Gitlab-Token is missing. ' +
        'Set a secret token for the webhook in GitLab.',
    );
}

function checkSigned(
  request: WebhookRequest,
  signature: string,
  secrets: readonly string[],
  nowMs: number,
): void {
  const id = request.header('webhook-id');
  const timestamp = request.header('webhook-timestamp');
  if (id === undefined || timestamp === undefined || !/^\d{1,12}$/.test(timestamp))
    throw createRefusedError(
      'A signed delivery needs the headers webhook-id and webhook-timestamp, in Unix time.',
    );
  const expected = secrets.map((secret) => {
    const key = secret.startsWith(SIGNING_TOKEN)
      ? Buffer.from(secret.slice(SIGNING_TOKEN.length), 'base64')
      : secret;
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(request.body).digest('base64')}`;
  });
  // The header contains two signatures while a token is being rotated.
  if (!signature.split(' ', 4).some((candidate) => matchesAny(candidate, expected)))
    throw createRefusedError(
      `webhook-signature does not match the body, ID and timestamp with any configured secret (${SECRET}).`,
    );
  requireRecent('webhook-timestamp', timestamp, nowMs);
}

const id = z.int().positive();
/** `2026-03-01 11:00:00 UTC`, or ISO 8601. */
const time = z.string().nullish();
const seconds = z.number().min(0).nullish().catch(null);
const Project = z.object({
  path_with_namespace: createShortTextSchema(300),
  default_branch: createShortTextSchema(300).nullish().catch(null),
  web_url: createWebUrlSchema().nullish(),
});
const Person = z.object({ username: createShortTextSchema(200).nullish() });

/** The fields of a Pipeline event that we use. */
const PipelineEvent = z
  .object({
    object_kind: z.literal('pipeline'),
    object_attributes: z.object({
      id,
      iid: id.nullish(),
      name: z.string().nullish(),
      ref: z.string().nullish(),
      tag: z.boolean().nullish(),
      sha: createShortTextSchema(64),
      status: z.string(),
      created_at: time,
      queued_duration: seconds,
      finished_at: time,
      url: createWebUrlSchema().nullish(),
    }),
    merge_request: z
      .object({
        iid: pullRequestNumber(),
        source_branch: z.string().nullish(),
        source_project_id: z.int().nullish(),
        target_project_id: z.int().nullish(),
      })
      .nullish(),
    user: Person.nullish(),
    project: Project,
  })
  .meta({
    title: 'Pipeline Hook',
    examples: [
      {
        object_kind: 'pipeline',
        object_attributes: {
          id: 289782451,
          iid: 812,
          ref: 'main',
          sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
          status: 'failed',
          finished_at: '2026-03-01 11:00:00 UTC',
        },
        project: { path_with_namespace: 'shop/api', default_branch: 'main' },
      },
    ],
  });
type PipelineEvent = z.infer<typeof PipelineEvent>;

/** The fields of a Job event that we use. It names neither the pipeline's number nor its merge request. */
const JobEvent = z
  .object({
    object_kind: z.literal('build'),
    ref: z.string().nullish(),
    tag: z.boolean().nullish(),
    sha: createShortTextSchema(64),
    build_id: id,
    build_name: createShortTextSchema(500),
    build_status: z.string(),
    build_started_at: time,
    build_finished_at: time,
    build_queued_duration: seconds,
    build_allow_failure: z.boolean().nullish(),
    pipeline_id: id,
    user: Person.nullish(),
    project: Project.nullish(),
    repository: z.object({ homepage: createWebUrlSchema().nullish() }).nullish(),
  })
  .meta({ title: 'Job Hook' });
type JobEvent = z.infer<typeof JobEvent>;

/** The fields of a Deployment event that we use. */
const DeploymentEvent = z
  .object({
    object_kind: z.literal('deployment'),
    status: z.string(),
    status_changed_at: time,
    deployable_url: createWebUrlSchema().nullish().catch(null),
    environment: createShortTextSchema(200),
    project: Project,
    short_sha: createShortTextSchema(64),
  })
  .meta({ title: 'Deployment Hook' });

/** The webhook `POST /webhooks/gitlab`, with the secret token, or a signature as in Standard Webhooks. */
export const gitlabWebhook = createWebhook({
  name: 'gitlab',
  label: 'GitLab',
  setting: SECRET,
  summary: 'GitLab webhook',
  description:
    'Subscribe it to "Pipeline events" and, optionally, "Job events": ' +
    'with them, the first failed job is analyzed while the pipeline continues. ' +
    'All events of one pipeline belong to one build, until it is retried. ' +
    'With "Deployment events", successful deployments are marked beside the figures of the project. ' +
    'Failed pipelines are fetched and triaged, passed ones are stored for history, and everything ' +
    'else is acknowledged and ignored with a reason.',
  headers: z.object({
    'x-gitlab-event': z
      .string()
      .describe('Pipeline Hook, Job Hook or Deployment Hook; others are acknowledged and ignored.'),
    'idempotency-key': z
      .string()
      .optional()
      .describe('Delivery ID. A second delivery with the same ID has no effect.'),
  }),
  body: z.union([PipelineEvent, JobEvent, DeploymentEvent]),
  security: {
    gitlabToken: { in: 'header', name: 'X-Gitlab-Token', description: 'The secret token itself.' },
    gitlabSignature: {
      in: 'header',
      name: 'webhook-signature',
      description:
        '`v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw body>`, in base64; ' +
        'webhook-id and webhook-timestamp are required as well.',
    },
  },
  authenticate,
  read: (payload, request) => {
    const event = readRequiredHeader(request, 'X-Gitlab-Event');
    const given = request.header('idempotency-key') ?? request.header('webhook-id');
    const deliveryId = given === undefined || given === '' || given.length > 200 ? null : given;
    return { event, deliveryId, reading: readGitlabEvent(event, payload) };
  },
});

/**
 * Reads a delivery whose sender is authenticated. Throws `invalid-input` if a known event lacks a required
 * field.
 */
export function readGitlabEvent(event: string, payload: unknown): WebhookContent {
  const what = `The ${event}`;
  if (event === 'Pipeline Hook') return readPipeline(readInput(what, PipelineEvent, payload));
  if (event === 'Job Hook') return readJob(readInput(what, JobEvent, payload));
  if (event === 'Deployment Hook') return readDeploymentEvent(readInput(what, DeploymentEvent, payload));
  if (event === 'Merge Request Hook')
    return {
      ignored: "merge request events do not describe a build; a pipeline's own event names its merge request",
    };
  return {
    ignored: `${event.slice(0, 100)} events do not describe a build; only Pipeline Hook and Job Hook do`,
  };
}

function readDeploymentEvent({
  status,
  status_changed_at: time,
  project,
  environment,
  ...event
}: z.infer<typeof DeploymentEvent>): WebhookContent {
  const at = toUtc(time);
  if (at === null) return { ignored: 'the deployment does not say when it was' };
  const { short_sha: version, deployable_url: url = null } = event;
  return readDeployment(status, { repository: project.path_with_namespace, environment, version, url, at });
}

function readPipeline({
  object_attributes: pipeline,
  merge_request: request,
  user,
  project,
}: PipelineEvent): WebhookContent {
  const status = toBuildStatus(pipeline.status);
  if (status === null) return { ignored: describeOtherEnding('pipeline', pipeline.status) };
  const fromFork =
    request?.source_project_id != null && request.source_project_id !== request.target_project_id;
  const finishedAt = toUtc(pipeline.finished_at);
  const branch = toTextOrNull(request?.source_branch) ?? getBranch(pipeline);
  return {
    part: WHOLE_BUILD,
    attemptAt: finishedAt,
    fromFork,
    defaultBranch: project.default_branch ?? null,
    build: {
      provider: 'gitlab',
      repository: project.path_with_namespace,
      externalId: String(pipeline.id),
      attempt: 1,
      status,
      pipeline: toTextOrNull(pipeline.name) ?? 'pipeline',
      number: String(pipeline.iid ?? pipeline.id),
      job: null,
      // A branch of a fork may have the name of a branch of the repository.
      branch: fromFork ? null : branch,
      commit: pipeline.sha,
      author: user?.username ?? null,
      pullRequest: request?.iid ?? mergeRequestOfRef(pipeline.ref),
      url: pipeline.url ?? toPipelinePage(project.web_url, pipeline.id),
      queuedSeconds: pipeline.queued_duration ?? null,
      startedAt: toUtc(pipeline.created_at),
      finishedAt,
    },
  };
}

function readJob(job: JobEvent): WebhookContent {
  if (toBuildStatus(job.build_status) !== 'failed') {
    const ended = job.build_status.slice(0, 100);
    return {
      ignored:
        `the job is ${ended}: only failed ones are read; the pipeline's own event reports how the ` +
        'build ended',
    };
  }
  if (job.build_allow_failure === true)
    return { ignored: 'the job may fail: the pipeline goes on without it' };
  const repository = job.project?.path_with_namespace ?? toProjectPath(job.repository?.homepage);
  if (repository === null) return { ignored: 'the event does not name its project' };
  const branch = getBranch(job);
  const defaultBranch = job.project?.default_branch ?? null;
  return {
    part: `job ${job.build_id}`,
    attemptAt: toUtc(job.build_started_at),
    defaultBranch,
    build: {
      provider: 'gitlab',
      repository,
      externalId: String(job.pipeline_id),
      attempt: 1,
      status: 'failed',
      pipeline: job.build_name,
      number: createProvisionalNumber(job.pipeline_id),
      job: job.build_name,
      // Only the pipeline's own event names the branch's repository, and the `main` of a fork is not ours.
      branch: branch === (defaultBranch ?? branch) ? null : branch,
      commit: job.sha,
      author: job.user?.username ?? null,
      pullRequest: mergeRequestOfRef(job.ref),
      url: toPipelinePage(job.project?.web_url ?? job.repository?.homepage, job.pipeline_id),
      queuedSeconds: job.build_queued_duration ?? null,
      startedAt: toUtc(job.build_started_at),
      finishedAt: null,
    },
  };
}

function toBuildStatus(status: string): BuildStatus | null {
  if (status === 'failed') return 'failed';
  return status === 'success' ? 'passed' : null;
}

function describeOtherEnding(what: string, status: string): string {
  return `the ${what} is ${status.slice(0, 100)}: it has not ended, or neither failed nor passed`;
}

function getBranch({
  ref,
  tag,
}: {
  readonly ref?: string | null | undefined;
  readonly tag?: boolean | null | undefined;
}): string | null {
  return tag === true || ref?.startsWith('refs/') === true ? null : toTextOrNull(ref);
}

/** Reads the number from `refs/merge-requests/12/head`. */
function mergeRequestOfRef(ref: string | null | undefined): number | null {
  const number = /^refs\/merge-requests\/(\d{1,9})\//.exec(ref ?? '')?.[1];
  return number === undefined ? null : Number(number);
}

/**
 * Returns `group/project` from the address of the project's page. A self-managed server may have a path
 * prefix, which then becomes part of the result and matches no project.
 */
function toProjectPath(homepage: string | null | undefined): string | null {
  return toTextOrNull(URL.parse(homepage ?? '')?.pathname.replace(/^\/|\/$/g, ''));
}

function toPipelinePage(project: string | null | undefined, pipelineId: number): string | null {
  return project == null ? null : `${project.replace(/\/$/, '')}/-/pipelines/${pipelineId}`;
}
