import { CircleciSettings, createCircleciProvider } from '../../../src/providers/circleci/provider.ts';
import { computeHmac } from '../../../src/providers/webhook.ts';
import {
  COMMIT,
  findPastLog,
  type HostAnswer,
  type HostState,
  keepHook,
  keepRerun,
  logAnswer,
  type ProviderWorld,
  type Sent,
} from '../contract.ts';

const PIPELINE = '1285fe1d-d3a6-44fc-8886-8979558254c4';
let baseUrl = '';

/** CircleCI's API as its reference documents it: version 2, and version 1.1 for the output of steps. A re-run is a workflow of its own. */
export const circleciWorld: ProviderWorld = {
  name: 'circleci',
  hooksOf: 'gh/shop/api',
  lacks: ['comments', 'statuses'],
  page: () => 'https://app.circleci.com/pipelines/gh/shop/api/12/workflows/w1/jobs/2',
  build: { repository: 'shop/api', pipeline: 'ci', number: '12', externalId: `${PIPELINE}/ci` },
  open: (url, secret) => {
    baseUrl = url;
    return createCircleciProvider(
      CircleciSettings.parse({
        baseUrl: url,
        token: 'ccipat_contract',
        webhookSecrets: [secret],
        writes: ['rerun'],
      }),
    );
  },
  deliver(sent, secret, deliveryId) {
    const type = sent.of === 'unknown' ? 'ping' : sent.of === 'job' ? 'job-completed' : 'workflow-completed';
    const payload = JSON.stringify({
      id: deliveryId,
      type,
      happened_at: '2026-03-01T11:00:00Z',
      ...createPayload(sent),
    });
    const headers = { 'content-type': 'application/json', 'circleci-event-type': type };
    return {
      payload,
      headers:
        secret === null
          ? headers
          : { ...headers, 'circleci-signature': `v1=${computeHmac(secret, payload)}` },
    };
  },
  answer({ method, path, body }, state) {
    const route = `${method} ${path.replace('/api', '')}`;
    const past = state.past.length > 0 ? answerPast(route, state) : null;
    if (past !== null) return past;
    if (route === `GET /v2/pipeline/${PIPELINE}/workflow`)
      return state.jobs === null ? null : { json: { items: createWorkflows(state.jobs) } };
    const attempt = /^GET \/v2\/workflow\/w(\d)\/job$/.exec(route)?.[1];
    if (attempt !== undefined) {
      const items = (state.jobs ?? []).filter((job) => job.attempt === Number(attempt)).map(createJob);
      return {
        json: {
          items: [{ name: 'hold', type: 'approval', status: 'success' }, ...items],
          next_page_token: null,
        },
      };
    }
    if (route === 'POST /v2/workflow/w1/rerun') return keepRerun(state, body, 202);
    const job = /^GET \/v1\.1\/project\/gh\/shop\/api\/(\d+)$/.exec(route)?.[1];
    if (job !== undefined)
      return {
        json: { steps: [{ name: 'npm test', actions: [{ output_url: `${baseUrl}/output/${job}` }] }] },
      };
    const logged = /^GET \/output\/(\d+)$/.exec(route)?.[1];
    if (route === 'GET /v2/me') return { json: { id: 'u1', login: 'faultline', name: 'Faultline' } };
    if (route === 'GET /v2/project/gh/shop/api') return { json: { id: 'p1', slug: 'gh/shop/api' } };
    if (route === 'GET /v2/project/gh/shop/api/pipeline') return { json: { items: [] } };
    if (route === 'GET /v2/webhook')
      return { json: { items: state.hooks.map(({ id, address: url }) => ({ id: `h${id}`, url })) } };
    if (route === 'POST /v2/webhook')
      return { status: 201, json: { id: `h${keepHook(state, body.url, body['signing-secret']).id}` } };
    if (logged === undefined) return null;
    const log = logAnswer(state, logged);
    return log.text === undefined
      ? log
      : { json: [{ message: log.text, time: '2026-03-01T11:00:00Z', type: 'out' }] };
  },
};

/** Returns the id of the workflow of a past run. */
export function toWorkflowId(run: number): string {
  return `00000000-0000-4000-8000-${String(run).padStart(12, '0')}`;
}

const PAST_STATUS = { failed: 'failed', passed: 'success', running: 'running' } as const;

