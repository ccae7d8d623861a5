import { z } from 'zod';
import { WHOLE_BUILD } from '../../domain/build.ts';
import { readInput, TriageError } from '../../domain/errors.ts';
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
  readDeployment,
  readRequiredHeader,
  toBuildStatus,
  type WebhookContent,
  type WebhookRequest,
} from '../webhook.ts';

function checkSignature(request: WebhookRequest, secrets: readonly string[]): void {
  const signature = request.header('x-hub-signature-256');
  if (signature === undefined)
    throw createRefusedError(
      'The delivery is not signed: X-Hub-Signature-256 is missing. Set a secret for the webhook in GitHub.',
    );
  if (!/^sha256=[0-9a-f]{64}$/.test(signature))
    throw createRefusedError('X-Hub-Signature-256 must have the form sha256=<64 hexadecimal digits>.');
  if (!isSigned(request.body, signature.slice('sha256='.length), secrets))
    throw createRefusedError(
      'The signature does not match any configured secret. Is the secret in GitHub the same as the ' +
        'one configured here?',
    );
}

/**
 * Creates the error for an event from Gitea or Forgejo. They sign like GitHub and send its headers too, but
 * their logs are read by another provider.
 */
function fromGitea(): TriageError {
  return new TriageError(
    'invalid-input',
    'This delivery comes from Gitea or Forgejo. Change the webhook to /webhooks/gitea, with the ' +
      'secret in FAULTLINE_GITEA_WEBHOOK_SECRET.',
  );
}

const time = z.string().nullish();
const id = z.int().positive();
const Repository = z.object({
  full_name: createShortTextSchema(300),
  default_branch: createShortTextSchema(300).nullish().catch(null),
});
const PullRequests = z.array(z.object({ number: pullRequestNumber() })).default([]);
const Sender = z.object({ login: createShortTextSchema(200) });

/** The fields of `workflow_run` that we use. */
export const WorkflowRunEvent = z
  .object({
    action: z.string(),
    repository: Repository,
    workflow: z.object({ name: z.string().nullish() }).nullish(),
    workflow_run: z.object({
      id,
      name: z.string().nullish(),
      path: z.string().nullish(),
      run_number: id,
      run_attempt: attemptNumber(),
      conclusion: z.string().nullable(),
      head_branch: z.string().nullish(),
      head_repository: z.object({ full_name: z.string() }).nullish().catch(null),
      head_sha: createShortTextSchema(64),
      html_url: createWebUrlSchema(),
      run_started_at: time,
      updated_at: time,
      actor: Sender.nullish(),
      pull_requests: PullRequests,
    }),
  })
  .meta({
    title: 'workflow_run',
    examples: [
      {
        action: 'completed',
        repository: { full_name: 'shop/api' },
        workflow: { name: 'ci' },
        workflow_run: {
          id: 289782451,
          name: 'ci',
          run_number: 812,
          run_attempt: 1,
          conclusion: 'failure',
          head_branch: 'main',
          head_sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
          html_url: 'https://github.com/shop/api/actions/runs/289782451',
          pull_requests: [],
        },
      },
    ],
  });
type WorkflowRunEvent = z.infer<typeof WorkflowRunEvent>;

