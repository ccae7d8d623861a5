import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubCommentClient } from '../../../src/providers/github/notices.ts';
import { pullRequestNotice } from '../../channels/sample-notice.ts';
import { createFakeGithub, type FakeGithub } from '../../support/fake-github.ts';
import { type GithubApi, startGithubApi } from '../../support/github-api.ts';
import { createTestGithubApp, install } from '../../support/github-app.ts';
import { sendJson } from '../../support/loopback-server.ts';

const MARKER = '<!-- faultline:v1 repo=shop/api pr=1204 -->';
let client: FakeGithub;
let github: GithubApi;
beforeEach(async () => {
  client = createFakeGithub();
  github = await startGithubApi({ client });
});
afterEach(async () => github.close());

function createNoticeClient() {
  return createGithubCommentClient({
    baseUrl: github.url,
    token: 'ghp_secret',
    logger: silentLogger,
    retryUnitMs: 1,
    unpaced: true,
  });
}

function addForeignComment(login: string, id: number): void {
  client.comments.push({ id, pullRequest: 1204, body: `${MARKER}\nours, they say`, login });
}

describe('the comment on a pull request', () => {
  it('is created with a marker, and edited in place', async () => {
    const made = await createNoticeClient().send({ body: 'Looking' }, pullRequestNotice());
    expect(client.comments).toEqual([
      { id: Number(made.reference), pullRequest: 1204, body: `${MARKER}\nLooking`, login: 'faultline-bot' },
    ]);
    await createNoticeClient().send({ body: 'Answered' }, pullRequestNotice(made));
    expect(client.comments.map(({ body }) => body)).toEqual([`${MARKER}\nAnswered`]);
    expect(client.writes).toEqual(['POST comment', 'PATCH comment']);
  });

  it("is found by its marker and author, and is not another author's comment with our marker", async () => {
    addForeignComment('mallory', 1);
    expect(await createNoticeClient().find?.(pullRequestNotice())).toBeNull();
    for (let id = 2; id <= 140; id++)
      client.comments.push({ id, pullRequest: 1204, body: `talk\n${MARKER}`, login: 'faultline-bot' });
    addForeignComment('faultline-bot', 141);
    expect(await createNoticeClient().find?.(pullRequestNotice())).toEqual({
      reference: '141',
    });
  });

  it('that was deleted is reported as gone', async () => {
    await expect(
      createNoticeClient().send({ body: 'x' }, pullRequestNotice({ reference: '7' })),
    ).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  it('is never posted twice by the client itself', async () => {
    client.intercept = (_request, response) => {
      client.writes.push('came');
      sendJson(response, 502, { message: 'Bad Gateway' });
      return true;
    };
    await expect(createNoticeClient().send({ body: 'x' }, pullRequestNotice())).rejects.toMatchObject({
      retryable: true,
    });
    expect(client.writes).toEqual(['came']);
  });

  it('leads to an error that names the missing permission or the delay of a rate limit', async () => {
    client.intercept = (_request, response) => {
      sendJson(response, 403, { message: 'Resource not accessible by personal access token' });
      return true;
    };
    const refused = createNoticeClient().send({ body: 'x' }, pullRequestNotice());
    await expect(refused).rejects.toMatchObject({
      code: 'upstream-auth',
      message: expect.stringContaining('write "Pull requests"'),
    });
    client.intercept = (_request, response) => {
      sendJson(
        response,
        403,
        { message: 'You have exceeded a secondary rate limit' },
        { 'retry-after': '90' },
      );
      return true;
    };
    const limited = createNoticeClient().send({ body: 'x' }, pullRequestNotice());
    await expect(limited).rejects.toMatchObject({ retryable: true, retryAfterMs: 90_000 });
  });

  it('is refused if GitHub would refuse it', async () => {
    const long = createNoticeClient().send({ body: 'x'.repeat(65_536) }, pullRequestNotice());
    await expect(long).rejects.toMatchObject({ code: 'too-large' });
    expect(client.writes).toEqual([]);
  });
});

it('an App requests a token that may write, and no more than it needs', async () => {
  const app = createTestGithubApp();
  const granted = { metadata: 'read', pull_requests: 'write', contents: 'write', checks: 'read' };
  install(app, 'shop/api', 7, granted);
  const own = createFakeGithub('faultline-test[bot]');
  const server = await startGithubApi({ app, client: own });
  const speaking = createGithubCommentClient({
    baseUrl: server.url,
    app,
    token: null,
    logger: silentLogger,
    retryUnitMs: 1,
    unpaced: true,
  });
  await speaking.send({ body: 'Looking' }, pullRequestNotice());
  await server.close();
  expect(app.issued.map(({ permissions }) => permissions)).toEqual([
    { metadata: 'read', pull_requests: 'write', checks: 'read' },
  ]);
  expect(own.comments).toMatchObject([{ login: 'faultline-test[bot]' }]);
});
