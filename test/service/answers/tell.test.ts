import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import type { OutboxEntry } from '../../../src/domain/notice.ts';
import { type Telling, tell } from '../../../src/notifications/outbox.ts';
import type { Publisher } from '../../../src/ports/notices.ts';
import { sampleAnalysis, sampleBuild } from '../../support/sample-analysis.ts';

const act: OutboxEntry = {
  ...{ key: 'comments:ana_1', publisher: 'comments', buildId: 'bld_1', analysisId: 'ana_1', state: 'started' },
  ...{ attempts: 1, retries: 0, lease: 1, reference: null, error: null },
};

function telling(change: Partial<Telling> = {}): Telling {
  const { signal } = new AbortController();
  return {
    act,
    build: sampleBuild(),
    analysis: sampleAnalysis(),
    takenAt: performance.now(),
    leaseMs: 300,
    timeLimitMs: 100,
    signal,
    ...change,
  };
}

/** A publisher that notes what it is asked; `outside` is what it finds there. */
function noting(outside: string | null, publish?: Publisher['publish']) {
  const asked: string[] = [];
  const publisher: Publisher = {
    driver: 'comments',
    publish:
      publish ??
      (async (_build, _analysis, { key }) => {
        asked.push(`told ${key}`);
        return { reference: 'new' };
      }),
    find: async (_build, _analysis, { key }) => {
      asked.push(`looked for ${key}`);
      return outside === null ? null : { reference: outside };
    },
  };
  return { asked, publisher };
}

describe('a telling', () => {
  it('is made at once in the first try', async () => {
    const { asked, publisher } = noting(null);
    expect(await tell(publisher, telling())).toEqual({ reference: 'new' });
    expect(asked).toEqual(['told comments:ana_1']);
  });

  it('is looked for first in every later try', async () => {
    const { asked, publisher } = noting(null);
    await tell(publisher, telling({ act: { ...act, lease: 2 } }));
    expect(asked).toEqual(['looked for comments:ana_1', 'told comments:ana_1']);
  });

  it('is not made again where it is found (T03)', async () => {
    const { asked, publisher } = noting('old');
    expect(await tell(publisher, telling({ act: { ...act, lease: 2 } }))).toEqual({ reference: 'old' });
    expect(asked).toEqual(['looked for comments:ana_1']);
  });

  it('is not begun where it might end after the lease, as when the process was frozen (T05)', async () => {
    const { asked, publisher } = noting(null);
    const late = telling({ takenAt: performance.now() - 201 });
    await expect(tell(publisher, late)).rejects.toMatchObject({ code: 'cancelled', retryable: true });
    expect(asked).toEqual([]);
  });

  it('ends at its time limit, also where the publisher does not listen', async () => {
    const { publisher } = noting(null, () => new Promise(() => undefined));
    await expect(tell(publisher, telling({ timeLimitMs: 20 }))).rejects.toMatchObject({ code: 'timeout', retryable: true });
  });

  it('is not begun once the process stops', async () => {
    const { asked, publisher } = noting(null);
    await expect(tell(publisher, telling({ signal: AbortSignal.abort(new Error('stopping')) }))).rejects.toThrow('stopping');
    expect(asked).toEqual([]);
  });
});
