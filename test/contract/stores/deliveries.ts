import { describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import type { DeliveryKey, ReceivedDelivery } from '../../../src/stores/deliveries.ts';
import type { StoresWorld } from './world.ts';

export function testDeliveriesContract(world: StoresWorld): void {
  const inbox = (change: Partial<ReceivedDelivery> = {}): ReceivedDelivery => ({
    source: 'github',
    deliveryId: createId('dlv'),
    event: 'workflow_run',
    bodySha256: 'aa',
    intake: { build: { number: '7' } },
    ...change,
  });
  const take = (key: DeliveryKey) => world.db.transaction((sql) => world.stores.deliveries.claim(key, sql));
  const record = (key: DeliveryKey, buildId: string) =>
    world.db.transaction(async (sql) => {
      if ((await world.stores.deliveries.claim(key, sql)) === null) return false;
      return await world.stores.deliveries.markRecorded(key, buildId, sql);
    });

  describe('deliveries', () => {
    it('are stored once, even if two arrive at the same time', async () => {
      const { id: buildId } = await world.build();
      const delivery = {
        source: 'github',
        deliveryId: createId('dlv'),
        event: 'workflow_run',
        bodySha256: 'aa',
        buildId,
      };

      const kept = await Promise.all([1, 2, 3].map(() => world.stores.deliveries.insertOnce(delivery)));

      expect(kept.filter(Boolean)).toHaveLength(1);
      expect(await world.stores.deliveries.find('github', delivery.deliveryId)).toEqual({
        event: 'workflow_run',
        bodySha256: 'aa',
        buildId,
        state: 'recorded',
        attempts: 0,
        receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      });
      expect(await world.stores.deliveries.find('jenkins', delivery.deliveryId)).toBeNull();
    });

    it('are not stored if their transaction fails', async () => {
      const delivery = {
        source: 'github',
        deliveryId: createId('dlv'),
        event: 'workflow_run',
        bodySha256: 'aa',
        buildId: null,
      };

      const failing = world.db.transaction(async (sql) => {
        await world.stores.deliveries.insertOnce(delivery, sql);
        throw new Error('the sender hung up');
      });

      await expect(failing).rejects.toThrow('the sender hung up');
      expect(await world.stores.deliveries.insertOnce(delivery)).toBe(true);
    });
  });

  describe('pending deliveries', () => {
    it('are stored in batches, and each caller learns whether its own is new', async () => {
      const [known, ...fresh] = [inbox(), inbox(), inbox({ source: 'jenkins' })];
      expect(await world.stores.deliveries.store([known ?? inbox()])).toEqual([true]);

      const all = [...fresh, known ?? inbox()];
      expect(await world.stores.deliveries.store(all)).toEqual([true, true, false]);
      expect(await world.stores.deliveries.store([])).toEqual([]);
      for (const { source, deliveryId } of all) {
        expect(await world.stores.deliveries.find(source, deliveryId)).toMatchObject({
          state: 'landed',
          buildId: null,
        });
      }
    });

    it('are stored once if many senders send them at the same time in different orders', async () => {
      const all = Array.from({ length: 20 }, () => inbox());
      const told = await Promise.all(
        Array.from({ length: 10 }, async (_, turn) => {
          const turned = [...all.slice(turn * 2), ...all.slice(0, turn * 2)];
          return (await world.stores.deliveries.store(turned)).filter(Boolean).length;
        }),
      );

      expect(told.reduce((sum, value) => sum + value)).toBe(20);
    });

    it('are stored with text that PostgreSQL cannot hold cleaned', async () => {
      const delivery = inbox({ intake: { build: { branch: 'a\u0000b\ud800c', number: '"\\' } } });
      await world.stores.deliveries.store([delivery]);

      expect((await take(delivery))?.intake).toEqual({ build: { branch: 'a\ufffdb\ufffdc', number: '"\\' } });
    });

    it('are taken by one consumer at a time, and remain if they were taken but not recorded', async () => {
      const delivery = inbox();
      await world.stores.deliveries.store([delivery]);

      expect(await take(delivery)).toEqual({
        source: 'github',
        deliveryId: delivery.deliveryId,
        event: 'workflow_run',
        attempts: 0,
        intake: { build: { number: '7' } },
      });
      const { id } = await world.build();
      const recorded = await Promise.all([1, 2, 3, 4].map(() => record(delivery, id)));

      expect(recorded.filter(Boolean)).toHaveLength(1);
      expect(await take(delivery)).toBeNull();
      expect(await world.stores.deliveries.find('github', delivery.deliveryId)).toMatchObject({
        state: 'recorded',
        buildId: id,
      });
    });

    it('are listed oldest first, without postponed ones', async () => {
      const all = [inbox(), inbox(), inbox()];
      for (const receivedDelivery of all) await world.stores.deliveries.store([receivedDelivery]);
      const ours = async (olderThanMs: number) => {
        const ids = (await world.stores.deliveries.listPending(olderThanMs, 500)).map(
          ({ deliveryId }) => deliveryId,
        );
        return ids.filter((id) => all.some(({ deliveryId }) => deliveryId === id));
      };
      const [first, second, third] = all.map(({ deliveryId }) => deliveryId);

      expect(await ours(0)).toEqual([first, second, third]);
      expect(await ours(60_000)).toEqual([]);
      const how = { error: 'not now', delayMs: 60_000, attempts: 1, refuse: false };
      expect(
        await world.stores.deliveries.postpone({ source: 'github', deliveryId: second ?? '' }, how),
      ).toBe(true);

      expect(await ours(0)).toEqual([first, third]);
      expect(await take({ source: 'github', deliveryId: second ?? '' })).toBeNull();
    });

    it('are postponed longer after each attempt, then set aside, and can be requeued', async () => {
      const delivery = inbox();
      const { deliveries } = world.stores;
      await deliveries.store([delivery]);
      const before = await deliveries.backlog();

      expect(
        await deliveries.postpone(delivery, { error: 'no', delayMs: 0, attempts: 3, refuse: false }),
      ).toBe(true);
      expect(
        await deliveries.postpone(delivery, { error: 'late', delayMs: 0, attempts: 2, refuse: false }),
      ).toBe(false);
      expect(before).toMatchObject({ landed: expect.any(Number), oldestMs: expect.any(Number) });
      expect(await deliveries.requeue(delivery)).toBe(false);
      expect(
        await deliveries.postpone(delivery, { error: 'the last one', delayMs: 0, attempts: 4, refuse: true }),
      ).toBe(true);

      expect(await take(delivery)).toBeNull();
      expect(await deliveries.find('github', delivery.deliveryId)).toMatchObject({
        state: 'refused',
        attempts: 4,
      });
      expect(await deliveries.backlog()).toMatchObject({
        landed: before.landed - 1,
        refused: before.refused + 1,
        refusal: 'the last one',
      });
      expect(await deliveries.requeue(delivery)).toBe(true);
      expect(await take(delivery)).toMatchObject({ attempts: 0 });
    });
  });
}
