import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import type { Sender } from '../../src/channels/channel.ts';
import { deliver, type TimedCall } from '../../src/channels/deliver.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { callTo } from './sending.ts';

const CALL = callTo(null, { key: 'comments:ana_1' });

function timeWork(change: Partial<TimedCall> = {}): TimedCall {
  const { signal } = new AbortController();
  return { takenAt: performance.now(), leaseMs: 300, timeLimitMs: 100, signal, ...change };
}

/** A sender that notes what it is asked; `outside` is what it finds there. */
function createNoting(outside: string | null, send?: Sender<string, null>['send']) {
  const asked: string[] = [];
  const sender: Sender<string, null> = {
    send:
      send ??
      (async (text, { reference }) => {
        asked.push(reference === null ? `made ${text}` : `changed ${reference} to ${text}`);
        return { reference: reference ?? 'new' };
      }),
    find: async ({ key }) => {
      asked.push(`looked for ${key}`);
      return outside === null ? null : { reference: outside };
    },
  };
  return { asked, sender };
}

describe('a publication in an external service', () => {
  it('is searched for before it is created', async () => {
    const { asked, sender } = createNoting(null);
    expect(await deliver(sender, 'red', CALL, timeWork())).toEqual({ reference: 'new', isNew: true });
    expect(asked).toEqual(['looked for comments:ana_1', 'made red']);
  });

  it('is not created again if it is found (T03)', async () => {
    const { asked, sender } = createNoting('old');
    expect(await deliver(sender, 'red', CALL, timeWork())).toEqual({ reference: 'old', isNew: false });
    expect(asked).toEqual(['looked for comments:ana_1', 'changed old to red']);
  });

  it('is updated at once if its reference is known', async () => {
    const { asked, sender } = createNoting(null);
    await deliver(sender, 'green', { ...CALL, reference: 'old' }, timeWork());
    expect(asked).toEqual(['changed old to green']);
  });

  it('is created again if a person deleted it', async () => {
    const { asked, sender } = createNoting(null, async (_text, { reference }) => {
      asked.push(`sent to ${reference}`);
      if (reference !== null) throw new TriageError('not-found', 'It is gone.');
      return { reference: 'new' };
    });
    const sent = await deliver(sender, 'red', { ...CALL, reference: 'old' }, timeWork());
    expect(sent).toEqual({ reference: 'new', isNew: true });
    expect(asked).toEqual(['sent to old', 'sent to null']);
  });

  it('is not started if it might end after its lease, for example after a frozen process (T05)', async () => {
    const { asked, sender } = createNoting(null);
    const late = timeWork({ takenAt: performance.now() - 201 });
    await expect(deliver(sender, 'red', CALL, late)).rejects.toMatchObject({
      code: 'cancelled',
      retryable: true,
    });
    expect(asked).toEqual([]);
  });

  it('ends at its time limit, even if the service ignores the abort', async () => {
    const { sender } = createNoting(null, () => new Promise(() => undefined));
    await expect(deliver(sender, 'red', CALL, timeWork({ timeLimitMs: 20 }))).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
  });

  it('is not started once the process stops', async () => {
    const { asked, sender } = createNoting(null);
    const stopped = timeWork({ signal: AbortSignal.abort(new Error('stopping')) });
    await expect(deliver(sender, 'red', CALL, stopped)).rejects.toThrow('stopping');
    expect(asked).toEqual([]);
  });
});
