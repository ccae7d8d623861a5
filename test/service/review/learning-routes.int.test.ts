import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import { sampleAnalysis, sampleBuild, sampleGroup, sampleReview } from '../../stores/samples.ts';
import { openServedWorld, type ServedWorld } from '../answers/served-world.ts';

let world: ServedWorld;
beforeAll(async () => {
  world = await openServedWorld();
});
afterAll(async () => world.close());

/** Items of one cause that wait for a person. */
async function storePendingItems(count: number): Promise<string[]> {
  const fingerprint = createId('fal');
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { build } = await world.stores.builds.upsert(
      sampleBuild({ repository: 'shop/api', number: createId('bld') }),
    );
    const [group] = await world.stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
    const triage = await world.stores.triages.open(build.id, fingerprint);
    const failureIds = (group?.failures ?? []).map(({ id }) => id);
    const wanted = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint }, { failureIds });
    const { analysis } = await world.stores.analyses.insertOnce(wanted);
    ids.push((await world.stores.reviews.open(sampleReview(analysis, { repository: 'shop/api' }))).id);
  }
  return ids;
}

type Who = Parameters<ServedWorld['ask']>[0];
const post = (who: Who, path: string, body?: object) => world.ask(who, 'POST', path, body);
const get = (who: Who, path: string) => world.ask(who, 'GET', path);

describe('library entries over HTTP', () => {
  it('are made by deciding three items as one, and undone with one key', async () => {
    const [first = '', ...others] = await storePendingItems(3);
    const same = await get('ada', `/api/reviews/${first}/same`);
    expect(same.body.items.map(({ id }: { id: string }) => id)).toEqual(others);

    const decided = await post('ada', `/api/reviews/${first}/decision`, {
      type: 'accept',
      version: 1,
      alsoFor: 'same-fingerprint',
      also: others,
    });
    expect(decided.body.also).toHaveLength(2);
    const { decision } = (await get('ada', '/api/reviews/last-decision')).body;
    expect(decision).toMatchObject({ type: 'accept', batchId: decided.body.review.decision.batchId });

    expect((await post('bob', `/api/reviews/${first}/undo`)).status).toBe(403);
    const undone = await post('ada', `/api/reviews/${decision.reviewId}/undo`);
    expect(undone.body).toMatchObject({
      review: { state: 'waiting' },
      withdrawn: [{ withdrawn: { by: 'ada' } }],
      restored: [],
    });
    expect(undone.body.undone).toHaveLength(3);
    expect((await post('ada', `/api/reviews/${decision.reviewId}/undo`)).body.undone).toEqual([]);
    expect(
      (await get('ada', `/api/reviews/${first}`)).body.events.map(({ event }: { event: string }) => event),
    ).toEqual(['opened', 'decided', 'undone']);
  });

  it('are reviewed item by item, without skipped ones', async () => {
    const [only = ''] = await storePendingItems(1);
    const given: string[] = [];
    for (;;) {
      const { review } = (await post('bob', '/api/reviews/next', { sort: 'age' })).body;
      if (review === null) break;
      given.push(review.id);
      expect(review).toMatchObject({ state: 'claimed', claimedBy: 'bob' });
      expect((await post('bob', `/api/reviews/${review.id}/skip`)).body.state).toBe('waiting');
    }
    expect(given).toContain(only);
    expect(new Set(given).size).toBe(given.length);
    await post('ada', `/api/reviews/${only}/claim`);
    const refused = await post('bob', `/api/reviews/${only}/take-over`);
    expect([refused.status, refused.body.error.details.holder]).toEqual([409, 'ada']);
    expect((await get('ada', '/api/reviews/counts')).body).toMatchObject({ mine: 1, waiting: given.length });
  });

  it('include rules, which can be created, tried and withdrawn', async () => {
    const rule = {
      pattern: 'registry .{1,60} answered 50[23]',
      sample: 'the registry npm.example answered 503',
      repository: null,
      category: 'INFRA_ERROR',
      kind: 'network',
      rootCause: 'The registry is away.',
      fixRecommendation: 'Wait.',
    };
    expect((await post('ada', '/api/rules/try', rule)).body).toMatchObject({ refused: null, matches: [] });
    const refused = await post('ada', '/api/rules', {
      ...rule,
      pattern: 'BUILD FAILED',
      sample: 'BUILD FAILED',
    });
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringMatching(/too general/)]);
    const { body: stored } = await post('ada', '/api/rules', rule);
    expect((await get('bob', '/api/rules')).body.items).toEqual([stored]);
    expect((await get('rita', '/api/rules')).status).toBe(403);
    expect(
      (await post('bob', `/api/rules/${stored.id}/withdraw`, { reason: 'it moved' })).body.withdrawn,
    ).toMatchObject({ by: 'bob' });
    expect((await get('bob', '/api/rules')).body.items).toEqual([]);
    expect((await get('bob', '/api/rules?withdrawn=true')).body.items).toHaveLength(1);
  });
});
