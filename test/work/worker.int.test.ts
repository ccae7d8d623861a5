import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnswerPublisher, Sent } from '../../src/channels/channel.ts';
import { createAnswerHandler } from '../../src/channels/handlers.ts';
import { createWebhookChannel, WebhookSettings } from '../../src/channels/webhook.ts';
import type { Build } from '../../src/domain/build.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { createId } from '../../src/domain/ids.ts';
import type { WorkItem } from '../../src/domain/work.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { startWorker } from '../../src/work/worker.ts';
import { openAnswers } from '../channels/sending.ts';
import { sampleAnalysis, sampleBuild } from '../stores/samples.ts';
import { BARE, SCRIPT_OPTIONS } from '../support/bare-environment.ts';
import { startCommentServer } from '../support/comment-server.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { openEmbeddedDatabase } from '../support/pglite.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';

const SCRIPT = resolve(import.meta.dirname, '../support/publish-and-crash.ts');
const SECRETS = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
let db: TestDatabase;
let stores: Stores;
beforeAll(async () => {
  db = await openTestDatabase();
  stores = createStores(db, systemClock);
});
afterAll(async () => db.dispose());

/** Stores an answer with a publication for each of these publishers, and returns its build. */
async function storeAnswerFor(...publishers: readonly string[]): Promise<Build> {
  const { build } = await stores.builds.upsert(sampleBuild({ repository: `acme/${createId('bld')}` }));
  const triage = await stores.triages.open(build.id, 'f00d');
  const keys = { buildId: build.id, triageId: triage.id, fingerprint: 'f00d' };
  const { analysis } = await stores.analyses.insertOnce(sampleAnalysis(keys));
  await stores.publications.add({ publishers, buildId: build.id, analysisId: analysis.id });
  return build;
}

interface Publisher {
  readonly driver: string;
  readonly publisher: AnswerPublisher;
}

function startTestWorker(
  publishers: readonly Publisher[],
  { timeLimitMs = 1_000, intervalMs = 60_000 } = {},
) {
  const handlers = publishers.map(({ driver, publisher }) =>
    createAnswerHandler(driver, publisher, { stores, timeLimitMs }),
  );
  return startWorker({
    work: stores.work,
    handlers,
    masker: createMasker(),
    logger: silentLogger,
    intervalMs,
  });
}

/** A publisher with a name of its own, so that no other test's worker takes what is pending for it. */
function createPublisher(publish: (analysisId: string, key: string) => Promise<Sent>): Publisher {
  const publisher: AnswerPublisher = {
    render: ({ analysis: { id } }) => ({ id }),
    send: async ({ id }: { readonly id: string }, { key }) => await publish(id, key),
  };
  return { driver: createId('thr'), publisher };
}

async function createEntry(build: Build): Promise<WorkItem | undefined> {
  return (await stores.work.listByBuild(build.id))[0];
}

async function waitUntil(build: Build, wanted: (entry: WorkItem) => boolean): Promise<WorkItem> {
  for (let tries = 0; tries < 200; tries++) {
    const entry = await createEntry(build);
    if (entry !== undefined && wanted(entry)) return entry;
    await sleep(25);
  }
  throw new Error(`the entry did not reach the expected state: ${JSON.stringify(await createEntry(build))}`);
}

const ended = ({ version, settled }: WorkItem) => settled === version;

