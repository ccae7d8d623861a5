import { describe, expect, it } from 'vitest';
import type { TriageErrorCode } from '../../../src/domain/errors.ts';
import type { DecisionInput } from '../../../src/domain/review.ts';
import { buildLikenessText, extractLikeness } from '../../../src/log/fingerprint/likeness.ts';
import { decideReview } from '../../../src/service/review/decide.ts';
import { syncLibraryIndex } from '../../../src/service/review/learn.ts';
import { createUnsureAnalysis, sampleFailure, sampleReview } from '../../support/sample-analysis.ts';
import { createReviewWorld, NOW, type ReviewWorld } from './review-world.ts';

const LATER = { id: 'ana_2', buildId: 'bld_2', failureIds: ['fal_2'] };

/** Two builds that failed of one cause, each waiting for a person. */
function createTwoOfOneCause(failure: Parameters<typeof sampleFailure>[0] = {}) {
  return createReviewWorld({
    reviews: [sampleReview(), sampleReview({ id: 'rev_2', analysisId: 'ana_2', buildId: 'bld_2' })],
    analyses: [createUnsureAnalysis(), createUnsureAnalysis(LATER)],
    failures: [sampleFailure(failure), sampleFailure({ ...failure, id: 'fal_2', buildId: 'bld_2' })],
  });
}

function decide(
  { deps }: ReviewWorld,
  input: DecisionInput,
  change: { reviewId?: string; version?: number; reviewer?: string } = {},
) {
  return decideReview(deps, { reviewId: 'rev_1', version: 1, reviewer: 'ada', input, ...change });
}

function expectRefusal(code: TriageErrorCode, message: RegExp | string, details: object = {}) {
  return expect.objectContaining({
    code,
    message: expect.stringMatching(message),
    details: expect.objectContaining(details),
  });
}

const MOVE: DecisionInput = {
  type: 'correct',
  category: 'CONFIG_ERROR',
  rootCause: 'TAX_TABLE is not set. The job lost it.',
};

