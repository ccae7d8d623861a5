import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { createStores } from '../../src/stores/stores.ts';
import { sampleBuild } from '../stores/samples.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { createTriageJobs } from '../support/triage-jobs.ts';
import { runFaultline } from './faultline.ts';

let folder = '';
const ids = { failed: '', waiting: '' };

/** A data directory with a build whose triage failed for good, and one that waits for its next try. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-work-'));
  const db = await openPglite({ dataDir: await copyTestDatabase(join(folder, 'database')) });
  const stores = createStores(db, { now: () => Date.now() });
  const take = async (number: string) => {
    const { build } = await stores.builds.upsert(sampleBuild({ repository: 'acme/shop', number }));
    await stores.triages.request(build.id);
    const item = await createTriageJobs(stores).lease(build.id);
    if (item === null) throw new Error('the lease is given');
    return item;
  };
  const [failed, waiting] = [await take('1'), await take('2')];
  await createTriageJobs(stores).finish(failed, 'failed', 'the answer could not be stored');
  await createTriageJobs(stores).release(waiting, 'GitHub did not answer', 3_600_000);
  Object.assign(ids, { failed: failed.key, waiting: waiting.key });
  await db.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const work = (...args: string[]) => runFaultline(['work', ...args, '--data', folder]);

it('work lists failed and pending work, and requeues it', async () => {
  const listed = await work('list');
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  expect(listed.stdout).toMatch(
    new RegExp(
      `^Pending work, .*:\\n {2}triage {2}${ids.waiting} {2}acme/shop {2}due .* {2}1 failed attempt {2}GitHub did not answer\\n`,
    ),
  );
  expect(listed.stdout).toMatch(
    new RegExp(
      `failed permanently:\\n {2}triage {2}${ids.failed} {2}acme/shop {2}.*the answer could not be stored`,
    ),
  );
  expect((await work('list', '--topic', 'publish:webhook')).stdout).toBe(
    'No pending work.\nNo work failed permanently.\n',
  );

  expect((await work('retry', ids.failed)).stdout).toBe(
    `triage ${ids.failed} is pending again; a worker will pick it up within seconds.\n`,
  );
  expect(JSON.parse((await work('retry', ids.waiting, '--json')).stdout)).toEqual({
    ok: true,
    key: ids.waiting,
    items: [{ topic: 'triage', outcome: 'pending' }],
  });

  const again = JSON.parse((await work('list', '--json')).stdout);
  expect(again.failed).toEqual([]);
  expect(again.pending.map(({ key, retries }: { key: string; retries: number }) => [key, retries])).toEqual([
    [ids.failed, 0],
    [ids.waiting, 0],
  ]);
  const unknown = await work('retry', 'bld_unknown');
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringContaining('There is no work bld_unknown'),
  ]);
});