/** The fields of `workflow_job` that we use. It does not name the run's number. */
export const WorkflowJobEvent = z
  .object({
    action: z.string(),
    repository: Repository,
    sender: Sender.nullish(),
    workflow_job: z.object({
      id,
      run_id: id,
      run_attempt: attemptNumber(),
      name: createShortTextSchema(500),
      workflow_name: z.string().nullish(),
      conclusion: z.string().nullable(),
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

/** The fields of `check_run` that we use. Of a run of Actions it names only the id, in `details_url`. */
export const CheckRunEvent = z
  .object({
    action: z.string(),
    repository: Repository,
    sender: Sender.nullish(),
    check_run: z.object({
      name: createShortTextSchema(500),
      conclusion: z.string().nullable(),
      head_sha: createShortTextSchema(64),
      // Any app may write any text here. If it is not a URL, it does not belong to a job of Actions.
      details_url: createWebUrlSchema().nullish().catch(null),
      started_at: time,
      completed_at: time,
      app: z.object({ slug: z.string().nullish() }).nullish(),
      check_suite: z.object({ head_branch: z.string().nullish() }).nullish(),
      pull_requests: PullRequests,
    }),
  })
  .meta({ title: 'check_run' });
type CheckRunEvent = z.infer<typeof CheckRunEvent>;

/** The fields of `deployment_status` that we use. */
const DeploymentStatusEvent = z
  .object({
    repository: Repository,
    deployment_status: z.object({
      state: z.string(),
      environment: createShortTextSchema(200),
      target_url: createWebUrlSchema().nullish().catch(null),
      created_at: time,
    }),
    deployment: z.object({ ref: createShortTextSchema(300) }),
  })
  .meta({ title: 'deployment_status' });

/** The webhook `POST /webhooks/github`, with a signature over the raw body. */
export const githubWebhook = createWebhook({
  name: 'github',
  label: 'GitHub',
  setting: 'FAULTLINE_GITHUB_WEBHOOK_SECRET',
  inForm: true,
  summary: 'GitHub webhook',
  description:
    'Subscribe it to "Workflow runs". "Workflow jobs" and "Check runs" are optional: ' +
    'with them, the first failed job is analyzed while the run continues, and later failures are ' +
    'added. All events of one run belong to one build. With "Deployment statuses", successful ' +
    'deployments are marked beside the figures of the repository. ' +
    'Failed builds are fetched and triaged, passed builds are stored for history, and everything ' +
    'else is acknowledged and ignored with a reason.',
  headers: z.object({
    'x-github-event': z
      .string()
      .describe(
        'workflow_run, workflow_job, check_run or deployment_status; others are acknowledged and ignored.',
      ),
    'x-github-delivery': z
      .string()
      .describe('Delivery ID. A second delivery with the same ID has no effect.'),
  }),
  body: z.union([WorkflowRunEvent, WorkflowJobEvent, CheckRunEvent, DeploymentStatusEvent]),
  security: {
    githubSignature: {
      in: 'header',
      name: 'X-Hub-Signature-256',
      description: '`sha256=` and the HMAC-SHA256 of the raw body, in hexadecimal.',
    },
  },
  authenticate: checkSignature,
  read: (payload, request) => {
    if (request.header('x-gitea-event') !== undefined || request.header('x-forgejo-event') !== undefined)
      throw fromGitea();
    const event = readRequiredHeader(request, 'X-GitHub-Event');
    return {
      event,
      deliveryId: readRequiredHeader(request, 'X-GitHub-Delivery'),
      reading: readGithubEvent(event, payload),
    };
  },
});

/**
 * Reads a delivery whose signature has been checked. Throws `invalid-input` if a known event lacks a required
 * field.
 */
export function readGithubEvent(event: string, payload: unknown): WebhookContent {
  if (event === 'ping') return { ignored: 'ping: the webhook works; nothing to triage' };
  if (event === 'workflow_run')
    return readWhenCompleted(
      event,
      readInput(`The ${event} event`, WorkflowRunEvent, payload),
      readWorkflowRun,
    );
  if (event === 'workflow_job')
    return readWhenCompleted(
      event,
      readInput(`The ${event} event`, WorkflowJobEvent, payload),
      readWorkflowJob,
    );
  if (event === 'check_run')
    return readWhenCompleted(event, readInput(`The ${event} event`, CheckRunEvent, payload), readCheckRun);
  if (event === 'deployment_status')
    return readDeploymentStatus(readInput(`The ${event} event`, DeploymentStatusEvent, payload));
  return {
    ignored:
      `${event.slice(0, 100)} events do not describe a build; only workflow_run, workflow_job and ` +
      'check_run do',
  };
}

function readDeploymentStatus({
  repository,
  deployment,
  deployment_status: status,
}: z.infer<typeof DeploymentStatusEvent>): WebhookContent {
  const at = toUtc(status.created_at);
  if (at === null) return { ignored: 'the deployment does not say when it was' };
  const { environment, target_url: url = null } = status;
  return readDeployment(status.state, {
    repository: repository.full_name,
    environment,
    version: deployment.ref,
    url,
    at,
  });
}

function readWhenCompleted<Event extends { action: string }>(
  name: string,
  event: Event,
  read: (event: Event) => WebhookContent,
): WebhookContent {
  if (event.action === 'completed') return read(event);
  return { ignored: `${name} ${event.action.slice(0, 100)}: the build has not ended` };
}

function readWorkflowRun(event: WorkflowRunEvent): WebhookContent {
  const run = event.workflow_run;
  const status = toBuildStatus(run.conclusion);
  if (status === null) return ignoreUndecided('run', run.conclusion);
  const home = run.head_repository?.full_name ?? event.repository.full_name;
  const fromFork = home !== event.repository.full_name;
  return {
    part: WHOLE_BUILD,
    attemptUnknown: false,
    fromFork,
    defaultBranch: event.repository.default_branch ?? null,
    build: {
      provider: 'github',
      repository: event.repository.full_name,
      externalId: String(run.id),
      status,
      pipeline: getFirstText(event.workflow?.name, run.name, run.path, 'workflow'),
      number: String(run.run_number),
      attempt: run.run_attempt,
      job: null,
      branch: fromFork ? forkBranch(home, run.head_branch) : toTextOrNull(run.head_branch),
      commit: run.head_sha,
      author: run.actor?.login ?? null,
      pullRequest: run.pull_requests[0]?.number ?? null,
      url: run.html_url,
      startedAt: toUtc(run.run_started_at),
      finishedAt: toUtc(run.updated_at),
    },
  };
}

/** Formats a fork's branch as `owner:branch`, like GitHub, because a fork's `main` is not ours. */
function forkBranch(home: string, branch: string | null | undefined): string | null {
  const name = toTextOrNull(branch);
  return name === null ? null : `${home.split('/', 1)[0]}:${name}`;
}

/**
 * Returns the branch from the event of a job or a check, or null if it is the default branch. The event does
 * not name the branch's repository, and a fork's `main` must not be
 * mistaken for ours; the event of the run clarifies this later.
 */
function findBranchUnlessDefault(
  repository: WorkflowJobEvent['repository'],
  branch: string | null | undefined,
): string | null {
  const name = toTextOrNull(branch);
  return name === (repository.default_branch ?? name) ? null : name;
}

function readWorkflowJob(event: WorkflowJobEvent): WebhookContent {
  const job = event.workflow_job;
  if (toBuildStatus(job.conclusion) !== 'failed') return ignoreUnlessFailed('job', job.conclusion);
  return {
    part: `job ${job.id}`,
    attemptUnknown: false,
    defaultBranch: event.repository.default_branch ?? null,
    build: {
      provider: 'github',
      repository: event.repository.full_name,
      externalId: String(job.run_id),
      status: 'failed',
      pipeline: getFirstText(job.workflow_name, job.name),
      number: String(job.run_id),
      attempt: job.run_attempt,
      job: job.name,
      branch: findBranchUnlessDefault(event.repository, job.head_branch),
      commit: job.head_sha,
      author: event.sender?.login ?? null,
      pullRequest: null,
      url: job.html_url ?? null,
      queuedSeconds: findSecondsBetween(job.created_at, job.started_at),
      startedAt: toUtc(job.started_at),
      finishedAt: toUtc(job.completed_at),
    },
  };
}

function readCheckRun(event: CheckRunEvent): WebhookContent {
  const check = event.check_run;
  const { runId, jobId } = parseJobIds(check.details_url);
  if (runId === null)
    return {
      ignored:
        `the check "${check.name.slice(0, 100)}" is not a job of GitHub Actions: ` +
        'there is no log to read',
    };
  if (toBuildStatus(check.conclusion) !== 'failed') return ignoreUnlessFailed('check', check.conclusion);
  return {
    part: jobId === null ? `check ${check.name}` : `job ${jobId}`,
    attemptUnknown: true,
    defaultBranch: event.repository.default_branch ?? null,
    build: {
      provider: 'github',
      repository: event.repository.full_name,
      externalId: runId,
      status: 'failed',
      pipeline: check.name,
      number: runId,
      attempt: 1,
      job: check.name,
      branch: findBranchUnlessDefault(event.repository, check.check_suite?.head_branch),
      commit: check.head_sha,
      author: event.sender?.login ?? null,
      pullRequest: check.pull_requests[0]?.number ?? null,
      url: check.details_url ?? null,
      startedAt: toUtc(check.started_at),
      finishedAt: toUtc(check.completed_at),
    },
  };
}

/**
 * Reads the ids from `https://github.com/owner/name/actions/runs/<run id>/job/<job id>`, on any GitHub host.
 */
function parseJobIds(detailsUrl: string | null | undefined): {
  readonly runId: string | null;
  readonly jobId: string | null;
} {
  const address = /^https?:\/\/[^/]+\/[^/]+\/[^/]+\/actions\/runs\/(\d{1,19})(?:\/job\/(\d{1,19}))?(?:\/|$)/;
  const [, runId = null, jobId = null] = address.exec(detailsUrl ?? '') ?? [];
  return { runId, jobId };
}

function getFirstText(...candidates: readonly (string | null | undefined)[]): string {
  for (const candidate of candidates) {
    const text = toTextOrNull(candidate);
    if (text !== null) return text;
  }
  return 'unnamed';
}
