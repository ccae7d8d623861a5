import { AzureSettings, createAzureProvider } from '../../../src/providers/azure/provider.ts';
import {
  COMMIT,
  findPastLog,
  type HostAnswer,
  type HostState,
  keepHook,
  logAnswer,
  type ProviderWorld,
  RUN,
  type Sent,
} from '../contract.ts';

const PROJECT = '71777fbc-1cf2-4bd1-9540-128c1c71f766';

/** Azure DevOps' REST API, version 7.0, as its reference documents it. A job that is run again has a timeline for each earlier attempt. */
export const azureWorld: ProviderWorld = {
  name: 'azure',
  hooksOf: 'shop',
  lacks: ['comments', 'statuses', 'jobs', 'reruns'],
  page: () => `https://dev.azure.com/acme/${PROJECT}/_build/results?buildId=${RUN}&view=logs&j=r2`,
  build: { repository: 'shop/api', pipeline: 'ci', number: '20260301.12', externalId: `${PROJECT}/${RUN}` },
  open: (url, secret) =>
    createAzureProvider(
      AzureSettings.parse({ baseUrl: `${url}/acme`, token: 'azure-contract', webhookSecrets: [secret] }),
    ),
  deliver(sent, secret, deliveryId) {
    if (sent.of === 'job' || (sent.of === 'run' && sent.status === 'running')) return null;
    const eventType = sent.of === 'unknown' ? 'git.push' : 'build.complete';
    const payload = JSON.stringify({
      id: deliveryId,
      eventType,
      publisherId: 'tfs',
      resourceVersion: '2.0',
      resource: createResource(sent),
    });
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const basic = `Basic ${Buffer.from(`faultline:${secret}`).toString('base64')}`;
    return { payload, headers: secret === null ? headers : { ...headers, authorization: basic } };
  },
  answer({ method, path, body }, state) {
    const past = state.past.length > 0 ? answerPast(`${method} ${path}`, state) : null;
    if (past !== null) return past;
    const route = `${method} ${path.replace(`/acme/${PROJECT}/_apis/build/builds/${RUN}`, '')}`;
    const [isTimeline, attempt] = /^GET \/timeline(?:\/t(\d))?$/.exec(route) ?? [];
    if (isTimeline !== undefined)
      return state.jobs === null ? null : { json: { records: createRecords(state.jobs, attempt) } };
    const logged = /^GET \/logs\/(\d+)$/.exec(route)?.[1];
    if (logged !== undefined) return logAnswer(state, logged);
    if (route === 'GET /acme/_apis/projects/shop') return { json: { id: PROJECT, name: 'shop' } };
    if (route === 'GET /acme/shop/_apis/build/builds') return { json: { count: 0, value: [] } };
    if (route === 'GET /acme/_apis/hooks/subscriptions')
      return {
        json: {
          value: state.hooks.map(({ id, address: url }) => ({ id: `s${id}`, consumerInputs: { url } })),
        },
      };
    if (route === 'POST /acme/_apis/hooks/subscriptions') {
      const { url, basicAuthPassword } = Object(body.consumerInputs);
      return { json: { id: `s${keepHook(state, url, basicAuthPassword).id}` } };
    }
    return route === 'GET /acme/_apis/projects'
      ? { json: { count: 1, value: [{ id: PROJECT, name: 'shop' }] } }
      : null;
  },
};

const PAST_RESULT = { failed: 'failed', passed: 'succeeded', running: null } as const;

/** Answers about past runs, each a build with one job. */
function answerPast(route: string, state: HostState): HostAnswer | null {
  const [, id, rest = ''] =
    /^GET \/acme\/[^/]+\/_apis\/build\/builds\/(\d+)(\/timeline|\/logs\/\d+)?$/.exec(route) ?? [];
  const run = state.past.find((past) => String(past.id) === id);
  if (run === undefined) return null;
  if (rest.startsWith('/logs/')) return findPastLog(state, rest.slice('/logs/'.length));
  const job = { id: run.id * 10, name: 'test', outcome: 'failed', attempt: 1 } as const;
  if (rest === '/timeline') return { json: { records: createRecords([job], undefined) } };
  const { status, ended } = run;
  return {
    json: {
      ...createResource({ of: 'run', status: 'failed' }),
      id: run.id,
      url: `https://dev.azure.com/acme/${PROJECT}/_apis/build/Builds/${run.id}`,
      status: status === 'running' ? 'inProgress' : 'completed',
      result: PAST_RESULT[status],
      finishTime: status === 'running' ? null : ended,
    },
  };
}

type Jobs = NonNullable<HostState['jobs']>;

function createRecords(jobs: Jobs, attempt: string | undefined) {
  const newest = Math.max(...jobs.map((job) => job.attempt));
  const wanted = attempt === undefined ? newest : Number(attempt);
  const job = ({ id, name, outcome, attempt: of }: Jobs[number]) => ({
    id: `r${id}`,
    type: 'Job',
    name,
    state: 'completed',
    result: outcome === 'passed' ? 'succeeded' : 'failed',
    attempt: of,
    finishTime: `2026-03-01T1${of}:00:00Z`,
    log: { id, type: 'Container' },
    previousAttempts: Array.from({ length: of - 1 }, (_, at) => ({
      attempt: at + 1,
      timelineId: `t${at + 1}`,
      recordId: null,
    })),
  });
  return [
    { id: 's', type: 'Stage', name: 'build' },
    ...jobs.filter((other) => other.attempt === wanted).map(job),
  ];
}

function createResource(sent: Sent): object {
  if (sent.of === 'unknown') return { commits: [] };
  if (sent.of !== 'run') return { id: RUN };
  return {
    id: RUN,
    buildNumber: '20260301.12',
    url: `https://dev.azure.com/acme/${PROJECT}/_apis/build/Builds/${RUN}`,
    status: 'completed',
    result: sent.status === 'passed' ? 'succeeded' : 'failed',
    definition: { id: 1, name: 'ci' },
    project: { id: PROJECT, name: 'shop' },
    repository: { id: 'x', type: 'TfsGit', name: 'api' },
    sourceBranch: 'refs/pull/7/merge',
    sourceVersion: COMMIT,
    triggerInfo: {
      'pr.number': '7',
      'pr.isFork': sent.fork === true ? 'True' : 'False',
      'pr.sourceBranch': 'refs/heads/round',
    },
    requestedFor: { displayName: 'Ann' },
    startTime: '2026-03-01T10:00:00Z',
    finishTime: `2026-03-01T1${sent.attempt ?? 1}:05:00Z`,
  };
}
