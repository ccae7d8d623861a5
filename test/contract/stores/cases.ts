import { describe, expect, it } from 'vitest';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { NewBuild } from '../../../src/domain/build.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { Decision } from '../../../src/domain/review.ts';
import type { CaseFilter, StoredCase } from '../../../src/stores/measurements.ts';
import { sampleDecision, sampleGroup, sampleReview } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

interface Stocked {
  readonly build?: Partial<NewBuild>;
  readonly fingerprints?: readonly string[];
  readonly analysis?: Partial<Analysis>;
  readonly decision?: Partial<Decision>;
}

/** Stored failures, as cases to measure by. */
export function testCasesContract(world: StoresWorld): void {
  const stock = async ({
    build: change = {},
    fingerprints = ['f1'],
    analysis: answer = {},
    decision,
  }: Stocked = {}) => {
    const { stores, repository } = world;
    const build = await world.build({ number: createId('bld'), ...change });
    await stores.failures.saveGroups(
      build.id,
      fingerprints.map((fingerprint) => sampleGroup(build.id, fingerprint)),
    );
    const analysis = await world.storeAnalysis(build, fingerprints[0] ?? '', answer);
    if (decision === undefined) return { build, analysis, decided: null };
    const review = await stores.reviews.open(sampleReview(analysis, { repository, origin: 'audit' }));
    const made = sampleDecision(review, decision);
    await stores.reviews.decide(review.id, review.version, made);
    return { build, analysis, decided: made };
  };
  const list = (filter: CaseFilter = {}, limit = 50) =>
    world.stores.cases.list({ repository: world.repository, ...filter }, limit, null);
  const ids = (cases: readonly StoredCase[]) => cases.map(({ build, cause }) => `${build.id} ${cause}`);

  describe('cases', () => {
    it('are the causes of builds with their answer and decision, oldest first', async () => {
      const { build, analysis, decided } = await stock({
        decision: { type: 'correct', category: 'CODE_ERROR' },
        fingerprints: ['f1', 'f2'],
      });
      const later = await stock();

      expect(await list()).toEqual([
        { build, fingerprint: 'f1', cause: 0, analysis, decision: decided, origin: 'audit' },
        { build, fingerprint: 'f2', cause: 1, analysis: null, decision: null, origin: null },
        {
          build: later.build,
          fingerprint: 'f1',
          cause: 0,
          analysis: later.analysis,
          decision: null,
          origin: null,
        },
      ]);
      expect(ids(await list({ decided: true }))).toEqual([`${build.id} 0`]);
    });

    it('are removed if their decision is undone', async () => {
      const { decided } = await stock({ decision: { type: 'accept' } });
      expect(await list({ decided: true })).toHaveLength(1);
      if (decided !== null) await world.stores.reviews.undo(decided, 'ada');
      expect(await list({ decided: true })).toEqual([]);
    });

    it('are found by branch, fingerprint, category and time', async () => {
      const old = await stock({
        build: { branch: 'next', finishedAt: '2026-01-01T00:00:00.000Z' },
        fingerprints: ['f9'],
        decision: { type: 'correct', category: 'INFRA_ERROR' },
      });
      const fresh = await stock({ build: { startedAt: '2026-02-01T00:00:00.000Z' } });
      const [first, second] = [`${old.build.id} 0`, `${fresh.build.id} 0`];

      expect(ids(await list({ branch: 'next' }))).toEqual([first]);
      expect(ids(await list({ fingerprint: 'f9' }))).toEqual([first]);
      expect(ids(await list({ category: 'INFRA_ERROR' }))).toEqual([first]);
      expect(ids(await list({ category: 'TEST_FAILURE' }))).toEqual([second]);
      expect(ids(await list({ since: '2026-02-01T00:00:00Z' }))).toEqual([second]);
      expect(ids(await list({ until: '2026-02-01T00:00:00Z' }))).toEqual([first]);
    });

    it('are paged without gaps or repetitions', async () => {
      for (let count = 0; count < 3; count++) await stock({ fingerprints: ['f1', 'f2'] });
      const all = ids(await list());
      const read: string[] = [];
      for (let page = await list({}, 2); page.length > 0; ) {
        read.push(...ids(page));
        const last = page.at(-1);
        const after = last === undefined ? null : { buildId: last.build.id, cause: last.cause };
        page = await world.stores.cases.list({ repository: world.repository }, 2, after);
      }
      expect(all).toHaveLength(6);
      expect(read).toEqual(all);
    });
  });
}
