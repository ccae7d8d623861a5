import { z } from 'zod';
import { createProvisionalNumber, WHOLE_BUILD } from '../../domain/build.ts';
import { readInput } from '../../domain/errors.ts';
import { parseJson } from '../../lib/text.ts';
import {
  attemptNumber,
  createShortTextSchema,
  createWebUrlSchema,
  findSecondsBetween,
  pullRequestNumber,
  toTextOrNull,
  toUtc,
} from '../read-input.ts';
import {
  createRefusedError,
  createWebhook,
  ignoreUndecided,
  ignoreUnlessFailed,
  isSigned,
  readRequiredHeader,
  toBuildStatus,
  type WebhookContent,
  type WebhookRequest,
} from '../webhook.ts';

function checkSignature(request: WebhookRequest, secrets: readonly string[]): void {
  const signature = request.header('x-forgejo-signature') ?? request.header('x-gitea-signature');
  if (signature === undefined)
    throw createRefusedError(
      'The delivery is not signed: X-Gitea-Signature is missing. ' +
        'Set a secret for the webhook in Gitea or Forgejo.',
    );
  if (!/^[0-9a-f]{64}$/.test(signature))
    throw createRefusedError('X-Gitea-Signature must be 64 hexadecimal digits.');
  if (!isSigned(request.body, signature, secrets))
    throw createRefusedError(
      'The signature does not match any configured secret. Is the secret in Gitea or Forgejo the ' +
        'same as the one configured here?',
    );
}

const id = z.int().positive();
const time = z.string().nullish();
const Repository = z.object({
  full_name: createShortTextSchema(300),
  default_branch: createShortTextSchema(300).nullish().catch(null),
});
const Person = z.object({ login: createShortTextSchema(200) });
const PullRequest = z.object({
  number: pullRequestNumber(),
  head: z.object({ ref: z.string().nullish(), repo: z.object({ id: z.int() }).nullish() }).nullish(),
  base: z.object({ repo: z.object({ id: z.int() }).nullish() }).nullish(),
});

/**
 * The fields of Gitea's `workflow_run` that we use. A run that has not ended has no conclusion, and a run of
 * a pull request has no branch.
 */
const WorkflowRunEvent = z
  .object({
    action: z.string(),
    repository: Repository,
    sender: Person.nullish(),
    workflow: z.object({ name: z.string().nullish() }).nullish(),
    workflow_run: z.object({
      id,
      name: z.string().nullish(),
      path: z.string().nullish().describe('`ci.yml@refs/heads/main`'),
      run_number: id,
      run_attempt: attemptNumber(),
      conclusion: z.string().nullish(),
      head_branch: z.string().nullish(),
      head_sha: createShortTextSchema(64),
      html_url: createWebUrlSchema(),
      started_at: time,
      completed_at: time,
      actor: Person.nullish(),
      pull_requests: z.array(PullRequest).nullish(),
    }),
  })
  .meta({
    title: 'workflow_run',
    examples: [
      {
        action: 'completed',
        repository: { full_name: 'shop/api', default_branch: 'main' },
        workflow: { name: 'ci' },
        workflow_run: {
          id: 41,
          path: 'ci.yml@refs/heads/main',
          run_number: 12,
          run_attempt: 1,
          conclusion: 'failure',
          head_branch: 'main',
          head_sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
          html_url: 'https://git.example.com/shop/api/actions/runs/12',
          pull_requests: [],
        },
      },
    ],
  });
type WorkflowRunEvent = z.infer<typeof WorkflowRunEvent>;

/** The fields of Gitea's `workflow_job` that we use. It names neither the workflow nor the run's number. */
const WorkflowJobEvent = z
  .object({
    action: z.string(),
    repository: Repository,
    sender: Person.nullish(),
    workflow_job: z.object({
      id,
      run_id: id,
      run_attempt: attemptNumber(),
      name: createShortTextSchema(500),
      conclusion: z.string().nullish(),
      head_branch: z.string().nullish(),
      head_sha: createShortTextSchema(64),
      html_url: createWebUrlSchema().nullish(),
      created_at: time,
      started_at: time,
      completed_at: time,
    }),
  })
  .meta({ title: 'workflow_job' });
type WorkflowJobEvent = z.infer<typeof WorkflowJobEvent>;

/** The fields of the triggering event, which Forgejo passes on as JSON in a string. */
const Trigger = z.object({
  pull_request: z
    .object({
      number: pullRequestNumber(),
      head: z
        .object({ ref: z.string().nullish(), repo: z.object({ full_name: z.string() }).nullish() })
        .nullish(),
    })
    .nullish(),
});

