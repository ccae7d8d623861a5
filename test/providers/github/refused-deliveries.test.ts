import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../../src/api/server.ts';
import { createWorkNotifier } from '../../../src/work/notifier.ts';
import { createFakeHttpDeps, type FakeState, waitForRelay } from '../../support/fake-stores.ts';
import { createEmptyHttpDeps, GITHUB_SECRETS, TEST_CONFIG, withSecrets } from '../../support/http-deps.ts';
import {
  createGithubExample,
  type GithubSending,
  sendGithub,
  signForGithub,
} from '../../support/webhook-senders.ts';

let app: FastifyInstance;
let state: FakeState;
beforeEach(async () => {
  const fake = createFakeHttpDeps();
  state = fake.state;
  app = await buildHttp(fake.deps);
});
afterEach(() => app.close());

/** Sends, and waits until the relay has made a build of it. */
async function send(sending: GithubSending) {
  const answer = await sendGithub(app, sending);
  await waitForRelay(state);
  return answer;
}

const failedRun = createGithubExample(
  'workflow_run',
  'completed',
  { workflow_run: { conclusion: 'failure' } },
  1,
);
const actionsCheck = {
  conclusion: 'failure',
  details_url: 'https://github.com/octo-org/octo-repo/actions/runs/289782451/job/99001',
};

describe('the signature of a delivery (T11)', () => {
  const body = JSON.stringify(failedRun);
  const good = signForGithub(body);
  test.each([
    ['no signature', undefined],
    ['an empty one', ''],
    ['sha1 only', 'sha1=4864d2759938a15468b5df9ade20bf161da9b4f7'],
    ['a short one', good.slice(0, -1)],
    ['a long one', `${good}0`],
    ['another key', signForGithub(body, 'some-other-secret')],
    ['another body', signForGithub(`${body} `)],
    ['one bit off', good.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
  ])('is refused if it is wrong, and nothing is stored: %s', async (_what, signature) => {
    const answer = await send({
      event: 'workflow_run',
      payload: body,
      headers: { 'x-hub-signature-256': signature },
    });

    expect(answer.statusCode).toBe(401);
    expect(answer.json().error).toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(/\.|\?$/),
    });
    expect(state.deliveries).toEqual([]);
    expect(
      state.log.some(
        (line) => line.message === 'request refused' && line.fields.route === '/webhooks/github',
      ),
    ).toBe(true);
  });

  test('covers the bytes: the same JSON with other spaces is refused', async () => {
    const spaced = JSON.stringify(failedRun, null, 2);
    const answer = await send({
      event: 'workflow_run',
      payload: spaced,
      headers: { 'x-hub-signature-256': good },
    });

    expect(answer.statusCode).toBe(401);
  });

  test('may be made with either of two secrets during a rotation (T12)', async () => {
    for (const [index, secret] of GITHUB_SECRETS.entries()) {
      const answer = await send({
        event: 'workflow_run',
        payload: failedRun,
        secret,
        delivery: `d-${index}`,
      });
      expect(answer.statusCode).toBe(202);
    }
  });

  test('cannot be checked without a secret, and the error names the missing setting', async () => {
    const closed = await buildHttp(
      createEmptyHttpDeps({ config: { ...TEST_CONFIG, providers: withSecrets({}) } }),
    );
    const answer = await sendGithub(closed, { event: 'workflow_run', payload: failedRun });
    await closed.close();

    expect(answer.statusCode).toBe(503);
    expect(answer.json().error.message).toContain('FAULTLINE_GITHUB_WEBHOOK_SECRET');
  });

  test('that is forged thirty times in a minute makes the sender wait; a valid one is still accepted (T19)', async () => {
    let last = 0;
    for (let forged = 0; forged < 32; forged++) {
      const answer = await send({ event: 'workflow_run', payload: failedRun, secret: `guess-${forged}-xyz` });
      last = answer.statusCode;
    }
    expect(last).toBe(429);
    expect((await send({ event: 'workflow_run', payload: failedRun })).statusCode).toBe(202);
  });
});