/** Answers about past runs, each a workflow of one pipeline with one job. */
function answerPast(route: string, state: HostState): HostAnswer | null {
  const workflows = state.past.map(({ id, status, ended }) => ({
    id: toWorkflowId(id),
    name: 'ci',
    project_slug: 'gh/shop/api',
    pipeline_id: PIPELINE,
    pipeline_number: 12,
    status: PAST_STATUS[status],
    created_at: '2026-03-01T10:45:00Z',
    stopped_at: status === 'running' ? null : ended,
    job: id * 10,
  }));
  const [, id, isJobs] = /^GET \/v2\/workflow\/([0-9a-f-]{36})(\/job)?$/.exec(route) ?? [];
  const workflow = workflows.find((candidate) => candidate.id === id);
  if (id !== undefined && workflow === undefined) return null;
  if (workflow !== undefined && isJobs === undefined) return { json: workflow };
  if (workflow !== undefined)
    return {
      json: { items: [{ ...createJob({ id: workflow.job, name: 'test', outcome: 'failed', attempt: 1 }) }] },
    };
  if (route === `GET /v2/pipeline/${PIPELINE}`)
    return {
      json: {
        id: PIPELINE,
        number: 12,
        vcs: { target_repository_url: 'https://github.com/shop/api', revision: COMMIT, branch: 'main' },
      },
    };
  if (route === `GET /v2/pipeline/${PIPELINE}/workflow`)
    return { json: { items: workflows.filter(({ status }) => status === 'failed') } };
  const steps = /^GET \/v1\.1\/project\/gh\/shop\/api\/(\d+)$/.exec(route)?.[1];
  if (steps !== undefined)
    return { json: { steps: [{ name: 'npm test', actions: [{ output_url: `/output/${steps}` }] }] } };
  const log = findPastLog(state, /^GET \/output\/(\d+)$/.exec(route)?.[1]);
  return log === null ? null : { json: [{ message: log.text, time: '2026-03-01T11:00:00Z', type: 'out' }] };
}

type Jobs = NonNullable<HostState['jobs']>;

function createWorkflows(jobs: Jobs) {
  const attempts = [...new Set(jobs.map(({ attempt }) => attempt))];
  return attempts.map((attempt) => ({
    id: `w${attempt}`,
    name: 'ci',
    status: 'failed',
    created_at: `2026-03-01T1${attempt - 1}:45:00Z`,
  }));
}

function createJob({ id, name, outcome, attempt }: Jobs[number]) {
  const status = outcome === 'passed' ? 'success' : 'failed';
  return {
    id: `j${id}`,
    job_number: id,
    name,
    status,
    type: 'build',
    project_slug: 'gh/shop/api',
    stopped_at: `2026-03-01T1${attempt}:00:00Z`,
  };
}

function createPayload(sent: Sent): object {
  const project = {
    project: { id: 'p', name: 'api', slug: 'gh/shop/api' },
    organization: { id: 'o', name: 'shop' },
  };
  if (sent.of === 'unknown') return project;
  if (sent.of === 'half') return { ...project, workflow: { name: 'ci' } };
  const hour = 10 + (sent.attempt ?? 1);
  const fork = sent.of === 'run' && sent.fork === true;
  const vcs = {
    provider_name: 'github',
    target_repository_url: 'https://github.com/shop/api',
    revision: COMMIT,
    branch: fork ? 'pull/7' : 'round',
    origin_repository_url: `https://github.com/${fork ? 'mallory' : 'shop'}/api`,
    commit: { author: { name: 'Ann' } },
  };
  const pipeline = { id: PIPELINE, number: 12, created_at: '2026-03-01T10:00:00Z', vcs };
  const workflow = {
    id: `w${hour}`,
    name: 'ci',
    url: 'https://app.circleci.com/pipelines/gh/shop/api/12',
    created_at: `2026-03-01T${hour - 1}:45:00Z`,
  };
  if (sent.of === 'job') {
    const job = {
      id: 'j',
      name: 'test',
      number: 2,
      status: 'failed',
      started_at: `2026-03-01T${hour - 1}:50:00Z`,
      stopped_at: `2026-03-01T${hour}:00:00Z`,
    };
    return { ...project, pipeline, workflow, job };
  }
  const status = sent.status === 'passed' ? 'success' : sent.status;
  return { ...project, pipeline, workflow: { ...workflow, status, stopped_at: `2026-03-01T${hour}:05:00Z` } };
}
