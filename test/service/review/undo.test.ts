import { describe, expect, it } from 'vitest';
import type { DecisionInput } from '../../../src/domain/review.ts';
import { indexEntry } from '../../../src/domain/work.ts';
import { decideReview } from '../../../src/service/review/decide.ts';
import { undoDecision } from '../../../src/service/review/undo.ts';
import { createUnsureAnalysis, sampleFailure, sampleReview } from '../../support/sample-analysis.ts';
import { createReviewWorld, type ReviewWorld } from './review-world.ts';

/** Builds that failed of one cause, each waiting for a person. */
function createManyOfOneCause(count = 2): ReviewWorld {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return createReviewWorld({
    reviews: numbers.map((n) =>
      sampleReview({ id: `rev_${n}`, analysisId: `ana_${n}`, buildId: `bld_${n}` }),
    ),
    analyses: numbers.map((n) =>
      createUnsureAnalysis({ id: `ana_${n}`, buildId: `bld_${n}`, failureIds: [`fal_${n}`] }),
    ),
    failures: numbers.map((n) => sampleFailure({ id: `fal_${n}`, buildId: `bld_${n}` })),
  });
}

function decide(
  { deps }: ReviewWorld,
  input: DecisionInput,
  change: Partial<Parameters<typeof decideReview>[1]> = {},
) {
  return decideReview(deps, { reviewId: 'rev_1', version: 1, reviewer: 'ada', input, ...change });
}

function undo({ deps }: ReviewWorld, change: Partial<Parameters<typeof undoDecision>[1]> = {}) {
  return undoDecision(deps, { reviewId: 'rev_1', reviewer: 'ada', isAdmin: false, ...change });
}

const recalled = ({ deps }: ReviewWorld) =>
  deps.stores.library.recall({ fingerprint: 'f00d', repository: 'shop/api' });
const MOVE: DecisionInput = { type: 'correct', category: 'CONFIG_ERROR', rootCause: 'TAX_TABLE is not set.' };

describe('undoing a decision', () => {
  it('makes the item pending again, withdraws the library entry, and keeps both in the audit trail', async () => {
    const world = createManyOfOneCause();
    const { entry } = await decide(world, { type: 'accept' });

    const { review, undone, withdrawn, restored } = await undo(world);

    expect(review).toMatchObject({ state: 'waiting', decision: null, version: 3 });
    expect(undone).toMatchObject([{ type: 'accept', reviewer: 'ada' }]);
    expect(withdrawn).toMatchObject([
      { id: entry?.id, withdrawn: { by: 'ada', reason: 'The decision was undone.' } },
    ]);
    expect(restored).toEqual([]);
    expect(await recalled(world)).toBeNull();
    expect(world.state.index.size).toBe(0);
    expect(world.state.work).toEqual([]);
    expect(world.state.events.map(({ event, actor }) => [event, actor])).toEqual([
      ['decided', 'ada'],
      ['undone', 'ada'],
    ]);
  });

  it('restores the entry that it replaced, also in the index', async () => {
    const world = createManyOfOneCause();
    const first = await decide(world, { type: 'accept' });
    world.state.now += 60_000;
    await decide(world, MOVE, { reviewId: 'rev_2', reviewer: 'bob' });

    const { restored } = await undo(world, { reviewId: 'rev_2', reviewer: 'bob' });

    expect(restored).toEqual([first.entry]);
    expect(await recalled(world)).toEqual(first.entry);
    expect([...world.state.index.keys()]).toEqual([first.entry?.id]);
  });

  it('changes nothing the second time, and the item can be decided again', async () => {
    const world = createManyOfOneCause();
    await decide(world, { type: 'accept' });
    const { review } = await undo(world);
    const events = world.state.events.length;

    expect(await undo(world)).toEqual({ review, undone: [], withdrawn: [], restored: [] });
    expect(world.state.events).toHaveLength(events);
    expect(await decide(world, MOVE, { version: review.version })).toMatchObject({
      entry: { category: 'CONFIG_ERROR' },
    });
  });

  it('is allowed only for the reviewer and an admin', async () => {
    const world = createManyOfOneCause();
    await decide(world, { type: 'accept' });

    await expect(undo(world, { reviewer: 'bob' })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('ada decided'),
    });
    expect((await recalled(world))?.confirmedBy).toBe('ada');
    expect(await undo(world, { reviewer: 'root', isAdmin: true })).toMatchObject({
      review: { state: 'waiting' },
    });
    await expect(undo(world)).rejects.toMatchObject({
      code: 'conflict',
      details: { review: { id: 'rev_1' } },
    });
  });

  it('reports the present state if it is too late or has no effect', async () => {
    const world = createManyOfOneCause();
    await expect(undo(world)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('not decided'),
    });
    await expect(undo(world, { reviewId: 'rev_none' })).rejects.toMatchObject({ code: 'not-found' });
    await decide(world, { type: 'accept' });
    await expect(undo(world, { version: 1 })).rejects.toMatchObject({
      code: 'conflict',
      details: { review: { version: 2 } },
    });
  });

  it('keeps a pending removal while the index is down', async () => {
    const world = createManyOfOneCause();
    const { entry } = await decide(world, { type: 'accept' });
    world.state.failIndex = true;
    await undo(world);
    expect(world.state.work).toEqual([indexEntry('error_library', entry?.id ?? '', null)]);
  });
});

