import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readCapturedFailures } from '../support/captured-failures.ts';
import { freePort } from '../support/gate.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../support/github-api.ts';
import { sendJson } from '../support/loopback-server.ts';
import { installServer, type Running, type ServerInstallation } from '../support/server-installation.ts';
import { THOROUGH } from '../support/thorough.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';

const SECRET = 'a-webhook-secret-for-bad-weather';
const DELIVERIES = THOROUGH ? 10_000 : 2_000;
const FAILED_RUNS = THOROUGH ? 120 : 40;
const PASSED_RUNS = 80;
const SENDERS = 16;
const WORKERS = 2;
/** Of GitHub's answers, so many fail. */
const GITHUB_FAILS = 0.05;
const SETTLED_MS = 240_000;
const FAILURES = readCapturedFailures();

let github: GithubApi;
let installation: ServerInstallation;
let api: Running;
let workers: Running[];
const apiAt = { FAULTLINE_PORT: '' };

beforeAll(async () => {
  github = await startGithubApi();
  github.state.intercept = (request, response) => {
    if (Math.random() < GITHUB_FAILS) {
      sendJson(response, 503, { message: 'Unicorn' });
      return true;
    }
    const run = /\/actions\/runs\/(\d+)\/attempts\/\d+\/jobs/.exec(request.url ?? '')?.[1];
    if (run === undefined) return false;
    const jobs = [1, 2].map((job) => createGithubJob({ id: Number(run) * 10 + job, name: `job-${job}` }));
    sendJson(response, 200, { total_count: jobs.length, jobs });
    return true;
  };
  installation = await installServer({
    FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
    FAULTLINE_GITHUB_URL: github.url,
    FAULTLINE_GITHUB_TOKEN: 'ghs_of-bad-weather',
    FAULTLINE_LOG_LEVEL: 'error',
  });
  apiAt.FAULTLINE_PORT = String(await freePort());
  await installation.start('migrate');
  api = await installation.start('api', apiAt);
  workers = await Promise.all(Array.from({ length: WORKERS }, () => installation.start('worker')));
});
afterAll(async () => {
  await installation.dispose();
  await github.close();
});

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly body: string;
}

/** What GitHub says of these runs: each failed job, and the end of each run. */
function listEvents(): Delivery[] {
  const repository = (run: number) => ({ full_name: `octo-org/shop-${run % 7}` });
  const sending = (run: number, part: number, event: string, payload: object): Delivery => ({
    id: `00000000-0000-4000-${String(part).padStart(4, '0')}-${String(run).padStart(12, '0')}`,
    event,
    body: JSON.stringify(payload),
  });
  const end = (run: number, conclusion: string) => {
    const workflow_run = { id: run, run_number: run, run_attempt: 1, conclusion, status: 'completed' };
    const changes = { repository: repository(run), workflow: { name: 'ci' }, workflow_run };
    return sending(run, 0, 'workflow_run', createGithubExample('workflow_run', 'completed', changes, 1));
  };
  const failedJob = (run: number, job: number) => {
    const id = run * 10 + job;
    github.state.stored.set(`/jobs/${id}/logs`, FAILURES[id % FAILURES.length]?.log ?? '');
    const status = { conclusion: 'failure', status: 'completed' };
    const workflow_job = {
      id,
      name: `job-${job}`,
      run_id: run,
      run_attempt: 1,
      workflow_name: 'ci',
      ...status,
    };
    return sending(
      run,
      job,
      'workflow_job',
      createGithubExample('workflow_job', 'completed', { repository: repository(run), workflow_job }),
    );
  };
  const failed = Array.from({ length: FAILED_RUNS }, (_, index) => 1000 + index);
  const passed = Array.from({ length: PASSED_RUNS }, (_, index) => 5000 + index);
  return [
    ...failed.flatMap((run) => [failedJob(run, 1), failedJob(run, 2), end(run, 'failure')]),
    ...passed.map((run) => end(run, 'success')),
  ];
}

