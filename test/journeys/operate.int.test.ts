import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { BARE } from '../support/bare-environment.ts';
import { readCapturedFailure } from '../support/captured-failures.ts';
import { freePort } from '../support/gate.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../support/github-api.ts';
import { startPostgres, type TestServer, withoutPostgres } from '../support/postgres.ts';
import { startSpanReceiver } from '../support/span-receiver.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
/** None of these may be in any line of the log or in any span. */
const CANARIES = {
  FAULTLINE_GITHUB_WEBHOOK_SECRET: 'Canary-Hook-31d9f0c2a7',
  FAULTLINE_JENKINS_WEBHOOK_SECRET: 'Canary-Jenk-88ab01f7e2',
  FAULTLINE_GITHUB_TOKEN: 'ghs_CanaryGit9f8e7d6c5b4a3210',
  OPENAI_API_KEY: 'sk-CanaryMod77e1b2c3d4f5',
} as const;
const TOKEN = 'Canary-Tokn-5566aabbcc';
const PASSWORD = 'Canary-Pass-0a1b2c3d4e';
const failure = readCapturedFailure('profile-none-attribute');
const Analyses = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(Analysis),
});
const Targets = z.array(z.object({ targets: z.array(z.string()) }));
const Readiness = z.object({
  ready: z.boolean(),
  degraded: z.array(z.string()),
  backends: z.record(z.string(), z.string()),
});

interface Process {
  readonly child: ChildProcess;
  readonly said: () => string;
}

let postgres: TestServer;
let github: GithubApi;
let receiver: Awaited<ReturnType<typeof startSpanReceiver>>;
let folder = '';
const processes: Process[] = [];
beforeAll(async () => {
  [postgres, github, receiver] = await Promise.all([startPostgres(), startGithubApi(), startSpanReceiver()]);
  folder = await mkdtemp(join(tmpdir(), 'faultline-operate-'));
});
afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.allSettled([
    postgres.dispose(),
    github.close(),
    receiver.close(),
    rm(folder, { recursive: true, force: true }),
  ]);
});

