import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostgresArchive } from '../../src/adapters/build-archive/postgres.ts';
import { sparseBuild } from '../../src/domain/build.ts';
import { buildHttp } from '../../src/http.ts';
import type { Stores } from '../../src/ports/stores.ts';
import { createStores } from '../../src/store/stores.ts';
import { emptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { openTestDatabase, type TestDatabase } from '../support/pglite.ts';
import { githubExample, sendGithub } from '../support/webhook-senders.ts';

let database: TestDatabase;
let stores: Stores;
let app: FastifyInstance;
const rung: string[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  stores = createStores(database, { now: () => Date.now() });
  const jobQueue = { ...emptyHttpDeps().jobQueue, enqueue: async (jobId: string) => void rung.push(jobId) };
  app = await buildHttp(emptyHttpDeps({ database, stores, jobQueue, archive: createPostgresArchive(database) }));
});
afterAll(async () => {
  await app.close();
  await database.dispose();
});

const repository = { full_name: 'octo-org/octo-repo' };

function failedRun(id: number, changes: object = {}) {
  const run = { id, run_number: id - 1000, conclusion: 'failure', ...changes };
  return { event: 'workflow_run', payload: githubExample('workflow_run', 'completed', { repository, workflow_run: run }, 1) };
}

function failedJob(runId: number) {
  const job = { run_id: runId, workflow_name: 'test', conclusion: 'failure' };
  return { event: 'workflow_job', payload: githubExample('workflow_job', 'completed', { repository, workflow_job: job }) };
}

function failedCheck(runId: number) {
  const check = { conclusion: 'failure', details_url: `https://github.com/octo-org/octo-repo/actions/runs/${runId}/job/7` };
  return { event: 'check_run', payload: githubExample('check_run', 'completed', { repository, check_run: check }) };
}

async function count(table: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return row?.count ?? -1;
}

test('what was answered with 202 is in the database: delivery, build and what is owed', async () => {
  const answer = await sendGithub(app, { ...failedRun(1001), delivery: 'd-1001' });

  const { buildId, jobId } = answer.json();
  expect(await stores.builds.find(buildId)).toMatchObject({ number: '1', externalId: '1001', status: 'failed' });
  expect(await stores.triages.find(jobId)).toMatchObject({ buildId, state: 'queued' });
  expect(await stores.deliveries.find('github', 'd-1001')).toMatchObject({ buildId, event: 'workflow_run' });
  expect(rung).toContain(jobId);
});

test('one delivery sent a hundred times at once is one row, with one answer (T06)', async () => {
  const before = await count('builds');
  const answers = await Promise.all(Array.from({ length: 100 }, () => sendGithub(app, { ...failedRun(1002), delivery: 'd-1002' })));

  expect(new Set(answers.map((answer) => `${answer.statusCode} ${answer.body}`)).size).toBe(1);
  expect(answers[0]?.statusCode).toBe(202);
  expect(await count('builds')).toBe(before + 1);
});

test('a run, its jobs and its checks that come at once are one build (T09)', async () => {
  const before = [await count('builds'), await count('triage_jobs')];
  const told = [failedCheck(1003), failedJob(1003), failedRun(1003), failedJob(1003), failedCheck(1003)];
  const answers = await Promise.all(told.map((sending, index) => sendGithub(app, { ...sending, delivery: `d-1003-${index}` })));

  expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
  expect([await count('builds'), await count('triage_jobs')]).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 1]);
  expect(await stores.builds.find(answers[0]?.json().buildId)).toMatchObject({ pipeline: 'test', number: '3', externalId: '1003' });
});

test('attempts that come out of order are two builds, and a late check belongs to the newer (T08)', async () => {
  const second = await sendGithub(app, { ...failedRun(1004, { run_attempt: 2 }), delivery: 'd-1004-2' });
  const first = await sendGithub(app, { ...failedRun(1004), delivery: 'd-1004-1' });
  const check = await sendGithub(app, { ...failedCheck(1004), delivery: 'd-1004-c' });

  expect(first.json().buildId).not.toBe(second.json().buildId);
  expect(check.json().buildId).toBe(second.json().buildId);
});

test('text that PostgreSQL cannot hold is cleaned on the way in (T21)', async () => {
  const { payload } = failedRun(1005, { head_branch: 'BRANCH', name: 'x' });
  const hostile = JSON.stringify(payload).replace('"BRANCH"', '"a\\u0000\\ud800"');
  const answer = await sendGithub(app, { event: 'workflow_run', payload: hostile, delivery: 'd-1005' });

  expect(answer.statusCode).toBe(202);
  expect(await stores.builds.find(answer.json().buildId)).toMatchObject({ branch: 'a\ufffd\ufffd' });
});

test('an upload is kept with its logs and test results', async () => {
  const report = '<testsuite name="cart"><testcase name="a"/><testcase name="b"><failure message="no\u00a0way"/></testcase></testsuite>';
  const answer = await app.inject({
    method: 'POST',
    url: '/api/builds',
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
    payload: {
      metadata: { repository: 'shop/api', pipeline: 'ci', number: 1 },
      logs: [{ name: 'a.log', text: 'a first line of some length\u0000\ntwo \ud83d\ude00\n' }],
      reports: [{ name: 'junit.xml', text: report }],
    },
  });

  expect(answer.statusCode).toBe(202);
  const { buildId } = answer.json();
  const archive = createPostgresArchive(database);
  expect(await archive.read(buildId, 'a.log')).toBe('a first line of some length\ntwo \ud83d\ude00\n');
  expect((await archive.list(buildId)).map(({ name, kind }) => [name, kind])).toEqual([
    ['a.log', 'log'],
    ['junit.xml', 'report'],
  ]);
  const view = await app.inject({ url: `/api/builds/${buildId}`, headers: { authorization: `Bearer ${TOKENS.read}` } });
  expect(view.statusCode).toBe(200);
});

test('a crash between the logs and the answer is healed by the next try', async () => {
  const crashing = { ...stores, deliveries: { ...stores.deliveries, insertOnce: () => Promise.reject(new Error('killed')) } };
  const archive = createPostgresArchive(database);
  const dying = await buildHttp(emptyHttpDeps({ database, stores: crashing, archive }));
  const request = {
    method: 'POST',
    url: '/api/builds',
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
    payload: { metadata: { repository: 'shop/api', pipeline: 'ci', number: 2 }, logs: [{ name: 'a.log', text: 'boom\n' }] },
  } as const;
  const lost = await dying.inject(request);
  await dying.close();
  const again = await app.inject(request);

  expect([lost.statusCode, again.statusCode]).toEqual([500, 202]);
  expect(await stores.builds.find(again.json().buildId)).toMatchObject({ status: 'failed' });
  expect(await stores.triages.findByBuild(again.json().buildId)).toMatchObject({ id: again.json().jobId });
});

test('an upload that was cut off leaves nothing of itself to the one that completes it', async () => {
  const archive = createPostgresArchive(database);
  const metadata = { repository: 'shop/api', pipeline: 'ci', number: '812' };
  const { build } = await stores.builds.upsert({ ...sparseBuild(metadata), status: 'unknown' });
  await archive.put(build.id, { name: 'half.log', kind: 'log', text: 'error: of the first try', notes: [] });

  const answer = await app.inject({
    method: 'POST',
    url: '/api/builds',
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
    payload: { metadata, logs: [{ name: 'whole.log', text: 'error: of the second try' }] },
  });

  expect(answer.json()).toMatchObject({ buildId: build.id });
  expect((await archive.list(build.id)).map(({ name }) => name)).toEqual(['whole.log']);
});
