import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Database } from '../../src/ports/database.ts';
import { createStores } from '../../src/stores/stores.ts';
import { createJobTurns } from '../../src/stores/triages.ts';
import { openEmbeddedDatabase } from '../support/pglite.ts';
import { openMigrated, startPostgres, type TestServer, withoutPostgres } from '../support/postgres.ts';
import { sampleBuild } from './samples.ts';

let server: TestServer | null = null;
const databases = {
  pglite: openEmbeddedDatabase,
  postgres: async () => {
    server = await startPostgres();
    return await openMigrated(server);
  },
};

describe.each(withoutPostgres ? (['pglite'] as const) : (['pglite', 'postgres'] as const))(
  'turns on %s',
  (driver) => {
    let db: Database & { dispose(): Promise<void> };
    beforeAll(async () => {
      db = await databases[driver]();
    });
    afterAll(async () => {
      await db.dispose();
      if (driver === 'postgres') await server?.dispose();
    });

    /** Owes a build of the repository; returns the job's id. */
    async function request(repository: string, branch: string) {
      const stores = createStores(db, { now: () => Date.now() });
      const { build } = await stores.builds.upsert(sampleBuild({ repository, branch, number: newId('bld') }));
      return (await stores.triages.request(build.id)).id;
    }

    it('takes one of each repository after another, urgent ones first, and says how much is in work', async () => {
      const { triages, passingBuilds } = createStores(db, { now: () => Date.now() });
      const turns = createJobTurns(db);
      const noisy = [
        await request('acme/noisy', 'a'),
        await request('acme/noisy', 'b'),
        await request('acme/noisy', 'c'),
      ];
      const working = await request('acme/noisy', 'main');
      const urgent = await request('acme/noisy', 'develop');
      const quiet = await request('acme/quiet', 'a');
      await passingBuilds.saveDefaultBranch({
        provider: sampleBuild({}).provider,
        repository: 'acme/noisy',
        branch: 'develop',
      });
      await triages.lease(working, 60_000);

      const next = await turns.next(10);

      expect(next.map(({ id }) => id)).toEqual([urgent, quiet, ...noisy]);
      expect(next[0]).toEqual({ id: urgent, repository: 'acme/noisy', urgent: true, working: 1 });
      expect(next[1]).toEqual({ id: quiet, repository: 'acme/quiet', urgent: false, working: 0 });
      expect(await turns.next(2)).toHaveLength(2);
      expect(await turns.place(working)).toEqual({ repository: 'acme/noisy', urgent: false });
      expect(await turns.place('job_unknown')).toBeNull();
    });

    it('lists what failed for good, and requests it anew', async () => {
      const { triages } = createStores(db, { now: () => Date.now() });
      const turns = createJobTurns(db);
      const id = await request('acme/failed', 'main');
      const job = await triages.lease(id, 60_000);
      if (job === null) throw new Error('the lease is given');
      expect(await turns.requeue(id)).toBe('in-work');
      await triages.finish(job, 'failed', 'the answer could not be stored');
      expect(await turns.failed(10)).toMatchObject([
        { id, repository: 'acme/failed', error: 'the answer could not be stored' },
      ]);

      expect(await turns.requeue(id)).toBe('pending');

      expect(await turns.failed(10)).toEqual([]);
      expect(await triages.find(id)).toMatchObject({
        state: 'queued',
        attempts: 0,
        error: null,
        requested: 2,
      });
      const again = await triages.lease(id, 60_000);
      if (again === null) throw new Error('the lease is given');
      await triages.finish(again, 'done', null);
      expect(await turns.requeue(id)).toBe('done');
      expect(await turns.requeue('job_unknown')).toBeNull();
    });
  },
);