describe('the library entry of a decision', () => {
  it("contains the machine's answer, confirmed by the person, if it was accepted", async () => {
    const world = createTwoOfOneCause();
    const { review, entry, teaching } = await decide(world, { type: 'accept' });
    expect(review).toMatchObject({
      state: 'decided',
      version: 2,
      decision: { type: 'accept', reviewer: 'ada' },
    });
    expect(entry).toMatchObject({
      category: 'TEST_FAILURE',
      kind: 'assertion',
      title: 'The cart total is rounded twice',
      rootCause: createUnsureAnalysis().answer.rootCause,
      confirmedBy: 'ada',
      confirmedAt: new Date(NOW).toISOString(),
      timesSeen: 1,
      repository: 'shop/api',
    });
    expect(entry?.message).toBe(buildLikenessText(extractLikeness(sampleFailure())));
    expect(entry?.message).toContain('expected 10.20, got 10.21\n\nFAIL cart total');
    expect(teaching).toMatch(/^Added to the library/);
    expect(await world.deps.stores.library.recall({ fingerprint: 'f00d', repository: 'shop/api' })).toEqual(
      entry,
    );
    expect(world.state.index.get(entry?.id ?? '')?.metadata).toMatchObject({
      category: 'TEST_FAILURE',
      confirmedBy: 'ada',
    });
    expect(world.state.events.map(({ event, actor }) => [event, actor])).toEqual([['decided', 'ada']]);
  });

  it("contains the person's words if the answer was corrected, with a title made from them, without an outdated kind", async () => {
    const { entry } = await decide(createTwoOfOneCause(), MOVE);
    expect(entry).toMatchObject({
      category: 'CONFIG_ERROR',
      kind: 'unknown',
      title: 'TAX_TABLE is not set',
      rootCause: 'TAX_TABLE is not set. The job lost it.',
      fixRecommendation: createUnsureAnalysis().answer.fixRecommendation,
    });
  });

  it('contains the corrected category alone with the prefilled cause', async () => {
    const { rootCause } = createUnsureAnalysis().answer;
    const { entry } = await decide(createTwoOfOneCause(), {
      type: 'correct',
      category: 'CODE_ERROR',
      kind: 'crash',
      rootCause,
    });
    expect(entry).toMatchObject({
      category: 'CODE_ERROR',
      kind: 'crash',
      title: 'The cart total is rounded twice',
      rootCause,
    });
  });

  it('does not exist for a rejection, which also withdraws nothing', async () => {
    const world = createTwoOfOneCause();
    await decide(world, { type: 'accept' });
    const { entry, teaching } = await decide(
      world,
      { type: 'reject', reason: 'no line shows it' },
      { reviewId: 'rev_2', reviewer: 'bob' },
    );
    expect(entry).toBeNull();
    expect(teaching).toMatch(/does not change the library/);
    expect(
      await world.deps.stores.library.recall({ fingerprint: 'f00d', repository: 'shop/api' }),
    ).toMatchObject({ confirmedBy: 'ada' });
    expect(world.state.index.size).toBe(1);
  });

  it('does not exist for a generic failure without a test, which is reported', async () => {
    const world = createTwoOfOneCause({ generic: true, test: null });
    const { review, entry, teaching } = await decide(world, { type: 'accept' });
    expect(review.state).toBe('decided');
    expect(entry).toBeNull();
    expect(teaching).toMatch(/too general/);
    expect(world.state.library).toEqual([]);
  });

  it('for a generic failure of a test is shown when the test fails again', async () => {
    const { entry, teaching } = await decide(createTwoOfOneCause({ generic: true }), { type: 'accept' });
    expect(entry).toMatchObject({
      test: expect.stringContaining('cart total'),
      fingerprint: { value: 'f00d' },
    });
    expect(teaching).toBe(
      'Added to the library: the next time this test fails, this decision is shown. The failure is too general to be answered by it at once.',
    );
  });

  it('never contains the error that stopped an analysis, but what a person found instead', async () => {
    const failed = { terminationReason: 'failed' as const };
    const world = createReviewWorld({
      reviews: [sampleReview(), sampleReview({ id: 'rev_2', analysisId: 'ana_2', buildId: 'bld_2' })],
      analyses: [createUnsureAnalysis(failed), createUnsureAnalysis({ ...LATER, ...failed })],
      failures: [sampleFailure(), sampleFailure({ id: 'fal_2', buildId: 'bld_2' })],
    });
    expect(await decide(world, { type: 'accept' })).toMatchObject({
      entry: null,
      teaching: expect.stringMatching(/the analysis failed/),
    });
    expect(await decide(world, MOVE, { reviewId: 'rev_2' })).toMatchObject({
      entry: { title: 'TAX_TABLE is not set' },
    });
  });

  it('does not change those of another repository', async () => {
    const world = createReviewWorld({
      reviews: [
        sampleReview(),
        sampleReview({ id: 'rev_2', analysisId: 'ana_2', buildId: 'bld_2', repository: 'shop/bank' }),
      ],
      analyses: [createUnsureAnalysis(), createUnsureAnalysis(LATER)],
      failures: [sampleFailure(), sampleFailure({ id: 'fal_2', buildId: 'bld_2' })],
    });
    const ours = await decide(world, { type: 'accept' });
    world.state.now += 60_000;
    const theirs = await decide(world, MOVE, { reviewId: 'rev_2', reviewer: 'bob' });

    expect(theirs).toMatchObject({
      entry: { repository: 'shop/bank', timesSeen: 1 },
      teaching: expect.not.stringContaining('replaces'),
    });
    expect(await world.deps.stores.library.recall({ fingerprint: 'f00d', repository: 'shop/api' })).toEqual(
      ours.entry,
    );
    const ids = [ours.entry?.id, theirs.entry?.id];
    expect([...world.state.index.keys()]).toEqual(ids);
    const deps = {
      library: world.deps.stores.library,
      vectorIndex: world.deps.vectorIndex,
      logger: world.deps.logger,
    };
    expect(await syncLibraryIndex(deps)).toEqual({ indexed: 0, removed: 0 });
    expect([...world.state.index.keys()]).toEqual(ids);
  });

  it('is that of the newest decision, in the store and in the index', async () => {
    const world = createTwoOfOneCause();
    await decide(world, { type: 'accept' });
    world.state.now += 60_000;
    const { entry, teaching } = await decide(world, MOVE, { reviewId: 'rev_2', reviewer: 'bob' });
    expect(await world.deps.stores.library.recall({ fingerprint: 'f00d', repository: 'shop/api' })).toEqual(
      entry,
    );
    expect(entry?.timesSeen).toBe(2);
    expect(teaching).toContain('replaces the answer that ada confirmed on 2026-10-12');
    expect([...world.state.index.keys()]).toEqual([entry?.id]);
    expect(world.state.work).toEqual([]);
  });

  it('has secrets masked that the person typed, and characters removed that PostgreSQL refuses', async () => {
    const world = createTwoOfOneCause();
    const { review, entry } = await decide(world, {
      ...MOVE,
      rootCause: 'password hunter2 was\0 wrong\ud800',
      reason: 'hunter2',
    });
    expect(entry?.rootCause).toBe('password *** was\ufffd wrong\ufffd');
    expect(review.decision?.reason).toBe('***');
    expect(JSON.stringify([...world.state.index.values(), ...world.state.library])).not.toContain('hunter2');
  });
});

