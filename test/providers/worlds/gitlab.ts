import { createGitlabProvider, GitlabSettings } from '../../../src/providers/gitlab/provider.ts';
import {
  COMMIT,
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

/** GitLab's API as its reference documents it. */
export const gitlabWorld: ProviderWorld = {
  name: 'gitlab',
  lacks: [],
  page: () => 'https://gitlab.example.com/shop/api/-/jobs/2#L{line}',
  build: { repository: 'shop/api', pipeline: 'ci', number: '12', externalId: String(RUN) },
  open: (baseUrl, secret) =>
    createGitlabProvider(
      GitlabSettings.parse({
        baseUrl,
        token: 'glpat-contract',
        webhookSecrets: [secret],
        writes: ['comment', 'status', 'rerun'],
      }),
    ),
  deliver(sent, secret, deliveryId) {
    const event =
      sent.of === 'unknown' ? 'Merge Request Hook' : sent.of === 'job' ? 'Job Hook' : 'Pipeline Hook';
    const headers = {
      'content-type': 'application/json',
      'x-gitlab-event': event,
      'idempotency-key': deliveryId,
    };
    return {
      payload: JSON.stringify(createPayload(sent)),
      headers: secret === null ? headers : { ...headers, 'x-gitlab-token': secret },
    };
  },
  answer({ method, path, query, body }, state) {
    const route = `${method} ${path.replace('/api/v4', '').replace('/projects/shop/api', '')}`;
    const past = state.past.length > 0 ? answerPast(route, query, state) : null;
    if (past !== null) return past;
    if (route === 'GET /pipelines/4711/jobs') {
      if (state.jobs === null) return null;
      return { json: query.get('page') === '1' ? state.jobs.map(createJob) : [] };
    }
    const logged = /^GET \/jobs\/(\d+)\/trace$/.exec(route)?.[1];
    if (logged !== undefined) return logAnswer(state, logged);
    if (route === 'GET /pipelines/4711/test_report') return { json: { total_count: 0, test_suites: [] } };
    if (route === 'POST /pipelines/4711/retry') return keepRerun(state, body, 201);
    if (route === 'GET /version') return { json: { version: '18.4.0' } };
    if (route === 'GET /user') return { json: { username: OURS } };
    return answerHook(route, body, state) ?? noteAnswer(route, body, state);
  },
};

/** Pipelines that ended before. */
function answerPast(route: string, query: URLSearchParams, state: HostState): HostAnswer | null {
  if (route === 'GET ') return { json: project };
  if (route === 'GET /pipelines') {
    const size = Number(query.get('per_page'));
    const start = (Number(query.get('page')) - 1) * size;
    return {
      json: state.past
        .slice(start, start + size)
        .map(({ id, status }) => ({ id, status: status === 'failed' ? 'failed' : 'success' })),
    };
  }
  const [, id, what] = /^GET \/pipelines\/(\d+)(?:\/(jobs|test_report))?$/.exec(route) ?? [];
  const run = state.past.find((pastHostRun) => String(pastHostRun.id) === id);
  if (run === undefined) return findPastLog(state, /^GET \/jobs\/(\d+)\/trace$/.exec(route)?.[1]);
  if (run.isDeleted === true) return { status: 404, json: { message: '404 Not found' } };
  const { status, ended } = run;
  const said = { failed: 'failed', passed: 'success', running: 'running' }[status];
  if (what === 'test_report') return { json: { total_count: 0, test_suites: [] } };
  if (what === 'jobs')
    return {
      json: [{ id: run.id * 10, name: 'test', status: said, allow_failure: false, finished_at: ended }],
    };
  const times = { created_at: ended, finished_at: ended };
  return {
    json: {
      id: run.id,
      iid: run.id,
      name: 'ci',
      ref: 'main',
      tag: false,
      sha: COMMIT,
      status: said,
      ...times,
      user: { username: 'ann' },
    },
  };
}

function answerHook(
  route: string,
  body: Readonly<Record<string, unknown>>,
  state: HostState,
): HostAnswer | null {
  if (/^GET (?:\/(?:pipelines|repository\/commits|merge_requests))?$/.test(route)) return { json: [] };
  if (route === 'GET /hooks') return { json: state.hooks.map(({ id, address: url }) => ({ id, url })) };
  if (route === 'POST /hooks') return { status: 201, json: { id: keepHook(state, body.url, body.token).id } };
  const [, tried] = /^POST \/hooks\/(\d+)\/test\/push_events$/.exec(route) ?? [];
  if (tried !== undefined) return tryHook(gitlabWorld, state, tried);
  if (!/^GET \/hooks\/\d+\/events$/.test(route)) return null;
  return {
    json: state.delivered.map(({ status }) => ({ trigger: 'push_hooks', response_status: String(status) })),
  };
}

function noteAnswer(route: string, body: Readonly<Record<string, unknown>>, state: HostState) {
  const shown = ({ id, body: text, author }: HostState['comments'][number]) => ({
    id,
    body: text,
    author: { username: author },
  });
  if (route === 'GET /merge_requests/7/notes') return { json: state.comments.map(shown) };
  if (route === 'POST /merge_requests/7/notes') {
    const note = { id: 100 + state.comments.length, body: String(body.body), author: OURS };
    state.comments.push(note);
    return { status: 201, json: shown(note) };
  }
  const edited = /^PUT \/merge_requests\/7\/notes\/(\d+)$/.exec(route)?.[1];
  const note = state.comments.find(({ id }) => id === Number(edited));
  if (note !== undefined) {
    note.body = String(body.body);
    return { json: shown(note) };
  }
  if (route !== `POST /statuses/${COMMIT}`) return null;
  state.statuses.push({ state: String(body.state), description: String(body.description) });
  return { status: 201, json: { id: 1 } };
}

/** A retried job keeps its name, and ends an hour later. */
function createJob({ id, name, outcome, attempt }: NonNullable<HostState['jobs']>[number]) {
  return {
    id,
    name,
    status: outcome === 'failed' ? 'failed' : 'success',
    allow_failure: false,
    web_url: `https://gitlab.example.com/shop/api/-/jobs/${id}`,
    finished_at: `2026-03-01T1${attempt}:00:00.000Z`,
  };
}

const project = {
  path_with_namespace: 'shop/api',
  default_branch: 'main',
  web_url: 'https://gitlab.example.com/shop/api',
};

/** An hour for each attempt: GitLab runs a pipeline again under its id, and does not count. */
function createPayload(sent: Sent): object {
  if (sent.of === 'unknown') return { object_kind: 'merge_request', project, object_attributes: { iid: 7 } };
  if (sent.of === 'half') return { object_kind: 'pipeline', project, object_attributes: { id: RUN } };
  const hour = 10 + (sent.attempt ?? 1);
  const user = { username: 'ann' };
  if (sent.of === 'job') {
    const job = {
      build_id: 20 + hour,
      build_name: 'test',
      build_status: 'failed',
      build_started_at: `2026-03-01 ${hour - 1}:30:00 UTC`,
    };
    return { object_kind: 'build', ...job, ref: 'round', sha: COMMIT, pipeline_id: RUN, project, user };
  }
  const status = sent.status === 'passed' ? 'success' : sent.status;
  const pipeline = {
    id: RUN,
    iid: 12,
    name: 'ci',
    ref: 'round',
    tag: false,
    sha: COMMIT,
    status,
    created_at: '2026-03-01 10:00:00 UTC',
  };
  const finished = sent.status === 'running' ? {} : { finished_at: `2026-03-01 ${hour}:05:00 UTC` };
  const request = {
    iid: 7,
    source_branch: 'round',
    source_project_id: sent.fork === true ? 2 : 1,
    target_project_id: 1,
  };
  return {
    object_kind: 'pipeline',
    project,
    user,
    merge_request: request,
    object_attributes: { ...pipeline, ...finished },
  };
}
