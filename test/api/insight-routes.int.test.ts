import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HEADERS, startTestService, type TestService, uploadAndWait } from '../support/test-service.ts';

const LOG = [
  'Python 3.12.4',
  'node v24.1.0',
  'src/tax.ts(12,5): error TS2304: Cannot find name "rate".',
  'error Command failed with exit code 2.',
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService(0.5);
  await uploadAndWait(service, 'shop/api', 812, LOG);
  await uploadAndWait(service, 'shop/web', 90, LOG);
});
afterAll(() => service.close());

async function get(url: string) {
  const answer = await service.http.inject({ url, headers: HEADERS });
  expect([url, answer.statusCode]).toEqual([url, 200]);
  return answer.json();
}

describe('the insights API', () => {
  it('returns the health of pipelines, for all repositories or one, in pages', async () => {
    const { items } = await get('/api/insights/pipelines?days=2');
    const second = await get('/api/insights/pipelines?days=2&limit=1&offset=1');
    const one = await get('/api/insights/pipelines?days=2&repository=shop/web');

    expect(items).toMatchObject([
      { repository: 'shop/api', builds: 1, failed: 1, perDay: [0, 1] },
      { repository: 'shop/web', builds: 1, failed: 1 },
    ]);
    expect(second).toMatchObject({ items: [{ repository: 'shop/web' }], limit: 1, offset: 1, next: 2 });
    expect(one.items).toMatchObject([{ repository: 'shop/web' }]);
  });

  it('returns the health of one repository', async () => {
    const health = await get('/api/insights/repository?repository=shop/api&days=2');

    expect(health).toMatchObject({
      branches: [{ repository: 'shop/api', failed: 1 }],
      jobs: { builds: 1 },
      days: [{ builds: 1, failed: 1 }],
    });
  });

  it('returns causes, cost per week, and accuracy', async () => {
    expect(await get('/api/insights/causes')).toMatchObject({
      items: [{ category: 'CODE_ERROR', builds: 2, repositories: 2, decided: null }],
      next: null,
    });
    const { weeks } = await get('/api/insights/cost');
    expect(weeks).toMatchObject([{ answers: 2, recalled: 0 }]);
    const accuracy = await get('/api/insights/accuracy');
    expect(accuracy.all).toEqual({ right: 0, decided: 0, share: null, low: 0, high: 1 });
    expect(
      accuracy.levels.reduce((sum: number, { answered }: { answered: number }) => sum + answered, 0),
    ).toBe(2);
  });

  it('returns the environment from the log of a build', async () => {
    const { items } = await get('/api/builds/upload:812/environments');

    expect(items).toEqual([
      expect.objectContaining({
        versions: expect.arrayContaining([{ kind: 'tool', name: 'python', version: '3.12.4' }]),
      }),
    ]);
  });

  it('refuses an invalid period', async () => {
    for (const url of [
      '/api/insights/pipelines?days=0',
      '/api/insights/repository',
      '/api/insights/cost?weeks=99',
    ])
      expect((await service.http.inject({ url, headers: HEADERS })).statusCode).toBe(400);
  });
});
