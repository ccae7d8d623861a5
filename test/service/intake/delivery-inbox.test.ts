import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { createDeliveryInbox } from '../../../src/service/intake/delivery-inbox.ts';
import type { KeptDelivery, ReceivedDelivery } from '../../../src/stores/deliveries.ts';

const delivery = (deliveryId: string, change: Partial<ReceivedDelivery> = {}): ReceivedDelivery => ({
  source: 'github',
  deliveryId,
  event: 'workflow_run',
  bodySha256: 'aa',
  intake: {},
  ...change,
});
const broken = (retryable: boolean) =>
  new TriageError('storage-failed', 'The database could not do it.', { retryable });

/** A store that keeps what it is given, and writes down how much came together; `poison` is refused with all that come with it. */
function createFakeStore() {
  const kept = new Map<string, KeptDelivery>();
  const batches: number[] = [];
  const state = { poison: '', failures: 0, keepThenFail: false, slowMs: 20 };
  const keep = ({ deliveryId, event, bodySha256 }: ReceivedDelivery) => {
    if (kept.has(deliveryId)) return false;
    kept.set(deliveryId, { event, bodySha256, buildId: null, state: 'landed', attempts: 0, receivedAt: '' });
    return true;
  };
  const store = async (deliveries: readonly ReceivedDelivery[]) => {
    batches.push(deliveries.length);
    await new Promise((resolve) => setTimeout(resolve, state.slowMs));
    if (deliveries.some(({ deliveryId }) => deliveryId === state.poison)) throw broken(false);
    if (state.failures > 0) {
      state.failures -= 1;
      if (state.keepThenFail) for (const receivedDelivery of deliveries) keep(receivedDelivery);
      throw broken(true);
    }
    return deliveries.map(keep);
  };
  return {
    state,
    batches,
    kept,
    store,
    find: async (_source: string, deliveryId: string) => kept.get(deliveryId) ?? null,
  };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `d-${index}`);

describe('storing deliveries', () => {
  test('combines those that arrive during a statement in the next one', async () => {
    const store = createFakeStore();
    const inbox = createDeliveryInbox(store);
    const [first, ...others] = ids(100);
    const one = inbox.store(delivery(first ?? ''));
    await expect.poll(() => store.batches).toEqual([1]);
    const landed = await Promise.all([one, ...others.map((id) => inbox.store(delivery(id)))]);

    expect(landed.every(({ before }) => before === null)).toBe(true);
    expect(store.kept.size).toBe(100);
    expect(store.batches).toEqual([1, 99]);
    await expect.poll(inbox.busy).toBe(false);
  });

  test('is not delayed by an earlier statement that hangs', async () => {
    const store = createFakeStore();
    store.state.slowMs = 60_000;
    const inbox = createDeliveryInbox(store);
    void inbox.store(delivery('hangs'));
    await expect.poll(() => store.batches).toEqual([1]);
    store.state.slowMs = 1;
    await new Promise((resolve) => setTimeout(resolve, 300));

    expect(await inbox.store(delivery('later'))).toEqual({ before: null });
  });

  test('treats ten within a tenth of a second as a flood until it ends, and occasional ones not', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const store = createFakeStore();
    store.state.slowMs = 1;
    const inbox = createDeliveryInbox(store);
    await inbox.store(delivery('one'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(inbox.busy()).toBe(false);

    await Promise.all(ids(10).map((id) => inbox.store(delivery(id))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(inbox.busy()).toBe(true);
    vi.advanceTimersByTime(100);
    expect(inbox.busy()).toBe(false);
  });

  test('stores copies in one statement as one delivery, and informs each sender about the first', async () => {
    const inbox = createDeliveryInbox(createFakeStore());
    const landed = await Promise.all(['a', 'a', 'b', 'a'].map((id) => inbox.store(delivery(id))));

    expect(landed.map(({ before }) => before?.state ?? null)).toEqual([null, 'landed', null, 'landed']);
  });

  test('fails alone for one that the database refuses', async () => {
    const store = createFakeStore();
    store.state.poison = 'd-7';
    const inbox = createDeliveryInbox(store);
    const landed = await Promise.allSettled(ids(20).map((id) => inbox.store(delivery(id))));

    expect(landed.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([7]);
    expect(store.kept.size).toBe(19);
  });

  test.each([false, true])(
    'succeeds despite a broken connection, whether its data was stored (%s) or not',
    async (keepThenFail) => {
      const store = createFakeStore();
      Object.assign(store.state, { failures: 1, keepThenFail });
      const inbox = createDeliveryInbox(store);
      const landed = await Promise.all(ids(10).map((id) => inbox.store(delivery(id))));

      expect(landed.every(({ before }) => before === null)).toBe(true);
      expect(store.kept.size).toBe(10);
    },
  );

  test('reports an unavailable database to each sender, once for all copies, and tries the next one', async () => {
    const store = createFakeStore();
    store.state.failures = 1_000;
    const inbox = createDeliveryInbox(store);
    const away = await Promise.allSettled(ids(10).map((id) => inbox.store(delivery(id))));
    store.state.failures = 0;

    expect(
      away.every(
        (promiseSettledResult) =>
          promiseSettledResult.status === 'rejected' && promiseSettledResult.reason.retryable === true,
      ),
    ).toBe(true);
    expect(await inbox.store(delivery('d-0'))).toEqual({ before: null });
  });

  test('answers for an earlier delivery as it was stored', async () => {
    const inbox = createDeliveryInbox(createFakeStore());
    await inbox.store(delivery('d'));
    const again = await inbox.store(delivery('d', { bodySha256: 'bb' }));

    expect(again.before).toMatchObject({ bodySha256: 'aa', state: 'landed' });
  });

  test('refuses more than can be answered in time', async () => {
    const inbox = createDeliveryInbox({ store: () => new Promise(() => undefined), find: async () => null });
    for (const id of ids(20_000)) void inbox.store(delivery(id));

    await expect(inbox.store(delivery('one more'))).rejects.toMatchObject({
      code: 'storage-failed',
      retryable: true,
    });
  });
});
