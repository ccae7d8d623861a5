import { describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import { createRecordingStore } from '../../../src/stores/measurements.ts';
import type { StoresWorld } from './world.ts';

/** What the store of recordings promises. */
export function testRecordingsContract(world: StoresWorld): void {
  describe('recordings', () => {
    const part = (triageId: string, text: string) => ({ triageId, schema: 1, bytes: Buffer.from(text) });
    const triaged = async (repository = world.repository) => {
      const build = await world.build({ repository, number: createId('bld') });
      return { build, triage: await world.stores.triages.open(build.id, `f${world.count}-${build.id}`) };
    };
    const listIds = async (filter: Parameters<typeof world.stores.recordings.list>[0]) =>
      (await world.stores.recordings.list(filter, { limit: 10 })).map(({ triageId }) => triageId);

    it('append parts in order, and return them with the answer', async () => {
      const { recordings } = world.stores;
      const { build, triage } = await triaged();
      await recordings.append(part(triage.id, 'one'));
      await recordings.append(part(triage.id, '\0two'));

      const before = await recordings.find(triage.id);
      expect(before).toMatchObject({ triageId: triage.id, schema: 1, capped: false, analysis: null });
      expect(Buffer.from(before?.bytes ?? [])).toEqual(Buffer.from('one\0two'));

      const analysis = await world.storeAnalysis(build, triage.fingerprint, { triageId: triage.id });
      expect((await recordings.find(triage.id))?.analysis).toEqual(analysis);
      const [head] = await recordings.list({ runs: [analysis.id] }, { limit: 10 });
      expect(head).toMatchObject({
        triageId: triage.id,
        repository: world.repository,
        size: 7,
        parts: 2,
        analysis: { id: analysis.id },
      });
      expect(await recordings.find('tri_none')).toBeNull();
    });

    it('are listed by run, by repository and by scope, in pages', async () => {
      const { recordings } = world.stores;
      const ids: string[] = [];
      for (let count = 0; count < 3; count++) {
        const { triage } = await triaged();
        await recordings.append(part(triage.id, 'x'));
        ids.push(triage.id);
      }
      ids.sort();
      expect(await listIds({ repository: world.repository })).toEqual(ids);
      expect(await listIds({ repository: world.repository, runs: ids.slice(1, 2) })).toEqual(ids.slice(1, 2));
      expect(await listIds({ repository: world.repository, after: ids[0] ?? '' })).toEqual(ids.slice(1));
      expect(await listIds({ repositories: [world.repository] })).toEqual(ids);
      expect(await listIds({ repository: world.repository, repositories: ['nobody/nothing'] })).toEqual([]);
      expect(await recordings.list({ repository: world.repository }, { limit: 2 })).toHaveLength(2);
    });

    it('are refused with a message beyond the size limit', async () => {
      const small = createRecordingStore(world.db, 5);
      const { triage } = await triaged();
      await small.append(part(triage.id, 'one'));
      await small.append(part(triage.id, 'three'));
      await small.append(part(triage.id, 'ab'));
      const found = await small.find(triage.id);
      expect([Buffer.from(found?.bytes ?? []).toString(), found?.capped]).toEqual(['oneab', true]);
    });

    it('belong to a triage, and are deleted with its build', async () => {
      const { recordings } = world.stores;
      const { build, triage } = await triaged();
      await recordings.append(part(triage.id, 'one'));
      await world.db.query('delete from builds where id = $1', [build.id]);
      expect(await recordings.find(triage.id)).toBeNull();
      await expect(recordings.append(part(triage.id, 'two'))).rejects.toMatchObject({
        code: 'storage-failed',
      });
    });
  });
}
