import type { IncomingMessage } from 'node:http';
import type { Build } from '../../src/domain/build.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';

/** What a pretended host knows of one run of `shop/api`. Change it at any time. */
export interface HostState {
  /** Null: the run was deleted. */
  jobs:
    | readonly {
        readonly id: number;
        readonly name: string;
        readonly outcome: 'failed' | 'passed';
        readonly attempt: number;
      }[]
    | null;
  /** What is answered where a log is requested: its text (`by id`: it names its job), a status with headers, or nothing for a long time. */
  log: string | { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | 'slow';
  readonly comments: { readonly id: number; body: string; readonly author: string }[];
  readonly statuses: { readonly state: string; readonly description: string }[];
  readonly hooks: { readonly id: number; readonly address: string; readonly secret: string }[];
  /** With what the failed jobs were asked to run again. */
  readonly reruns: unknown[];
  /** What was answered to the events that the host sent when it was asked for a test, newest first. */
  readonly delivered: { readonly event: string; readonly status: number }[];
  /** The credentials that the requests carried, oldest first. */
  readonly credentials: string[];
  /** Paths that the token may not read. */
  forbidden: RegExp | null;
  /** Runs that ended before, the newest first. */
  past: readonly PastHostRun[];
  /** So many of the next requests are told to come back in a second. */
  limited: number;
}

export interface PastHostRun {
  /** Also its number. Its only job has ten times this id. */
  readonly id: number;
  readonly status: 'failed' | 'passed' | 'running';
  /** ISO 8601. */
  readonly ended: string;
  /** A status: that is answered where its log is requested. */
  readonly log: string | number;
  /** It is listed, and gone when it is inspected. */
  readonly isDeleted?: boolean;
}

/** The login under which the pretended host keeps what is written. */
export const OURS = 'faultline-bot';
export const RUN = 4711;
export const COMMIT = 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b';
export const ENDED = '2026-03-01T11:00:00Z';

export interface HostAnswer {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HostRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** An event as the provider would send it. */
export type Sent =
  | {
      readonly of: 'run';
      readonly status: 'failed' | 'passed' | 'running';
      readonly attempt?: number;
      readonly fork?: boolean;
    }
  | { readonly of: 'job'; readonly attempt?: number }
  /** Of a kind that is none of ours; and one of ours that lacks half of its fields. */
  | { readonly of: 'unknown' }
  | { readonly of: 'half' };

/** One provider and a server that speaks its documented API over real HTTP. */
export interface ProviderWorld {
  readonly name: Provider['name'];
  /** With this host, a token, one webhook secret, comments and statuses on; `timeoutMs` of a whole fetch is the caller's. */
  open(url: string, secret: string): Provider;
  /** Headers and body of a delivery; null where the provider knows no such event. `secret` null: unsigned. */
  deliver(
    sent: Sent,
    secret: string | null,
    deliveryId: string,
  ): { readonly headers: Record<string, string>; readonly payload: string } | null;
  answer(request: HostRequest, state: HostState): HostAnswer | null;
  /** The build that the run's event becomes. */
  readonly build: Pick<Build, 'repository' | 'pipeline' | 'number' | 'externalId'>;
  /** What the host does not have. */
  readonly lacks: readonly ('attempts' | 'forks' | 'comments' | 'statuses' | 'jobs' | 'hooks' | 'reruns')[];
  /** The page of the failed job's log that is known. */
  page(hostUrl: string): string;
  /** What the repository is called where webhooks are made; absent: as the build says. */
  readonly hooksOf?: string;
}

export interface Host extends LoopbackServer {
  readonly state: HostState;
}

/** The world's host on a free port. */
export async function startHost(world: ProviderWorld): Promise<Host> {
  const state: HostState = {
    jobs: [
      { id: 1, name: 'lint', outcome: 'passed', attempt: 1 },
      { id: 2, name: 'test', outcome: 'failed', attempt: 1 },
    ],
    log: 'FAIL cart adds up\n',
    comments: [],
    statuses: [],
    hooks: [],
    reruns: [],
    delivered: [],
    credentials: [],
    forbidden: null,
    past: [],
    limited: 0,
  };
  const server = await startLoopback((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
      const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://x');
      const { method = '', headers } = request;
      const body =
        headers['content-type'] === 'application/json' || text.startsWith('{')
          ? JSON.parse(text || '{}')
          : {};
      const path = decodeURIComponent(pathname);
      state.credentials.push(readCredential(headers));
      if (state.limited > 0) {
        state.limited -= 1;
        response
          .writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' })
          .end('{"message":"slow down"}');
        return;
      }
      const isForbidden = state.forbidden?.test(path) === true;
      const answer = isForbidden
        ? { status: 403, json: { message: 'Forbidden' } }
        : world.answer({ method, path, query, headers, body }, state);
      if (answer === HANGS) return;
      const { status = answer === null ? 404 : 200, json, text: plain, headers: more = {} } = answer ?? {};
      const type = plain === undefined ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8';
      response
        .writeHead(status, { 'content-type': type, ...more })
        .end(plain ?? JSON.stringify(json ?? { message: 'Not Found' }));
    })();
  });
  return { ...server, state };
}

/** Returns the token of a request, wherever the host expects it. */
function readCredential(headers: IncomingMessage['headers']): string {
  const given = headers.authorization ?? headers['private-token'] ?? headers['circle-token'] ?? '';
  const [scheme, value = ''] = String(given).split(' ', 2);
  return scheme === 'Basic' ? Buffer.from(value, 'base64').toString() : String(given);
}

/** No answer at all, until the connection ends. */
const HANGS: HostAnswer = {};

/** What the state says of a log. */
export function logAnswer({ log }: HostState, id: string | undefined): HostAnswer {
  if (log === 'slow') return HANGS;
  if (log === 'by id') return { text: `the log of job ${id}\n` };
  return typeof log === 'string'
    ? { text: log }
    : { status: log.status, headers: log.headers ?? {}, json: { message: 'refused' } };
}

/** Keeps a webhook as it was made. */
export function keepHook(state: HostState, address: unknown, secret: unknown): HostState['hooks'][number] {
  const hook = { id: 31 + state.hooks.length, address: String(address), secret: String(secret) };
  state.hooks.push(hook);
  return hook;
}

/** Keeps that the failed jobs were asked to run again. */
export function keepRerun(state: HostState, body: unknown, status: number): HostAnswer {
  if (state.jobs === null) return { status: 404, json: { message: 'Not Found' } };
  state.reruns.push(body);
  return { status, json: {} };
}

/** Sends an event of an unknown kind to a webhook, signed with its secret. */
export function tryHook(world: ProviderWorld, state: HostState, id: string | undefined): HostAnswer | null {
  const hook = state.hooks.find((other) => String(other.id) === id);
  const delivery =
    hook === undefined
      ? null
      : world.deliver({ of: 'unknown' }, hook.secret, `test-${state.delivered.length}`);
  if (hook === undefined || delivery === null) return null;
  void fetch(hook.address, { method: 'POST', headers: delivery.headers, body: delivery.payload }).then(
    ({ status }) => state.delivered.unshift({ event: 'test', status }),
  );
  return { status: 204, text: '' };
}

/** Of a job of a past run: its log. */
export function findPastLog({ past }: HostState, job: string | undefined): HostAnswer | null {
  const run = past.find(({ id }) => String(id * 10) === job);
  if (run === undefined) return null;
  return typeof run.log === 'number' ? { status: run.log, json: { message: 'gone' } } : { text: run.log };
}
