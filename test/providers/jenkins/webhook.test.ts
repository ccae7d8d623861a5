import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../../src/api/server.ts';
import { clearState, createFakeHttpDeps, type FakeState, waitForRelay } from '../../support/fake-stores.ts';
import { createEmptyHttpDeps, JENKINS_SECRETS, TEST_CONFIG, withSecrets } from '../../support/http-deps.ts';
import { createSignedHeadersFor } from '../../support/webhook-senders.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

/** The shape that the Notification plugin (1.17) documents. */
const notification = {
  name: 'asgard',
  display_name: 'asgard',
  url: 'job/team/job/asgard/',
  build: {
    full_url: 'https://ci.example.com/job/team/job/asgard/18/',
    number: 18,
    queue_id: 1,
    phase: 'COMPLETED',
    status: 'FAILURE',
    timestamp: Date.parse('2026-03-01T11:50:30Z'),
    duration: 30_000,
    url: 'job/team/job/asgard/18/',
    scm: {
      url: 'https://github.com/evgeny-goldin/asgard.git',
      branch: 'origin/master',
      commit: 'c6d86dc654b12425e706bcf951adfe5a8627a517',
    },
    log: '',
    artifacts: { 'asgard.war': { archive: 'https://ci.example.com/job/asgard/18/artifact/asgard.war' } },
  },
};
const generic = { repository: 'shop/api', pipeline: 'nightly', number: 7, status: 'failure', branch: 'main' };

let app: FastifyInstance;
let state: FakeState;
beforeAll(async () => {
  const fake = createFakeHttpDeps({ clock: { now: () => NOW } });
  state = fake.state;
  app = await buildHttp(fake.deps);
});
beforeEach(() => clearState(state));
afterAll(() => app.close());

/** Sends, and waits until the relay has made a build of it. */
async function send(payload: unknown, options: { headers?: Record<string, string>; url?: string } = {}) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const headers = options.headers ?? { 'x-faultline-token': JENKINS_SECRETS[0] };
  const request: InjectOptions = { method: 'POST', url: options.url ?? '/webhooks/jenkins', payload: body };
  const answer = await app.inject({
    ...request,
    headers: { 'content-type': 'application/json;charset=UTF-8', ...headers },
  });
  await waitForRelay(state);
  return answer;
}

function createNotification(build: object): object {
  return { ...notification, build: { ...notification.build, ...build } };
}

