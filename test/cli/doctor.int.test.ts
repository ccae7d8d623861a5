import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnose } from '../../src/cli/setup/doctor.ts';
import { startPostgres, type TestServer, withoutPostgres } from '../support/postgres.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-doctor-'));
let postgres: TestServer;
let redis: TestRedis;

describe.skipIf(withoutPostgres || withoutRedis)('doctor with real servers', () => {
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  });
  afterAll(async () => {
    await Promise.allSettled([postgres.dispose(), redis.stop()]);
    rmSync(FOLDER, { recursive: true, force: true });
  });

  const listFindings = async (database: string) => {
    const findings = await diagnose(FOLDER, {
      FAULTLINE_DATABASE_URL: database,
      FAULTLINE_REDIS_URL: redis.url,
      FAULTLINE_ANALYST: 'rules',
    });
    return new Map(findings.map((finding) => [finding.name, finding]));
  };

  it('names them, and what is pending in an empty database', async () => {
    const empty = await listFindings(await postgres.createDatabase());
    expect(empty.get('database')).toMatchObject({
      state: 'note',
      says: expect.stringMatching(/^\d+ schema changes? (?:is|are) pending$/),
    });
    const migrated = await listFindings(await postgres.createMigrated());
    expect(migrated.get('database')).toMatchObject({
      state: 'ok',
      says: expect.stringMatching(/^PostgreSQL \d+.*schema up to date$/),
    });
  });

  it('T25: reports a Redis server that may evict keys', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const found = (await listFindings(await postgres.createMigrated())).get('redis');
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect(found).toMatchObject({
      state: 'wrong',
      says: expect.stringContaining('allkeys-lru'),
      remedy: expect.stringContaining('noeviction'),
    });
    expect((await listFindings(await postgres.createMigrated())).get('redis')).toMatchObject({ state: 'ok' });
  });
});
