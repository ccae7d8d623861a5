import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Analysis } from '../../src/domain/analysis.ts';
import { Provider } from '../../src/domain/build.ts';
import { AnalysisTrace } from '../../src/service/answers/trace.ts';
import {
  openServedWorld,
  type ServedWorld,
  type Stored,
  storeFailedBuild,
} from '../service/answers/served-world.ts';
import { sampleBuild } from '../support/sample-analysis.ts';
import { createTriageJobs } from '../support/triage-jobs.ts';

let world: ServedWorld;
let stored: Stored;

beforeAll(async () => {
  world = await openServedWorld();
  stored = await storeFailedBuild(world.stores, '812');
});

afterAll(async () => await world?.close());

const get = (url: string) => world.ask('rita', 'GET', url);

describe('the trace of an analysis', () => {
  it('is sent completely; a client that has it gets 304', async () => {
    const url = `/api/analyses/${stored.analysis.id}/trace`;
    const first = await get(url);
    expect(first.status).toBe(200);
    expect(AnalysisTrace.parse(first.body)).toMatchObject({
      analysisId: stored.analysis.id,
      totals: stored.analysis.usage,
    });
    const tag = String(first.headers.etag);
    const headers = { authorization: 'Bearer token-of-rita-0123456789' };
    const again = await world.http.inject({
      url,
      headers: { ...headers, 'if-none-match': `W/${tag}, "other"` },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    expect(
      (await world.http.inject({ url, headers: { ...headers, 'if-none-match': '"other"' } })).statusCode,
    ).toBe(200);
  });

  it('is not found if the analysis does not exist', async () => {
    expect((await get('/api/analyses/ana_none/trace')).status).toBe(404);
  });
});

describe('the builds API', () => {
  it('finds a build by id, by provider and number, and by query', async () => {
    const addresses = [
      stored.build.id,
      'github:812',
      'by-number?provider=github&number=812',
      'github:812?repository=shop/api&pipeline=ci',
    ];
    for (const address of addresses) {
      const { status, body } = await get(`/api/builds/${address}`);
      expect(status).toBe(200);
      expect(body.build.id).toBe(stored.build.id);
      expect(body.analyses).toEqual([
        {
          id: stored.analysis.id,
          category: 'TEST_FAILURE',
          kind: 'assertion',
          title: 'The cart total is rounded twice',
          confidence: 0.91,
          action: 'auto_notify',
          failures: 1,
          tests: ['cart total'],
          grouped: null,
          whose: {
            verdict: 'unknown',
            isDefault: true,
            probability: null,
            proof: [],
            act: { what: 'first' },
            sentence: 'Not known yet. No earlier build is known to compare with.',
          },
        },
      ]);
    }
  });

  it('returns complete analyses, by id and by number', async () => {
    for (const address of [stored.build.id, 'github:812']) {
      const { body } = await get(`/api/builds/${address}/analyses`);
      expect(body.buildId).toBe(stored.build.id);
      expect(body.analyses.map((analysis: unknown) => Analysis.parse(analysis))).toEqual([stored.analysis]);
    }
  });

  it('reports the progress of the triage, and when to ask again', async () => {
    const { id: _i, receivedAt: _r, ...fresh } = sampleBuild({ number: '900', externalId: '900' });
    const { build } = await world.stores.builds.upsert(fresh);
    expect((await get(`/api/builds/${build.id}`)).body.triage).toBeNull();
    const job = await world.stores.triages.request(build.id);
    const queued = await get(`/api/builds/${build.id}`);
    expect(queued.body.triage).toMatchObject({ state: 'queued', step: null, error: null });
    expect(queued.headers['retry-after']).toBe('2');
    const leased = await createTriageJobs(world.stores).lease(job.buildId);
    const running = await get(`/api/builds/${build.id}/analyses`);
    expect(running.body).toMatchObject({ triage: { state: 'running' }, analyses: [] });
    expect(running.headers['retry-after']).toBe('2');
    await createTriageJobs(world.stores).finish(leased!, 'failed', 'the logs have expired');
    const failed = await get(`/api/builds/${build.id}`);
    expect(failed.body.triage).toMatchObject({ state: 'failed', error: 'the logs have expired' });
    expect(failed.headers['retry-after']).toBeUndefined();
  });

  it('answers an ambiguous number with the candidates, and a narrowed one with the build', async () => {
    const first = await storeFailedBuild(world.stores, '77', {}, 'ci');
    const second = await storeFailedBuild(world.stores, '77', {}, 'nightly');
    for (const address of ['github:77', 'github:77/analyses', 'by-number?provider=github&number=77']) {
      const { status, body } = await get(`/api/builds/${address}`);
      expect(status).toBe(409);
      expect(body.error.message).toMatch(/^2 builds are named by 77 of github; specify the repository/);
      expect(body.error.details.candidates.map(({ id }: { id: string }) => id).toSorted()).toEqual(
        [first.build.id, second.build.id].toSorted(),
      );
    }
    expect((await get('/api/builds/github:77?pipeline=nightly')).body.build.id).toBe(second.build.id);
  });

  it.each([
    ['the run id, as in every address of GitHub', 'github:289782451'],
    ['provider, repository and number', encodeURIComponent('github:shop/api#4711')],
    ['number and repository', 'by-number?provider=github&number=4711&repository=shop/api'],
    ['run id and repository', 'by-number?provider=github&number=289782451&repository=shop/api'],
    ['the URL', encodeURIComponent('https://github.com/shop/api/actions/runs/289782451')],
    [
      'the URL with a slash and a query',
      encodeURIComponent('https://github.com/shop/api/actions/runs/289782451/?pr=3#summary'),
    ],
    [
      'the URL of one of its jobs',
      encodeURIComponent('https://github.com/shop/api/actions/runs/289782451/job/812345'),
    ],
  ])('finds a build by %s', async (_, address) => {
    const { id: _i, receivedAt: _r, ...fresh } = sampleBuild({ number: '4711', externalId: '289782451' });
    const at = 'https://github.com/shop/api/actions/runs/289782451';
    const { build } = await world.stores.builds.upsert({ ...fresh, url: at });
    const other = sampleBuild({ number: '4711', externalId: '5', repository: 'shop/web', url: `${at}9` });
    const { id: _o, receivedAt: _p, ...elsewhere } = other;
    await world.stores.builds.upsert(elsewhere);
    const { status, body } = await get(`/api/builds/${address}`);
    expect([status, body.build?.id]).toEqual([200, build.id]);
  });

  it('finds the attempt that a URL names, and nothing for the address of an unknown server', async () => {
    const url = 'https://github.com/shop/api/actions/runs/700';
    const { id: _i, receivedAt: _r, ...fresh } = sampleBuild({ number: '70', externalId: '700', url });
    for (const attempt of [1, 2]) await world.stores.builds.upsert({ ...fresh, attempt });
    const attemptAt = async (address: string) =>
      (await get(`/api/builds/${encodeURIComponent(address)}`)).body.build?.attempt;
    expect([await attemptAt(url), await attemptAt(`${url}/attempts/1`)]).toEqual([2, 1]);
    const none = await get(
      `/api/builds/${encodeURIComponent('https://github.com/shop/api/actions/runs/7001')}`,
    );
    expect([none.status, none.body.error.message]).toEqual([
      404,
      'There is no build at https://github.com/shop/api/actions/runs/7001.',
    ]);
  });

  it.each([
    [
      '/api/builds?limit=100000',
      'The query is invalid at "limit": must be a whole number from 1 to 200, in digits.',
    ],
    ['/api/builds/by-number?provider=github', 'The query is invalid at "number": required, but missing.'],
    [
      '/api/builds/by-number?provider=gitbub&number=1',
      `The query is invalid at "provider": must be one of ${Provider.options.join(', ')}.`,
    ],
    [
      '/api/builds/by-number?provider=github&number=1&repo=shop/api',
      'The query is invalid: "repo" is not known here; use provider, number, repository, pipeline.',
    ],
  ])('explains the error in the request: %s', async (address, message) => {
    const { status, body } = await get(address);
    expect([status, body.error.message]).toEqual([400, message]);
  });

  it('returns the newest attempt', async () => {
    const { id: _i, receivedAt: _r, ...fresh } = sampleBuild({ number: '55', externalId: '55' });
    await world.stores.builds.upsert({ ...fresh, attempt: 2 });
    await world.stores.builds.upsert({ ...fresh, attempt: 1 });
    expect((await get('/api/builds/github:55')).body.build.attempt).toBe(2);
  });

  it('lists builds by filter and page', async () => {
    const { body } = await get('/api/builds?repository=shop/api&number=812&limit=1');
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([stored.build.id]);
    expect(body).toMatchObject({ limit: 1, offset: 0, next: 1 });
    expect((await get('/api/builds?status=passed')).body).toMatchObject({ items: [], next: null });
    const at = Date.parse(stored.build.receivedAt);
    const day = (days: number) =>
      encodeURIComponent(new Date(at + days * 86_400_000).toISOString().replace('Z', '+00:00'));
    const count = async (query: string) =>
      (await get(`/api/builds?repository=shop/api&number=812&${query}`)).body.items.length;
    expect(await count(`since=${day(-1)}&until=${day(1)}`)).toBe(1);
    expect(await count(`since=${day(1)}`)).toBe(0);
    expect(await count('until=2020-01-01')).toBe(0);
    expect(await count('job=no-such-job')).toBe(0);
    expect((await get('/api/builds?since=yesterday')).status).toBe(400);
  });
});

describe('the failures, analyses and library API', () => {
  it('searches failures', async () => {
    for (const query of [
      'text=expected 10.20',
      'test=cart total',
      'fingerprint=f00d',
      'category=TEST_FAILURE',
      'repository=shop/api',
      'since=2020-01-01',
      'since=0000-01-01',
    ]) {
      const { status, body } = await get(`/api/failures?${query.replaceAll(' ', '%20')}`);
      expect([query, status]).toEqual([query, 200]);
      expect(body.items.map(({ failure }: { failure: { id: string } }) => failure.id)).toContain(
        stored.failure.id,
      );
    }
    for (const query of [
      'category=INFRA_ERROR',
      'text=nothing%20such',
      'since=2099-01-01T00:00:00%2B02:00',
    ]) {
      expect((await get(`/api/failures?${query}`)).body.items).toEqual([]);
    }
  });

  it('returns one analysis with steps, evidence, usage and reduction', async () => {
    const { body } = await get(`/api/analyses/${stored.analysis.id}`);
    expect(Analysis.parse(body)).toEqual(stored.analysis);
  });

  it('explains in a sentence what was not found', async () => {
    for (const url of [
      'builds/bld_9',
      'builds/github:9',
      'builds/gitlab:9',
      'builds/bld_9/analyses',
      'analyses/ana_9',
      'library/lib_9',
    ]) {
      const { status, body } = await get(`/api/${url}`);
      expect([url, status]).toEqual([url, 404]);
      expect(body.error.message).toMatch(/^There is no .*\.$/);
    }
  });

  it('refuses unknown parameters and values', async () => {
    for (const url of [
      'builds?repo=x',
      'failures?limit=201',
      'failures?category=FLAKY',
      'failures?since=yesterday',
      'failures?since=0001-13-01',
      'library?offset=-1',
      'reviews?limit=0',
    ]) {
      const { status, body } = await world.ask('ada', 'GET', `/api/${url}`);
      expect([url, status, body.error.code]).toEqual([url, 400, 'invalid-input']);
    }
  });

  it('refuses requests without a token', async () => {
    for (const url of [
      '/api/builds',
      '/api/builds/x',
      '/api/builds/x/analyses',
      '/api/analyses/x',
      '/api/failures',
      '/api/library',
      '/api/library/x',
    ]) {
      expect((await world.http.inject({ method: 'GET', url })).statusCode).toBe(401);
    }
  });
});

it('describes its responses in the OpenAPI document', async () => {
  const { paths, components } = JSON.parse(JSON.stringify(world.http.swagger()));
  const answer = paths['/api/analyses/{id}'].get.responses['200'].content['application/json'].schema;
  const analysis = components.schemas[answer.$ref.split('/').at(-1)];
  expect(Object.keys(analysis.properties)).toEqual([...Object.keys(Analysis.shape), 'whose', 'outcome']);
  expect(paths['/api/builds/{id}'].get.responses['409']).toBeDefined();
  const limit = paths['/api/failures'].get.parameters.find(({ name }: { name: string }) => name === 'limit');
  expect(limit.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 200 });
});
