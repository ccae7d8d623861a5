import { describe, expect, it } from 'vitest';
import { createStartupRunner } from '../../src/app/index-synchronization.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';

const away = () => new TriageError('upstream-failed', 'Pinecone could not be reached', { retryable: true });

describe('a start without the vector index', () => {
  it('continues, and indexes later in the background', async () => {
    const startupRunner = createStartupRunner(silentLogger, 5);
    let tries = 0;
    await startupRunner.run('knowledge', async () => {
      tries += 1;
      if (tries < 4) throw away();
    });
    expect(tries).toBe(1);
    await expect.poll(() => tries).toBe(4);
    await startupRunner.stop();
  });

  it('continues if the index is not set up, but fails for errors of its own', async () => {
    const startupRunner = createStartupRunner(silentLogger, 60_000);
    const fail = (error: Error) => startupRunner.run('knowledge', () => Promise.reject(error));
    await fail(new TriageError('invalid-config', 'no such index', { details: { backend: 'pinecone' } }));
    await expect(fail(new TriageError('invalid-config', 'ERR001.md:2: no title'))).rejects.toThrow('ERR001');
    await expect(fail(new Error('a mistake'))).rejects.toThrow('a mistake');
    await startupRunner.stop();
  });

  it('stops trying on abort', async () => {
    const startupRunner = createStartupRunner(silentLogger, 5);
    let tries = 0;
    await startupRunner.run('knowledge', () => {
      tries += 1;
      return Promise.reject(away());
    });
    await startupRunner.stop();
    const before = tries;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(tries).toBe(before);
  });
});