/** Each event at least once, then any of them again, in any order. */
function shuffleNumbers(events: readonly Delivery[]): Delivery[] {
  const again = Array.from({ length: DELIVERIES - events.length }, () => pick(events));
  return [...events, ...again]
    .map((delivery) => ({ one: delivery, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

function pick<Value>(values: readonly Value[]): Value {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

/** Sends until it is accepted, as a person who looks at GitHub's list of failed deliveries would; how often that was needed. */
async function send({ id, event, body }: Delivery): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': signForGithub(body, SECRET),
  };
  for (let again = 0; ; again++) {
    const options = { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) };
    const response = await fetch(`http://127.0.0.1:${apiAt.FAULTLINE_PORT}/webhooks/github`, options).catch(
      () => null,
    );
    await response?.body?.cancel();
    if (response?.status === 202) return again;
    if (response !== null && response.status < 500) throw new Error(`${id} was refused: ${response.status}`);
    await sleep(100);
  }
}

const WEATHER: Readonly<Record<string, () => Promise<void>>> = {
  'Redis emptied': () => installation.redis.flush(),
  'Redis restarted': () => installation.redis.restart(),
  'Redis away': async () => {
    await installation.redis.kill();
    await sleep(1500);
    await installation.redis.resume();
  },
  'MongoDB away': async () => {
    await installation.mongodb.kill();
    await sleep(1500);
    await installation.mongodb.resume();
  },
  'MongoDB silent': async () => {
    await installation.mongodb.pause();
    await sleep(1500);
    await installation.mongodb.resume();
  },
  'PostgreSQL restarted': () => installation.postgres.restart('fast'),
  'PostgreSQL crashed': () => installation.postgres.restart('immediate'),
  'worker killed': async () => {
    const at = Math.floor(Math.random() * WORKERS);
    workers[at]?.process.kill('SIGKILL');
    workers[at] = await installation.start('worker');
  },
  'api killed': async () => {
    api.process.kill('SIGKILL');
    await api.exited;
    api = await installation.start('api', apiAt);
  },
};

/** One bad day after the other, each at least once, until told to stop. */
async function disturbBackends(stopped: () => boolean): Promise<Record<string, number>> {
  const days: Record<string, number> = {};
  const names = Object.keys(WEATHER);
  for (let day = 0; day < names.length || !stopped(); day++) {
    const name = names[day] ?? pick(names);
    await WEATHER[name]?.();
    days[name] = (days[name] ?? 0) + 1;
    await sleep(100 + Math.random() * 400);
  }
  return days;
}

/** Counts in the database itself. */
async function inspect() {
  const client = new pg.Client({ connectionString: installation.databaseUrl });
  await client.connect();
  const count = async (sql: string) =>
    z.array(z.object({ n: z.coerce.number() })).parse((await client.query(sql)).rows)[0]?.n ?? -1;
  const found = {
    deliveries: await count(`select count(*) as n from deliveries where state = 'recorded'`),
    unrecorded: await count(`select count(*) as n from deliveries where state <> 'recorded'`),
    builds: await count('select count(*) as n from builds'),
    pending: await count(`select count(*) as n from work where topic = 'triage' and version > settled`),
    failedJobs: await count(`select count(*) as n from work where topic = 'triage' and outcome = 'failed'`),
    triages: await count(`select count(*) as n from work where topic = 'triage'`),
    groups: await count('select count(*) as n from (select distinct build_id, group_number from failures) g'),
    openGroups: await count(
      `select count(*) as n from triages where state <> 'concluded' or analysis_id is null`,
    ),
    analyses: await count('select count(*) as n from analyses'),
    reviews: await count('select count(*) as n from reviews'),
    forPeople: await count(`select count(*) as n from analyses where action <> 'auto_notify'`),
    givenUp: await count(`select count(*) as n from analyses where body ->> 'terminationReason' = 'failed'`),
    published: await count(
      `select count(*) as n from work where topic like 'publish:%' and outcome = 'done'`,
    ),
    unpublished: await count(
      `select count(*) as n from work where topic like 'publish:%' and (version > settled or outcome = 'failed')`,
    ),
    toPublish: await count(`select count(*) as n from analyses where action = 'auto_notify'`),
  };
  await client.end();
  return found;
}

async function waitForEnd(): Promise<Awaited<ReturnType<typeof inspect>>> {
  const end = Date.now() + SETTLED_MS;
  for (;;) {
    const found = await inspect();
    if (found.unrecorded + found.pending + found.unpublished === 0) return found;
    if (Date.now() > end)
      throw new Error(
        `it never settled: ${JSON.stringify(found)} ${workers.map((worker) => worker.errors()).join('\n')}`,
      );
    await sleep(500);
  }
}

describe('external services under bad conditions', () => {
  const title = `${DELIVERIES} deliveries while every backend fails at random: each accounted for, one analysis for each failure group`;
  it(title, { timeout: 600_000 }, async () => {
    const events = listEvents();
    const waiting = shuffleNumbers(events);
    let sent = 0;
    let again = 0;
    const sending = Promise.all(
      Array.from({ length: SENDERS }, async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          again += await send(next);
          sent += 1;
        }
      }),
    );
    const [days] = await Promise.all([disturbBackends(() => waiting.length === 0), sending]);

    const found = await waitForEnd();

    expect(sent).toBe(DELIVERIES);
    expect(found).toMatchObject({
      deliveries: events.length,
      unrecorded: 0,
      builds: FAILED_RUNS + PASSED_RUNS,
      triages: FAILED_RUNS,
    });
    expect(found).toMatchObject({
      pending: 0,
      failedJobs: 0,
      openGroups: 0,
      analyses: found.groups,
      reviews: found.forPeople,
    });
    expect(found).toMatchObject({ published: found.toPublish, unpublished: 0 });
    expect(found.groups).toBeGreaterThanOrEqual(FAILED_RUNS);
    console.info(
      `${sent} deliveries of ${events.length} events (${again} sent again after a refusal), bad days: ${JSON.stringify(days)}`,
    );
    console.info(`${JSON.stringify(found)}; lost: 0`);
  });
});
