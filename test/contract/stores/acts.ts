import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import type { OutboxEntry } from '../../../src/domain/notice.ts';
import type { DecisionInput } from '../../../src/domain/review.ts';
import { sampleDecision, sampleEntry, sampleReview } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

const LEASE_MS = 60_000;

export function outboxContract(world: StoresWorld): void {
  describe('outward acts', () => {
    /** An act that a publisher of its own owes, so that no other test takes it. */
    async function owed() {
      const publisher = newId('thr');
      const build = await world.build({ number: newId('bld') });
      const analysis = await world.analysisOf(build, newId('fal'));
      const owe = () => world.stores.outbox.owe({ publishers: [publisher], buildId: build.id, analysisId: analysis.id });
      await owe();
      return { publisher, build, analysis, owe };
    }
    async function taken(publisher: string, leaseMs = LEASE_MS): Promise<OutboxEntry> {
      const act = await world.stores.outbox.take([publisher], leaseMs);
      if (act === null) throw new Error('an act is owed');
      return act;
    }

    it('are owed once to each publisher, together with what they tell', async () => {
      const { publisher, build, analysis, owe } = await owed();
      const other = newId('thr');
      await Promise.all([owe(), owe()]);
      await world.stores.outbox.owe({ publishers: [publisher, other], buildId: build.id, analysisId: analysis.id });
      await world.stores.outbox.owe({ publishers: [], buildId: build.id, analysisId: analysis.id });
      const undone = world.db.transaction(async (sql) => {
        await world.stores.outbox.owe({ publishers: ['never'], buildId: build.id, analysisId: analysis.id }, sql);
        throw new Error('the analysis is not saved');
      });
      await expect(undone).rejects.toThrow();

      const acts = await world.stores.outbox.listByBuild(build.id);
      expect(acts.map(({ key }) => key).toSorted()).toEqual([`${publisher}:${analysis.id}`, `${other}:${analysis.id}`].toSorted());
      for (const act of acts) expect(act).toMatchObject({ state: 'owed', attempts: 0, retries: 0, lease: 0, reference: null, error: null });
    });

    it('go to one of several takers, and only to their own publisher', async () => {
      const { publisher, analysis } = await owed();
      expect(await world.stores.outbox.take(['nobody'], LEASE_MS)).toBeNull();
      const takers = await Promise.all([1, 2, 3].map(() => world.stores.outbox.take([publisher, 'nobody'], LEASE_MS)));
      expect(takers.filter((act) => act !== null)).toMatchObject([{ analysisId: analysis.id, state: 'started', attempts: 1, lease: 1 }]);
    });

    it('end once, with what the other side calls it', async () => {
      const { publisher, build, owe } = await owed();
      const act = await taken(publisher);
      expect(await world.stores.outbox.finish(act, { state: 'done', reference: 'https://elsewhere.example/7' })).toBe(true);
      expect(await world.stores.outbox.finish(act, { state: 'failed', error: 'twice' })).toBe(false);
      await owe();
      expect(await world.stores.outbox.take([publisher], LEASE_MS)).toBeNull();
      expect(await world.stores.outbox.listByBuild(build.id)).toMatchObject([{ state: 'done', reference: 'https://elsewhere.example/7' }]);
    });

    it('are left alone for as long as they are given back for', async () => {
      const { publisher, build } = await owed();
      await world.stores.outbox.release(await taken(publisher), 'it answered 503', LEASE_MS);
      expect(await world.stores.outbox.take([publisher], LEASE_MS)).toBeNull();
      expect(await world.stores.outbox.listByBuild(build.id)).toMatchObject([
        { state: 'owed', attempts: 0, retries: 1, lease: 1, error: 'it answered 503' },
      ]);
    });

    it('are taken again at once where the process stopped, uncounted', async () => {
      const { publisher } = await owed();
      await world.stores.outbox.release(await taken(publisher), 'stopped', 0);
      expect(await taken(publisher)).toMatchObject({ attempts: 1, retries: 0, lease: 2 });
      expect(await world.stores.outbox.reclaim()).toBeGreaterThanOrEqual(1);
      expect(await taken(publisher)).toMatchObject({ attempts: 2, retries: 0, lease: 3 });
    });

    it('refuse the word of a holder whose lease another has taken over (T05)', async () => {
      const { publisher, build } = await owed();
      const stale = await taken(publisher, 1);
      await delay(20);
      const held = await taken(publisher);
      expect(await world.stores.outbox.finish(stale, { state: 'done', reference: 'stale' })).toBe(false);
      await world.stores.outbox.release(stale, 'late', LEASE_MS);
      expect(await world.stores.outbox.listByBuild(build.id)).toMatchObject([{ state: 'started', lease: 2, error: null }]);
      expect(await world.stores.outbox.finish(held, { state: 'done', reference: null })).toBe(true);
    });

    describe('are obsolete (T10)', () => {
      it('not as long as nothing happened', async () => {
        const { publisher, build } = await owed();
        await world.build({ number: build.number, attempt: 2, status: 'failed' });
        await world.build({ number: newId('bld'), status: 'passed' });
        expect(await world.stores.outbox.obsolete(await taken(publisher))).toBeNull();
      });

      it('where a later attempt of the build has passed', async () => {
        const { publisher, build } = await owed();
        await world.build({ number: build.number, attempt: 2, status: 'passed' });
        expect(await world.stores.outbox.obsolete(await taken(publisher))).toBe('The build has passed since.');
      });

      it.each<[DecisionInput['type'], boolean]>([
        ['accept', false],
        ['correct', true],
        ['reject', true],
      ])('where a person said %s of the answer: %s', async (type, obsolete) => {
        const { publisher, analysis } = await owed();
        const review = await world.stores.reviews.open(sampleReview(analysis, { repository: world.repository }));
        await world.stores.reviews.decide(review.id, review.version, sampleDecision(review, { type }));
        expect((await world.stores.outbox.obsolete(await taken(publisher))) !== null).toBe(obsolete);
      });

      it('where a person named another cause of the same failure meanwhile', async () => {
        const same = await owed();
        const other = await owed();
        const { rootCause } = same.analysis.answer;
        const confirmedAt = '2099-01-01T00:00:00.000Z';
        const said = { repository: world.repository, category: same.analysis.category, confirmedAt };
        await world.stores.library.insert(sampleEntry(same.analysis.fingerprint, { ...said, rootCause }));
        await world.stores.library.insert(sampleEntry(other.analysis.fingerprint, { ...said, rootCause: 'The disk is full' }));
        expect(await world.stores.outbox.obsolete(await taken(same.publisher))).toBeNull();
        expect(await world.stores.outbox.obsolete(await taken(other.publisher))).toBe(
          'A person has named another cause of this failure since.',
        );
      });
    });
  });
}