describe('a pending publication', () => {
  it('is published after a wake-up, and its reference is stored', async () => {
    const published: string[] = [];
    const client = createPublisher(async (id, key) => {
      published.push(key);
      return { reference: `https://elsewhere.example/${id}` };
    });
    const { wake, stop } = startTestWorker([client]);
    const build = await storeAnswerFor(client.driver);
    wake();
    const entry = await waitUntil(build, ended);
    await stop();
    expect(entry).toMatchObject({
      outcome: 'done',
      result: { reference: `https://elsewhere.example/${entry.payload.analysisId}` },
    });
    expect(published).toEqual([entry.key]);
  });

  it('is not held up by another publisher that hangs', async () => {
    const hanging = createPublisher(() => new Promise(() => undefined));
    const quick = createPublisher(async () => ({ reference: null }));
    const stuck = await storeAnswerFor(hanging.driver);
    const builds = [
      await storeAnswerFor(quick.driver),
      await storeAnswerFor(quick.driver),
      await storeAnswerFor(quick.driver),
    ];
    const { stop } = startTestWorker([hanging, quick], { timeLimitMs: 400 });
    for (const build of builds) expect(await waitUntil(build, ended)).toMatchObject({ outcome: 'done' });
    expect(await waitUntil(stuck, ({ retries }) => retries === 1)).toMatchObject({
      outcome: null,
      error: 'No answer within 400 ms',
    });
    await stop();
  });

  it('waits as long as the other service asks, and the error is stored masked', async () => {
    const refuse = new TriageError('rate-limited', 'password=hunter2hunter2 slowly', {
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    const client = createPublisher(() => Promise.reject(refuse));
    const build = await storeAnswerFor(client.driver);
    const { wake, stop } = startTestWorker([client]);
    const entry = await waitUntil(build, ({ retries }) => retries === 1);
    wake();
    await stop();
    expect(entry.error).not.toContain('hunter2hunter2');
    const [row] = await db.query<{ wait: number }>(
      'select extract(epoch from free_at - clock_timestamp())::float8 as wait from work where key = $1',
      [entry.key],
    );
    expect(row?.wait).toBeGreaterThan(3_500);
    expect(await createEntry(build)).toMatchObject({ retries: 1 });
  });

  it('fails after a permanent error, and after five attempts that did not finish', async () => {
    const client = createPublisher(() =>
      Promise.reject(new TriageError('upstream-failed', 'It answered 400')),
    );
    const refused = await storeAnswerFor(client.driver);
    const crashing = await storeAnswerFor(client.driver);
    await db.query('update work set attempts = 5 where build_id = $1', [crashing.id]);
    const { stop } = startTestWorker([client]);
    expect(await waitUntil(refused, ended)).toMatchObject({ outcome: 'failed', error: 'It answered 400' });
    expect(await waitUntil(crashing, ended)).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('5 attempts that did not finish'),
    });
    await stop();
  });

  it('is superseded if the build has passed in the meantime (T10)', async () => {
    let sent = 0;
    const client = createPublisher(async () => ({ reference: String(++sent) }));
    const build = await storeAnswerFor(client.driver);
    const { provider, repository, pipeline, number } = build;
    await stores.builds.upsert(
      sampleBuild({ provider, repository, pipeline, number, attempt: 2, status: 'passed' }),
    );
    const { stop } = startTestWorker([client]);
    expect(await waitUntil(build, ended)).toMatchObject({
      outcome: 'superseded',
      error: 'The build has passed since.',
    });
    await stop();
    expect(sent).toBe(0);
  });

  it('finishes when the worker stops, and stays pending if it was not started', async () => {
    let started = 0;
    const client = createPublisher(async () => {
      started += 1;
      await sleep(200);
      return { reference: 'late' };
    });
    const builds = [
      await storeAnswerFor(client.driver),
      await storeAnswerFor(client.driver),
      await storeAnswerFor(client.driver),
    ];
    const { stop } = startTestWorker([client]);
    for (let tries = 0; started < 2 && tries < 100; tries++) await sleep(10);
    await stop();
    const states = await Promise.all(builds.map(async (build) => (await createEntry(build))?.outcome));
    expect(states.toSorted()).toEqual(['done', 'done', null]);
  });

  it('is published once when three workers share the work', async () => {
    const server = await startLoopback(
      (_request, response) => void setTimeout(() => response.writeHead(204).end(), 20),
    );
    const webhook = createWebhookChannel(WebhookSettings.parse({ url: server.url, secrets: SECRETS }));
    const client: Publisher = { driver: createId('thr'), publisher: await openAnswers(webhook) };
    const builds = await Promise.all(Array.from({ length: 30 }, () => storeAnswerFor(client.driver)));
    const workers = [1, 2, 3].map(() => startTestWorker([client], { intervalMs: 50 }));
    for (const build of builds)
      expect(await waitUntil(build, ended)).toMatchObject({ outcome: 'done', lease: 1 });
    await Promise.all(workers.map(({ stop }) => stop()));
    await server.close();
    expect(server.requests).toHaveLength(30);
    expect(new Set(server.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(30);
    console.info('3 workers, 30 answers, 30 published; published twice: 0');
  });
});

it('T03: a comment is found and not created again if the process died before it was recorded', async () => {
  const own = await openEmbeddedDatabase();
  const before = createStores(own, systemClock);
  const { build } = await before.builds.upsert(sampleBuild());
  const triage = await before.triages.open(build.id, 'f00d');
  const keys = { buildId: build.id, triageId: triage.id, fingerprint: 'f00d' };
  const { analysis } = await before.analyses.insertOnce(sampleAnalysis(keys));
  await before.publications.add({ publishers: ['comments'], buildId: build.id, analysisId: analysis.id });
  await own.close();
  const client = await startCommentServer();

  for (const failpoint of ['work-taken', 'work-handled', 'work-handled', 'work-finished']) {
    const child = spawn(process.execPath, [...SCRIPT_OPTIONS, SCRIPT, own.dataDir, failpoint, client.url], {
      env: BARE,
      stdio: 'inherit',
    });
    const [, signal] = await once(child, 'exit');
    expect(signal, failpoint).toBe('SIGKILL');
  }

  expect(client.comments).toHaveLength(1);
  expect(client.comments[0]?.text).toContain(`<!-- faultline:comments:${analysis.id} -->`);
  const posts = client.requests.filter(({ method }) => method === 'POST').length;
  await client.close();
  expect(posts).toBe(1);
  console.info(`4 kills around one comment, ${posts} comment; lost: 0, created twice: 0`);
});
