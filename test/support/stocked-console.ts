import { setTimeout as sleep } from 'node:timers/promises';
import { buildHttp, type HttpDeps } from '../../src/api/server.ts';
import type { App } from '../../src/app.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Clock } from '../../src/lib/time.ts';
import { createKeptRuns } from '../../src/replay/compare/kept-runs.ts';
import type { Stores } from '../../src/stores/stores.ts';
import { readCapturedFailure } from './captured-failures.ts';
import { openTestApp } from './test-service.ts';

/** The people with tokens, by name. */
export const READERS = {
  admin: 'token-of-the-administrator-of-tests',
  anna: 'token-of-the-reviewer-anna-of-tests',
  ben: 'token-of-the-reviewer-ben-of-tests',
  reader: 'token-of-somebody-who-only-reads',
} as const;

/** A failed build to upload: a captured failure, or any log. */
export interface Incoming {
  readonly slug?: string;
  readonly log?: string;
  /** A test report, as JUnit XML. */
  readonly report?: string;
  readonly repository?: string;
  readonly number: string;
  readonly branch?: string;
  readonly commit?: string;
  readonly pullRequest?: number;
  readonly status?: 'failed' | 'passed';
}

/** The whole of Faultline in this process, as `faultline serve` runs it, on its own port. */
export interface StockedConsole {
  /** The URL, http://localhost:<port>. Browsers accept Secure cookies for this name. */
  readonly address: string;
  readonly stores: Stores;
  readonly app: App;
  /** Uploads a build as an external sender would. Resolves with its id when its triage has ended. */
  bring(build: Incoming): Promise<string>;
  /** Returns the cookie value of a session of one of the readers. */
  openSession(name: keyof typeof READERS): Promise<string>;
  /** Stops listening, as during a restart of the service. `listen` opens the same port again. */
  deafen(): Promise<void>;
  listen(): Promise<void>;
  close(): Promise<void>;
}

export interface StockOptions {
  readonly change?: (config: Config) => Config;
  readonly routes?: HttpDeps['routes'];
  readonly clock?: Clock;
}

export async function openStockedConsole({
  change = (config) => config,
  routes = [],
  clock,
}: StockOptions = {}): Promise<StockedConsole> {
  const { app, close } = await openTestApp((config) => change(withReaders(config)), clock);
  const deps = { ...app, routes, keptRuns: createKeptRuns(app.config.runs.folder) };
  let http = await buildHttp(deps);
  const first = new URL(await http.listen({ port: 0, host: '127.0.0.1' }));
  const address = `http://localhost:${first.port}`;
  await app.loadKnowledge();
  await app.work();
  return {
    address,
    app,
    stores: app.stores,
    bring: async (build) => await bring(address, build, app.stores),
    openSession: async (name) => await signIn(address, READERS[name]),
    deafen: async () => await http.close(),
    listen: async () => {
      http = await buildHttp(deps);
      await http.listen({ port: Number(first.port), host: '127.0.0.1' });
    },
    close: async () => {
      await http.close();
      await close(0);
    },
  };
}

function withReaders(config: Config): Config {
  const roles = {
    admin: ['admin'],
    anna: ['read', 'review'],
    ben: ['read', 'review'],
    reader: ['read'],
  } as const;
  const tokens = Object.entries(roles).map(([name, own]) => ({
    name,
    token: Reflect.get(READERS, name),
    roles: [...own],
  }));
  // No answer is confident enough to be published without a person, unless a test changes that.
  const triage = { ...config.triage, thresholds: { ...config.triage.thresholds, autoNotify: 1 } };
  return { ...config, triage, auth: { ...config.auth, tokens } };
}

async function bring(address: string, build: Incoming, stores: Stores): Promise<string> {
  const {
    slug,
    log = slug === undefined ? 'ok' : readCapturedFailure(slug).log,
    repository = `demo/${slug ?? 'shop'}`,
    status = 'failed',
  } = build;
  const { number, branch = 'main', commit, pullRequest, report } = build;
  const form = new FormData();
  form.set(
    'metadata',
    JSON.stringify({ repository, pipeline: 'ci', number, status, branch, commit, pullRequest }),
  );
  form.set('log', new Blob([log]), 'build.log');
  if (report !== undefined) form.set('report', new Blob([report]), 'junit.xml');
  const answer = await fetch(`${address}/api/builds`, {
    method: 'POST',
    headers: { authorization: `Bearer ${READERS.admin}` },
    body: form,
  });
  if (!answer.ok) throw new Error(`the build was refused: ${answer.status} ${await answer.text()}`);
  const told: unknown = await answer.json();
  const buildId = String(Reflect.get(Object(told), 'buildId'));
  for (let tries = 0; status === 'failed' && tries < 600; tries++) {
    const job = await stores.triages.findByBuild(buildId);
    if (job?.state === 'done') return buildId;
    if (job?.state === 'failed') throw new Error(`the triage failed: ${job.error}`);
    await sleep(50);
  }
  return buildId;
}

async function signIn(address: string, token: string): Promise<string> {
  const body = new URLSearchParams({ token, next: '/' });
  const answer = await fetch(`${address}/sign-in`, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { origin: address },
  });
  const value = /__Host-fl=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  if (value === undefined) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
  return value;
}
