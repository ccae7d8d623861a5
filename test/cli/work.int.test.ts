import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { createPgBossQueue } from '../../src/stores/queue/pg-boss.ts';
import { createStores } from '../../src/stores/stores.ts';
import { sampleBuild } from '../stores/samples.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { faultline } from './faultline.ts';

let folder = '';
const ids = { failed: '', dead: '' };

/** A data directory with a job that failed for good, and one whose notification was given up. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-queue-'));
  const db = await openPglite({ dataDir: await copyTestDatabase(join(folder, 'database')) });
  const { builds, triages } = createStores(db, { now: () => Date.now() });
  const request = async (number: string) => {
    const { build } = await builds.upsert(sampleBuild({ repository: 'acme/shop', number }));
    return (await triages.request(build.id)).id;
  };
  ids.failed = await request('1');
  ids.dead = await request('2');
  const job = await triages.lease(ids.failed, 60_000);
  if (job === null) throw new Error('the lease is given');
  await triages.finish(job, 'failed', 'the answer could not be stored');
  const queue = await createPgBossQueue({ db, logger: silentLogger, attempts: 1 });
  await queue.work(
    async () => {
      throw new Error('the handler is broken');
    },
    { concurrency: 1 },
  );
  await queue.enqueue(ids.dead);
  while ((await queue.dead(10)).length === 0) await delay(20);
  await queue.stop({ timeoutMs: 1000 });
  await db.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const queue = (...args: string[]) => faultline(['queue', ...args, '--data', folder]);

it('lists what was given up and brings it back', async () => {
  const dead = await queue('dead');
  expect([dead.code, dead.stderr]).toEqual([0, '']);
  expect(dead.stdout).toMatch(
    new RegExp(`failed permanently:\\n {2}${ids.failed} .*acme/shop {2}the answer could not be stored`),
  );
  expect(dead.stdout).toMatch(
    new RegExp(`stay pending\\):\\n {2}${ids.dead} {2}dead .*the handler is broken`),
  );
  expect((await queue('list')).stdout).toMatch(
    new RegExp(`Pending jobs.*:\\n {2}${ids.dead} {2}.*acme/shop {2}0 in progress\\nNo queue messages.`),
  );

  expect((await queue('requeue', ids.failed)).stdout).toBe(
    `${ids.failed} is pending again and was queued.\n`,
  );
  expect(JSON.parse((await queue('requeue', ids.dead, '--json')).stdout)).toEqual({
    ok: true,
    jobId: ids.dead,
    outcome: 'pending',
    queued: true,
  });

  expect((await queue('dead')).stdout).toBe('No job failed permanently.\nNo queue message was dropped.\n');
  const listed = JSON.parse((await queue('list', '--json')).stdout);
  expect(listed).toMatchObject({ ok: true, driver: 'pg-boss', broken: null });
  expect(listed.messages.map(({ jobId }: { jobId: string }) => jobId).toSorted()).toEqual(
    [ids.failed, ids.dead].toSorted(),
  );
  const unknown = await queue('requeue', 'job_unknown');
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringContaining('There is no triage job job_unknown'),
  ]);
});
