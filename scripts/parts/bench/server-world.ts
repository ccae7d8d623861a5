import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { createGithubJob, type GithubApi, startGithubApi } from '../../../test/support/github-api.ts';
import {
  installServer,
  type Running,
  type ServerInstallation,
} from '../../../test/support/server-installation.ts';
import { createGithubExample, signForGithub } from '../../../test/support/webhook-senders.ts';

const SECRET = 'a-webhook-secret-of-the-bench';
const TOKEN = 'a-token-of-the-administrator-of-the-bench';
const OWED = `select 1 from work where topic = 'triage' and version > settled limit 1`;
const Progress = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(z.object({ analyst: z.string() })),
});

/**
 * An installation like that of the compose file, with one API process, a GitHub server with logs, and a
 * sender of webhooks.
 */
export interface ServerWorld {
  readonly installation: ServerInstallation;
  readonly api: Running;
  /** Starts workers with additional settings. Resolves when they take jobs. */
  startWorkers(count: number, environment?: Readonly<Record<string, string>>): Promise<Running[]>;
  stop(workers: readonly Running[]): Promise<void>;
  /** Creates a failed run whose one job has this log. Resolves when its webhook was accepted. */
  fail(number: number, log: string): Promise<void>;
  /** Waits until the build with that number is answered. Returns which analyst answered each cause. */
  answered(number: number): Promise<string[]>;
  /** Uploads a failed build. Resolves when it was accepted. */
  upload(number: number, log: string): Promise<void>;
  /** Does the same with a form, as for a large log. */
  uploadForm(number: number, log: string): Promise<void>;
  /** Waits until the database contains no pending work. */
  idle(): Promise<void>;
  call(method: string, path: string, body?: object): Promise<unknown>;
  close(): Promise<void>;
}

export async function openServerWorld(
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerWorld> {
  const github = await startGithubApi();
  const installation = await installServer({
    FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
    FAULTLINE_GITHUB_URL: github.url,
    FAULTLINE_GITHUB_TOKEN: 'ghs_of-the-bench',
    FAULTLINE_TOKENS: `admin:admin:${TOKEN}`,
    ...environment,
  });
  await installation.start('migrate');
  const api = await installation.start('api');
  const database = new pg.Client({ connectionString: installation.databaseUrl });
  await database.connect();
  const call = (method: string, path: string, body?: object) => callApi(api.address + path, method, body);
  return {
    installation,
    api,
    startWorkers: (count, more = {}) =>
      Promise.all(Array.from({ length: count }, () => installation.start('worker', more))),
    stop: async (workers) => {
      for (const { process } of workers) process.kill('SIGTERM');
      await Promise.all(workers.map(({ exited }) => exited));
    },
    fail: (number, log) => sendFailure(api.address, github, number, log),
    answered: async (number) => {
      for (;;) {
        const found = await call('GET', `/api/builds/github:${number}/analyses`).catch(() => null);
        const progress = Progress.safeParse(found);
        if (progress.success && progress.data.triage?.state === 'done')
          return progress.data.analyses.map(({ analyst }) => analyst);
        await sleep(5);
      }
    },
    call,
    upload: async (number, log) => {
      await call('POST', '/api/builds', {
        metadata: createMetadata(number),
        logs: [{ name: 'build.log', text: log }],
      });
    },
    uploadForm: async (number, log) => {
      const form = new FormData();
      form.set('metadata', JSON.stringify(createMetadata(number)));
      form.set('log', new Blob([log]), 'build.log');
      await callApi(`${api.address}/api/builds`, 'POST', form);
    },
    idle: async () => {
      while ((await database.query(OWED)).rows.length > 0) await sleep(20);
    },
    close: async () => {
      await database.end();
      await installation.dispose();
      await github.close();
    },
  };
}

async function sendFailure(address: string, github: GithubApi, number: number, log: string): Promise<void> {
  github.state.jobs = [createGithubJob({ id: number, name: 'test' })];
  github.state.stored.set(`/jobs/${number}/logs`, log);
  const changes = { conclusion: 'failure', status: 'completed', run_number: number, id: 1_000_000 + number };
  const body = JSON.stringify(createGithubExample('workflow_run', 'completed', { workflow_run: changes }));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-github-delivery': `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    'x-hub-signature-256': signForGithub(body, SECRET),
  };
  const response = await fetch(`${address}/webhooks/github`, { method: 'POST', headers, body });
  if (response.status !== 202)
    throw new Error(`the webhook was answered ${response.status}: ${await response.text()}`);
}

function createMetadata(number: number) {
  return { repository: 'bench/shop', pipeline: 'ci', number: `${number}`, status: 'failed' };
}

async function callApi(url: string, method: string, body: object | undefined): Promise<unknown> {
  const isJson = body !== undefined && !(body instanceof FormData);
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    ...(isJson ? { 'content-type': 'application/json' } : {}),
  };
  const response = await fetch(url, {
    method,
    headers,
    body: body instanceof FormData ? body : isJson ? JSON.stringify(body) : null,
  });
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
