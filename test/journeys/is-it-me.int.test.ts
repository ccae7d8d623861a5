import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { ShownWhose } from '../../src/service/answers/whose.ts';
import { HEADERS, startTestService, type TestService } from '../support/test-service.ts';

/*
 * A default branch turns red, pull requests meet it, it is mended, a flaky test fails and passes: an embedded service
 * says each time whose the failure is, on its API and its pages, with the build that proves it.
 */

const Received = z.object({ buildId: z.string() });
const Found = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(z.object({ id: z.string(), whose: ShownWhose.nullable() })),
});
type Asked = z.infer<typeof Found>['analyses'][number] & { readonly buildId: string };

let service: TestService;
beforeAll(async () => {
  service = await startTestService(0.85);
}, 120_000);
afterAll(() => service.close());

interface Sent {
  readonly number: number;
  readonly attempt?: number;
  readonly pullRequest?: number;
  readonly author?: string;
  readonly fails?: string;
}

const REPOSITORY = 'acme/press';

/** Sends a build of two tests, of which one may fail, and returns its id. */
async function send({ number, attempt = 1, pullRequest, author = 'max', fails }: Sent): Promise<string> {
  const branch = pullRequest === undefined ? 'main' : `change-${pullRequest}`;
  const commit = String(number).padStart(40, 'c');
  const status = fails === undefined ? 'passed' : 'failed';
  const metadata = {
    repository: REPOSITORY,
    pipeline: 'ci',
    number,
    attempt,
    branch,
    commit,
    author,
    status,
  };
  const cases = ['squeezes apples', 'fills bottles'].map((name) => {
    const failure = name === fails ? `<failure message="${name}: expected 'juice', got 'dry ${name}'"/>` : '';
    return `<testcase classname="press" name="${name}" time="0.1">${failure}</testcase>`;
  });
  const report = `<testsuite name="press" tests="2">${cases.join('')}</testsuite>`;
  const payload = {
    metadata: { ...metadata, ...(pullRequest === undefined ? {} : { pullRequest }) },
    logs: [
      { name: 'log.txt', text: `$ make check\n${fails === undefined ? 'passed' : `${fails} failed`}\n` },
    ],
    reports: [{ name: 'junit.xml', text: report }],
  };
  const sent = await service.http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload });
  return Received.parse(sent.json()).buildId;
}

async function ask(buildId: string): Promise<Asked> {
  for (let tries = 0; tries < 1_500; tries++) {
    const url = `/api/builds/${buildId}/analyses`;
    const { triage, analyses } = Found.parse((await service.http.inject({ url, headers: HEADERS })).json());
    if (triage?.state === 'done' && analyses[0] !== undefined) return { ...analyses[0], buildId };
    await sleep(20);
  }
  throw new Error(`${buildId} was never answered`);
}

async function readPage(url: string): Promise<string> {
  const { statusCode, body } = await service.http.inject({ url, headers: HEADERS });
  expect(statusCode).toBe(200);
  return body;
}

it('the comment says that main is broken, links the build that proves it, and is updated when main is fixed', async () => {
  await send({ number: 1 });
  const culprit = await send({ number: 2, fails: 'squeezes apples' });
  const onMain = await ask(culprit);
  expect(onMain.whose).toMatchObject({ verdict: 'change', isDefault: true });
  expect(onMain.whose?.sentence).toMatch(/^New with this commit.*passed in ci #1, the build before/);

  const mine = await ask(await send({ number: 3, pullRequest: 7, author: 'ada', fails: 'squeezes apples' }));
  expect(mine.whose).toMatchObject({ verdict: 'main', probability: null, act: { what: 'rebase', on: null } });
  expect(mine.whose?.sentence).toMatch(
    /^No, already red on the default branch: main fails this way since ci #2 \(.*, ccccccc by max\)\. Rebase when main is green\.$/,
  );
  for (const page of [`/builds/${mine.buildId}`, `/analyses/${mine.id}`]) {
    const html = await readPage(page);
    expect(html).toContain('data-whose="main"');
    expect(html).toContain(`href="/builds/${culprit}"`);
  }

  const mended = await send({ number: 4 });
  const after = await ask(mine.buildId);
  expect(after.whose).toMatchObject({ verdict: 'main', act: { what: 'rebase', on: { id: mended } } });
}, 60_000);

it('the comment says that a failure is new with a change, and flaky once the same commit passes', async () => {
  const broken = { number: 20, pullRequest: 9, author: 'ida', fails: 'fills bottles' };
  const mine = await ask(await send(broken));
  expect(mine.whose).toMatchObject({ verdict: 'change', isDefault: false });
  expect(mine.whose?.probability).toBeGreaterThan(0.9);
  const { fails: _, ...passing } = broken;
  const again = await send({ ...passing, attempt: 2 });
  expect((await ask(mine.buildId)).whose).toMatchObject({
    verdict: 'flaky',
    probability: null,
    proof: [{ what: 'passed-again', build: { id: again, attempt: 2 } }],
    act: { what: 'nothing' },
  });
}, 60_000);

it('the comment says that main was broken until recently', async () => {
  const mine = await ask(
    await send({ number: 30, pullRequest: 11, author: 'ida', fails: 'squeezes apples' }),
  );
  // Main had it, and somebody else mended it there.
  expect(mine.whose).toMatchObject({ verdict: 'main', act: { what: 'rebase', on: { number: '4' } } });
}, 60_000);
