import { beforeEach, describe, expect, it } from 'vitest';
import type { OwedVector, VectorDebt } from '../../../src/ports/vector-index.ts';
import type { StoresWorld } from './world.ts';

const LONG = 60_000;

/** What the store of what the index is owed promises. */
export function vectorDebtsContract(world: StoresWorld): void {
  describe('what the index is owed', () => {
    const owed = (id: string, text: string | null = `text of ${id}`): OwedVector => ({
      namespace: 'error_library',
      id,
      item: text === null ? null : { text, metadata: { category: 'CODE_ERROR', order: 1, sure: true } },
    });
    const debts = () => world.stores.vectorDebts;

    async function takeOne(): Promise<VectorDebt> {
      const [debt] = await debts().take(1, LONG);
      if (debt === undefined) throw new Error('nothing is owed');
      return debt;
    }

    beforeEach(async () => {
      await debts().reclaim();
      for (const debt of await debts().take(1_000, LONG)) await debts().settle(debt);
      await world.db.query('delete from vector_debts');
    });

    it('is taken once, oldest first, and gone when it is settled', async () => {
      await debts().owe([owed('a')]);
      await debts().owe([owed('b', null)]);
      expect(await debts().waiting()).toMatchObject({ count: 2, since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) });

      const first = await takeOne();
      expect(first).toMatchObject({ ...owed('a'), attempts: 1 });
      expect(await debts().take(9, LONG)).toMatchObject([{ ...owed('b', null), attempts: 1 }]);
      expect(await debts().take(9, LONG)).toEqual([]);
      await debts().settle(first);
      expect(await debts().waiting()).toMatchObject({ count: 1 });
    });

    it('is owed in the transaction that learns it, or not at all', async () => {
      await expect(
        world.db.transaction(async (sql) => {
          await debts().owe([owed('a')], sql);
          throw new Error('the decision could not be stored');
        }),
      ).rejects.toThrow();
      expect(await debts().waiting()).toEqual({ count: 0, since: null });
      await debts().owe([]);
      await debts().owe([owed('odd', 'nul \0, half \ud800, slash \\u0000')]);
      expect((await takeOne()).item?.text).toBe('nul , half \ufffd, slash \\u0000');
    });

    it('is taken again when a lease has run out, and the stale one changes nothing', async () => {
      await debts().owe([owed('a')]);
      const [stale] = await debts().take(1, 0);
      const fresh = await takeOne();
      expect(fresh).toMatchObject({ id: 'a', attempts: 2 });
      if (stale === undefined) throw new Error('nothing was taken');
      await debts().release(stale, 'stale', 0);
      await debts().settle(stale);
      expect(await debts().take(1, LONG)).toEqual([]);
      await debts().settle(fresh);
      expect(await debts().waiting()).toMatchObject({ count: 0 });
    });

    it('is left alone for as long as it was given back for, but not by who asks for it', async () => {
      await debts().owe([owed('a'), owed('b')]);
      for (const debt of await debts().take(9, LONG)) await debts().release(debt, 'away', LONG);
      expect(await debts().take(9, LONG)).toEqual([]);
      expect(await debts().takeThese('knowledge', ['a'], LONG)).toEqual([]);
      expect(await debts().takeThese('error_library', ['a', 'unknown'], LONG)).toMatchObject([{ id: 'a', attempts: 2 }]);
      expect(await debts().takeThese('error_library', ['a'], LONG)).toEqual([]);
      expect(await debts().reclaim()).toBe(1);
      expect(await debts().take(9, LONG)).toMatchObject([{ id: 'a' }]);
    });

    it('is what was said last: who pays the old debt does not settle the new one, nor may two pay at once', async () => {
      await debts().owe([owed('a')]);
      const old = await takeOne();
      await debts().owe([owed('a', null)]);
      expect(await debts().take(9, LONG)).toEqual([]);
      expect(await debts().takeThese('error_library', ['a'], LONG)).toEqual([]);
      await debts().settle(old);

      expect(await takeOne()).toMatchObject({ id: 'a', item: null, attempts: 1 });
      expect(await debts().waiting()).toMatchObject({ count: 1 });
    });
  });
}
