import { createGiteaProvider, GiteaSettings } from '../../../src/providers/gitea/provider.ts';
import { computeHmac } from '../../../src/providers/webhook.ts';
import { COMMIT, logAnswer, OURS, type ProviderWorld, RUN, type Sent } from '../contract.ts';
import { answerComment, answerHook, answerPast, createJob } from './github.ts';

/** The API of Gitea 1.27 as its own description documents it. */
export const giteaWorld: ProviderWorld = {
  name: 'gitea',
  lacks: ['reruns'],
  page: () => 'https://github.com/shop/api/actions/runs/4711/job/2',
  build: { repository: 'shop/api', pipeline: 'ci', number: '12', externalId: String(RUN) },
  open: (baseUrl, secret) =>
    createGiteaProvider(
      GiteaSettings.parse({
        baseUrl,
        token: 'gitea-contract',
        webhookSecrets: [secret],
        writes: ['comment', 'status'],
      }),
    ),
  deliver(sent, secret, deliveryId) {
    const payload = JSON.stringify(createPayload(sent));
    const event = sent.of === 'unknown' ? 'repository' : sent.of === 'job' ? 'workflow_job' : 'workflow_run';
    const headers = {
      'content-type': 'application/json',
      'x-gitea-event': event,
      'x-gitea-delivery': deliveryId,
      'x-github-event': event,
    };
    return {
      payload,
      headers: secret === null ? headers : { ...headers, 'x-gitea-signature': computeHmac(secret, payload) },
    };
  },
  answer({ method, path, query, body }, state) {
    const route = `${method} ${path.replace('/api/v1', '').replace('/repos/shop/api', '')}`;
    const attempt = /^GET \/actions\/runs\/4711\/attempts\/(\d+)\/jobs$/.exec(route)?.[1];
    if (attempt !== undefined) {
      if (state.jobs === null) return null;
      const jobs = state.jobs.filter((job) => job.attempt === Number(attempt)).map(createJob);
      return { json: { total_count: jobs.length, jobs: query.get('page') === '1' ? jobs : [] } };
    }
    if (state.past.length > 0 && route === 'GET ')
      return { json: { full_name: 'shop/api', default_branch: 'main' } };
    const logged = state.past.length > 0 ? undefined : /^GET \/actions\/jobs\/(\d+)\/logs$/.exec(route)?.[1];
    if (logged !== undefined) return logAnswer(state, logged);
    if (route === 'GET /actions/runs/4711/artifacts') return { json: { total_count: 0, artifacts: [] } };
    if (route === 'GET /user') return { json: { login: OURS } };
    if (route === 'GET /version') return { json: { version: '1.27.3' } };
    if (route === 'GET /actions/workflows')
      return { json: { total_count: 1, workflows: [{ id: 'ci.yml', name: 'ci' }] } };
    return (
      answerPast(route, query, state) ??
      answerHook(giteaWorld, route, body, state) ??
      answerComment(route, body, state)
    );
  },
};

const repository = { full_name: 'shop/api', default_branch: 'main' };

/** As Gitea sends it: no conclusion until a run has ended, and no branch of a pull request's run. */
function createPayload(sent: Sent): object {
  const sender = { login: 'ann' };
  if (sent.of === 'unknown') return { action: 'created', repository, sender };
  if (sent.of === 'half') return { action: 'completed', repository, workflow_run: { id: RUN } };
  const attempt = sent.attempt ?? 1;
  if (sent.of === 'job') {
    const job = {
      id: 2,
      run_id: RUN,
      run_attempt: attempt,
      name: 'test',
      head_sha: COMMIT,
      html_url: 'https://git.example.com/x',
    };
    return {
      action: 'completed',
      repository,
      sender,
      workflow_job: { ...job, conclusion: 'failure', status: 'completed' },
    };
  }
  const pull = { number: 7, head: { repo: { id: sent.fork === true ? 2 : 1 } }, base: { repo: { id: 1 } } };
  const run = {
    id: RUN,
    path: 'ci.yml@refs/pull/7/head',
    run_number: 12,
    run_attempt: attempt,
    head_sha: COMMIT,
    actor: sender,
    html_url: 'https://git.example.com/shop/api/actions/runs/12',
    pull_requests: [pull],
    head_branch: 'round',
    ...(sent.status === 'running' ? {} : { conclusion: sent.status === 'failed' ? 'failure' : 'success' }),
  };
  return {
    action: sent.status === 'running' ? 'in_progress' : 'completed',
    repository,
    sender,
    workflow: { name: 'ci' },
    workflow_run: run,
  };
}
