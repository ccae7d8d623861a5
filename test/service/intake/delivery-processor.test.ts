import { describe, expect, test } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import {
  createDeliveryProcessor,
  createJobNotifier,
} from '../../../src/service/intake/delivery-processor.ts';
import { sampleBuild } from '../../stores/samples.ts';
import { fakeHttpDeps } from '../../support/fake-stores.ts';

function landed(number: number, change: object = {}) {
  const key = { source: 'github', deliveryId: `d-${number}` };
  const intake = { build: sampleBuild({ number: String(number) }), ...change };
  return { key, delivery: { ...key, event: 'workflow_run', bodySha256: 'aa', intake } };
}

function world(changes: Parameters<typeof fakeHttpDeps>[0] = {}) {
  const { deps, state } = fakeHttpDeps(changes);
  const notified: string[] = [];
  const notifier = {
    notify: (jobId: string, { urgent }: { urgent: boolean }) =>
      void notified.push(`${jobId}${urgent ? '!' : ''}`),
    settle: async () => undefined,
  };
  return { deps, state, notified, processor: createDeliveryProcessor({ ...deps, jobNotifier: notifier }) };
}

describe('the relay', () => {
  test('makes builds of what landed, in its order, and notifies; urgently for the default branch', async () => {
    const { deps, state, notified, processor } = world();
    const of = [undefined, false, true].map((fromFork, at) =>
      landed(at + 2, { defaultBranch: 'main', fromFork }),
    );
    const all = [landed(1), ...of];
    await deps.stores.deliveries.land(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    await processor.idle();

    expect(state.builds.map(({ number }) => number)).toEqual(['1', '2', '3', '4']);
    expect(state.deliveries.map((kept) => kept.state)).toEqual([
      'recorded',
      'recorded',
      'recorded',
      'recorded',
    ]);
    expect(notified).toEqual(['job_1', 'job_2', 'job_3!', 'job_4']);
  });

  test('goes on while senders never cease to come', async () => {
    const { deps, state } = fakeHttpDeps();
    const notifier = createJobNotifier({ jobQueue: deps.jobQueue, logger: silentLogger });
    const processor = createDeliveryProcessor({ ...deps, jobNotifier: notifier, busy: () => true });
    const all = Array.from({ length: 20 }, (_, index) => landed(index));
    await deps.stores.deliveries.land(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    await processor.idle();

    expect(state.deliveries.every((kept) => kept.state === 'recorded')).toBe(true);
    expect(state.enqueued).toHaveLength(20);
  });

  test('lets requests be read between two deliveries, on a database that answers within the turn', async () => {
    const { deps, state, processor } = world();
    const all = Array.from({ length: 100 }, (_, index) => landed(index));
    await deps.stores.deliveries.land(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));

    expect(state.builds.length).toBeGreaterThan(0);
    expect(state.builds.length).toBeLessThan(50);
    await processor.idle();
    expect(state.builds).toHaveLength(100);
  });

  test('tries one that cannot be recorded several times, then sets it aside and says so; others go on', async () => {
    const { deps, state, processor } = world();
    const [broken, good] = [landed(1, { build: { number: 7 } }), landed(2)];
    await deps.stores.deliveries.land([broken.delivery, good.delivery]);
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

  test('what may pass is tried for ever', async () => {
    const { deps, state } = world();
    const upsert = async () =>
      Promise.reject(new TriageError('storage-failed', 'Deadlock.', { retryable: true }));
    const stores = {
      ...deps.stores,
      deliveries: deps.stores.deliveries,
      builds: { ...deps.stores.builds, upsert },
    };
    const { triages, passingBuilds, notices } = deps.stores;
    const notifier = createJobNotifier({ jobQueue: deps.jobQueue, logger: silentLogger });
    const processor = createDeliveryProcessor({
      ...deps,
      stores: { ...stores, triages, passingBuilds, notices },
      jobNotifier: notifier,
    });
    const { key, delivery } = landed(1);
    await deps.stores.deliveries.land([delivery]);
    for (let tries = 0; tries < 30; tries++) {
      processor.add(key);
      await processor.idle();
    }

    expect(state.deliveries[0]).toMatchObject({ state: 'landed', attempts: 0 });
  });

  test('a database that is away is asked once, not once for each delivery in hand', async () => {
    let asked = 0;
    const away = async () => {
      asked += 1;
      throw new TriageError('storage-failed', 'It does not answer.', { retryable: true });
    };
    const { deps, state } = fakeHttpDeps();
    const notifier = createJobNotifier({ jobQueue: deps.jobQueue, logger: silentLogger });
    const processor = createDeliveryProcessor({
      ...deps,
      database: { transaction: away },
      jobNotifier: notifier,
    });
    const all = [landed(1), landed(2), landed(3)];
    await deps.stores.deliveries.land(all.map(({ delivery }) => delivery));
    for (const { key } of all) processor.add(key);
    await processor.idle();

    expect(asked).toBe(1);
    expect(state.deliveries.every((kept) => kept.state === 'landed')).toBe(true);
  });

  test('finds on its first sweep what an earlier process left', async () => {
    const { deps, state, processor } = world();
    await deps.stores.deliveries.land([landed(1).delivery]);
    processor.sweep();
    await expect.poll(() => state.deliveries[0]?.state).toBe('recorded');
    await processor.stop();
    processor.add(landed(1).key);

    await processor.idle();
  });
});

describe('the job notifier', () => {
  test('a queue that hangs is asked no more than it can hold, holds nobody up, and is said to hang once', async () => {
    const { deps, state } = fakeHttpDeps();
    let asked = 0;
    const hanging = () => {
      asked += 1;
      return new Promise<void>(() => undefined);
    };
    const notifier = createJobNotifier({ jobQueue: { enqueue: hanging }, logger: deps.logger });
    for (let job = 0; job < 1_000; job++) notifier.notify(`job_${job}`, { urgent: false });
    await notifier.settle(20);

    expect(asked).toBe(200);
    expect(state.log.filter(({ message }) => message.includes('does not answer'))).toHaveLength(1);
  });

  test('notifies with a high priority where it is urgent', async () => {
    const enqueued: unknown[] = [];
    const jobQueue = { enqueue: async (...call: unknown[]) => void enqueued.push(call) };
    const notifier = createJobNotifier({ jobQueue, logger: silentLogger });
    notifier.notify('job_1', { urgent: true });
    notifier.notify('job_2', { urgent: false });
    await notifier.settle(1_000);

    expect(enqueued).toEqual([
      ['job_1', { priority: 'high' }],
      ['job_2', { priority: 'normal' }],
    ]);
  });
});
