import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { decideReview } from '../../src/service/review/decide.ts';
import { openServedWorld, type ServedWorld, storeFailedBuild } from '../service/answers/served-world.ts';

let world: ServedWorld;
let count = 0;

beforeAll(async () => {
  world = await openServedWorld();
});

afterAll(async () => await world?.close());

/** A build of its own for each test; its failure has a fingerprint of its own. */
async function storePendingItem(change: Parameters<typeof storeFailedBuild>[2] = {}) {
  count++;
  const fingerprint = { algorithm: 'faultline', version: 1, value: `f${count}` };
  const stored = await storeFailedBuild(world.stores, `${1000 + count}`, { fingerprint, ...change });
  return {
    ...stored,
    url: `/api/reviews/${stored.review.id}`,
    fingerprint: (change.fingerprint ?? fingerprint).value,
  };
}

const post = (name: 'ada' | 'bob' | 'rita', url: string, payload?: object) =>
  world.ask(name, 'POST', url, payload);

describe('claiming an item', () => {
  it('succeeds for one of many who claim at once; the others learn the name of the holder', async () => {
    const { url } = await storePendingItem();
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => ({
        name: n % 2 === 0 ? 'ada' : 'bob',
        ...(await post(n % 2 === 0 ? 'ada' : 'bob', `${url}/claim`)),
      })),
    );
    const holders = new Set(answers.filter(({ status }) => status === 200).map(({ name }) => name));
    expect(holders.size).toBe(1);
    const [holder] = holders;
    for (const { status, body } of answers.filter(({ name }) => name !== holder)) {
      expect(status).toBe(409);
      expect(body.error).toMatchObject({
        code: 'conflict',
        details: { holder, review: { state: 'claimed', claimedBy: holder } },
      });
      expect(body.error.message).toBe(`${holder} holds this review until ${body.error.details.until}.`);
    }
  });

  it('is ended only by the holder, and then the item is free', async () => {
    const { url } = await storePendingItem();
    await post('ada', `${url}/claim`);
    expect((await post('bob', `${url}/release`)).status).toBe(409);
    expect((await post('ada', `${url}/release`)).body).toMatchObject({ state: 'waiting', claimedBy: null });
    expect((await post('ada', `${url}/release`)).body.error.message).toMatch(/do not hold/);
    expect((await post('bob', `${url}/claim`)).body).toMatchObject({ claimedBy: 'bob' });
  });

  it('ends when the claim expires', async () => {
    const { url, review } = await storePendingItem();
    await world.stores.reviews.claim(review.id, 'ada', 60_000);
    expect((await post('bob', `${url}/claim`)).status).toBe(409);
    await world.stores.reviews.claim(review.id, 'ada', 40);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect((await world.ask('bob', 'GET', url)).body.review).toMatchObject({
      state: 'waiting',
      claimedBy: null,
    });
    expect((await post('bob', `${url}/claim`)).body).toMatchObject({ claimedBy: 'bob' });
    expect((await post('ada', `${url}/decision`, { type: 'accept', version: 3 })).status).toBe(409);
  });

  it('requires the role review', async () => {
    const { url } = await storePendingItem();
    for (const action of ['claim', 'release', 'decision']) {
      expect((await post('rita', `${url}/${action}`, { type: 'accept', version: 1 })).status).toBe(403);
    }
    expect((await world.ask('rita', 'GET', url)).status).toBe(403);
    expect((await world.http.inject({ method: 'POST', url: `${url}/claim` })).statusCode).toBe(401);
  });
});

