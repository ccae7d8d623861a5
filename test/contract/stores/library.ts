import { describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import { sampleEntry, sampleFingerprint } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

export function testLibraryContract(world: StoresWorld): void {
  describe('error library', () => {
    it('recalls the latest decision of a reviewer for a fingerprint', async () => {
      const fingerprint = createId('lib');
      const newer = sampleEntry(fingerprint, { confirmedAt: '2026-02-01T00:00:00.000Z' });
      await world.stores.library.insert(newer);
      await world.stores.library.insert(
        sampleEntry(fingerprint, { confirmedAt: '2026-01-01T00:00:00.000Z' }),
      );

      expect(await world.stores.library.recall({ fingerprint, repository: newer.repository })).toEqual(newer);
      expect(await world.stores.library.find(newer.id)).toEqual(newer);
      expect(
        await world.stores.library.recall({ fingerprint: 'none', repository: newer.repository }),
      ).toBeNull();
      expect((await world.stores.library.list({ limit: 1, offset: 0 })).map((entry) => entry.id)).toEqual([
        newer.id,
      ]);
    });

    it('recalls nothing from another repository', async () => {
      const fingerprint = createId('lib');
      const ours = sampleEntry(fingerprint, {
        repository: 'acme/shop',
        confirmedAt: '2026-01-01T00:00:00.000Z',
      });
      const theirs = sampleEntry(fingerprint, {
        repository: 'acme/bank',
        confirmedAt: '2026-02-01T00:00:00.000Z',
      });
      await world.stores.library.insert(theirs);
      expect(await world.stores.library.recall({ fingerprint, repository: 'acme/shop' })).toBeNull();

      await world.stores.library.insert(ours);

      expect(await world.stores.library.recall({ fingerprint, repository: 'acme/shop' })).toEqual(ours);
      expect(await world.stores.library.recall({ fingerprint, repository: 'acme/bank' })).toEqual(theirs);
    });

    it('counts a use in the transaction of the caller', async () => {
      const entry = sampleEntry(createId('lib'));
      await world.stores.library.insert(entry);

      const failing = world.db.transaction(async (sql) => {
        expect(await world.stores.library.seen(entry.id, '2026-03-01T00:00:00.000Z', sql)).toBe(2);
        throw new Error('no');
      });

      await expect(failing).rejects.toThrow('no');
      expect(await world.stores.library.find(entry.id)).toEqual(entry);
    });

    it('counts every use, even at the same time', async () => {
      const entry = sampleEntry(createId('lib'));
      await world.stores.library.insert(entry);
      const at = '2026-03-01T00:00:00.000Z';

      const totals = await Promise.all([1, 2, 3].map(() => world.stores.library.seen(entry.id, at)));

      expect(totals.toSorted()).toEqual([2, 3, 4]);
      expect(await world.stores.library.find(entry.id)).toMatchObject({ timesSeen: 4, lastSeenAt: at });
      await expect(world.stores.library.seen('lib_none', at)).rejects.toMatchObject({ code: 'not-found' });
    });

    it('stores the complete fingerprint', async () => {
      const entry = sampleEntry('x', {
        fingerprint: { ...sampleFingerprint(createId('lib')), algorithm: 'frames', version: 3 },
      });

      await world.stores.library.insert(entry);

      expect(
        (
          await world.stores.library.recall({
            fingerprint: entry.fingerprint.value,
            repository: entry.repository,
          })
        )?.fingerprint,
      ).toEqual(entry.fingerprint);
    });
  });
}
