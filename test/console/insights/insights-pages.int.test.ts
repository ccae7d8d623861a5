import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatDay } from '../../../src/console/controls.ts';
import { digestOfToken, makeToken } from '../../../src/domain/access.ts';
import { sampleAnalysis, sampleBuild } from '../../stores/samples.ts';
import { getPage, openConsole, type TestConsole, TOKENS } from '../../support/console.ts';
import { createGithubExample, sendGithub } from '../../support/webhook-senders.ts';
import { flake, HOSTILE, tell } from './insights-world.ts';

const PAGES = [
  '/insights',
  '/insights/trust',
  '/insights/health',
  '/tests',
  '/insights/causes',
  '/insights/cost',
  '/insights/reviewers',
];
const DAY = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY).toISOString();
const scoped = makeToken();
let console: TestConsole;
let empty: TestConsole;

beforeAll(async () => {
  [console, empty] = [await openConsole(), await openConsole()];
  const { stores } = console;
  for (let number = 1; number <= 60; number += 1)
    await tell(stores, {
      number,
      fingerprint: number % 3 === 0 ? 'fp-often' : `fp-${number}`,
      confidence: 0.6 + (number % 4) / 10,
      at: ago(1 + (number % 28)),
      build: { pullRequest: number % 2 === 0 ? number : null, branch: number % 2 === 0 ? 'topic' : 'main' },
      analysis: {
        usage: { inputTokens: 0, outputTokens: 0, costUsd: 0.02, modelCalls: 1, toolCalls: 0, iterations: 1 },
        milliseconds: 31_000,
      },
      ...(number <= 55 && {
        decision:
          number % 5 === 0 ? { type: 'correct', category: 'CODE_ERROR' } : { type: 'accept', secondsOpen: 9 },
      }),
    });
  const answer = {
    title: HOSTILE,
    rootCause: HOSTILE,
    fixRecommendation: '',
    confidence: 0.7,
    claims: [],
    suspects: [],
    hypotheses: [],
  };
  await tell(stores, {
    number: 99,
    fingerprint: 'fp-hostile',
    confidence: 0.7,
    at: ago(2),
    build: { branch: HOSTILE },
    analysis: { answer },
    decision: { reviewer: HOSTILE },
  });
  await tell(stores, {
    number: 7,
    fingerprint: 'fp-secret',
    confidence: 0.7,
    at: ago(2),
    repository: 'other/secret',
  });
  await flake(stores, 'acme/shop', '500', HOSTILE);
  await flake(stores, 'other/secret', '501', 'secret test');
  await stores.tokens.keep({
    name: 'one',
    digest: digestOfToken(scoped),
    roles: ['review', 'read'],
    repositories: ['acme/*'],
    createdBy: 'test',
    expiresInDays: null,
  });
});
afterAll(async () => {
  await console.close();
  await empty.close();
});