describe('the Notification plugin', () => {
  test('stores a failed build and requests its triage', async () => {
    const answer = await send(notification);

    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({
      deliveryId: expect.any(String),
      links: { delivery: expect.stringMatching('^/api/deliveries/jenkins/') },
    });
    expect(state.jobs).toHaveLength(1);
    expect(state.builds[0]).toMatchObject({
      provider: 'jenkins',
      repository: 'evgeny-goldin/asgard',
      pipeline: 'team/asgard',
      number: '18',
      attempt: 1,
      status: 'failed',
      branch: 'master',
      externalId: notification.build.full_url,
      url: notification.build.full_url,
      startedAt: '2026-03-01T11:50:00.000Z',
      finishedAt: '2026-03-01T11:50:30.000Z',
    });
  });

  test('stores the end of the log and its failed tests, masked', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const log = `token ${secret}\nerror: discount is not defined\n`;
    const test_summary = {
      total: 2,
      failed: 1,
      passed: 1,
      skipped: 0,
      failed_tests: ['shop.CartTest.total'],
    };
    expect((await send(createNotification({ log, test_summary }))).statusCode).toBe(202);

    await expect
      .poll(() => [...state.archive])
      .toEqual([['bld_1/console.log', 'token ***\nerror: discount is not defined\n']]);
    expect(state.results.get('bld_1')).toMatchObject([
      { suite: 'shop.CartTest', name: 'total', status: 'failed' },
    ]);
    expect(JSON.stringify(state.deliveries)).not.toContain(secret);
  });

  test('sends COMPLETED and FINALIZED, which become one build with one triage', async () => {
    await send(notification);
    await send(createNotification({ phase: 'FINALIZED' }));

    expect(state.deliveries.map(({ event, buildId }) => `${event} ${buildId}`)).toEqual([
      'completed bld_1',
      'finalized bld_1',
    ]);
    expect([state.builds.length, state.jobs.length]).toEqual([1, 1]);
  });

  test('reports an unstable build, which has failed tests and is a failure', async () => {
    await send(createNotification({ status: 'UNSTABLE' }));

    expect(state.enqueued).toEqual(['bld_1']);
  });

  test('reports a passed build, which is stored without a triage request', async () => {
    expect((await send(createNotification({ status: 'SUCCESS' }))).statusCode).toBe(202);
    expect([state.builds[0]?.status, state.jobs]).toEqual(['passed', []]);
  });

  test.each([
    [{ phase: 'QUEUED' }, 'has not ended'],
    [{ phase: 'STARTED', status: undefined }, 'has not ended'],
    [{ status: 'ABORTED' }, 'ended as ABORTED'],
    [{ status: 'NOT_BUILT' }, 'ended as NOT_BUILT'],
    [{ status: null }, 'ended as nothing'],
  ])('may send %o, which is acknowledged and ignored', async (build, reason) => {
    const answer = await send(createNotification(build));

    expect([answer.statusCode, answer.json()]).toEqual([202, { ignored: expect.stringContaining(reason) }]);
    expect(state.builds).toEqual([]);
  });

  test.each([
    ['shop', 'main', 'shop/main'],
    ['billing', 'main', 'billing/main'],
  ])(
    'names a job main of %s without source control, which becomes a repository of its own',
    async (folder, name, repository) => {
      const url = `job/${folder}/job/${name}/`;
      await send({
        ...notification,
        name,
        display_name: name,
        url,
        build: { ...notification.build, scm: {} },
      });

      expect(state.builds[0]).toMatchObject({ repository, pipeline: repository, branch: null });
    },
  );

  test('sends an encoded branch of a multibranch job, which is decoded, and the name is kept', async () => {
    const job = {
      name: 'feature%2Fcoupon',
      display_name: 'feature/coupon',
      url: 'job/shop/job/feature%252Fcoupon/',
    };
    await send({ ...notification, ...job, build: { ...notification.build, scm: {} } });

    expect(state.builds[0]).toMatchObject({ pipeline: 'shop/feature%2Fcoupon', branch: 'feature/coupon' });
  });

  test('sends a time that becomes the end, but never in the future', async () => {
    await send(createNotification({ number: 19, timestamp: NOW + 60_000, duration: 90_000 }));

    expect(state.builds[0]).toMatchObject({
      startedAt: '2026-03-01T11:58:30.000Z',
      finishedAt: '2026-03-01T12:00:00.000Z',
    });
  });

  test.each([
    ['shop.CartTest.total', 'shop.CartTest', 'total'],
    ['shop.CartTest.total is 1.50', 'shop.CartTest', 'total is 1.50'],
    ['tests.test_tax.TestTax.test_tax[1.5-0.3]', 'tests.test_tax.TestTax', 'test_tax[1.5-0.3]'],
    ['converts 1.5 kronor', null, 'converts 1.5 kronor'],
  ])('names the failed test %s', async (full, suite, name) => {
    await send(createNotification({ test_summary: { failed_tests: [full] } }));

    await expect.poll(() => state.results.get('bld_1')).toMatchObject([{ suite, name, status: 'failed' }]);
  });

  test.each([
    ['git@git.example.com:shop/api.git', 'shop/api'],
    ['ssh://git@git.example.com:7999/shop/api.git', 'shop/api'],
    ['https://git.example.com/group/sub/api/', 'group/sub/api'],
  ])('names %s, which is the repository %s', async (url, repository) => {
    await send(createNotification({ scm: { url } }));

    expect(state.builds[0]?.repository).toBe(repository);
  });
});

describe('the generic format', () => {
  test.each([
    ['failure', 'failed'],
    ['FAILED', 'failed'],
    ['unstable', 'failed'],
    ['success', 'passed'],
    ['passed', 'passed'],
  ])('maps %s to %s', async (status, kept) => {
    const answer = await send({ ...generic, status });

    expect(answer.statusCode).toBe(202);
    expect(state.builds[0]).toMatchObject({
      repository: 'shop/api',
      pipeline: 'nightly',
      number: '7',
      status: kept,
    });
  });

  test('ignores any other status', async () => {
    expect((await send({ ...generic, status: 'aborted' })).json()).toEqual({
      ignored: expect.stringContaining('aborted'),
    });
  });

  test('names missing fields in its error', async () => {
    const answer = await send({ repository: 'shop/api', status: 'failure' });

    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.issues.map((issue: { path: string }) => issue.path)).toEqual([
      'pipeline',
      'number',
    ]);
  });
});