/**
 * The fields of Forgejo's `action_run_failure`, `action_run_recover` and `action_run_success` that we use.
 */
const ActionRunEvent = z
  .object({
    action: z.string(),
    run: z.object({
      id,
      index_in_repo: id,
      workflow_id: createShortTextSchema(300),
      repository: Repository,
      trigger_user: Person.nullish(),
      prettyref: z.string().nullish().describe('The branch, or `#12` for a pull request.'),
      commit_sha: createShortTextSchema(64),
      is_fork_pull_request: z.boolean().nullish(),
      event_payload: z.string().nullish(),
      status: z.string().nullish(),
      html_url: createWebUrlSchema().nullish(),
      started: time,
      stopped: time,
    }),
  })
  .meta({ title: 'action_run_failure, action_run_recover and action_run_success (Forgejo)' });
type ActionRunEvent = z.infer<typeof ActionRunEvent>;

const Ended = z.object({ action: z.string().default('') });

/**
 * The webhook `POST /webhooks/gitea` of Gitea or Forgejo, with a signature over the raw body. Forgejo's own
 * headers take precedence over those that it sends for compatibility with Gitea.
 */
export const giteaWebhook = createWebhook({
  name: 'gitea',
  label: 'Gitea and Forgejo',
  setting: 'FAULTLINE_GITEA_WEBHOOK_SECRET',
  inForm: true,
  summary: 'Gitea and Forgejo webhook',
  description:
    'Subscribe it to "Workflow run" and, optionally, "Workflow job" (Gitea), or to the action run ' +
    'events (Forgejo). All events of one run belong to one build. ' +
    'Failed builds are fetched and triaged, passed builds are stored for history, and everything ' +
    'else is acknowledged and ignored with a reason.',
  headers: z.object({
    'x-gitea-event': z
      .string()
      .optional()
      .describe('workflow_run or workflow_job; others are acknowledged and ignored.'),
    'x-forgejo-event': z
      .string()
      .optional()
      .describe('action_run_failure, action_run_recover or action_run_success.'),
    'x-gitea-delivery': z
      .string()
      .optional()
      .describe('Delivery ID. A second delivery with the same ID has no effect.'),
  }),
  body: z.union([WorkflowRunEvent, WorkflowJobEvent, ActionRunEvent]),
  security: {
    giteaSignature: {
      in: 'header',
      name: 'X-Gitea-Signature',
      description: 'The HMAC-SHA256 of the raw body, in hexadecimal.',
    },
    forgejoSignature: {
      in: 'header',
      name: 'X-Forgejo-Signature',
      description: 'The HMAC-SHA256 of the raw body, in hexadecimal.',
    },
  },
  authenticate: checkSignature,
  read: (payload, request) => {
    const sender = request.header('x-forgejo-event') === undefined ? 'X-Gitea' : 'X-Forgejo';
    const event = readRequiredHeader(request, `${sender}-Event`);
    return {
      event,
      deliveryId: readRequiredHeader(request, `${sender}-Delivery`),
      reading: readGiteaEvent(event, payload),
    };
  },
});

/**
 * Reads a delivery whose signature has been checked. Throws `invalid-input` if an event of a run that has
 * ended lacks a required field.
 */
export function readGiteaEvent(event: string, payload: unknown): WebhookContent {
  const what = `The ${event} event`;
  if (/^action_run_(?:failure|recover|success)$/.test(event))
    return readActionRun(readInput(what, ActionRunEvent, payload));
  if (event !== 'workflow_run' && event !== 'workflow_job')
    return {
      ignored:
        `${event.slice(0, 100)} events do not describe a build; only workflow_run, workflow_job and ` +
        'action_run_… do',
    };
  // This is read before the other fields, half of which are absent until then.
  const { action } = readInput(what, Ended, payload);
  if (action !== 'completed') return { ignored: `${event} ${action.slice(0, 100)}: the build has not ended` };
  if (event === 'workflow_run') return readWorkflowRun(readInput(what, WorkflowRunEvent, payload));
  return readWorkflowJob(readInput(what, WorkflowJobEvent, payload));
}

