import { createGithubProvider, GithubSettings } from '../../../src/providers/github/provider.ts';
import { signForGithub } from '../../support/webhook-senders.ts';
import {
  COMMIT,
  ENDED,
  findPastLog,
  type HostAnswer,
  type HostState,
  keepHook,
  keepRerun,
  logAnswer,
  OURS,
  type ProviderWorld,
  RUN,
  type Sent,
  tryHook,
} from '../contract.ts';

/** GitHub's documented API, as far as a run, its pull request and its commit go. */
export const githubWorld: ProviderWorld = {
  name: 'github',
  lacks: [],
  page: () => 'https://github.com/shop/api/actions/runs/4711/job/2#step:3:1',
  build: { repository: 'shop/api', pipeline: 'ci', number: '12', externalId: String(RUN) },
  open: (baseUrl, secret) =>
    createGithubProvider(
      GithubSettings.parse({
        baseUrl,
        token: 'ghp_contract',
        webhookSecrets: [secret],
        writes: ['comment', 'status', 'rerun'],
      }),
    ),
  deliver(sent, secret, deliveryId) {
    const payload = JSON.stringify(createPayload(sent));
    const event = sent.of === 'unknown' ? 'star' : sent.of === 'job' ? 'workflow_job' : 'workflow_run';
    const headers = {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': deliveryId,
    };
    return {
      payload,
      headers:
        secret === null ? headers : { ...headers, 'x-hub-signature-256': signForGithub(payload, secret) },
    };
  },
  answer({ method, path, query, body }, state) {
    const route = `${method} ${path.replace('/api/v3', '').replace('/repos/shop/api', '')}`;
    const attempt = /^GET \/actions\/runs\/4711\/attempts\/(\d+)\/jobs$/.exec(route)?.[1];
    if (attempt !== undefined) {
      if (state.jobs === null) return null;
      const jobs = state.jobs.filter((job) => job.attempt === Number(attempt)).map(createJob);
      return { json: { total_count: jobs.length, jobs: query.get('page') === '2' ? [] : jobs } };
    }
    if (state.past.length > 0 && route === 'GET ')
      return { json: { full_name: 'shop/api', default_branch: 'main' } };
    const logged = state.past.length > 0 ? undefined : /^GET \/actions\/jobs\/(\d+)\/logs$/.exec(route)?.[1];
    if (logged !== undefined) return logAnswer(state, logged);
    if (/\/attempts\/\d+\/logs$/.test(route)) return { status: 404, json: { message: 'Not Found' } };
    if (route === 'GET /actions/runs/4711/artifacts') return { json: { total_count: 0, artifacts: [] } };
    if (route === 'POST /actions/runs/4711/rerun-failed-jobs') return keepRerun(state, body, 201);
    if (route === 'POST /graphql') return { json: { data: { viewer: { login: OURS } } } };
    return (
      answerPast(route, query, state) ??
      answerHook(githubWorld, route, body, state) ??
      answerComment(route, body, state)
    );
  },
};

/** Runs that ended before, as GitHub and Gitea list them. */
export function answerPast(route: string, query: URLSearchParams, state: HostState): HostAnswer | null {
  if (state.past.length === 0) return null;
  if (route === 'GET /actions/runs') {
    const size = Number(query.get('per_page') ?? query.get('limit'));
    const start = (Number(query.get('page')) - 1) * size;
    return {
      json: {
        total_count: state.past.length,
        workflow_runs: state.past.slice(start, start + size).map(createPastRun),
      },
    };
  }
  const [, id, what] =
    /^GET \/actions\/runs\/(\d+)(?:\/(?:attempts\/1\/)?(jobs|artifacts|logs))?$/.exec(route) ?? [];
  const run = state.past.find((pastHostRun) => String(pastHostRun.id) === id);
  if (run?.isDeleted === true) return null;
  if (run !== undefined && what === undefined) return { json: createPastRun(run) };
  if (run !== undefined && what === 'artifacts') return { json: { total_count: 0, artifacts: [] } };
  if (run !== undefined && what === 'jobs') {
    const job = { id: run.id * 10, name: 'test', status: 'completed', completed_at: run.ended };
    return {
      json: {
        total_count: 1,
        jobs:
          query.get('page') === '2'
            ? []
            : [{ ...job, conclusion: run.status === 'failed' ? 'failure' : 'success' }],
      },
    };
  }
  return findPastLog(state, /^GET \/actions\/jobs\/(\d+)\/logs$/.exec(route)?.[1]);
}

