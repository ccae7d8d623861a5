import assert from 'node:assert/strict';
import { readSlackPress } from '../../../../src/api/slack-webhook.ts';
import { NewBuild } from '../../../../src/domain/build.ts';
import { readAzureEvent } from '../../../../src/providers/azure/webhook.ts';
import { readBuildkiteEvent } from '../../../../src/providers/buildkite/webhook.ts';
import { readCircleciEvent } from '../../../../src/providers/circleci/webhook.ts';
import { readGiteaEvent } from '../../../../src/providers/gitea/webhook.ts';
import { readGithubEvent } from '../../../../src/providers/github/webhook.ts';
import { readGitlabEvent } from '../../../../src/providers/gitlab/webhook.ts';
import { readJenkinsEvent } from '../../../../src/providers/jenkins/webhook.ts';
import { parseJson } from '../../../../src/providers/read-input.ts';
import { readJsonUpload, toNewBuild } from '../../../../src/service/intake/upload.ts';
import { ignoreRefused } from '../refusals.ts';

const MAX_TEXT = 2_000;

/**
 * Reads the body of a webhook or upload. It must be rejected, or give a build that PostgreSQL can store and
 * pages can link to.
 */
export async function fuzz(data: Buffer): Promise<void> {
  const body = () => parseJson('The body', data.toString('utf8'));
  const readers: readonly (() => { readonly build: NewBuild } | { readonly ignored: string })[] = [
    ...['workflow_run', 'workflow_job', 'check_run'].map((event) => () => readGithubEvent(event, body())),
    ...['workflow_run', 'workflow_job', 'action_run_failure'].map(
      (event) => () => readGiteaEvent(event, body()),
    ),
    ...['Pipeline Hook', 'Job Hook'].map((event) => () => readGitlabEvent(event, body())),
    () => readJenkinsEvent(body(), { baseUrl: null, nowMs: Date.now() }).reading,
    () => readBuildkiteEvent('build.finished', body()),
    () => readCircleciEvent(body()).reading,
    () => readAzureEvent(body()).reading,
    () => ({ build: toNewBuild(readJsonUpload(body()).metadata) }),
  ];
  for (const read of readers) {
    const reading = await ignoreRefused(['invalid-input'], read);
    if (reading !== null && 'build' in reading) checkBuild(NewBuild.parse(reading.build));
  }
  await ignoreRefused(['invalid-input'], () => readSlackPress(data));
}

function checkBuild(build: NewBuild): void {
  for (const value of Object.values(build)) {
    if (typeof value !== 'string') continue;
    assert(value.isWellFormed() && !value.includes('\0'), 'the text is not what PostgreSQL keeps');
    assert(value.length <= MAX_TEXT, `${value.length} characters`);
  }
  assert(
    build.url === null || /^https?:$/.test(new URL(build.url).protocol),
    `${build.url} is no address of the web`,
  );
}
