import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import { testDatabaseContract } from '../../contract/database-contract.ts';
import { copyTestDatabase } from '../../support/pglite.ts';

testDatabaseContract('pglite', async (migrationsFolder) => {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-test-'));
  const db = await openPglite({ dataDir: join(folder, 'database'), migrationsFolder });
  const dispose = async () => {
    await db.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { db, second: null, dispose };
});

describe('a PGlite directory', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faultline-test-'));
  });
  afterEach(async () => rm(folder, { recursive: true, force: true }));

  it('is created with its parents, and keeps its data', async () => {
    const dataDir = join(folder, 'deep', 'database');
    const db = await openPglite({ dataDir });
    expect((await db.migrate()).applied[0]).toBe('0001_foundation');
    await db.query(
      `insert into deliveries (source, delivery_id, event, body_sha256) values ('a', 'b', 'c', 'd')`,
    );
    await db.close();

    const again = await openPglite({ dataDir });
    expect(await again.migrate()).toEqual({ applied: [] });
    expect(await again.query('select delivery_id from deliveries')).toEqual([{ delivery_id: 'b' }]);
    await again.close();
  });

  it('is refused to a second opening in the same process, and free after the first is closed', async () => {
    const dataDir = await copyTestDatabase(join(folder, 'database'));
    const db = await openPglite({ dataDir });

    await expect(openPglite({ dataDir })).rejects.toMatchObject({
      code: 'locked',
      details: { pid: process.pid },
    });
    await db.close();

    await (await openPglite({ dataDir })).close();
  });

  it('is created again if its first initialization was interrupted', async () => {
    const dataDir = join(folder, 'database');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'PG_VERSION'), '18\n');
    await writeFile(`${dataDir}.initializing`, '');

    const db = await openPglite({ dataDir });

    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    await db.close();
  });

  it('whose thread dies fails pending and later queries, and can still be closed, which frees its directory', async () => {
    const dataDir = await copyTestDatabase(join(folder, 'dying'));
    const posted = vi.spyOn(Worker.prototype, 'postMessage');
    const db = await openPglite({ dataDir });
    const underWay = db.query('select pg_sleep(30)');
    underWay.catch(() => undefined);
    await vi.waitFor(() => expect(posted).toHaveBeenCalled());
    const thread = posted.mock.contexts.find((context) => context instanceof Worker);
    posted.mockRestore();
    await thread?.terminate();

    await expect(underWay).rejects.toMatchObject({ code: 'storage-failed' });
    await expect(db.query('select 1')).rejects.toMatchObject({ code: 'storage-failed' });
    await db.close();
    await (await openPglite({ dataDir })).close();
  });

  it('is not changed, and not kept locked, if it contains something else', async () => {
    const dataDir = join(folder, 'photos');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'beach.jpg'), '');

    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(openPglite({ dataDir })).rejects.toMatchObject({ code: 'invalid-config' });
    }
  });
});