function createPastRun({ id, status, ended }: HostState['past'][number]) {
  return {
    id,
    run_number: id,
    run_attempt: 1,
    status: status === 'running' ? 'in_progress' : 'completed',
    conclusion: { failed: 'failure', passed: 'success', running: null }[status],
    path: 'ci.yml@refs/heads/main',
    head_branch: 'main',
    head_sha: COMMIT,
    html_url: `https://host.example/shop/api/actions/runs/${id}`,
    actor: { login: 'ann' },
    name: 'ci',
    run_started_at: ended,
    updated_at: ended,
    started_at: ended,
    completed_at: ended,
    pull_requests: [],
  };
}

/** Webhooks, and what a token may read, as GitHub and Gitea have them. */
export function answerHook(
  world: ProviderWorld,
  route: string,
  body: Readonly<Record<string, unknown>>,
  state: HostState,
): HostAnswer | null {
  if (/^GET (?:\/(?:actions\/runs|commits|pulls))?$/.test(route)) return { json: [] };
  if (route === 'GET /hooks')
    return { json: state.hooks.map(({ id, address }) => ({ id, config: { url: address } })) };
  if (route === 'POST /hooks') {
    const { url, secret } = Object(body.config);
    return { status: 201, json: { id: keepHook(state, url, secret).id } };
  }
  const [, tried] = /^POST \/hooks\/(\d+)\/(?:pings|tests)$/.exec(route) ?? [];
  if (tried !== undefined) return tryHook(world, state, tried);
  if (/^GET \/hooks\/\d+\/deliveries$/.test(route))
    return { json: state.delivered.map(({ event, status }) => ({ event, status_code: status })) };
  return null;
}

/** Comments and statuses as GitHub and Gitea have them. */
export function answerComment(route: string, body: Readonly<Record<string, unknown>>, state: HostState) {
  const shown = ({ id, body: text, author }: HostState['comments'][number]) => ({
    id,
    body: text,
    user: { login: author },
  });
  if (route === 'GET /issues/7/comments') return { json: state.comments.map(shown) };
  if (route === 'POST /issues/7/comments') {
    const comment = { id: 100 + state.comments.length, body: String(body.body), author: OURS };
    state.comments.push(comment);
    return { status: 201, json: shown(comment) };
  }
  const edited = /^PATCH \/issues\/comments\/(\d+)$/.exec(route)?.[1];
  if (edited !== undefined) {
    const comment = state.comments.find(({ id }) => id === Number(edited));
    if (comment === undefined) return null;
    comment.body = String(body.body);
    return { json: shown(comment) };
  }
  if (route !== `POST /statuses/${COMMIT}`) return null;
  state.statuses.push({ state: String(body.state), description: String(body.description) });
  return { status: 201, json: { id: 1 } };
}

/** A job as GitHub and Gitea list it. */
export function createJob({ id, name, outcome, attempt }: NonNullable<HostState['jobs']>[number]) {
  const conclusion = outcome === 'failed' ? 'failure' : 'success';
  const steps = [
    { name: 'Set up job', number: 1, conclusion: 'success' },
    { name: 'Run npm test', number: 3, conclusion },
  ];
  const html_url = `https://github.com/shop/api/actions/runs/${RUN}/job/${id}`;
  return {
    id,
    name,
    run_id: RUN,
    run_attempt: attempt,
    status: 'completed',
    conclusion,
    completed_at: ENDED,
    html_url,
    steps,
  };
}

const repository = { full_name: 'shop/api', default_branch: 'main' };

function createPayload(sent: Sent): object {
  if (sent.of === 'unknown') return { action: 'created', repository };
  if (sent.of === 'half') return { action: 'completed', repository, workflow_run: { id: RUN } };
  const attempt = sent.attempt ?? 1;
  if (sent.of === 'job') {
    const job = {
      id: 2,
      run_id: RUN,
      run_attempt: attempt,
      name: 'test',
      workflow_name: 'ci',
      head_branch: 'round',
      head_sha: COMMIT,
    };
    return { action: 'completed', repository, workflow_job: { ...job, conclusion: 'failure' } };
  }
  const run = {
    id: RUN,
    name: 'ci',
    run_number: 12,
    run_attempt: attempt,
    head_branch: 'round',
    head_sha: COMMIT,
    html_url: 'https://github.com/shop/api/actions/runs/4711',
    pull_requests: [{ number: 7 }],
    head_repository: { full_name: sent.fork === true ? 'eve/api' : 'shop/api' },
    conclusion: sent.status === 'running' ? null : sent.status === 'failed' ? 'failure' : 'success',
  };
  return {
    action: sent.status === 'running' ? 'in_progress' : 'completed',
    repository,
    workflow: { name: 'ci' },
    workflow_run: run,
  };
}
