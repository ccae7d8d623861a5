import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createBullmqQueue } from '../../../src/stores/queue/bullmq.ts';
import { ATTEMPTS, jobQueueContract } from '../../contract/job-queue-contract.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';

describe.skipIf(withoutRedis)('on a real Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => redis.stop());

  jobQueueContract('bullmq', async () => {
    const open = () =>
      createBullmqQueue({ url: redis.url, prefix: 'contract', logger: silentLogger, attempts: ATTEMPTS });
    const queue = await open();
    return { queue, restart: open, dispose: () => redis.flush() };
  });

  it('T25: warns of a Redis that throws notifications away when its memory is full, and says how to mend it', async () => {
    const warned: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) };
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const careless = await createBullmqQueue({ url: redis.url, prefix: 'policy', logger });
    await expect
      .poll(() => warned)
      .toEqual([expect.stringContaining('CONFIG SET maxmemory-policy noeviction')]);
    await careless.stop({ timeoutMs: 0 });

    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    const careful = await createBullmqQueue({ url: redis.url, prefix: 'policy', logger });
    await careful.enqueue('job');
    expect(warned).toHaveLength(1);
    await careful.stop({ timeoutMs: 0 });
  });

  it('hands out a notification again whose process died, and never gives it up', async () => {
    const open = () =>
      createBullmqQueue({ url: redis.url, prefix: 'crashes', logger: silentLogger, lockMs: 300 });
    let begun = 0;
    for (let crash = 0; crash < 2; crash += 1) {
      const queue = await open();
      if (crash === 0) await queue.enqueue('job');
      await queue.work(
        () => {
          begun += 1;
          return new Promise(() => undefined);
        },
        { concurrency: 1 },
      );
      await expect.poll(() => begun, { timeout: 10_000 }).toBe(crash + 1);
      // As far as Redis can tell, the process is gone.
      await queue.stop({ timeoutMs: 0 });
    }
    const alive = await open();
    const seen: string[] = [];
    await alive.work(async (jobId) => void seen.push(jobId), { concurrency: 1 });

    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['job']);
    expect(await alive.dead(10)).toEqual([]);
    await alive.stop({ timeoutMs: 1000 });
  });

  it('says once that Redis refuses notifications, and notifies again when it no longer does', async () => {
    const warned: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) };
    const queue = await createBullmqQueue({ url: redis.url, prefix: 'full', logger });
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    for (let time = 0; time < 3; time += 1) {
      await expect(queue.enqueue('job')).rejects.toMatchObject({ code: 'upstream-failed', retryable: true });
    }
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');

    await queue.enqueue('job');

    expect(warned).toEqual([expect.stringContaining('Redis refuses messages')]);
    await queue.stop({ timeoutMs: 0 });
  });
});