describe('a signed delivery with unusual content', () => {
  test.each([
    ['broken JSON', '{"action": "completed"', 400],
    ['an empty body', '', 401],
    ['an array', '[]', 400],
    ['a known event without its fields', '{"action":"completed"}', 400],
    [
      'a key that would reach a prototype',
      `${JSON.stringify(failedRun).slice(0, -1)},"__proto__":{"admin":true}}`,
      400,
    ],
    [
      'a constructor that would reach a prototype',
      `${JSON.stringify(failedRun).slice(0, -1)},"constructor":{"prototype":{"admin":true}}}`,
      400,
    ],
    ['JSON nested ten thousand deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 400],
    ['NaN', '{"action": NaN}', 400],
  ])('is acknowledged or refused: %s', async (_what, payload, status) => {
    const answer = await send({ event: 'workflow_run', payload });

    expect(answer.statusCode).toBe(status);
    expect(answer.json().error.message).toMatch(/[.?]$/);
    expect(answer.body).not.toContain('node_modules');
    expect(state.builds).toEqual([]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test.each([
    ['workflow_run', { run_attempt: 2_147_483_648 }],
    ['workflow_run', { run_attempt: 10_001 }],
    ['workflow_run', { pull_requests: [{ number: 2_147_483_648 }] }],
    ['workflow_run', { html_url: 'javascript:alert(1)' }],
    ['workflow_job', { run_attempt: 2_147_483_648 }],
    ['workflow_job', { html_url: 'data:text/html,x' }],
    ['check_run', { pull_requests: [{ number: 9_007_199_254_740_991 }] }],
  ])(
    'such as a %s with %j is refused with the name of the field, and nothing is stored',
    async (event, fields) => {
      const answer = await send({
        event,
        payload: createGithubExample(event, 'completed', { [event]: fields }),
      });

      expect(answer.statusCode).toBe(400);
      expect(answer.json().error.message).toContain(Object.keys(fields)[0]);
      expect(state.builds).toEqual([]);
    },
  );

  test.each(['javascript:alert(1)', '', 'no address'])(
    'such as a check with the address %j is not a job of Actions',
    async (details_url) => {
      const payload = createGithubExample('check_run', 'completed', {
        check_run: { ...actionsCheck, details_url },
      });
      const answer = await send({ event: 'check_run', payload });

      expect([answer.statusCode, state.builds]).toEqual([202, []]);
    },
  );

  test('may be deeply nested next to the relevant fields', async () => {
    const deep = `${JSON.stringify(failedRun).slice(0, -1)},"extra":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`;

    expect((await send({ event: 'workflow_run', payload: deep })).statusCode).toBe(202);
  });

  test('may be a form, which GitHub sends unless JSON is chosen', async () => {
    const payload = new URLSearchParams({ payload: JSON.stringify(failedRun) }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send({ event: 'workflow_run', payload, headers })).statusCode).toBe(202);
    expect(state.builds[0]).toMatchObject({
      repository: 'octo-org/octo-repo',
      number: '163',
      status: 'failed',
    });
    const forged = await sendGithub(app, {
      event: 'workflow_run',
      payload,
      secret: 'another-secret',
      headers,
    });
    expect(forged.statusCode).toBe(401);
  });

  test('may contain NUL and lone surrogates, which are stored as U+FFFD', async () => {
    const payload = JSON.stringify(
      createGithubExample(
        'workflow_run',
        'completed',
        { workflow_run: { conclusion: 'failure', head_branch: 'BRANCH' } },
        1,
      ),
    );
    await send({ event: 'workflow_run', payload: payload.replace('"BRANCH"', '"a\\u0000b\\ud800c"') });

    expect(state.builds[0]?.branch).toBe('a\ufffdb\ufffdc');
  });

  test.each([
    ['a form without a payload', { 'content-type': 'application/x-www-form-urlencoded' }, 400],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['compressed', { 'content-encoding': 'gzip' }, 415],
    ['no delivery id', { 'x-github-delivery': undefined }, 400],
    ['an endless delivery id', { 'x-github-delivery': 'd'.repeat(201) }, 400],
    ['no event', { 'x-github-event': undefined }, 400],
  ])('%s', async (_what, headers, status) => {
    const answer = await send({ event: 'workflow_run', payload: failedRun, headers });

    expect(answer.statusCode).toBe(status);
    expect(answer.json().error.message).toMatch(/\.$/);
    expect(
      state.log.some((line) => line.message === 'request refused' && line.fields.status === status),
    ).toBe(true);
  });

  test('above the size limit is refused before it is read', async () => {
    const payload = JSON.stringify({ filler: 'x'.repeat(TEST_CONFIG.http.maxBodyBytes) });
    const answer = await send({ event: 'workflow_run', payload });

    expect(answer.statusCode).toBe(413);
    expect(answer.json().error.code).toBe('too-large');
  });
});

describe('a delivery while a backend is down', () => {
  test('is accepted if the queue fails: the job stays pending', async () => {
    const fake = createFakeHttpDeps();
    const wake = () => Promise.reject(new Error('the queue is away'));
    const notifier = createWorkNotifier({ wakeUp: { wake }, logger: fake.deps.logger });
    const withoutQueue = await buildHttp({ ...fake.deps, notifier });
    const answer = await sendGithub(withoutQueue, { event: 'workflow_run', payload: failedRun });
    await waitForRelay(fake.state);
    await withoutQueue.close();

    expect(answer.statusCode).toBe(202);
    expect(fake.state.jobs).toHaveLength(1);
    expect(fake.state.log.some((line) => line.message.includes('stays pending'))).toBe(true);
  });

  test('is answered with 503 and Retry-After if the database is down, never with 202', async () => {
    const down = await buildHttp(createEmptyHttpDeps());
    const answer = await sendGithub(down, { event: 'workflow_run', payload: failedRun });
    await down.close();

    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
  });
});
