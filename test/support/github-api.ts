import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RestEndpointMethodTypes } from '@octokit/rest';
import { answerForFake, type FakeGithub } from './fake-github.ts';
import { answerForApp, type TestGithubApp } from './github-app.ts';
import { type GithubPlace, takePrefix } from './github-place.ts';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

type Actions = RestEndpointMethodTypes['actions'];
type Job = Actions['listJobsForWorkflowRunAttempt']['response']['data']['jobs'][number];
type Artifact = Actions['listWorkflowRunArtifacts']['response']['data']['artifacts'][number];

/** The data of the fake GitHub. A test may change it at any time. */
export interface GithubState {
  jobs: Job[];
  artifacts: Artifact[];
  /** The stored files, by their path on the storage host. */
  readonly stored: Map<string, Buffer | string>;
  /** Answers a request instead of the API if it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
}

export interface GithubApi {
  readonly url: string;
  readonly state: GithubState;
  readonly api: LoopbackServer;
  /** The target of redirects: another host, like GitHub's storage. */
  readonly storage: LoopbackServer;
  close(): Promise<void>;
}

interface GithubApiPlan {
  /** The App that the server knows, in addition to any token. */
  readonly app?: TestGithubApp | null;
  readonly place?: GithubPlace;
  /** The storage of comments, checks and statuses. */
  readonly client?: FakeGithub;
}

/**
 * Starts a server with the part of GitHub's REST API that the build source uses, over real HTTP, with answers
 * in the published format.
 */
export async function startGithubApi({
  app = null,
  place = 'github.com',
  client,
}: GithubApiPlan = {}): Promise<GithubApi> {
  const state: GithubState = { jobs: [], artifacts: [], stored: new Map(), intercept: null };
  const storage = await startLoopback((request, response) => {
    const found = state.stored.get(new URL(request.url ?? '', 'http://x').pathname);
    if (found === undefined) response.writeHead(404).end('<Error>BlobNotFound</Error>');
    else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(found);
  });
  const api = await startLoopback((request, response) => {
    if (state.intercept?.(request, response) === true) return;
    if (!takePrefix(place, request)) return replyNotFound(response);
    if (app !== null && answerForApp(app, request, response)) return;
    if (client === undefined || !answerForFake(client, request, response))
      answer(state, storage.url, request, response);
  });
  const close = async () => {
    await api.close();
    await storage.close();
  };
  return { url: api.url, state, api, storage, close };
}

function answer(
  state: GithubState,
  storageUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
  const [, route = ''] = /^\/repos\/[^/]+\/[^/]+\/actions\/(.+)$/.exec(pathname) ?? [];
  if (/^runs\/\d+\/attempts\/\d+\/jobs$/.test(route)) {
    const size = Number(searchParams.get('per_page') ?? 30);
    const page = Number(searchParams.get('page') ?? 1);
    const jobs = state.jobs.slice((page - 1) * size, page * size);
    const more = page * size < state.jobs.length;
    const next = `<http://${request.headers.host}${pathname}?per_page=${size}&page=${page + 1}>; rel="next"`;
    sendJson(response, 200, { total_count: state.jobs.length, jobs }, more ? { link: next } : {});
  } else if (/^runs\/\d+\/artifacts$/.test(route)) {
    sendJson(response, 200, { total_count: state.artifacts.length, artifacts: state.artifacts });
  } else if (state.stored.has(`/${route}`)) {
    response.writeHead(302, { location: `${storageUrl}/${route}?sig=c2lnbmVk` }).end();
  } else replyNotFound(response);
}

function replyNotFound(response: ServerResponse): void {
  sendJson(response, 404, {
    message: 'Not Found',
    documentation_url: 'https://docs.github.com/rest',
    status: '404',
  });
}

/** Creates a job as the API lists it. */
export function createGithubJob(changes: Partial<Job> & { readonly id: number; readonly name: string }): Job {
  return {
    run_id: 289782451,
    run_url: 'https://api.github.com/repos/octo-org/octo-repo/actions/runs/289782451',
    run_attempt: 1,
    node_id: 'MDg6Q2hlY2tSdW4zOTk0NDQ0OTY=',
    head_sha: '3484a3fb816e0859fd6e1cea078d76385ff50625',
    url: `https://api.github.com/repos/octo-org/octo-repo/actions/jobs/${changes.id}`,
    html_url: `https://github.com/octo-org/octo-repo/actions/runs/289782451/job/${changes.id}`,
    status: 'completed',
    conclusion: 'failure',
    created_at: '2020-10-05T16:32:00Z',
    started_at: '2020-10-05T16:32:07Z',
    completed_at: '2020-10-05T16:33:49Z',
    steps: [],
    check_run_url: `https://api.github.com/repos/octo-org/octo-repo/check-runs/${changes.id}`,
    labels: ['ubuntu-latest'],
    runner_id: 1,
    runner_name: 'GitHub Actions 1',
    runner_group_id: 2,
    runner_group_name: 'GitHub Actions',
    workflow_name: 'test',
    head_branch: 'main',
    ...changes,
  };
}

/** Creates an artifact as the API lists it. */
export function createGithubArtifact(
  changes: Partial<Artifact> & { readonly id: number; readonly name: string },
): Artifact {
  return {
    node_id: 'MDg6QXJ0aWZhY3Q1',
    size_in_bytes: 1024,
    url: `https://api.github.com/repos/octo-org/octo-repo/actions/artifacts/${changes.id}`,
    archive_download_url: `https://api.github.com/repos/octo-org/octo-repo/actions/artifacts/${changes.id}/zip`,
    expired: false,
    created_at: '2020-10-05T16:33:49Z',
    expires_at: '2021-01-03T16:33:49Z',
    updated_at: '2020-10-05T16:33:49Z',
    ...changes,
  };
}
