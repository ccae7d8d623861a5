import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { ShownWhose } from '../../src/service/answers/whose.ts';
import { HEADERS, startTestService, type TestService } from '../support/test-service.ts';

/*
 * A job is green, and the next day the same commit is red, since an unpinned package has a new major version: an
 * embedded service names the version first, on its API and its pages. The logs are of real installations.
 */

const Received = z.object({ buildId: z.string() });
const Found = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(Analysis.extend({ whose: ShownWhose.nullable() })),
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService(0.85);
}, 120_000);
afterAll(() => service.close());

const COMMIT = 'd'.repeat(40);

async function send(name: string, side: 'green' | 'red', number: number, commit = COMMIT): Promise<string> {
  const text = readFileSync(join(import.meta.dirname, `../fixtures/drift/${name}/${side}.log`), 'utf8');
  const metadata = {
    repository: `acme/${name}`,
    pipeline: 'ci',
    number,
    branch: 'main',
    commit,
    status: side === 'green' ? 'passed' : 'failed',
  };
  const payload = { metadata, logs: [{ name: 'log.txt', text }] };
  const sent = await service.http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload });
  return Received.parse(sent.json()).buildId;
}

async function waitUntilStored(buildId: string): Promise<void> {
  for (let tries = 0; tries < 1_500; tries++) {
    if ((await service.app.stores.environments.find(buildId)).length > 0) return;
    await sleep(20);
  }
  throw new Error(`the environment of ${buildId} was never kept`);
}

async function ask(buildId: string): Promise<z.infer<typeof Found>['analyses'][number]> {
  for (let tries = 0; tries < 1_500; tries++) {
    const url = `/api/builds/${buildId}/analyses`;
    const { triage, analyses } = Found.parse((await service.http.inject({ url, headers: HEADERS })).json());
    if (triage?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    await sleep(20);
  }
  throw new Error(`${buildId} was never answered`);
}

it('the answer and the origin of the failure name the version that first broke the same commit', async () => {
  const green = await send('werkzeug-url-quote', 'green', 1);
  await waitUntilStored(green);
  const { id, answer, changes, evidence, whose } = await ask(await send('werkzeug-url-quote', 'red', 2));
  expect(changes?.since?.buildId).toBe(green);
  expect(changes?.isSameCommit).toBe(true);
  expect(changes?.changes[0]).toMatchObject({ kind: 'python', name: 'werkzeug', from: '2.3.7', to: '3.0.0' });
  expect(answer.title).toMatch(/^werkzeug 2\.3\.7 → 3\.0\.0: /);
  expect(answer.rootCause).toMatch(
    /^Not in the diff: werkzeug 2\.3\.7 → 3\.0\.0 since build 1, which passed on/,
  );
  expect(answer.fixRecommendation).toMatch(/^Pin werkzeug to 2\.3\.7 \(`werkzeug==2\.3\.7`\)/);
  const [claim] = answer.claims;
  expect(evidence.find((item) => item.id === claim?.evidence[0])?.text).toContain('werkzeug 2.3.7 → 3.0.0');
  expect(whose).toMatchObject({ verdict: 'environment', probability: null, act: { what: 'pin' } });
  expect(whose?.sentence).toMatch(
    /^None: what it runs with changed: werkzeug 2\.3\.7 → 3\.0\.0 since build 1 of the same/,
  );
  const page = (await service.http.inject({ url: `/analyses/${id}`, headers: HEADERS })).body;
  expect(page).toContain('Changed, not in the diff');
  expect(page).toContain(`href="/builds/${green}"`);
}, 60_000);

it('a change that is not related to the failure is listed, but not blamed', async () => {
  await waitUntilStored(await send('own-module', 'green', 1));
  const { answer, changes, whose } = await ask(await send('own-module', 'red', 2));
  expect(changes?.changes.map(({ name }) => name)).toContain('flask');
  expect(changes?.changes.every(({ link }) => link === null)).toBe(true);
  expect(`${answer.title} ${answer.rootCause}`).not.toContain('→');
  expect(whose?.verdict).not.toBe('environment');
}, 60_000);

it('one incident is reported if many repositories cannot reach the same host within minutes', async () => {
  const text = [
    '$ npm ci',
    'npm error code ENOTFOUND',
    'npm error network request to https://registry.npmjs.org/orchard failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org',
    '##[error]Process completed with exit code 1.',
  ].join('\n');
  const fail = async (repository: string) => {
    const metadata = {
      repository,
      pipeline: 'ci',
      number: 1,
      branch: 'main',
      commit: COMMIT,
      status: 'failed',
    };
    const payload = { metadata, logs: [{ name: 'log.txt', text }] };
    const sent = await service.http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload });
    return Received.parse(sent.json()).buildId;
  };
  const first = await fail('apple/press');
  await ask(first);
  for (const repository of ['pear/press', 'plum/press', 'fig/press']) await ask(await fail(repository));
  const { whose } = await ask(first);
  expect(whose).toMatchObject({
    verdict: 'machine',
    probability: null,
    proof: [{ what: 'incident', host: 'registry.npmjs.org', repositories: 3 }],
  });
  expect(whose?.sentence).toContain('registry.npmjs.org failed for 3 other repositories within minutes');
  expect(whose?.sentence).not.toContain('pear');
}, 60_000);

it('changes are deleted with their builds', async () => {
  const stored = async () =>
    (await service.app.database.query<{ count: number }>('select count(*)::int from environment_parts'))[0]
      ?.count;
  expect(await stored()).toBeGreaterThan(0);
  for (const name of ['werkzeug-url-quote', 'own-module'])
    await service.app.retention.forget(`acme/${name}`, 0, AbortSignal.timeout(30_000));
  expect(await stored()).toBe(0);
}, 60_000);
