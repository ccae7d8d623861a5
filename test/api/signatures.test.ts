import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createFakeHttpDeps } from '../support/fake-stores.ts';
import { GITHUB_SECRETS, JENKINS_SECRETS, TEST_CONFIG, withSecrets } from '../support/http-deps.ts';

let app: FastifyInstance;
afterEach(() => app.close());

const BODY = JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 });
const hmac = (algorithm: string, secret: string, text: string) =>
  createHmac(algorithm, secret).update(text).digest('hex');
const NOW = Date.parse('2026-03-01T12:00:00Z');

async function open(providers = TEST_CONFIG.providers) {
  const { deps, state } = createFakeHttpDeps({ clock: { now: () => NOW } });
  app = await buildHttp({ ...deps, config: { ...TEST_CONFIG, providers } });
  return state;
}

function sendGithub(signature: string | undefined, payload = BODY) {
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'ping',
    'x-github-delivery': 'd-1',
  };
  const signed = signature === undefined ? headers : { ...headers, 'x-hub-signature-256': signature };
  return app.inject({ method: 'POST', url: '/webhooks/github', payload, headers: signed });
}

function sendJenkins(secret: string, timestamp: number, id = 'msg-1') {
  const payload = JSON.stringify({
    name: 'shop',
    url: 'job/shop/',
    build: { number: 1, phase: 'STARTED', url: 'job/shop/1/' },
  });
  const headers = {
    'content-type': 'application/json',
    'x-faultline-id': id,
    'x-faultline-timestamp': String(timestamp),
    'x-faultline-signature': `sha256=${hmac('sha256', secret, `${id}.${timestamp}.${payload}`)}`,
  };
  return app.inject({ method: 'POST', url: '/webhooks/jenkins', payload, headers });
}

describe('T11: the signature of a GitHub delivery', () => {
  const right = hmac('sha256', GITHUB_SECRETS[0], BODY);
  const cases: readonly (readonly [string, string | undefined, string?])[] = [
    ['no signature', undefined],
    ['an empty one', ''],
    ['a short one', `sha256=${right.slice(0, 32)}`],
    ['a long one', `sha256=${right}00`],
    ['in capitals', `sha256=${right.toUpperCase()}`],
    ['SHA-1 only', `sha1=${hmac('sha1', GITHUB_SECRETS[0], BODY)}`],
    ['the digest without its name', right],
    ['under another key', `sha256=${hmac('sha256', 'another-secret', BODY)}`],
    ['of an empty key', `sha256=${hmac('sha256', '', BODY)}`],
    ['a byte of the body changed', `sha256=${right}`, BODY.replace('1', '2')],
    ['the body spaced anew', `sha256=${right}`, JSON.stringify(JSON.parse(BODY), null, 1)],
    ['a body with a tail', `sha256=${right}`, `${BODY} `],
    ['no body', `sha256=${hmac('sha256', GITHUB_SECRETS[0], '')}`, ''],
  ];

  test.each(cases)('is refused with 401, and nothing is stored: %s', async (_what, signature, payload) => {
    const state = await open();
    const answer = await sendGithub(signature, payload);
    expect([answer.statusCode, answer.json().error.code]).toEqual([401, 'unauthenticated']);
    expect([state.deliveries, state.builds, state.jobs]).toEqual([[], [], []]);
    for (const secret of GITHUB_SECRETS) expect(answer.body).not.toContain(secret);
  });

  test('is accepted if it is right', async () => {
    await open();
    expect((await sendGithub(`sha256=${right}`)).statusCode).toBe(202);
  });
});

describe('T12: during a rotation of the secret', () => {
  test('both secrets are accepted, and the old one is refused after its removal', async () => {
    const [old, fresh] = GITHUB_SECRETS;
    const sign = (secret: string) => `sha256=${hmac('sha256', secret, BODY)}`;
    await open();
    expect([(await sendGithub(sign(old))).statusCode, (await sendGithub(sign(fresh))).statusCode]).toEqual([
      202, 202,
    ]);
    const [oldJenkins, freshJenkins] = JENKINS_SECRETS;
    const at = NOW / 1000;
    expect([
      (await sendJenkins(oldJenkins, at, 'a')).statusCode,
      (await sendJenkins(freshJenkins, at, 'b')).statusCode,
    ]).toEqual([202, 202]);
    await app.close();
    await open(withSecrets({ github: [fresh], jenkins: [freshJenkins] }));
    expect([(await sendGithub(sign(old))).statusCode, (await sendGithub(sign(fresh))).statusCode]).toEqual([
      401, 202,
    ]);
    expect([
      (await sendJenkins(oldJenkins, at, 'c')).statusCode,
      (await sendJenkins(freshJenkins, at, 'd')).statusCode,
    ]).toEqual([401, 202]);
  });

  test('a webhook without any secret is refused, with the setting to set', async () => {
    await open(withSecrets({}));
    const answer = await sendGithub(`sha256=${hmac('sha256', '', BODY)}`);
    expect([answer.statusCode, answer.json().error.message]).toEqual([
      503,
      expect.stringContaining('FAULTLINE_GITHUB_WEBHOOK_SECRET'),
    ]);
  });
});

describe('T14: the timestamp that a sender signs', () => {
  const [secret] = JENKINS_SECRETS;

  test.each([
    ['six minutes old', -360, 401],
    ['six minutes ahead', 360, 401],
    ['five minutes and a second old', -301, 401],
    ['five minutes old', -300, 202],
    ['five minutes ahead', 300, 202],
  ])('%s: %i s is answered with %i', async (_what, seconds, status) => {
    await open();
    expect((await sendJenkins(secret, NOW / 1000 + seconds)).statusCode).toBe(status);
  });

  test.each(['', '-1', '1e9', 'now', '99999999999999', ' 1'])('is refused if it is %j', async (timestamp) => {
    await open();
    const headers = {
      'content-type': 'application/json',
      'x-faultline-id': 'x',
      'x-faultline-timestamp': timestamp,
      'x-faultline-signature': `sha256=${hmac('sha256', secret, `x.${timestamp}.{}`)}`,
    };
    expect(
      (await app.inject({ method: 'POST', url: '/webhooks/jenkins', payload: '{}', headers })).statusCode,
    ).toBe(401);
  });
});