describe('deciding items with the same fingerprint together', () => {
  it('decides all pending ones, adds one entry, and undoes all together', async () => {
    const world = createManyOfOneCause(4);
    await world.deps.stores.reviews.claim('rev_4', 'bob', 60_000);

    const { also, entry } = await decide(world, { type: 'accept' }, { alsoFor: 'same-fingerprint' });

    expect(also.map(({ id }) => id)).toEqual(['rev_2', 'rev_3']);
    expect(world.state.library).toEqual([entry]);
    const batches = new Set(
      ['rev_1', 'rev_2', 'rev_3'].map((id) => world.state.reviews.get(id)?.decision?.batchId),
    );
    expect([...batches]).toEqual([expect.stringMatching(/^bat_/)]);
    expect(world.state.reviews.get('rev_4')).toMatchObject({ state: 'claimed', claimedBy: 'bob' });

    const { undone } = await undo(world, { reviewId: 'rev_3' });

    expect(undone).toHaveLength(3);
    for (const id of ['rev_1', 'rev_2', 'rev_3'])
      expect(world.state.reviews.get(id)).toMatchObject({ state: 'waiting', decision: null });
    expect(await recalled(world)).toBeNull();
  });

  it('decides only those that the reviewer was shown', async () => {
    const world = createManyOfOneCause(4);
    const { also } = await decide(
      world,
      { type: 'accept' },
      { alsoFor: 'same-fingerprint', also: ['rev_3', 'rev_none'] },
    );
    expect(also.map(({ id }) => id)).toEqual(['rev_3']);
  });

  it('corrects an item whose answer differs from the accepted one', async () => {
    const other = createUnsureAnalysis({
      id: 'ana_2',
      buildId: 'bld_2',
      failureIds: ['fal_2'],
      category: 'INFRA_ERROR',
      kind: 'network',
    });
    const world = createReviewWorld({
      reviews: [
        sampleReview({ analysisId: 'ana_1' }),
        sampleReview({ id: 'rev_2', analysisId: 'ana_2', buildId: 'bld_2' }),
      ],
      analyses: [createUnsureAnalysis({ id: 'ana_1' }), other],
      failures: [sampleFailure(), sampleFailure({ id: 'fal_2', buildId: 'bld_2' })],
    });
    await decide(world, { type: 'accept' }, { alsoFor: 'same-fingerprint' });
    expect(world.state.reviews.get('rev_2')?.decision).toMatchObject({
      type: 'correct',
      category: 'TEST_FAILURE',
      kind: 'assertion',
    });
  });
});

describe('the data of a decision', () => {
  it('includes its evidence, the reason of a rejection, and how long it was open', async () => {
    const world = createManyOfOneCause();
    const shownBy = { evidence: ['E1'], lines: [{ source: 'build.log', lineStart: 3, lineEnd: 4 }] };
    const openedAt = new Date(world.state.now - 12_300).toISOString();
    await decide(world, { ...MOVE, shownBy, openedAt });
    expect(world.state.reviews.get('rev_1')?.decision).toMatchObject({
      shownBy,
      openedAt,
      secondsOpen: 12.3,
    });

    const claimed = await world.deps.stores.reviews.claim('rev_2', 'bob', 60_000);
    world.state.now += 5000;
    await decide(
      world,
      { type: 'reject', reasonCode: 'not_a_failure' },
      { reviewId: 'rev_2', reviewer: 'bob', version: claimed?.version ?? 0 },
    );
    expect(world.state.reviews.get('rev_2')?.decision).toMatchObject({
      reasonCode: 'not_a_failure',
      secondsOpen: 5,
    });
  });

  it('is refused for missing evidence, reversed lines, and reason codes without a rejection', async () => {
    const world = createManyOfOneCause();
    const cases: readonly DecisionInput[] = [
      { ...MOVE, shownBy: { evidence: ['E99'], lines: [] } },
      { ...MOVE, shownBy: { evidence: [], lines: [] } },
      { ...MOVE, shownBy: { evidence: [], lines: [{ source: 'build.log', lineStart: 4, lineEnd: 3 }] } },
      { type: 'accept', reasonCode: 'not_a_failure' },
      { type: 'accept', shownBy: 'none' },
      { type: 'reject' },
    ];
    for (const input of cases)
      await expect(decide(world, input)).rejects.toMatchObject({ code: 'invalid-input' });
    expect(world.state.reviews.get('rev_1')?.decision).toBeNull();
  });
});

describe('a library entry that passed builds contradict', () => {
  it('is stored and flagged, but not used; the former entry remains in use', async () => {
    const world = createManyOfOneCause();
    const first = await decide(world, { type: 'accept' });
    world.state.green = ['expected 10.20, got 10.21', 'all fine'];
    world.state.now += 60_000;

    const { entry, teaching } = await decide(world, MOVE, { reviewId: 'rev_2', reviewer: 'bob' });

    expect(entry?.flag).toEqual({ builds: 1, since: '2026-10-01T00:00:00.000Z', last: 'bld_green' });
    expect(teaching).toMatch(/not used yet\. It also appears in a green build since 2026-10-01/);
    expect(await recalled(world)).toEqual(first.entry);
    expect([...world.state.index.keys()]).toEqual([first.entry?.id]);
  });
});
