import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckAnnotation, CheckContent } from '../../../src/notifications/render-check.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubCheckClient, createGithubStatusClient } from '../../../src/providers/github/notices.ts';
import { buildNotice, commitNotice } from '../../channels/sample-notice.ts';
import { createFakeGithub, type FakeGithub } from '../../support/fake-github.ts';
import { type GithubApi, startGithubApi } from '../../support/github-api.ts';
import { createTestGithubApp, install } from '../../support/github-app.ts';

const COMMIT = 'a41f9c2d00000000000000000000000000000000';
const app = createTestGithubApp();
install(app, 'shop/api', 7, { metadata: 'read', pull_requests: 'write', checks: 'write', statuses: 'write' });
let client: FakeGithub;
let github: GithubApi;
beforeEach(async () => {
  client = createFakeGithub('faultline-test[bot]');
  github = await startGithubApi({ app, client });
});
afterEach(async () => github.close());

function createNoticeClient(change: { token?: string; app?: null } = {}) {
  return createGithubCheckClient({
    baseUrl: github.url,
    app,
    token: null,
    logger: silentLogger,
    retryUnitMs: 1,
    unpaced: true,
    ...change,
  });
}

function createAnnotation(path: string, line = 1): CheckAnnotation {
  return {
    path,
    line,
    level: 'failure',
    title: 'Rounded twice (Test failure, 91 %)',
    message: 'It differs by 0.01.',
    details: '288501  10.21',
  };
}

function createContent(change: Partial<CheckContent> = {}): CheckContent {
  const said = { title: 'Analyzing 3 failures', summary: '**Looking**', text: '', detailsUrl: null };
  return { status: 'in_progress', commit: COMMIT, pullRequest: 1204, annotations: [], ...said, ...change };
}

describe('the check run of a build', () => {
  it('begins in progress, and ends as neutral', async () => {
    const { reference } = await createNoticeClient().send(createContent(), buildNotice());
    expect(client.checks).toMatchObject([
      { externalId: 'github-check:bld_1', sha: COMMIT, status: 'in_progress', conclusion: null },
    ]);
    await createNoticeClient().send(
      createContent({ status: 'completed', title: '2 causes, 1 needs you' }),
      buildNotice({ reference }),
    );
    expect(client.checks).toMatchObject([
      { status: 'completed', conclusion: 'neutral', output: { title: '2 causes, 1 needs you' } },
    ]);
    expect(client.writes).toEqual(['POST check', 'PATCH check']);
  });

  it('is found by its id and its App', async () => {
    await createNoticeClient().send(createContent(), buildNotice());
    await createNoticeClient().send(createContent({ status: 'completed' }), buildNotice());
    expect(client.checks).toHaveLength(1);
    const [check] = client.checks;
    if (check !== undefined) client.checks[0] = { ...check, slug: 'somebody-else' };
    await createNoticeClient().send(createContent(), buildNotice());
    expect(client.checks).toHaveLength(2);
  });

  it('UX 48: sends 120 annotations in three requests, each once', async () => {
    client.files = ['src/a.ts'];
    const annotations = Array.from({ length: 120 }, (_, index) => createAnnotation('src/a.ts', index + 1));
    const { reference } = await createNoticeClient().send(
      createContent({ status: 'completed', annotations }),
      buildNotice(),
    );
    expect(client.checks[0]?.annotations.map((request) => request.length)).toEqual([50, 50, 20]);
    await createNoticeClient().send(
      createContent({ status: 'completed', annotations }),
      buildNotice({ reference }),
    );
    expect(client.checks[0]?.annotations.flat()).toHaveLength(120);
  });

  it('annotates only files of the pull request', async () => {
    client.files = [...Array.from({ length: 130 }, (_, index) => `docs/${index}.md`), 'src/mine.ts'];
    const annotations = [createAnnotation('src/mine.ts'), createAnnotation('src/theirs.ts')];
    await createNoticeClient().send(createContent({ status: 'completed', annotations }), buildNotice());
    expect(client.checks[0]?.annotations.flat().map(({ path }) => path)).toEqual(['src/mine.ts']);
    await createNoticeClient().send(
      createContent({
        status: 'completed',
        annotations,
        pullRequest: null,
        commit: COMMIT.replace('a', 'b'),
      }),
      buildNotice({ key: 'github-check:bld_2' }),
    );
    expect(client.checks[1]?.annotations).toEqual([]);
  });

  it('is refused with a reason unless an App is used', async () => {
    const refused = createNoticeClient({ app: null, token: 'ghp_secret' }).send(
      createContent(),
      buildNotice(),
    );
    await expect(refused).rejects.toMatchObject({
      code: 'upstream-auth',
      message: expect.stringContaining('Only GitHub Apps'),
    });
    expect(client.writes).toEqual([]);
  });
});

it('a commit status states the result in one line', async () => {
  const speaking = createGithubStatusClient({
    baseUrl: github.url,
    app: null,
    token: 'ghp_secret',
    logger: silentLogger,
    retryUnitMs: 1,
    unpaced: true,
  });
  const said = {
    state: 'failure',
    description: '3 tests failed, 1 cause',
    targetUrl: 'https://fl.example/builds/1',
  } as const;
  expect(await speaking.send(said, commitNotice(COMMIT))).toEqual({ reference: COMMIT });
  expect(client.statuses).toEqual([
    { state: 'failure', description: said.description, target_url: said.targetUrl, context: 'Faultline' },
  ]);
});
