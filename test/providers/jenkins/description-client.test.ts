import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDescriptionSender } from '../../../src/providers/jenkins/description.ts';
import { callTo } from '../../channels/sending.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';

let jenkins: LoopbackServer;
/** The description on the build's page. */
let description: string | null;
let intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;

beforeEach(async () => {
  [description, intercept] = [null, null];
  jenkins = await startLoopback(async (request, response) => {
    if (intercept?.(request, response) === true) return;
    if (request.method === 'GET')
      return sendJson(response, 200, { _class: 'hudson.model.FreeStyleBuild', description });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    description = new URLSearchParams(Buffer.concat(chunks).toString('utf8')).get('description');
    // As Jenkins does it.
    response.writeHead(302, { location: '.' }).end();
  });
});
afterEach(async () => jenkins.close());

async function show(
  text: string,
  reference: string | null = null,
  url: string | null = `${jenkins.url}/job/shop/812/`,
) {
  const client = createDescriptionSender({ baseUrl: jenkins.url, user: 'faultline', token: 'api-token' });
  const about = { type: 'build', buildId: 'bld_1' } as const;
  const to = { repository: 'shop/api', about };
  const call = callTo(to, {
    key: 'jenkins-description:bld_1',
    reference,
    signal: AbortSignal.timeout(5_000),
  });
  const content = {
    build: { url, externalId: null, number: '812', pipeline: 'shop' },
    text,
    format: 'text',
  } as const;
  return await client.send(content, call);
}

const writes = () => jenkins.requests.filter(({ method }) => method === 'POST');

it('the description is written as a user with an API token, without a crumb', async () => {
  expect(await show('TEST_FAILURE 91 %: twice.')).toEqual({ reference: 'TEST_FAILURE 91 %: twice.' });
  expect(description).toBe('TEST_FAILURE 91 %: twice.');
  const basic = `Basic ${Buffer.from('faultline:api-token').toString('base64')}`;
  expect(writes()).toMatchObject([
    {
      path: '/job/shop/812/submitDescription',
      headers: { authorization: basic, 'content-type': expect.stringContaining('form-urlencoded') },
    },
  ]);
});

it('our own sentence in the description is replaced, and other text remains', async () => {
  description = 'v1.2.3 $& to staging';
  const { reference } = await show('TEST_FAILURE 61 %: twice.');
  expect(description).toBe('v1.2.3 $& to staging\nTEST_FAILURE 61 %: twice.');
  await show('TEST_FAILURE, confirmed by grace: twice.', reference);
  expect(description).toBe('v1.2.3 $& to staging\nTEST_FAILURE, confirmed by grace: twice.');
});

it('a description that is already up to date is not written again, for example after a crash', async () => {
  description = 'TEST_FAILURE 91 %: twice.';
  await show('TEST_FAILURE 91 %: twice.');
  expect(writes()).toEqual([]);
});

it.each([
  ['http://127.0.0.1:9/job/shop/812/', 'forbidden'],
  ['https://elsewhere.example/job/shop/812/', 'forbidden'],
  ['http://user:pass@127.0.0.1/job/shop/812/', 'forbidden'],
  ['no address', 'not-found'],
])('the token is never sent elsewhere: %s', async (url, code) => {
  await expect(show('x', null, url)).rejects.toMatchObject({ code });
  expect(jenkins.requests).toEqual([]);
});

it.each([
  [403, {}, { code: 'upstream-auth', retryable: false, message: expect.stringContaining('Run/Update') }],
  [302, { location: '/login?from=%2Fjob' }, { code: 'upstream-auth', retryable: false }],
  [302, { location: 'https://sso.example/' }, { code: 'upstream-auth', retryable: false }],
  [404, {}, { code: 'not-found' }],
  [503, {}, { code: 'upstream-failed', retryable: true }],
])('status %i with %j is the error %j', async (status, headers, wanted) => {
  intercept = ({ method }, response) => {
    if (method === 'GET') return false;
    response.writeHead(status, headers).end('no');
    return true;
  };
  await expect(show('x')).rejects.toMatchObject(wanted);
  expect(writes()).toHaveLength(1);
});

it('the error is retryable if the server does not respond, and does not reveal the address', async () => {
  intercept = (request) => {
    request.socket.destroy();
    return true;
  };
  const message = expect.not.stringContaining('127.0.0.1');
  await expect(show('x')).rejects.toMatchObject({ retryable: true, message });
});

it('the error for a build without a URL is about its page and not about a log', async () => {
  await expect(show('x', null, null)).rejects.toMatchObject({
    code: 'not-found',
    message: 'Build 812 of shop has no URL, so its page in Jenkins is unknown.',
  });
});

it('an endless response is not read', async () => {
  intercept = (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more);
    more();
    return true;
  };
  await expect(show('x')).rejects.toMatchObject({ code: 'too-large' });
});
