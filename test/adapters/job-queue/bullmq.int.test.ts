import { afterAll, beforeAll, describe } from 'vitest';
import { createBullmqQueue } from '../../../src/adapters/job-queue/bullmq.ts';
import { silentLogger } from '../../../src/ports/logger.ts';
import { ATTEMPTS, jobQueueContract } from '../../contract/job-queue-contract.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';

describe.skipIf(withoutRedis)('on a real Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => redis.stop());

  jobQueueContract('bullmq', async () => {
    const open = () => createBullmqQueue({ url: redis.url, prefix: 'contract', logger: silentLogger, attempts: ATTEMPTS });
    const queue = await open();
    return { queue, restart: open, dispose: () => redis.flush() };
  });
});