describe('a decision', () => {
  it('is recalled at once, from library and index, and every event is in the audit log', async () => {
    const { url, review, fingerprint, failure } = await storePendingItem();
    const claimed = await post('ada', `${url}/claim`);
    const decision = {
      type: 'correct',
      category: 'CONFIG_ERROR',
      rootCause: 'The job has no TAX_TABLE.',
      version: claimed.body.version,
    };
    const { status, body } = await post('ada', `${url}/decision`, decision);
    expect(status).toBe(200);
    expect(body.teaching).toMatch(/^Added to the library/);
    expect(await world.stores.library.recall({ fingerprint, repository: 'shop/api' })).toEqual(body.entry);
    expect(body.entry).toMatchObject({
      category: 'CONFIG_ERROR',
      rootCause: 'The job has no TAX_TABLE.',
      confirmedBy: 'ada',
    });
    const matches = await world.vectorIndex.search('error_library', { text: failure.message, limit: 50 });
    expect(matches.map(({ id }) => id)).toContain(body.entry.id);
    expect((await world.ask('rita', 'GET', `/api/library/${body.entry.id}`)).body).toEqual(body.entry);
    const detail = await world.ask('ada', 'GET', url);
    expect(detail.body.review.decision).toMatchObject({
      type: 'correct',
      reviewer: 'ada',
      reviewId: review.id,
    });
    expect(detail.body.analysis.id).toBe(review.analysisId);
    expect(
      detail.body.events.map(({ event, actor }: { event: string; actor: string }) => `${event} by ${actor}`),
    ).toEqual(['opened by faultline', 'claimed by ada', 'decided by ada']);
  });

  it('is made by exactly one of two reviewers at once, and adds one library entry', async () => {
    for (let round = 0; round < 5; round++) {
      const { url, fingerprint, review } = await storePendingItem();
      const answers = await Promise.all([
        post('ada', `${url}/decision`, { type: 'accept', version: 1 }),
        post('bob', `${url}/decision`, { type: 'reject', reason: 'wrong cause', version: 1 }),
        post('ada', `${url}/decision`, { type: 'accept', version: 1 }),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
      const winner = answers.find(({ status }) => status === 200);
      const loser = answers.find(({ status }) => status === 409);
      expect(loser?.body.error.details.review.decision).toEqual(winner?.body.review.decision);
      const decided = (await world.stores.reviews.events(review.id)).filter(
        ({ event }) => event === 'decided',
      );
      expect(decided).toHaveLength(1);
      expect((await world.stores.library.recall({ fingerprint, repository: 'shop/api' })) !== null).toBe(
        winner?.body.review.decision.type === 'accept',
      );
    }
  });

  it('is refused for an outdated version or a decided item, with the current state', async () => {
    const { url } = await storePendingItem();
    await post('ada', `${url}/claim`);
    const outdated = await post('ada', `${url}/decision`, { type: 'accept', version: 1 });
    expect(outdated).toMatchObject({ status: 409, body: { error: { details: { review: { version: 2 } } } } });
    expect((await post('ada', `${url}/decision`, { type: 'accept', version: 2 })).status).toBe(200);
    const again = await post('bob', `${url}/decision`, { type: 'accept', version: 3 });
    expect(again.status).toBe(409);
    expect(again.body.error.message).toMatch(/^ada decided this at .*: accepted\.$/);
  });

  it('replaces an older one for the same fingerprint', async () => {
    const first = await storePendingItem();
    const second = await storePendingItem({ fingerprint: first.failure.fingerprint });
    await post('ada', `${first.url}/decision`, { type: 'accept', version: 1 });
    const { body } = await post('bob', `${second.url}/decision`, {
      type: 'correct',
      category: 'CODE_ERROR',
      rootCause: 'Not rounding.',
      version: 1,
    });
    expect(
      await world.stores.library.recall({ fingerprint: first.fingerprint, repository: 'shop/api' }),
    ).toEqual(body.entry);
    expect(body.teaching).toContain('replaces the answer that ada confirmed');
  });

  it('is rolled back completely if its library entry cannot be stored', async () => {
    const { review } = await storePendingItem();
    const library = { ...world.stores.library, insert: () => Promise.reject(new Error('disk full')) };
    const deps = {
      ...world,
      stores: { ...world.stores, library },
      masker: createMasker(),
      clock: systemClock,
      logger: silentLogger,
    };
    const request = { reviewId: review.id, version: 1, reviewer: 'ada', input: { type: 'accept' as const } };
    await expect(decideReview(deps, request)).rejects.toThrow('disk full');
    expect(await world.stores.reviews.find(review.id)).toMatchObject({
      state: 'waiting',
      version: 1,
      decision: null,
    });
    expect((await world.stores.reviews.events(review.id)).map(({ event }) => event)).toEqual(['opened']);
  });

  it('reports that a generic failure is not added to the library', async () => {
    const { url, fingerprint } = await storePendingItem({ generic: true, test: null });
    const { body } = await post('ada', `${url}/decision`, { type: 'accept', version: 1 });
    expect(body).toMatchObject({ entry: null, teaching: expect.stringMatching(/too general/) });
    expect(await world.stores.library.recall({ fingerprint, repository: 'shop/api' })).toBeNull();
  });

  it('has secrets masked that a reviewer types', async () => {
    const { url } = await storePendingItem();
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const { body } = await post('ada', `${url}/decision`, {
      type: 'reject',
      reason: `token ${secret} leaked\u0000`,
      version: 1,
    });
    expect(body.review.decision.reason).toContain('token ***');
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it.each([
    [{ type: 'reject', version: 1 }, /needs a reason/],
    [{ type: 'correct', version: 1 }, /needs a category/],
    [{ type: 'correct', category: 'TEST_FAILURE', version: 1 }, /changes nothing/],
    [{ type: 'accept' }, /version/],
    [{ type: 'accept', version: 1, rootcause: 'misspelt' }, /rootcause/],
    [{ type: 'undo', version: 1 }, /type/],
  ])('is refused with a sentence: %j', async (decision, message) => {
    const { url, review } = await storePendingItem();
    const { status, body } = await post('ada', `${url}/decision`, decision);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(message);
    expect(await world.stores.reviews.find(review.id)).toMatchObject({ state: 'waiting', version: 1 });
  });

  it('is not found for a review that does not exist', async () => {
    for (const [method, url] of [
      ['GET', ''],
      ['POST', '/claim'],
      ['POST', '/release'],
      ['POST', '/decision'],
    ] as const) {
      const { status, body } = await world.ask(
        'ada',
        method,
        `/api/reviews/rev_9${url}`,
        method === 'POST' ? { type: 'accept', version: 1 } : undefined,
      );
      expect([url, status, body.error.message]).toEqual([url, 404, 'There is no review rev_9.']);
    }
  });
});

it('the review queue is listed by state, category and repository', async () => {
  const { url, review } = await storePendingItem();
  const ids = async (query: string) =>
    (await world.ask('ada', 'GET', `/api/reviews?limit=200&${query}`)).body.items.map(
      ({ id }: { id: string }) => id,
    );
  expect(await ids('state=waiting&category=TEST_FAILURE&repository=shop/api')).toContain(review.id);
  expect(await ids('state=claimed')).not.toContain(review.id);
  expect(await ids('category=INFRA_ERROR')).toEqual([]);
  await post('ada', `${url}/decision`, { type: 'accept', version: 1 });
  expect(await ids('state=waiting')).not.toContain(review.id);
  expect(await ids('state=decided')).toContain(review.id);
});
