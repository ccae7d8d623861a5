import { describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import { fitCalibration } from '../../../src/replay/calibrate/calibrate.ts';
import { createLabeled } from '../../replay/calibrate/labelled-answers.ts';
import { sampleDecision, sampleReview } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

/** What the store of calibrations promises. */
export function testCalibrationsContract(world: StoresWorld): void {
  const made = (analyst: string) =>
    fitCalibration(createLabeled('CODE_ERROR', 0.9, 40, 10), {
      method: 'auto',
      risk: { most: 0.05, confidence: 0.95 },
      analyst,
      prompts: ['4f1c'],
      createdBy: 'ann',
      now: 0,
      id: createId('cal'),
      version: 1,
      sources: ['a.jsonl'],
      mask: (text) => text,
    }).calibration;

  describe('calibrations', () => {
    it('are stored under increasing versions, and returned unchanged', async () => {
      const { calibrations } = world.stores;
      const first = await calibrations.add(made(`rules ${createId('cal')}`));
      const second = await calibrations.add(made(`rules ${createId('cal')}`));

      expect(second.version).toBe(first.version + 1);
      expect(await calibrations.find(first.version)).toEqual(first);
      expect((await calibrations.list(2)).map(({ version }) => version)).toEqual([
        second.version,
        first.version,
      ]);
      expect(await calibrations.find(second.version + 1)).toBeNull();
    });

    it('come into force only by a command, which names what it replaces and is recorded with person and time', async () => {
      const { calibrations } = world.stores;
      const analyst = `llm ${createId('cal')}`;
      const [left, right] = [await calibrations.add(made(analyst)), await calibrations.add(made(analyst))];
      const inForce = async () =>
        (await calibrations.inForce())
          .filter((each) => each.analyst === analyst)
          .map(({ version }) => version);
      const use = (version: number | null, replaces: number | null) =>
        calibrations.use({ analyst, version, replaces, actor: 'ann' });

      expect(await inForce()).toEqual([]);
      expect(await use(left.version, null)).toMatchObject({
        version: left.version,
        replaced: null,
        actor: 'ann',
      });
      expect(await use(right.version, null)).toBeNull();
      expect(await inForce()).toEqual([left.version]);
      await use(right.version, left.version);
      expect(await inForce()).toEqual([right.version]);
      await use(null, right.version);
      expect(await inForce()).toEqual([]);
      const acts = (await calibrations.acts(10)).filter((each) => each.analyst === analyst);
      expect(acts.map(({ version, replaced }) => [version, replaced])).toEqual([
        [null, right.version],
        [right.version, left.version],
        [left.version, null],
      ]);
      expect(Date.parse(acts[0]?.at ?? '')).toBeGreaterThan(0);
    });

    it('written by a later version cause no failure and publish nothing; they can be withdrawn', async () => {
      const { calibrations } = world.stores;
      const analyst = `llm ${createId('cal')}`;
      const kept = await calibrations.add(made(analyst));
      const later = kept.version + 1;
      const body = JSON.stringify({ ...kept, version: later, categories: {} });
      const values = [later, analyst, body, 'ann'];
      await world.db.query(
        'insert into calibrations (version, analyst, body, created_by) values ($1, $2, $3::jsonb, $4)',
        values,
      );
      await calibrations.use({ analyst, version: later, replaces: null, actor: 'ann' });

      const found = (await calibrations.inForce()).find((each) => each.analyst === analyst);
      expect(found?.version).toBe(later);
      expect(Object.values(found?.categories ?? {}).map(({ threshold }) => threshold)).toEqual([
        null,
        null,
        null,
        null,
        null,
      ]);
      expect((await calibrations.list(1)).map(({ version }) => version)).not.toContain(later);
      expect(
        await calibrations.use({ analyst, version: kept.version, replaces: later, actor: 'ann' }),
      ).not.toBeNull();
    });

    it('come into force once if several requests arrive at the same time', async () => {
      const { calibrations } = world.stores;
      const analyst = `llm ${createId('cal')}`;
      const kept = await Promise.all([1, 2, 3].map(() => calibrations.add(made(analyst))));
      expect(new Set(kept.map(({ version }) => version)).size).toBe(3);
      const acts = await Promise.all(
        kept.map(({ version }) => calibrations.use({ analyst, version, replaces: null, actor: 'ann' })),
      );
      expect(acts.filter((act) => act !== null)).toHaveLength(1);
      expect((await calibrations.acts(20)).filter((act) => act.analyst === analyst)).toHaveLength(1);
    });

    it('are fitted to the decisions of people', async () => {
      const { stores, repository } = world;
      const decide = async (decision: Parameters<typeof sampleDecision>[1], origin: 'unsure' | 'audit') => {
        const build = await world.build({ number: createId('bld') });
        const plain = await world.storeAnalysis(build, createId('fal'), {
          analyst: 'rules',
          promptHashes: { verify: '4f1c' },
        });
        const review = await stores.reviews.open(sampleReview(plain, { repository, origin }));
        await stores.reviews.decide(review.id, review.version, sampleDecision(review, decision));
        return plain.id;
      };
      const right = await decide({ type: 'accept' }, 'audit');
      const wrong = await decide({ type: 'correct', category: 'INFRA_ERROR' }, 'unsure');
      await decide({ type: 'reject', reasonCode: 'cannot_be_told' }, 'unsure');

      const found = (await stores.calibrations.decided(1000)).filter((one) => one.repository === repository);
      expect(found).toHaveLength(2);
      expect(found.find(({ analysisId }) => analysisId === right)).toMatchObject({
        right: true,
        origin: 'audit',
      });
      expect(found.find(({ analysisId }) => analysisId === wrong)).toMatchObject({
        right: false,
        origin: 'unsure',
        analyst: 'rules',
        promptHashes: { verify: '4f1c' },
      });
      expect((await stores.calibrations.answeredPerDay()).every(({ perDay }) => perDay > 0)).toBe(true);
    });
  });
}
