import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { type Publishing, publishOnce } from '../../src/notifications/publications.ts';
import type { Publisher } from '../../src/ports/notices.ts';
import { sampleAnalysis, sampleBuild } from '../support/sample-analysis.ts';

const entry = { key: 'comments:ana_1', lease: 1 };

function publishing(change: Partial<Publishing> = {}): Publishing {
  const { signal } = new AbortController();
  return {
    entry,
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
        asked.push(`published ${key}`);
        return { reference: 'new' };
      }),
    find: async (_build, _analysis, { key }) => {
      asked.push(`looked for ${key}`);
      return outside === null ? null : { reference: outside };
    },
  };
  return { asked, publisher };
}

describe('a publication', () => {
  it('is made at once in the first try', async () => {
    const { asked, publisher } = noting(null);
    expect(await publishOnce(publisher, publishing())).toEqual({ reference: 'new' });
    expect(asked).toEqual(['published comments:ana_1']);
  });

  it('is searched for first in every later try', async () => {
    const { asked, publisher } = noting(null);
    await publishOnce(publisher, publishing({ entry: { ...entry, lease: 2 } }));
    expect(asked).toEqual(['looked for comments:ana_1', 'published comments:ana_1']);
  });

  it('is not made again where it is found (T03)', async () => {
    const { asked, publisher } = noting('old');
    expect(await publishOnce(publisher, publishing({ entry: { ...entry, lease: 2 } }))).toEqual({
      reference: 'old',
    });
    expect(asked).toEqual(['looked for comments:ana_1']);
  });

  it('is not begun where it might end after the lease, as when the process was frozen (T05)', async () => {
    const { asked, publisher } = noting(null);
    const late = publishing({ takenAt: performance.now() - 201 });
    await expect(publishOnce(publisher, late)).rejects.toMatchObject({ code: 'cancelled', retryable: true });
    expect(asked).toEqual([]);
  });

  it('ends at its time limit, also where the publisher does not listen', async () => {
    const { publisher } = noting(null, () => new Promise(() => undefined));
    await expect(publishOnce(publisher, publishing({ timeLimitMs: 20 }))).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
  });

  it('is not begun once the process stops', async () => {
    const { asked, publisher } = noting(null);
    await expect(
      publishOnce(publisher, publishing({ signal: AbortSignal.abort(new Error('stopping')) })),
    ).rejects.toThrow('stopping');
    expect(asked).toEqual([]);
  });
});
