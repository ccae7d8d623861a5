import { describe, expect, test } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { createDeliveryProcessor } from '../../../src/service/intake/delivery-processor.ts';
import { sampleBuild } from '../../stores/samples.ts';
import { createFakeHttpDeps } from '../../support/fake-stores.ts';

function storeDelivery(number: number, change: object = {}) {
  const key = { source: 'github', deliveryId: `d-${number}` };
  const intake = { build: sampleBuild({ number: String(number) }), ...change };
  return { key, delivery: { ...key, event: 'workflow_run', bodySha256: 'aa', intake } };
}

function createWorld(changes: Parameters<typeof createFakeHttpDeps>[0] = {}) {
  const { deps, state } = createFakeHttpDeps(changes);
  const notified: string[] = [];
  const notifier = {
    notify: (_topic: string, key: string) => void notified.push(key),
    settle: async () => undefined,
  };
  return { deps, state, notified, processor: createDeliveryProcessor({ ...deps, notifier }) };
}

describe('processing deliveries', () => {
  test('makes builds of pending deliveries, in order, and notifies', async () => {
    const { deps, state, notified, processor } = createWorld();
    const of = [undefined, false, true].map((fromFork, at) =>
      storeDelivery(at + 2, { defaultBranch: 'main', fromFork }),
    );
    const all = [storeDelivery(1), ...of];
    await deps.stores.deliveries.store(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    await processor.idle();

    expect(state.builds.map(({ number }) => number)).toEqual(['1', '2', '3', '4']);
    expect(state.deliveries.map((kept) => kept.state)).toEqual([
      'recorded',
      'recorded',
      'recorded',
      'recorded',
    ]);
    expect(notified).toEqual(state.builds.map(({ id }) => id));
  });

  test('continues while new deliveries keep arriving', async () => {
    const { deps, state } = createFakeHttpDeps();
    const processor = createDeliveryProcessor({ ...deps, busy: () => true });
    const all = Array.from({ length: 20 }, (_, index) => storeDelivery(index));
    await deps.stores.deliveries.store(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    await processor.idle();

    expect(state.deliveries.every((kept) => kept.state === 'recorded')).toBe(true);
    expect(state.enqueued).toHaveLength(20);
  });

  test('lets requests be read between two deliveries, even if the database answers at once', async () => {
    const { deps, state, processor } = createWorld();
    const all = Array.from({ length: 100 }, (_, index) => storeDelivery(index));
    await deps.stores.deliveries.store(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));

    expect(state.builds.length).toBeGreaterThan(0);
    expect(state.builds.length).toBeLessThan(50);
    await processor.idle();
    expect(state.builds).toHaveLength(100);
  });

  test('tries one that cannot be recorded several times, then sets it aside with a report, and continues with others', async () => {
    const { deps, state, processor } = createWorld();
    const [broken, good] = [storeDelivery(1, { build: { number: 7 } }), storeDelivery(2)];
    await deps.stores.deliveries.store([broken.delivery, good.delivery]);
    for (let tries = 0; tries < 8; tries++) {
      processor.add(broken.key);
      processor.add(good.key);
      await processor.idle();
    }

    expect(state.deliveries.map((kept) => [kept.state, kept.attempts])).toEqual([
      ['refused', 8],
      ['recorded', 0],
    ]);
    const lines = state.log.filter(({ message }) => message.includes('could not be recorded'));
    expect(lines.map(({ level }) => level)).toEqual([...Array(7).fill('warn'), 'error']);
  });

  test('retries temporary errors without limit', async () => {
    const { deps, state } = createWorld();
    const upsert = async () =>
      Promise.reject(new TriageError('storage-failed', 'Deadlock.', { retryable: true }));
    const stores = {
      ...deps.stores,
      deliveries: deps.stores.deliveries,
      builds: { ...deps.stores.builds, upsert },
    };
    const { triages, passingBuilds, notices } = deps.stores;
    const processor = createDeliveryProcessor({
      ...deps,
      stores: { ...stores, triages, passingBuilds, notices },
    });
    const { key, delivery } = storeDelivery(1);
    await deps.stores.deliveries.store([delivery]);
    for (let tries = 0; tries < 30; tries++) {
      processor.add(key);
      await processor.idle();
    }

    expect(state.deliveries[0]).toMatchObject({ state: 'landed', attempts: 0 });
  });

  test('asks an unavailable database once, not once per delivery', async () => {
    let asked = 0;
    const away = async () => {
      asked += 1;
      throw new TriageError('storage-failed', 'It does not answer.', { retryable: true });
    };
    const { deps, state } = createFakeHttpDeps();
    const processor = createDeliveryProcessor({
      ...deps,
      database: { transaction: away },
    });
    const all = [storeDelivery(1), storeDelivery(2), storeDelivery(3)];
    await deps.stores.deliveries.store(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    await processor.idle();

    expect(asked).toBe(1);
    expect(state.deliveries.every((kept) => kept.state === 'landed')).toBe(true);
  });

  test('finds in its first sweep what an earlier process left', async () => {
    const { deps, state, processor } = createWorld();
    await deps.stores.deliveries.store([storeDelivery(1).delivery]);
    processor.sweep();
    await expect.poll(() => state.deliveries[0]?.state).toBe('recorded');
    await processor.stop();
    processor.add(storeDelivery(1).key);

    await processor.idle();
  });
});
