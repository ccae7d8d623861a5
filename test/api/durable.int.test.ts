import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createSparseBuild } from '../../src/domain/build.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { createPostgresArchive } from '../../src/stores/archive/postgres.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { createGithubExample, sendGithub } from '../support/webhook-senders.ts';

let database: TestDatabase;
let stores: Stores;
let app: FastifyInstance;
const enqueued: string[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  stores = createStores(database, { now: () => Date.now() });
  const notifier = {
    notify: (_topic: string, key: string) => void enqueued.push(key),
    settle: async () => undefined,
  };
  app = await buildHttp(
    createEmptyHttpDeps({ database, stores, notifier, archive: createPostgresArchive(database) }),
  );
});
afterAll(async () => {
  await app.close();
  await database.dispose();
});

const repository = { full_name: 'octo-org/octo-repo' };

function createFailedRun(id: number, changes: object = {}) {
  const run = { id, run_number: id - 1000, conclusion: 'failure', ...changes };
  return {
    event: 'workflow_run',
    payload: createGithubExample('workflow_run', 'completed', { repository, workflow_run: run }, 1),
  };
}

function createFailedJob(runId: number) {
  const job = { run_id: runId, workflow_name: 'test', conclusion: 'failure' };
  return {
    event: 'workflow_job',
    payload: createGithubExample('workflow_job', 'completed', { repository, workflow_job: job }),
  };
}

function createFailedCheck(runId: number) {
  const check = {
    conclusion: 'failure',
    details_url: `https://github.com/octo-org/octo-repo/actions/runs/${runId}/job/7`,
  };
  return {
    event: 'check_run',
    payload: createGithubExample('check_run', 'completed', { repository, check_run: check }),
  };
}

/** Sends, and waits until the relay has made a build of it; returns the answer and the build's id. */
async function deliver(sending: Parameters<typeof sendGithub>[1] & { readonly delivery: string }) {
  const answer = await sendGithub(app, sending);
  expect(answer.statusCode).toBe(202);
  const getBuild = async () => (await stores.deliveries.find('github', sending.delivery))?.buildId ?? '';
  await expect.poll(getBuild, { timeout: 10_000 }).toMatch(/^bld_/);
  return { answer, buildId: await getBuild() };
}

async function count(table: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return row?.count ?? -1;
}

test('a delivery answered with 202 is stored; its build and triage request follow shortly after', async () => {
  const { answer, buildId } = await deliver({ ...createFailedRun(1001), delivery: 'd-1001' });

  expect(answer.json()).toEqual({
    deliveryId: 'd-1001',
    links: { delivery: '/api/deliveries/github/d-1001' },
  });
  expect(await stores.builds.find(buildId)).toMatchObject({
    number: '1',
    externalId: '1001',
    status: 'failed',
  });
  const job = await stores.triages.findByBuild(buildId);
  expect(job).toMatchObject({ buildId, state: 'queued' });
  expect(enqueued).toContain(job?.buildId);
});

test('one delivery sent a hundred times at once becomes one row and one build, each answered with 202 (T06)', async () => {
  const before = [await count('builds'), await count('deliveries'), await count('work')];
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => sendGithub(app, { ...createFailedRun(1002), delivery: 'd-1002' })),
  );
  await deliver({ ...createFailedRun(1002), delivery: 'd-1002' });

  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(100).fill(202));
  const added = [await count('builds'), await count('deliveries'), await count('work')].map(
    (now, at) => now - (before[at] ?? 0),
  );
  console.info(`T06: 101 copies of one delivery, 101 × 202; builds, deliveries, jobs: ${added.join(', ')}`);
  expect(added).toEqual([1, 1, 1]);
});

test('a delivery id with a different body is refused, before and after its build is stored (T07)', async () => {
  const answers = await Promise.all([
    sendGithub(app, { ...createFailedRun(1006), delivery: 'd-1006' }),
    sendGithub(app, { ...createFailedRun(1007), delivery: 'd-1006' }),
  ]);
  const later = await sendGithub(app, { ...createFailedRun(1008), delivery: 'd-1006' });

  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([202, 409]);
  expect(later.statusCode).toBe(409);
  // Its build comes a moment later, and is not to be counted among the next test's.
  await expect
    .poll(async () => (await stores.deliveries.find('github', 'd-1006'))?.state, { timeout: 10_000 })
    .toBe('recorded');
});

test('a run, its jobs and its checks that arrive at once become one build (T09)', async () => {
  const before = [await count('builds'), await count('work')];
  const told = [
    createFailedCheck(1003),
    createFailedJob(1003),
    createFailedRun(1003),
    createFailedJob(1003),
    createFailedCheck(1003),
  ];
  const all = await Promise.all(
    told.map((sending, index) => deliver({ ...sending, delivery: `d-1003-${index}` })),
  );

  expect(new Set(all.map(({ buildId }) => buildId)).size).toBe(1);
  expect([await count('builds'), await count('work')]).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 1]);
  expect(await stores.builds.find(all[0]?.buildId ?? '')).toMatchObject({
    pipeline: 'test',
    number: '3',
    externalId: '1003',
  });
});