function readWorkflowRun({
  repository,
  sender,
  workflow,
  workflow_run: run,
}: WorkflowRunEvent): WebhookContent {
  const status = toBuildStatus(run.conclusion);
  if (status === null) return ignoreUndecided('run', run.conclusion);
  const [pull] = run.pull_requests ?? [];
  // A deleted fork has no repository.
  const fromFork = pull !== undefined && (pull.head?.repo?.id ?? null) !== pull.base?.repo?.id;
  return {
    part: WHOLE_BUILD,
    fromFork,
    defaultBranch: repository.default_branch ?? null,
    build: {
      provider: 'gitea',
      repository: repository.full_name,
      externalId: String(run.id),
      status,
      pipeline: toTextOrNull(workflow?.name) ?? toTextOrNull(run.name) ?? getWorkflowFile(run.path),
      number: String(run.run_number),
      attempt: run.run_attempt,
      job: null,
      // A branch of a fork may have the name of a branch of the repository.
      branch: fromFork ? null : (toTextOrNull(run.head_branch) ?? toTextOrNull(pull?.head?.ref)),
      commit: run.head_sha,
      author: run.actor?.login ?? sender?.login ?? null,
      pullRequest: pull?.number ?? pullRequestOfRef(run.path),
      url: run.html_url,
      startedAt: toPastOrNull(run.started_at),
      finishedAt: toPastOrNull(run.completed_at),
    },
  };
}

function readWorkflowJob({ repository, sender, workflow_job: job }: WorkflowJobEvent): WebhookContent {
  if (toBuildStatus(job.conclusion) !== 'failed') return ignoreUnlessFailed('job', job.conclusion);
  const branch = toTextOrNull(job.head_branch);
  return {
    part: `job ${job.id}`,
    defaultBranch: repository.default_branch ?? null,
    build: {
      provider: 'gitea',
      repository: repository.full_name,
      externalId: String(job.run_id),
      status: 'failed',
      pipeline: job.name,
      number: createProvisionalNumber(job.run_id),
      attempt: job.run_attempt,
      job: job.name,
      // Only the run's own event names the branch's repository, and the `main` of a fork is not ours.
      branch: branch === (repository.default_branch ?? branch) ? null : branch,
      commit: job.head_sha,
      author: sender?.login ?? null,
      pullRequest: null,
      url: job.html_url ?? null,
      queuedSeconds: findSecondsBetween(toPastOrNull(job.created_at), toPastOrNull(job.started_at)),
      startedAt: toPastOrNull(job.started_at),
      finishedAt: toPastOrNull(job.completed_at),
    },
  };
}

/**
 * Reads the event that Forgejo sends for a finished run. Its name states the result; for a canceled run, the
 * status of the run does.
 */
function readActionRun({ action, run }: ActionRunEvent): WebhookContent {
  const reported = run.status ?? action;
  const status = toBuildStatus(reported === 'recover' ? 'success' : reported);
  if (status === null) return ignoreUndecided('run', reported);
  const pull = Trigger.safeParse(parseJson(run.event_payload ?? '')).data?.pull_request ?? null;
  const { full_name: repository, default_branch: defaultBranch } = run.repository;
  const home = pull?.head?.repo?.full_name ?? repository;
  const fromFork = run.is_fork_pull_request === true || home !== repository;
  const ref = toTextOrNull(run.prettyref);
  return {
    part: WHOLE_BUILD,
    attemptAt: toPastOrNull(run.stopped),
    fromFork,
    defaultBranch: defaultBranch ?? null,
    build: {
      provider: 'gitea',
      repository,
      externalId: String(run.id),
      status,
      pipeline: run.workflow_id,
      number: String(run.index_in_repo),
      attempt: 1,
      job: null,
      branch: fromFork
        ? null
        : pull === null
          ? ref?.startsWith('#') === true
            ? null
            : ref
          : toTextOrNull(pull.head?.ref),
      commit: run.commit_sha,
      author: run.trigger_user?.login ?? null,
      pullRequest: pull?.number ?? pullRequestOfRef(ref),
      url: run.html_url ?? null,
      startedAt: toPastOrNull(run.started),
      finishedAt: toPastOrNull(run.stopped),
    },
  };
}

/** Returns `ci.yml` from `.gitea/workflows/ci.yml@refs/heads/main`. */
function getWorkflowFile(path: string | null | undefined): string {
  return toTextOrNull(path?.split('@', 1)[0]?.split('/').at(-1)) ?? 'workflow';
}

/** Reads the number from `ci.yml@refs/pull/12/head` or `#12`. */
function pullRequestOfRef(ref: string | null | undefined): number | null {
  const number = /(?:@refs\/pull\/|^#)(\d{1,9})(?:\/|$)/.exec(ref ?? '')?.[1];
  return number === undefined ? null : Number(number);
}

/** Returns the time in UTC, or null. The API reports a time that is not set as 1970 or the year 1. */
function toPastOrNull(given: string | null | undefined): string | null {
  const utc = toUtc(given);
  return utc === null || utc < '1971' ? null : utc;
}
