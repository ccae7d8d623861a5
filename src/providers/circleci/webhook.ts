import { z } from 'zod';
import { type BuildStatus, WHOLE_BUILD } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import {
  createShortTextSchema,
  createWebUrlSchema,
  findRepositoryOfClone,
  toTextOrNull,
  toUtc,
} from '../read-input.ts';
import {
  createRefusedError,
  createWebhook,
  isSigned,
  type Received,
  type WebhookContent,
  type WebhookRequest,
} from '../webhook.ts';

const time = z.string().nullish();
const text = z.string().nullish();

/**
 * The fields of `workflow-completed` and `job-completed` that we use. The latter names its job, but not how
 * the workflow ended.
 */
const CompletedEvent = z
  .object({
    id: createShortTextSchema(200),
    type: z.string(),
    workflow: z.object({
      name: createShortTextSchema(300),
      status: text,
      url: createWebUrlSchema().nullish(),
      created_at: time,
      stopped_at: time,
    }),
    job: z
      .object({ name: createShortTextSchema(300), number: z.int(), status: z.string(), started_at: time })
      .nullish(),
    pipeline: z.object({
      id: z.uuid(),
      number: z.int().positive(),
      vcs: z
        .object({
          origin_repository_url: text,
          target_repository_url: text,
          revision: text,
          branch: text,
          commit: z.object({ author: z.object({ name: text }).nullish() }).nullish(),
        })
        .nullish(),
      trigger_parameters: z
        .object({ git: z.object({ checkout_url: text, checkout_sha: text, branch: text }).nullish() })
        .nullish(),
    }),
    project: z.object({ name: createShortTextSchema(300) }),
    organization: z.object({ name: createShortTextSchema(300) }),
  })
  .meta({
    title: 'workflow-completed and job-completed',
    examples: [
      {
        id: '3888f21b-eaa7-38e3-8f3d-75a63bba8895',
        type: 'workflow-completed',
        workflow: { name: 'ci', status: 'failed', stopped_at: '2026-03-01T11:00:00Z' },
        pipeline: {
          id: '1285fe1d-d3a6-44fc-8886-8979558254c4',
          number: 812,
          vcs: {
            target_repository_url: 'https://github.com/shop/api',
            revision: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
            branch: 'main',
          },
        },
        project: { name: 'api' },
        organization: { name: 'shop' },
      },
    ],
  });
type CompletedEvent = z.infer<typeof CompletedEvent>;

const Head = z.object({ type: createShortTextSchema(100) });

/** Checks the v1 signature. The header may contain signatures of other versions, separated by commas. */
function checkSignature(request: WebhookRequest, secrets: readonly string[]): void {
  const [, signature] =
    /(?:^|,)v1=([0-9a-f]{64})(?:,|$)/.exec(request.header('circleci-signature') ?? '') ?? [];
  if (signature === undefined)
    throw createRefusedError(
      'The delivery is not signed: circleci-signature (v1=…) is missing. ' +
        'Set a secret token for the webhook in CircleCI.',
    );
  if (!isSigned(request.body, signature, secrets))
    throw createRefusedError(
      'The signature does not match any configured secret. Is the secret token in CircleCI the same ' +
        'as the one configured here?',
    );
}

/** The webhook `POST /webhooks/circleci`, with a signature over the raw body. */
export const circleciWebhook = createWebhook({
  name: 'circleci',
  label: 'CircleCI',
  setting: 'FAULTLINE_CIRCLECI_WEBHOOK_SECRET',
  summary: 'CircleCI webhook',
  description:
    'Subscribe it to "Workflow Completed" and, optionally, "Job Completed": ' +
    'with them, the first failed job is analyzed while the workflow continues. ' +
    'Failed workflows are fetched and triaged, passed ones are stored for history, and everything ' +
    'else is acknowledged and ignored with a reason. A workflow that is run again counts as another ' +
    'attempt.',
  headers: z.object({
    'circleci-event-type': z.string().optional().describe('The same type as in the body.'),
  }),
  body: CompletedEvent,
  security: {
    circleciSignature: {
      in: 'header',
      name: 'circleci-signature',
      description: '`v1=` and the HMAC-SHA256 of the raw body, in hexadecimal.',
    },
  },
  authenticate: checkSignature,
  read: readCircleciEvent,
});

/**
 * Reads an event whose signature has been checked. Throws `invalid-input` if a known event lacks a required
 * field.
 */
export function readCircleciEvent(payload: unknown): Received {
  const { type } = readInput('The CircleCI event', Head, payload);
  if (type !== 'workflow-completed' && type !== 'job-completed') {
    const ignored = `${type} events do not describe a build; only workflow-completed and job-completed do`;
    return { event: type, deliveryId: null, reading: { ignored } };
  }
  const event = readInput(`The ${type} event`, CompletedEvent, payload);
  return { event: type, deliveryId: event.id, reading: readCompleted(event) };
}

function readCompleted({ workflow, job, pipeline, project, organization }: CompletedEvent): WebhookContent {
  const reported = job?.status ?? workflow.status ?? 'unknown status';
  const status = toBuildStatus(reported);
  if (status === null || (job != null && status !== 'failed'))
    return {
      ignored:
        `the ${job == null ? 'workflow' : 'job'} ended as ${reported.slice(0, 100)}: ` +
        'only failed jobs, and workflows that failed or passed, are read',
    };
  const { vcs, trigger_parameters: parameters } = pipeline;
  const git = parameters?.git;
  const target = findRepositoryOfClone(vcs?.target_repository_url ?? git?.checkout_url);
  const fromFork =
    vcs?.origin_repository_url != null && vcs.origin_repository_url !== vcs.target_repository_url;
  const branch = toTextOrNull(vcs?.branch ?? git?.branch);
  const number = /^pull\/(\d{1,9})(?:\/|$)/.exec(branch ?? '')?.[1];
  const startedAt = toUtc(job?.started_at ?? workflow.created_at);
  return {
    part: job == null ? WHOLE_BUILD : `job ${job.number}`,
    attemptAt: job == null ? toUtc(workflow.stopped_at) : startedAt,
    fromFork,
    build: {
      provider: 'circleci',
      repository: toTextOrNull(target) ?? `${organization.name}/${project.name}`,
      pipeline: workflow.name,
      number: String(pipeline.number),
      attempt: 1,
      externalId: `${pipeline.id}/${workflow.name}`,
      job: job?.name ?? null,
      // CircleCI builds a pull request from a fork as the branch pull/7.
      branch: fromFork || number !== undefined ? null : branch,
      commit: toTextOrNull(vcs?.revision ?? git?.checkout_sha),
      author: toTextOrNull(vcs?.commit?.author?.name),
      pullRequest: number === undefined ? null : Number(number),
      url: workflow.url ?? null,
      status,
      startedAt,
      finishedAt: job == null ? toUtc(workflow.stopped_at) : null,
    },
  };
}

function toBuildStatus(status: string): BuildStatus | null {
  if (status === 'success') return 'passed';
  return /^(?:failed|error|timedout|infrastructure_fail)$/.test(status) ? 'failed' : null;
}
