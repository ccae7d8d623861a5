import { BuildkiteSettings, createBuildkiteProvider } from '../../../src/providers/buildkite/provider.ts';
import { computeHmac } from '../../../src/providers/webhook.ts';
import { COMMIT, keepRerun, logAnswer, type ProviderWorld, type Sent } from '../contract.ts';

/** Buildkite's REST API, version 2, as its reference documents it. A retried job is listed beside its retry. */
export const buildkiteWorld: ProviderWorld = {
  name: 'buildkite',
  lacks: ['comments', 'statuses', 'jobs', 'hooks'],
  page: () => 'https://buildkite.com/acme/ci/builds/12#2',
  build: { repository: 'shop/api', pipeline: 'ci', number: '12', externalId: 'acme/ci/12' },
  open: (url, secret) =>
    createBuildkiteProvider(
      BuildkiteSettings.parse({
        baseUrl: `${url}/v2`,
        token: 'bkua_contract',
        webhookSecrets: [secret],
        writes: ['rerun'],
      }),
    ),
  deliver(sent, secret, deliveryId) {
    if (sent.of === 'job') return null;
    const event =
      sent.of === 'unknown'
        ? 'agent.connected'
        : sent.of === 'run' && sent.status === 'running'
          ? 'build.running'
          : 'build.finished';
    const payload = JSON.stringify({ event, ...createPayload(sent) });
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'x-buildkite-event': event,
      'x-buildkite-request': deliveryId,
    };
    const signature =
      secret === null
        ? {}
        : {
            'x-buildkite-signature': `timestamp=${timestamp},signature=${computeHmac(secret, `${timestamp}.${payload}`)}`,
          };
    return { payload, headers: { ...headers, ...signature } };
  },
  answer({ method, path, query, body }, state) {
    const route = `${method} ${path.replace('/v2/organizations/acme/pipelines/ci/builds/12', '')}`;
    if (route === 'GET ' && state.jobs !== null) {
      const newest = Math.max(...state.jobs.map(({ attempt }) => attempt));
      const listed =
        query.get('include_retried_jobs') === 'true'
          ? state.jobs
          : state.jobs.filter(({ attempt }) => attempt === newest);
      return {
        json: {
          number: 12,
          state: 'failed',
          jobs: [{ id: 'w', type: 'waiter' }, ...listed.map((job) => createJob(job, listed))],
        },
      };
    }
    const logged = /^GET \/jobs\/(\d+)\/log\.txt$/.exec(route)?.[1];
    if (logged !== undefined) return logAnswer(state, logged);
    if (route === 'POST /retry_failed_jobs') return keepRerun(state, body, 200);
    if (route === 'GET /artifacts') return { json: [] };
    if (route === 'GET /v2/access-token')
      return { json: { uuid: 'b63254c0', scopes: ['read_builds', 'read_build_logs'] } };
    return null;
  },
};

type Job = NonNullable<Parameters<ProviderWorld['answer']>[1]['jobs']>[number];

function createJob({ id, name, outcome, attempt }: Job, all: readonly Job[]) {
  const retry = all.find((one) => one.name === name && one.attempt === attempt + 1);
  const ended = `2026-03-01T1${attempt}:00:00.000Z`;
  const job = {
    id: String(id),
    type: 'script',
    name,
    state: outcome,
    soft_failed: false,
    finished_at: ended,
    web_url: `https://buildkite.com/acme/ci/builds/12#${id}`,
  };
  return {
    ...job,
    retried: retry !== undefined,
    retried_in_job_id: retry === undefined ? null : String(retry.id),
  };
}

function createPayload(sent: Sent): object {
  if (sent.of === 'unknown') return { agent: { id: '0b461f65' } };
  if (sent.of === 'half' || sent.of === 'job') return { build: { number: 12 }, pipeline: { slug: 'ci' } };
  const build = {
    url: 'https://api.buildkite.com/v2/organizations/acme/pipelines/ci/builds/12',
    web_url: 'https://buildkite.com/acme/ci/builds/12',
    number: 12,
    state: sent.status,
    blocked: false,
    commit: COMMIT,
    branch: 'round',
    tag: null,
    creator: { name: 'Ann' },
    pull_request: {
      id: '7',
      base: 'main',
      repository: `https://github.com/${sent.fork === true ? 'mallory' : 'shop'}/api.git`,
    },
    started_at: '2026-03-01 10:00:00 UTC',
    finished_at: sent.status === 'running' ? null : `2026-03-01 1${sent.attempt ?? 1}:05:00 UTC`,
  };
  return {
    build,
    pipeline: { slug: 'ci', name: 'ci', repository: 'git@github.com:shop/api.git', default_branch: 'main' },
  };
}