test('attempts that arrive out of order become two builds, and a late check belongs to the newer one (T08)', async () => {
  const second = await deliver({ ...createFailedRun(1004, { run_attempt: 2 }), delivery: 'd-1004-2' });
  const first = await deliver({ ...createFailedRun(1004), delivery: 'd-1004-1' });
  const check = await deliver({ ...createFailedCheck(1004), delivery: 'd-1004-c' });

  expect(first.buildId).not.toBe(second.buildId);
  expect(check.buildId).toBe(second.buildId);
});

test('characters that PostgreSQL cannot store are removed on arrival (T21)', async () => {
  const { payload } = createFailedRun(1005, { head_branch: 'BRANCH', name: 'x' });
  const hostile = JSON.stringify(payload).replace('"BRANCH"', '"a\\u0000\\ud800"');
  const { buildId } = await deliver({ event: 'workflow_run', payload: hostile, delivery: 'd-1005' });

  expect(await stores.builds.find(buildId)).toMatchObject({ branch: 'a\ufffd\ufffd' });
});

test('the state of a delivery can be queried', async () => {
  const { buildId } = await deliver({ ...createFailedRun(1009), delivery: 'd/1009' });
  const { answer } = await deliver({ ...createFailedRun(1009), delivery: 'd/1009' });
  const { delivery } = answer.json().links;
  const ask = (url: string) => app.inject({ url, headers: { authorization: `Bearer ${TOKENS.read}` } });

  expect((await ask(delivery)).json()).toEqual({
    source: 'github',
    deliveryId: 'd/1009',
    event: 'workflow_run',
    state: 'recorded',
    attempts: 0,
    receivedAt: expect.any(String),
    buildId,
    links: { delivery, build: `/api/builds/${buildId}`, analyses: `/api/builds/${buildId}/analyses` },
  });
  expect(answer.json().links).toEqual({
    delivery,
    build: `/api/builds/${buildId}`,
    analyses: `/api/builds/${buildId}/analyses`,
  });
  expect((await ask('/api/deliveries/github/d-none')).statusCode).toBe(404);
  expect((await ask('/api/deliveries/bitbucket/d-none')).statusCode).toBe(400);
});

test('an upload is stored with its logs and test results', async () => {
  const report =
    '<testsuite name="cart"><testcase name="a"/><testcase name="b"><failure message="no\u00a0way"/></testcase></testsuite>';
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
  const view = await app.inject({
    url: `/api/builds/${buildId}`,
    headers: { authorization: `Bearer ${TOKENS.read}` },
  });
  expect(view.statusCode).toBe(200);
});

test('a repeated upload succeeds after a crash between storing the logs and answering', async () => {
  const crashing = {
    ...stores,
    deliveries: { ...stores.deliveries, insertOnce: () => Promise.reject(new Error('killed')) },
  };
  const archive = createPostgresArchive(database);
  const dying = await buildHttp(createEmptyHttpDeps({ database, stores: crashing, archive }));
  const request = {
    method: 'POST',
    url: '/api/builds',
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
    payload: {
      metadata: { repository: 'shop/api', pipeline: 'ci', number: 2 },
      logs: [{ name: 'a.log', text: 'boom\n' }],
    },
  } as const;
  const lost = await dying.inject(request);
  await dying.close();
  const again = await app.inject(request);

  expect([lost.statusCode, again.statusCode]).toEqual([500, 202]);
  expect(await stores.builds.find(again.json().buildId)).toMatchObject({ status: 'failed' });
  expect(await stores.triages.findByBuild(again.json().buildId)).toMatchObject({
    buildId: again.json().jobId,
  });
});

