import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresArchive } from '../../../src/stores/archive/postgres.ts';
import { createPostgresCheckpointer } from '../../../src/stores/checkpointer.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';
import { testDatabaseContract } from '../../contract/database-contract.ts';
import { testStoresContract } from '../../contract/stores-contract.ts';
import { openMigrated, startPostgres, type TestServer, withoutPostgres } from '../../support/postgres.ts';

// Everything that runs on the embedded database runs on a real server too, where several connections race for real.
describe.skipIf(withoutPostgres)('on a PostgreSQL server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => server?.dispose());

  testDatabaseContract('postgres', async (migrationsFolder) => {
    const url = await server.createDatabase();
    const open = () => openPostgres({ url, poolSize: 4, migrationsFolder });
    const [db, second] = [await open(), await open()];
    const dispose = async () => {
      await db.close();
      await second.close();
    };
    return { db, second, dispose };
  });

  testStoresContract('postgres', async () => {
    const db = await openMigrated(server);
    const now = { value: Date.now() };
    return { db, stores: createStores(db, { now: () => now.value }), now, dispose: db.dispose };
  });

  buildArchiveContract('postgres', async () => {
    const db = await openMigrated(server);
    return { archive: createPostgresArchive(db), dispose: db.dispose };
  });

  it('checkpoints are set up, and a thread is deleted', async () => {
    const db = await openMigrated(server);
    const checkpointer = await createPostgresCheckpointer(db);

    await checkpointer.deleteThread('tri_none');

    expect(await checkpointer.getTuple({ configurable: { thread_id: 'tri_none' } })).toBeUndefined();
    await db.dispose();
  });

  it('the pool survives a connection that the server ends', async () => {
    const db = await openMigrated(server);
    const ended = db.transaction(async (sql) => {
      const [row] = await sql.query<{ pid: number }>('select pg_backend_pid() as pid');
      await db.pool.query('select pg_terminate_backend($1)', [row?.pid]);
      await sql.query('select 1');
    });

    await expect(ended).rejects.toMatchObject({ code: 'storage-failed', retryable: true });
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    await db.dispose();
  });

  it('a server that does not respond causes a retryable error', async () => {
    const opening = openPostgres({ url: 'postgres://postgres@127.0.0.1:1/postgres', poolSize: 2 });

    await expect(opening).rejects.toMatchObject({ code: 'storage-failed', retryable: true });
  });
});