describe('the insights pages', () => {
  it.each(PAGES)('are small, have no inline styles, and show no outside text as markup: %s', async (url) => {
    const { statusCode, body } = await getPage(console.app, url);
    expect(statusCode).toBe(200);
    expect(gzipSync(body).length).toBeLessThan(25 * 1024);
    for (const never of ['<img', 'style=', '\u202e', 'NaN', 'undefined', '[object'])
      expect(body).not.toContain(never);
    expect(body.match(/<h1 /g)).toHaveLength(1);
  });

  it('62: state their findings in words', async () => {
    const said = async (url: string) => (await getPage(console.app, url)).body;
    expect(await said('/insights')).toMatch(/\d+ of \d+ answers that were sure enough to publish/);
    expect(await said('/insights/trust')).toContain('At 0.85:');
    expect(await said('/insights/trust?t=0.6&wrong=50')).toContain('At 0.60: 100 % sure enough to publish');
    expect(await said('/insights/trust?repo=acme/none')).toContain('There are no answers yet');
    expect(await said('/insights/health')).toContain('2 pipelines are red on their default branch');
    expect(await said('/insights/health?repo=acme/shop')).toContain('acme/shop is red on main');
    expect(await said('/tests')).toContain('1 run in 2</b>');
    expect(await said('/insights/cost')).toContain('An answer takes 31 s at the median');
    expect(await said('/insights/reviewers')).toContain('Agreed with Faultline');
    expect(await said(`/insights/causes?day=${ago(300).slice(0, 10)}&days=1`)).toContain(
      `No cause was found on ${formatDay(ago(300))}`,
    );
  });

  it('62: link every figure of health to the builds that it counts, in two periods that the reader chooses', async () => {
    const { stores } = console;
    const built = async (number: number, change: object, came: string) =>
      await stores.builds.upsert(
        sampleBuild({ repository: 'acme/chosen', number: String(number), status: 'failed', ...change }),
        undefined,
        came,
      );
    await built(1, { branch: 'main', job: 'unit' }, '2026-03-10T09:00:00.000Z');
    await built(2, { branch: 'topic', job: 'lint' }, '2026-03-12T23:59:59.000Z');
    await built(3, { branch: 'topic', status: 'passed' }, '2026-03-11T09:00:00.000Z');
    await built(4, { branch: 'topic', status: 'cancelled' }, '2026-03-11T09:00:00.000Z');
    await built(5, { branch: 'main', job: 'unit' }, '2026-01-05T09:00:00.000Z');
    const asked = '/insights/health?repo=acme/chosen&from=2026-03-10&to=2026-03-12&compare=2026-01-05';
    const { body } = await getPage(console.app, asked);
    expect(body).toContain('10 Mar to 12 Mar (UTC); in parentheses, 5 Jan to 7 Jan.');
    const links = [...body.matchAll(/<a href="(\/builds[^"]*)">([^<]*)<\/a>/g)].map(
      ([, url = '', words]) => ({
        url: url.replaceAll('&amp;', '&'),
        words,
      }),
    );
    const counts = [];
    for (const { url, words = '' } of links.filter(({ words }) => /^\(?\d+\)?$/.test(words ?? ''))) {
      const listed = (await getPage(console.app, url)).body.match(/<li id="bld_/g)?.length ?? 0;
      expect([url, listed]).toEqual([url, Number(words.replaceAll(/[()]/g, ''))]);
      counts.push(listed);
    }
    // Of the pipeline, of its branches and of the jobs.
    expect(counts).toEqual([3, 1, 2, 1, 1, 1, 1]);
    const csv = async (name: string) =>
      (await getPage(console.app, `${asked}&csv=${name}`)).body.split('\r\n');
    expect((await csv('branches')).slice(1, 3).map((line) => line.split(',').slice(1, 6))).toEqual([
      ['CI', '2', '1', '0', '0'],
      ['CI', '1', '1', '1', '1'],
    ]);
    expect((await csv('jobs')).slice(1, 3)).toEqual(['lint,1,2', 'unit,1,2']);
    // The other way around, far too long, or nothing at all: there is a page.
    for (const period of [
      'from=2026-03-12&to=2026-03-10',
      'from=2001-01-01&to=2099-01-01',
      'from=&to=&compare=',
      'from=never',
    ])
      expect((await getPage(console.app, `/insights/health?repo=acme/chosen&${period}`)).statusCode).toBe(
        200,
      );
  });

  it('62: mark deployments in a trend, as the API and GitHub report them, and upgrades of Faultline', async () => {
    const { app, stores } = console;
    const came = ago(1);
    for (const [number, status] of [
      ['1', 'failed'],
      ['2', 'passed'],
    ] as const)
      await stores.builds.upsert(
        sampleBuild({ repository: 'Codertocat/Hello-World', number, status }),
        undefined,
        came,
      );
    const report = async (body: object, token: string = TOKENS.admin) =>
      await app.inject({
        method: 'POST',
        url: '/api/deployments',
        headers: { authorization: `Bearer ${token}` },
        payload: body,
      });
    const deployment = {
      repository: 'Codertocat/Hello-World',
      environment: 'production',
      version: 'v7',
      at: came,
    };
    const answer = await report({ ...deployment, url: 'https://user:secret@shop.example/releases/7' });
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { ...deployment, url: 'https://shop.example/releases/7' },
    ]);
    expect((await report(deployment)).statusCode).toBe(200);
    expect((await report(deployment, TOKENS.read)).statusCode).toBe(403);
    const token = `ghp_${'a1B2c3D4'.repeat(5)}`.slice(0, 40);
    expect((await report({ ...deployment, version: `v8 ${token}`, at: ago(40) })).json()).toMatchObject({
      version: 'v8 ***',
    });
    expect((await report({ ...deployment, url: 'javascript:alert(1)' })).statusCode).toBe(400);
    const payload = createGithubExample('deployment_status', 'created', {
      deployment_status: { created_at: came },
    });
    expect((await sendGithub(app, { event: 'deployment_status', payload })).json()).toEqual({
      ignored: expect.stringContaining('the deployment is kept'),
    });
    for (const release of ['0.8.0', '0.9.0'])
      await stores.trust.record({ release, analyst: 'rules', autoNotify: 0.85 });
    const asked = '/insights/health?repo=Codertocat/Hello-World';
    const { body } = await getPage(app, asked);
    expect(body).toContain('50 % of 2 builds failed');
    expect(body).toContain(
      `${formatDay(came)}: <a href="https://shop.example/releases/7" rel="noreferrer">v7 to production</a>`,
    );
    expect(body).toContain(': Faultline 0.9.0</li>');
    const rows = (await getPage(app, `${asked}&csv=trend`)).body.split('\r\n');
    expect(rows.find((row) => row.startsWith(came.slice(0, 10)))).toBe(
      `${came.slice(0, 10)},50 %,master to production; v7 to production`,
    );
  });

  it('name the logs that could not be read, here and in Settings, and why', async () => {
    const at = new Date().toISOString();
    const answer = {
      ...sampleAnalysis({ buildId: '', triageId: '', fingerprint: '' }).answer,
      rootCause: `GitHub returned 401 ${HOSTILE}`,
    };
    for (const number of [9001, 9002])
      await tell(console.stores, {
        ...{
          number,
          fingerprint: `unread-${number}`,
          confidence: 0,
          at,
          repository: 'acme/unread',
          build: { provider: 'github' },
        },
        analysis: { answer, terminationReason: 'failed' },
      });
    for (const url of ['/insights/health', '/insights/health?repo=acme/unread', '/settings?list=service']) {
      const { body } = await getPage(console.app, url);
      expect(body).toContain('Logs that could not be read');
      expect(body).toMatch(/acme\/unread<\/th><td[^>]*>GitHub[^<]*<\/td><td[^>]*>2<\/td>/);
      expect(body).toContain('GitHub returned 401 &lt;img');
    }
    expect((await getPage(console.app, '/insights/health?repo=acme/shop')).body).not.toContain(
      'Logs that could not be read',
    );
    const [unread] = await console.stores.analyses.heads(
      (await console.stores.builds.list({ repository: 'acme/unread' }, { limit: 1, offset: 0 })).map(
        ({ id }) => id,
      ),
    );
    expect((await getPage(console.app, `/analyses/${unread?.id}`)).body).toContain('Not sent for review');
  });

  it('say in a sentence that there are no data yet', async () => {
    const said = async (url: string) => (await getPage(empty.app, url)).body;
    expect(await said('/insights')).toContain('No answers in the last 30 days.');
    expect(await said('/insights/trust')).toContain('There are no answers yet');
    expect(await said('/insights/health')).toContain('No builds passed or failed in the last 7 days.');
    expect(await said('/tests')).toContain('No test is known to be flaky.');
    expect(await said('/insights/causes')).toContain('No cause was found in the last 30 days.');
    expect(await said('/insights/cost')).toContain('No answers in the last 12 weeks');
    expect(await said('/insights/reviewers')).toContain('No decisions in the last 90 days.');
    expect((await getPage(empty.app, '/failures/fp-often')).statusCode).toBe(404);
  });

  it('offer every table as CSV, with the content of the page', async () => {
    const csv = await getPage(console.app, '/insights?csv=days');
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(csv.body.split('\r\n')).toHaveLength(32);
    for (const url of [
      '/insights/trust?csv=calibration',
      '/insights/trust?csv=coverage',
      '/insights/causes?csv=causes',
      '/insights/cost?csv=time',
      '/insights/health?csv=health',
      '/tests?csv=flaky',
    ])
      expect((await getPage(console.app, url)).body.split('\r\n').length).toBeGreaterThan(2);
    expect((await getPage(console.app, '/insights?csv=constructor')).statusCode).toBe(404);
  });

  it('show only what the reader may see', async () => {
    for (const url of [...PAGES, '/api/flaky-tests', '/api/flaky-tests?format=text']) {
      const { statusCode, body } = await getPage(console.app, url, scoped);
      expect([url, statusCode]).toEqual([url, 200]);
      expect(body).not.toContain('secret');
      expect(body).not.toContain('fp-secret');
    }
    expect((await getPage(console.app, '/failures/fp-secret', scoped)).statusCode).toBe(404);
    expect((await getPage(console.app, '/failures/fp-secret')).statusCode).toBe(200);
    expect((await getPage(console.app, '/insights/reviewers', TOKENS.read)).statusCode).toBe(403);
    expect((await getPage(console.app, '/insights', TOKENS.read)).body).not.toContain('/insights/reviewers');
  });
});

describe('the page of a cause', () => {
  it('shows how often and where it occurred, who decided what, and its builds', async () => {
    const { body } = await getPage(console.app, '/failures/fp-often');
    expect(body).toMatch(/\d+ failed builds in 30 days/);
    expect(body).toContain('10 h of builds lost');
    expect(body).toMatch(/corrected to <span class="cat" data-c="code">.*?Code error/);
    expect(body).not.toContain('What is different');
    const hostile = (await getPage(console.app, '/failures/fp-hostile')).body;
    expect(hostile).toContain('&lt;img src=x onerror=alert(1)&gt;');
    for (const never of ['<img', '\u202e']) expect(hostile).not.toContain(never);
  });

  it('shows how its builds differ once there are enough', async () => {
    const { stores } = console;
    for (let number = 1000; number < 1025; number += 1)
      await stores.builds.upsert(sampleBuild({ number: String(number), status: 'passed' }));
    const { body } = await getPage(console.app, '/failures/fp-often');
    expect(body).toContain('20 failed, 25 passed');
    expect(body).toMatch(
      /branch <span class="mono">topic<\/span><\/th><td [^>]+><b>50 %<\/b><\/td><td [^>]+>0 %<\/td>/,
    );
  });
});