test('an incomplete upload leaves no files behind when the complete one arrives', async () => {
  const archive = createPostgresArchive(database);
  const metadata = { repository: 'shop/api', pipeline: 'ci', number: '812' };
  const { build } = await stores.builds.upsert({ ...createSparseBuild(metadata), status: 'unknown' });
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

test('an upload never deletes files that another process stored for the same upload', async () => {
  const archive = createPostgresArchive(database);
  const metadata = { repository: 'shop/api', pipeline: 'ci', number: '813' };
  const { build } = await stores.builds.upsert({ ...createSparseBuild(metadata), status: 'unknown' });
  await archive.put(build.id, { name: 'a.log', kind: 'log', text: 'error: boom', notes: [] });
  const seen: string[][] = [];
  const watched = {
    ...archive,
    put: async (...[id, source]: Parameters<typeof archive.put>) => {
      seen.push((await archive.list(id)).map(({ name }) => name));
      await archive.put(id, source);
    },
  };
  const other = await buildHttp(createEmptyHttpDeps({ database, stores, archive: watched }));

  const answer = await other.inject({
    method: 'POST',
    url: '/api/builds',
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
    payload: { metadata, logs: [{ name: 'a.log', text: 'error: boom' }] },
  });
  await other.close();

  expect([answer.statusCode, seen]).toEqual([202, [['a.log']]]);
});

test('an upload that another process receives at the same time gets the same answer', async () => {
  const request = {
    method: 'POST',
    url: '/api/builds',
    headers: { authorization: `Bearer ${TOKENS.ingest}` },
    payload: {
      metadata: { repository: 'shop/api', pipeline: 'ci', number: '814' },
      logs: [{ name: 'a.log', text: 'error: boom' }],
    },
  } as const;
  const first: number[] = [];
  const late: typeof stores.builds.upsert = async (build, sql) => {
    if (sql === undefined) first.push((await app.inject(request)).statusCode);
    return await stores.builds.upsert(build, sql);
  };
  const archive = createPostgresArchive(database);
  const other = await buildHttp(
    createEmptyHttpDeps({
      database,
      stores: { ...stores, builds: { ...stores.builds, upsert: late } },
      archive,
    }),
  );

  const answer = await other.inject(request);
  await other.close();

  expect([first, answer.statusCode]).toEqual([[202], 202]);
  expect(answer.json()).toEqual((await app.inject(request)).json());
});

test.each(['a log', 'the build'])(
  'an upload is refused with 507 and leaves nothing behind if the disk is full except for %s',
  async (refused) => {
    const full = () =>
      Promise.reject(
        new TriageError('storage-failed', 'No room.', { retryable: true, details: { state: '53100' } }),
      );
    const archive = createPostgresArchive(database);
    const put: typeof archive.put = (buildId, source) =>
      refused === 'a log' && source.name === 'b.log' ? full() : archive.put(buildId, source);
    const deliveries = { ...stores.deliveries, ...(refused === 'the build' && { insertOnce: full }) };
    const api = await buildHttp(
      createEmptyHttpDeps({ database, stores: { ...stores, deliveries }, archive: { ...archive, put } }),
    );
    const before = [await count('builds'), await count('build_sources'), await count('work')];
    const metadata = { repository: 'shop/full', pipeline: 'ci', number: '1', status: 'failed' };
    const logs = [
      { name: 'a.log', text: 'FAIL src/a.test.ts' },
      { name: 'b.log', text: 'FAIL src/b.test.ts' },
    ];
    const answer = await api.inject({
      method: 'POST',
      url: '/api/builds',
      headers: { authorization: `Bearer ${TOKENS.ingest}` },
      payload: { metadata, logs },
    });
    await api.close();
    expect(answer.statusCode).toBe(507);
    expect([await count('builds'), await count('build_sources'), await count('work')]).toEqual(before);
  },
);

test('a GitLab pipeline that is retried under its id is a new attempt, in whatever order the events arrive', async () => {
  const project = { path_with_namespace: 'shop/pipelines', default_branch: 'main' };
  const sha = 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b';
  const pipeline = (status: string, finished_at: string) => ({
    event: 'Pipeline Hook',
    payload: {
      object_kind: 'pipeline',
      project,
      object_attributes: { id: 41, iid: 12, name: 'ci', sha, status, finished_at },
    },
  });
  const job = (id: number, build_started_at: string) => {
    const failed = { build_id: id, build_name: 'test', build_status: 'failed', build_started_at };
    return { event: 'Job Hook', payload: { object_kind: 'build', project, sha, pipeline_id: 41, ...failed } };
  };
  const sent = [
    job(2, '2026-03-01 10:30:00 UTC'),
    pipeline('failed', '2026-03-01 11:00:00 UTC'),
    // Late, of the first attempt; then of the second.
    job(3, '2026-03-01 10:40:00 UTC'),
    job(9, '2026-03-01 11:30:00 UTC'),
    pipeline('success', '2026-03-01 12:00:00 UTC'),
    pipeline('failed', '2026-03-01 11:00:00 UTC'),
  ];
  const ids: string[] = [];
  for (const [index, { event, payload }] of sent.entries()) {
    const headers = {
      'x-gitlab-event': event,
      'x-gitlab-token': 'first-gitlab-secret',
      'idempotency-key': `g-${index}`,
    };
    const answer = await app.inject({ method: 'POST', url: '/webhooks/gitlab', headers, payload });
    expect(answer.statusCode).toBe(202);
    const getBuild = async () => (await stores.deliveries.find('gitlab', `g-${index}`))?.buildId ?? '';
    await expect.poll(getBuild, { timeout: 10_000 }).toMatch(/^bld_/);
    ids.push(await getBuild());
  }
  expect(ids.map((id) => [...new Set(ids)].indexOf(id))).toEqual([0, 0, 0, 1, 1, 0]);
  const [first, second] = await Promise.all([...new Set(ids)].map((id) => stores.builds.find(id)));
  expect(first).toMatchObject({ pipeline: 'ci', number: '12', attempt: 1, status: 'failed' });
  expect(second).toMatchObject({ pipeline: 'ci', number: '12', attempt: 2 });
});