describe('the reviewer of an item', () => {
  it('is the holder, or any reviewer if it is not held', async () => {
    const world = createTwoOfOneCause();
    await world.deps.stores.reviews.claim('rev_1', 'ada', 1000);
    await expect(decide(world, { type: 'accept' }, { version: 2 })).resolves.toMatchObject({
      review: { state: 'decided' },
    });
    await expect(
      decide(world, { type: 'accept' }, { reviewId: 'rev_2', reviewer: 'bob' }),
    ).resolves.toMatchObject({ entry: {} });
  });

  it('is refused while another holds it, with name and time; an expired claim is free', async () => {
    const world = createTwoOfOneCause();
    await world.deps.stores.reviews.claim('rev_1', 'ada', 1000);
    const until = new Date(NOW + 1000).toISOString();
    const attempt = () => decide(world, { type: 'accept' }, { reviewer: 'bob', version: 2 });
    await expect(attempt()).rejects.toEqual(
      expectRefusal('conflict', `ada holds this review until ${until}`, { holder: 'ada', until }),
    );
    world.state.now += 1000;
    await expect(attempt()).resolves.toMatchObject({ review: { decision: { reviewer: 'bob' } } });
  });

  it('is refused for an outdated version, with the current state', async () => {
    const world = createTwoOfOneCause();
    await world.deps.stores.reviews.claim('rev_1', 'ada', 1000);
    await world.deps.stores.reviews.release('rev_1', 'ada');
    await expect(decide(world, { type: 'accept' })).rejects.toEqual(
      expectRefusal('conflict', 'changed since version 1', {
        review: expect.objectContaining({ version: 3, state: 'waiting' }),
      }),
    );
  });

  it('is refused for a second decision, with the first one', async () => {
    const world = createTwoOfOneCause();
    await decide(world, MOVE);
    for (const version of [1, 2]) {
      await expect(decide(world, { type: 'accept' }, { reviewer: 'bob', version })).rejects.toEqual(
        expectRefusal('conflict', /^ada decided this at .*: corrected to CONFIG_ERROR\.$/),
      );
    }
    expect(world.state.library).toHaveLength(1);
  });

  it('is one of two who decide at once', async () => {
    const world = createTwoOfOneCause();
    const results = await Promise.allSettled(
      ['ada', 'bob'].map((reviewer) => decide(world, { type: 'accept' }, { reviewer })),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(world.state.library).toHaveLength(1);
    expect(world.state.events).toHaveLength(1);
  });

  it('gets an error for an item that does not exist', async () => {
    await expect(decide(createTwoOfOneCause(), { type: 'accept' }, { reviewId: 'rev_9' })).rejects.toEqual(
      expectRefusal('not-found', 'rev_9'),
    );
  });

  it.each<[string, DecisionInput, RegExp]>([
    ['a rejection without a reason', { type: 'reject' }, /needs a reason/],
    ['a rejection with a blank reason', { type: 'reject', reason: ' \n' }, /needs a reason/],
    ['a correction without a category', { type: 'correct', rootCause: 'x' }, /needs a category/],
    ['a correction that changes nothing', { type: 'correct', category: 'TEST_FAILURE' }, /changes nothing/],
    [
      'a correction to blank',
      { type: 'correct', category: 'CODE_ERROR', rootCause: '  ' },
      /rootCause is blank/,
    ],
    ['an acceptance in other words', { type: 'accept', rootCause: 'x' }, /does not accept rootCause/],
  ])('is refused if %s', async (_, input, message) => {
    const world = createTwoOfOneCause();
    await expect(decide(world, input)).rejects.toEqual(expectRefusal('invalid-input', message));
    expect(world.state.events).toEqual([]);
  });
});

describe('a decision while a backend fails', () => {
  it('is not stored, and neither is its event, if the library entry cannot be stored', async () => {
    const world = createTwoOfOneCause();
    world.state.failLibrary = true;
    await expect(decide(world, { type: 'accept' })).rejects.toThrow('disk full');
    expect(world.state.work).toEqual([]);
    expect(world.state.reviews.get('rev_1')).toMatchObject({ state: 'waiting', version: 1 });
    expect(world.state.events).toEqual([]);
  });

  it('is stored if the index is down, with the entry in the work table', async () => {
    const world = createTwoOfOneCause();
    world.state.failIndex = true;
    const { entry } = await decide(world, { type: 'accept' });
    expect(world.state.warnings).toEqual(['work could not be processed; it will be retried']);
    expect(world.state.work).toMatchObject([
      { topic: 'index:error_library', key: entry?.id, payload: { item: { text: entry?.message } } },
    ]);
    world.state.failIndex = false;
    const deps = {
      library: world.deps.stores.library,
      vectorIndex: world.deps.vectorIndex,
      logger: world.deps.logger,
    };
    expect(await syncLibraryIndex(deps)).toEqual({ indexed: 1, removed: 0 });
    expect([...world.state.index.keys()]).toEqual([entry?.id]);
  });

  it('is added to the index later, and stray items are removed, over many pages', async () => {
    const world = createTwoOfOneCause();
    const { entry } = await decide(world, { type: 'accept' });
    world.state.library = Array.from({ length: 450 }, (_, n) => ({
      ...entry!,
      id: `lib_${n}`,
      fingerprint: { ...entry!.fingerprint, value: `f${n % 225}` },
      confirmedAt: new Date(NOW + n).toISOString(),
    }));
    world.state.index.set('lib_0', { id: 'lib_0', text: 'replaced by lib_225', metadata: {} });
    world.state.index.set('lib_449', { id: 'lib_449', text: 'there already', metadata: {} });
    const deps = {
      library: world.deps.stores.library,
      vectorIndex: world.deps.vectorIndex,
      logger: world.deps.logger,
    };
    expect(await syncLibraryIndex(deps)).toEqual({ indexed: 224, removed: 2 });
    expect(await syncLibraryIndex(deps)).toEqual({ indexed: 0, removed: 0 });
    expect(world.state.index.size).toBe(225);
    expect(world.state.index.get('lib_449')?.text).toBe('there already');
  });
});
