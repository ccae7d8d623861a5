import { afterAll, beforeAll, expect, it } from 'vitest';
import { sampleBuild } from '../../stores/samples.ts';
import { getPage, openConsole, type TestConsole, TOKENS } from '../../support/console.ts';

let opened: TestConsole;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(async () => await opened.close());

const HOUR_MS = 3_600_000;

async function bring(
  repository: string,
  number: number,
  hoursAgo: number,
  status: 'failed' | 'passed',
  branch = 'main',
) {
  const finishedAt = new Date(Date.now() - hoursAgo * HOUR_MS).toISOString();
  await opened.stores.builds.upsert(
    sampleBuild({ repository, pipeline: 'ci', number: String(number), branch, status, finishedAt }),
  );
}

it('the overview shows the next steps if nothing has failed yet', async () => {
  const { body } = await getPage(opened.app, '/');
  expect(body).toContain('Connect your CI, and the next red build explains itself');
  expect(body).toContain('/settings?provider=github');
  expect((await getPage(opened.app, '/', TOKENS.read)).body).toContain('An administrator connects it');
});

it('the overview counts broken default branches and shows them, with the duration', async () => {
  await bring('acme/shop', 1, 30, 'passed');
  await bring('acme/shop', 2, 5, 'failed');
  await bring('acme/shop', 3, 2, 'failed');
  await bring('acme/green', 1, 3, 'failed');
  await bring('acme/green', 2, 1, 'passed');
  await bring('acme/topic', 1, 1, 'failed', 'topic');
  const { body } = await getPage(opened.app, '/');
  expect(body).toContain('1 of 2 default branches is red');
  expect(body).toMatch(/acme\/shop<\/span><svg class="lane"[^>]*aria-label="2 of 3 builds failed, red since/);
  expect(body).toMatch(/<span class="num is-red">5 h<\/span>/);
  expect(body).toContain('One other default branch is green');
  expect(body).not.toMatch(/<svg class="lane"[^>]*>.*acme\/topic/s);
});