/** Starts one command of a server installation and waits until it says that it works. */
async function start(
  command: 'serve' | 'worker',
  environment: Readonly<Record<string, string>>,
): Promise<Process> {
  const child = spawn(process.execPath, [MAIN, command, '--data', join(folder, 'data')], {
    env: {
      ...BARE,
      ...CANARIES,
      FAULTLINE_PORT: '0',
      FAULTLINE_TOKENS: `admin:admin:${TOKEN}`,
      FAULTLINE_LOG_LEVEL: 'debug',
      FAULTLINE_GITHUB_URL: github.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_SERVICE_NAME: command,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (said += text));
  const one = { child, said: () => said };
  processes.push(one);
  for (let tries = 0; tries < 600; tries += 1) {
    if (/Press Ctrl-C/.test(said)) return one;
    if (child.exitCode !== null) break;
    await sleep(100);
  }
  throw new Error(`${command} did not start: ${said}`);
}

async function stop({ child }: Process): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const readAddress = ({ said }: Process) => /listening on (\S+)/.exec(said())?.[1] ?? '';
const ask = (url: string) => fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
const withPassword = (url: string) => Object.assign(new URL(url), { password: PASSWORD }).href;

async function failRun(address: string, runNumber: number): Promise<void> {
  github.state.jobs = [createGithubJob({ id: runNumber, name: 'test' })];
  github.state.stored.set(`/jobs/${runNumber}/logs`, failure.log);
  const changes = { conclusion: 'failure', status: 'completed', run_number: runNumber, id: 1000 + runNumber };
  const body = JSON.stringify(createGithubExample('workflow_run', 'completed', { workflow_run: changes }));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-github-delivery': `00000000-0000-4000-8000-${String(runNumber).padStart(12, '0')}`,
    'x-hub-signature-256': signForGithub(body, CANARIES.FAULTLINE_GITHUB_WEBHOOK_SECRET),
    // A stranger's choice of a trace is not ours.
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  };
  expect((await fetch(`${address}/webhooks/github`, { method: 'POST', headers, body })).status).toBe(202);
}

async function getAnswer(address: string, runNumber: number): Promise<Analysis> {
  for (let tries = 0; tries < 400; tries += 1) {
    const response = await ask(`${address}/api/builds/github:${runNumber}/analyses`);
    if (response.ok) {
      const { triage, analyses } = Analyses.parse(await response.json());
      if (triage?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    }
    await sleep(100);
  }
  throw new Error(
    `run ${runNumber} was never answered: ${processes.map(({ said }) => said().slice(-3_000)).join('\n')}`,
  );
}

function findCanaries(text: string): string[] {
  return [...Object.values(CANARIES), TOKEN, PASSWORD].filter(
    (canary) => text.includes(canary) || text.includes(encodeURIComponent(canary)),
  );
}

describe.skipIf(withoutPostgres)('a process with the API and workers', () => {
  it('produce one trace from the webhook to the message, log its ids, and export metrics; T58: no secret is in any of it', async () => {
    const database = withPassword(await postgres.createMigrated());
    const [serve, worker] = [await freePort(), await freePort()];
    const common = {
      FAULTLINE_DATABASE_URL: database,
      FAULTLINE_AUTO_NOTIFY: '0.5',
    };
    const api = await start('serve', {
      ...common,
      FAULTLINE_WORK_IN_SERVE: 'false',
      FAULTLINE_METRICS_PORT: String(serve),
    });
    const works = await start('worker', { ...common, FAULTLINE_METRICS_PORT: String(worker) });
    const address = readAddress(api);

    await failRun(address, 501);
    await getAnswer(address, 501);
    await sleep(500);
    const [ofApi, ofWorker] = await Promise.all(
      [serve, worker].map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    );
    const health = await Promise.all(
      ['healthz', 'readyz'].map(async (path) => (await fetch(`http://127.0.0.1:${worker}/${path}`)).status),
    );
    const beside = (await fetch(`http://127.0.0.1:${worker}/api/builds`)).status;
    await Promise.all([stop(api), stop(works)]);

    const spans = receiver.spans();
    const webhook = spans.find(({ name }) => name === 'POST /webhooks/github');
    const trace = spans.filter(({ traceId }) => traceId === webhook?.traceId);
    expect(webhook?.traceId).not.toBe('a'.repeat(32));
    expect(new Set(trace.map(({ service }) => service))).toEqual(new Set(['serve', 'worker']));
    const names = trace.map(({ name }) => name);
    for (const name of [
      'record delivery',
      'queue wait',
      'triage build',
      'invoke_agent triage',
      'node classify',
      'execute_tool search_knowledge',
      'publish log',
    ])
      expect(names).toContain(name);
    expect(trace.find(({ name }) => name === 'publish log')?.service).toBe('worker');

    expect(ofApi).toContain('faultline_deliveries_total{source="github",outcome="kept"} 1');
    expect(ofWorker).toContain(`faultline_failures_total{source="github",category="${failure.category}"} 1`);
    expect(ofWorker).toContain('faultline_queue_depth{state="queued"} 0');
    expect(ofWorker).toContain('faultline_queue_wait_seconds_count 1');
    expect([...health, beside]).toEqual([200, 200, 404]);

    const lines = works
      .said()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => z.looseObject({ msg: z.string() }).parse(JSON.parse(line)));
    const published = lines.find(({ msg }) => msg === 'answer published');
    expect(published).toMatchObject({ buildId: expect.stringMatching(/^bld_/), traceId: webhook?.traceId });
    expect(lines.find(({ msg }) => msg === 'node finished')).toMatchObject({
      buildId: expect.stringMatching(/^bld_/),
      traceId: webhook?.traceId,
    });
    const all = `${api.said()}${works.said()}${receiver.text()}`;
    expect(findCanaries(all)).toEqual([]);
    console.info(
      `${trace.length} spans of two processes in one trace; secrets in ${all.length.toLocaleString('en')} characters of logs and spans: 0`,
    );
  });

  it('of one environment file, as the docs describe, all start and register their metrics ports', async () => {
    const targets = join(folder, 'targets');
    const monitor = await readFile(resolve(import.meta.dirname, '../../docs/how-to/monitor.md'), 'utf8');
    const line = /^printf '%s\\n' (FAULTLINE_METRICS_PORT=0 .*) \| sudo tee/m.exec(monitor)?.[1] ?? '';
    const written = line.split(' ').map((one) => one.split('=') as [string, string]);
    expect(written.map(([name]) => name)).toEqual(['FAULTLINE_METRICS_PORT', 'FAULTLINE_METRICS_TARGETS']);
    const file = {
      FAULTLINE_DATABASE_URL: withPassword(await postgres.createMigrated()),
      FAULTLINE_WORK_IN_SERVE: 'false',
      ...Object.fromEntries(written),
      FAULTLINE_METRICS_TARGETS: targets,
    };
    const running = [await start('serve', file), await start('worker', file), await start('worker', file)];
    const names = await readdir(targets);
    const told = await Promise.all(
      names.map(async (name) => Targets.parse(JSON.parse(await readFile(join(targets, name), 'utf8')))),
    );
    const addresses = told.flat().flatMap((one) => one.targets);
    const scraped = await Promise.all(
      addresses.map(async (address) => (await fetch(`http://${address}/metrics`)).text()),
    );
    await Promise.all(running.map(stop));

    expect(names.toSorted()).toEqual(
      running.map(({ child }) => `${hostname()}-${child.pid}.json`).toSorted(),
    );
    expect(new Set(addresses).size).toBe(3);
    for (const text of scraped) expect(text).toContain('faultline_backend_up{backend="database"} 1');
    expect(await readdir(targets)).toEqual([]);
  });

  it('T29, T30: start, accept and answer while Redis, MongoDB, Pinecone, the model and the code host are down, and report it', async () => {
    const nowhere = `127.0.0.1:${await freePort()}`;
    const api = await start('serve', {
      FAULTLINE_DATABASE_URL: withPassword(await postgres.createMigrated()),
      FAULTLINE_WORK_IN_SERVE: 'true',
      FAULTLINE_REDIS_URL: `redis://:${PASSWORD}@${nowhere}`,
      FAULTLINE_MONGODB_URL: `mongodb://faultline:${PASSWORD}@${nowhere}`,
      FAULTLINE_PINECONE_INDEX: 'faultline',
      PINECONE_API_KEY: PASSWORD,
      FAULTLINE_PINECONE_URL: `http://${nowhere}`,
      FAULTLINE_ANALYST: 'llm',
      OPENAI_BASE_URL: `http://${nowhere}/v1`,
    });
    const address = readAddress(api);
    const before = await fetch(`${address}/readyz`);
    await failRun(address, 502);
    const analysis = await getAnswer(address, 502);
    const told = await ask(`${address}/api/readiness`);
    const numbers = await (await ask(`${address}/metrics`)).text();
    await stop(api);

    const { ready, degraded, backends } = Readiness.parse(await before.json());
    expect([before.status, ready, backends.database]).toEqual([200, true, 'ok']);
    expect(degraded).toEqual(expect.arrayContaining(['jobQueue', 'archive', 'vectorIndex', 'analyst']));
    expect(JSON.stringify(await told.json())).toContain('"since"');
    expect(numbers).toContain('faultline_backend_up{backend="jobQueue"} 0');
    expect(analysis.category).toBe(failure.category);
    expect(analysis.analyst).toBe('rules');
    const notes = analysis.notes.join('\n');
    expect(notes).toMatch(/Made without search_knowledge/);
    expect(notes).toMatch(/model|rules/i);
    for (const backend of ['jobQueue', 'archive', 'vectorIndex', 'analyst']) {
      const warnings = api
        .said()
        .split('\n')
        .filter(
          (line) => line.includes('a backend is unavailable') && line.includes(`"backend":"${backend}"`),
        );
      expect(warnings).toHaveLength(1);
    }
    expect(findCanaries(api.said())).toEqual([]);
    console.info('1 build, 1 analysis while 4 backends were away; lost: 0');
  });
});