describe('the authentication of a delivery', () => {
  const basic = (login: string) => ({ authorization: `Basic ${Buffer.from(login).toString('base64')}` });

  test.each([
    ['the token in the query', { url: `/webhooks/jenkins?token=${JENKINS_SECRETS[1]}`, headers: {} }, 202],
    ['the token in the header', { headers: { 'x-faultline-token': JENKINS_SECRETS[1] } }, 202],
    [
      'the token as the password of Basic authentication',
      { headers: basic(`faultline:${JENKINS_SECRETS[1]}`) },
      202,
    ],
    ['another password', { headers: basic('faultline:first-jenkins-secreT') }, 401],
    ['the token as the user', { headers: basic(`${JENKINS_SECRETS[0]}:`) }, 401],
    ['the token without a user', { headers: basic(JENKINS_SECRETS[0]) }, 401],
    [
      'a broken password beside the token in the query',
      { url: `/webhooks/jenkins?token=${JENKINS_SECRETS[0]}`, headers: basic('a:b') },
      401,
    ],
    ['no token', { headers: {} }, 401],
    ['a wrong token', { headers: { 'x-faultline-token': 'first-jenkins-secreT' } }, 401],
    ['a part of the token', { headers: { 'x-faultline-token': JENKINS_SECRETS[0].slice(0, -1) } }, 401],
    ['a wrong token in the query', { url: '/webhooks/jenkins?token=x', headers: {} }, 401],
    [
      'two tokens in the query',
      { url: `/webhooks/jenkins?token=${JENKINS_SECRETS[0]}&token=x`, headers: {} },
      401,
    ],
  ])('is decided by the credentials: %s', async (_what, options, status) => {
    expect((await send(generic, options)).statusCode).toBe(status);
  });

  test('never logs a password', async () => {
    await send(generic, { headers: basic(`faultline:${JENKINS_SECRETS[0]}`) });
    await send('{', { headers: basic(`faultline:${JENKINS_SECRETS[0]}`) });

    const { authorization } = basic(`faultline:${JENKINS_SECRETS[0]}`);
    expect(state.log.length).toBeGreaterThan(1);
    for (const shown of [JENKINS_SECRETS[0], authorization.slice(6)])
      expect(JSON.stringify(state.log)).not.toContain(shown);
  });

  test('never logs a token in the query', async () => {
    await send(generic, { url: `/webhooks/jenkins?token=${JENKINS_SECRETS[0]}`, headers: {} });
    await send('{', { url: `/webhooks/jenkins?token=${JENKINS_SECRETS[0]}`, headers: {} });

    expect(state.log.length).toBeGreaterThan(1);
    expect(JSON.stringify(state.log)).not.toContain(JENKINS_SECRETS[0]);
  });

  test('names the missing setting if there is no secret', async () => {
    const closed = await buildHttp(
      createEmptyHttpDeps({ config: { ...TEST_CONFIG, providers: withSecrets({}) } }),
    );
    const answer = await closed.inject({ method: 'POST', url: '/webhooks/jenkins', payload: generic });
    await closed.close();

    expect(answer.statusCode).toBe(503);
    expect(answer.json().error.message).toContain('FAULTLINE_JENKINS_WEBHOOK_SECRET');
  });
});

describe('a signed delivery (T14)', () => {
  const body = JSON.stringify(generic);

  test.each(JENKINS_SECRETS)('is accepted with %s', async (secret) => {
    expect(
      (await send(body, { headers: createSignedHeadersFor(body, NOW, 'evt-1', secret) })).statusCode,
    ).toBe(202);
  });

  test.each([
    ['six minutes old', createSignedHeadersFor(body, NOW - 6 * 60_000)],
    ['six minutes ahead', createSignedHeadersFor(body, NOW + 6 * 60_000)],
    ['signed with another secret', createSignedHeadersFor(body, NOW, 'evt-1', 'some-other-secret')],
    ['signed for another body', createSignedHeadersFor(`${body} `, NOW)],
    ['under another id', { ...createSignedHeadersFor(body, NOW), 'x-faultline-id': 'evt-2' }],
    [
      'at another time',
      { ...createSignedHeadersFor(body, NOW), 'x-faultline-timestamp': String(NOW / 1000 - 1) },
    ],
    [
      'with a time that is none',
      { ...createSignedHeadersFor(body, NOW), 'x-faultline-timestamp': 'yesterday' },
    ],
    ['without its id', { 'x-faultline-signature': 'sha256=00' }],
  ])('is refused: %s', async (_what, headers) => {
    const answer = await send(body, { headers });

    expect(answer.statusCode).toBe(401);
    expect(state.builds).toEqual([]);
  });

  test('is accepted within four minutes of difference', async () => {
    expect((await send(body, { headers: createSignedHeadersFor(body, NOW - 4 * 60_000) })).statusCode).toBe(
      202,
    );
  });

  test('with a repeated id is refused and changes nothing', async () => {
    const headers = createSignedHeadersFor(body, NOW);
    await send(body, { headers });
    const replay = await send(body, { headers });

    expect(replay.statusCode).toBe(409);
    expect(replay.json().error.message).toContain('/api/deliveries/jenkins/evt-1');
    expect([state.builds.length, state.enqueued.length]).toEqual([1, 1]);
  });

  test('is checked even next to a valid token', async () => {
    const headers = {
      ...createSignedHeadersFor(body, NOW - 6 * 60_000),
      'x-faultline-token': JENKINS_SECRETS[0],
    };

    expect((await send(body, { headers })).statusCode).toBe(401);
  });
});

test.each([
  ['broken JSON', '{', 400],
  ['nothing', '', 400],
  ['null', 'null', 400],
  ['a key that would reach a prototype', '{"__proto__":{"admin":true}}', 400],
  ['ten thousand levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 400],
  ['a build that is no build', '{"name":"x","build":7}', 400],
])('%s is refused with a sentence', async (_what, body, status) => {
  const answer = await send(body);

  expect(answer.statusCode).toBe(status);
  expect(answer.json().error.message).toMatch(/\.$/);
});
