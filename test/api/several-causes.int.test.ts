import { afterAll, beforeAll, expect, it } from 'vitest';
import { openServedWorld, type ServedWorld } from '../service/answers/served-world.ts';
import { sampleBuild } from '../support/sample-analysis.ts';
import { storeSeveralCauses, TITLES } from '../support/several-causes.ts';

let world: ServedWorld;
beforeAll(async () => {
  world = await openServedWorld();
});
afterAll(async () => await world?.close());

it('the API returns several causes in the order in which to fix them, each with its tests and the reason for their grouping', async () => {
  const id = await storeSeveralCauses(world.stores, sampleBuild({ repository: 'acme/several', number: '3' }));
  const [short, whole] = [
    (await world.ask('rita', 'GET', `/api/builds/${id}`)).body.analyses,
    (await world.ask('rita', 'GET', `/api/builds/${id}/analyses`)).body.analyses,
  ];
  expect(short.map(({ title }: { title: string }) => title)).toEqual(TITLES);
  expect(whole.map(({ answer }: { answer: { title: string } }) => answer.title)).toEqual(TITLES);
  const grouped = '10 tests, because each says “Error: Redis does not answer”.';
  expect(short[0]).toMatchObject({
    failures: 10,
    tests: expect.arrayContaining(['stores order 10']),
    grouped,
  });
  expect(whole[0].explains).toMatchObject({
    failures: 10,
    areTests: true,
    unnamed: 0,
    grouped,
    logs: [],
    isOnly: false,
  });
  expect(whole[0].explains.tests).toHaveLength(10);
});
