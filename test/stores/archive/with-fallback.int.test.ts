import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TriageError } from '../../../src/domain/errors.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { BuildArchive } from '../../../src/ports/build-archive.ts';
import type { Database } from '../../../src/ports/database.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createRemovalHandlers } from '../../../src/service/triage/retention.ts';
import { toChunks } from '../../../src/stores/archive/chunks.ts';
import { createMongodbArchive, type MongodbArchive } from '../../../src/stores/archive/mongodb.ts';
import { createArchiveWithFallback } from '../../../src/stores/archive/with-fallback.ts';
import { MIGRATIONS_FOLDER } from '../../../src/stores/database/migration-files.ts';
import type { PgDatabase } from '../../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createWorkStore } from '../../../src/stores/work.ts';
import { drainWork } from '../../../src/work/process-items.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';
import { type OwnMongodb, startMongodb, startOwnMongodb, withoutMongodb } from '../../support/mongodb.ts';
import {
  openTestDatabase,
  startPostgres,
  type TestDatabase,
  withoutPostgres,
} from '../../support/postgres.ts';
import { THOROUGH } from '../../support/thorough.ts';

const TIMING = { limitMs: 1_500, restMs: 200 };

describe.skipIf(withoutMongodb)('MongoDB with PostgreSQL as its fallback', () => {
  // The contract of MongoDB's archive tries the same way of a text while MongoDB is available.
  describe.each(THOROUGH ? ['available', 'unavailable'] : ['unavailable'])('while MongoDB is %s', (state) => {
    buildArchiveContract(`mongodb with fallback, ${state}`, async () => {
      const [server, database] = [await startMongodb(), await openTestDatabase()];
      const mongodb = createMongodbArchive({ url: server.url, database: server.database() });
      const work = createWorkStore(database);
      if (state === 'unavailable') await server.kill();
      const archive = createArchiveWithFallback({ mongodb, database, work, logger: silentLogger });
      const dispose = async () => {
        await mongodb.close();
        await server.stop();
        await database.dispose();
      };
      return { archive, dispose };
    });
  });

  describe('during failures', () => {
    let server: OwnMongodb;
    let database: TestDatabase;
    let mongodb: MongodbArchive;
    let archive: BuildArchive;

    beforeAll(async () => {
      [server, database] = [await startOwnMongodb(), await openTestDatabase()];
    });
    afterAll(async () => {
      await server.stop();
      await database.dispose();
    });
    beforeEach(async () => {
      await database.query('delete from build_sources');
      await database.query('delete from work');
      await mongodb?.close();
      mongodb = createMongodbArchive({ url: server.url, database: server.database(), ...TIMING });
      archive = createArchiveWithFallback({
        mongodb,
        database,
        work: createWorkStore(database),
        logger: silentLogger,
      });
      return async () => {
        await server.resume();
        await server.fillDisk(false);
        await mongodb.close();
      };
    });

    const inPostgres = async () =>
      (await database.query(`select name from build_sources where driver = 'postgres'`)).length;
    const resume = async () => {
      await server.resume();
      await delay(TIMING.restMs);
    };

    it('T29: MongoDB dies, returns and is slow while 60 texts arrive; each can be read from where it was stored', async () => {
      const texts = new Map(
        Array.from({ length: 60 }, (_, n) => [`bld_${n}`, `line one of ${n}\n${'x'.repeat(n * 50)}\nend`]),
      );
      let taken = 0;
      for (const [buildId, text] of texts) {
        if (taken === 15) await server.kill();
        if (taken === 30) await resume();
        if (taken === 40) await server.pause();
        await archive.put(buildId, log(text));
        taken += 1;
      }
      const here = await inPostgres();
      await expect(archive.check!()).rejects.toThrow('unavailable');
      await resume();

      let [lost, away] = [0, 0];
      for (const [buildId, text] of texts) {
        if ((await archive.read(buildId, 'build.log')) !== text) lost += 1;
        if ((await mongodb.read(buildId, 'build.log')) === text) away += 1;
      }
      console.info(`60 texts, ${away} in MongoDB, ${here} in PostgreSQL; lost: ${lost}`);
      expect({ lost, away: away + here }).toEqual({ lost: 0, away: 60 });
      // 15 while it was dead and 20 while it was slow; some of these were on their way when it stopped.
      expect(here).toBeGreaterThanOrEqual(30);
      expect(await archive.check!()).toBe(`ok; ${here} texts in PostgreSQL`);
    });

    it('T29: texts in MongoDB are unavailable while it is down, those in PostgreSQL are not, and the list is complete', async () => {
      await archive.put('bld', log('far', 'far.log'));
      await server.kill();
      await archive.put('bld', log('near', 'near.log'));

      const away = { code: 'storage-failed', retryable: true };
      const readPieces = async (name: string) => {
        for await (const { bytes } of archive.pieces('bld', name)) return bytes.toString();
      };
      expect((await archive.list('bld')).map(({ name }) => name)).toEqual(['far.log', 'near.log']);
      expect(await archive.read('bld', 'near.log')).toBe('near');
      expect(await archive.lines('bld', 'near.log', 1, 5)).toEqual({ lineStart: 1, lines: ['near'] });
      expect(await readPieces('near.log')).toBe('near');
      await expect(archive.read('bld', 'far.log')).rejects.toMatchObject(away);
      await expect(archive.lines('bld', 'far.log', 1, 5)).rejects.toMatchObject(away);
      await expect(readPieces('far.log')).rejects.toMatchObject(away);
    });

    it('T29: the newest text is used, wherever the earlier ones are', async () => {
      await archive.put('bld', log('old'));
      await server.kill();
      await archive.put('bld', log('new'));
      await resume();
      expect(await archive.read('bld', 'build.log')).toBe('new');

      await archive.put('bld', log('newest'));
      expect(await archive.read('bld', 'build.log')).toBe('newest');
      expect({
        here: await inPostgres(),
        chunks: await database.query('select from build_source_chunks'),
      }).toEqual({
        here: 0,
        chunks: [],
      });
    });

    it('a deletion while MongoDB is down is done later, and keeps later texts', async () => {
      await archive.put('bld', log('old', 'old.log'));
      await archive.put('other', log('stays'));
      await server.kill();
      await archive.remove('bld');
      await deleteNow(archive, database);
      await archive.put('bld', log('new', 'new.log'));

      await expect(archive.check!()).rejects.toThrow('1 text in PostgreSQL; 1 deletion waiting');
      await resume();
      // The deletion is still pending and would include a text that is stored in MongoDB now.
      await archive.put('bld', log('newer', 'newer.log'));
      await deleteNow(archive, database);

      expect(await mongodb.list('bld')).toEqual([]);
      expect((await archive.list('bld')).map(({ name }) => name)).toEqual(['new.log', 'newer.log']);
      expect(await archive.read('bld', 'newer.log')).toBe('newer');
      expect(await mongodb.read('other', 'build.log')).toBe('stays');
      expect(await archive.check!()).toBe('ok; 2 texts in PostgreSQL');
    });

    it('T68: if the disk of MongoDB is full, the text is stored in PostgreSQL, nothing is half stored, and others can be read', async () => {
      const big = Array.from({ length: 30_000 }, (_, line) => `${line} ${Math.sin(line)}`).join('\n');
      await archive.put('before', log('readable'));
      await server.fillDisk(true);
      await expect(mongodb.put('direct', log(big))).rejects.toMatchObject({
        code: 'storage-failed',
        details: { full: true },
      });
      await archive.put('bld', log(big));

      expect(await archive.read('before', 'build.log')).toBe('readable');
      expect(await archive.read('bld', 'build.log')).toBe(big);
      expect(await mongodb.list('direct')).toEqual([]);
      expect(await inPostgres()).toBe(1);
      await server.fillDisk(false);
      await archive.put('after', log(big));
      expect(await mongodb.read('after', 'build.log')).toBe(big);
    });

    it('a server that did not respond is left alone for a while', async () => {
      const own = createMongodbArchive({
        url: server.url,
        database: server.database(),
        ...TIMING,
        restMs: 60_000,
      });
      await server.pause();
      await expect(own.put('bld', log('text'))).rejects.toThrow('did not answer');
      const begun = performance.now();

      await expect(own.read('bld', 'build.log')).rejects.toMatchObject({
        message: expect.stringContaining('paused'),
        retryable: true,
      });
      await expect(own.check()).rejects.toThrow('paused');
      expect(performance.now() - begun).toBeLessThan(TIMING.limitMs / 2);
      await own.close();
    });

    it.skipIf(withoutPostgres)(
      'texts that older versions left to be moved or deleted are read and deleted',
      async () => {
        const postgres = await startPostgres();
        const upgraded = await openUpgraded(await postgres.createDatabase(), async (old) => {
          const there = { bld_moved: 'moved', bld_newer: 'old', bld_gone: 'gone' };
          for (const [buildId, text] of Object.entries(there)) await mongodb.put(buildId, log(text));
          await old.query(INSERT_OLD_SOURCE, ['bld_moved', 1, 5, 'mongodb']);
          const waiting = { bld_waiting: 'waiting', bld_newer: 'new', bld_gone: 'came later' };
          for (const [buildId, text] of Object.entries(waiting)) {
            const { chunks, lines, bytes } = await toChunks(text);
            await old.query(INSERT_OLD_SOURCE, [buildId, lines, bytes, 'database']);
            await old.query(INSERT_OLD_CHUNK, [buildId, chunks[0]?.bytes]);
          }
          await old.query(`insert into archive_removals (build_id) values ('bld_gone')`);
        });
        const after = createArchiveWithFallback({
          mongodb,
          database: upgraded,
          work: createWorkStore(upgraded),
          logger: silentLogger,
        });
        const builds = ['bld_moved', 'bld_waiting', 'bld_newer', 'bld_gone'];
        const readAll = async () => await Promise.all(builds.map((id) => after.read(id, 'build.log')));

        expect(await readAll()).toEqual(['moved', 'waiting', 'new', 'came later']);
        expect(await after.check!()).toBe('ok; 3 texts in PostgreSQL; 1 deletion waiting');
        await deleteNow(after, upgraded);
        expect(await mongodb.list('bld_gone')).toEqual([]);
        expect(await readAll()).toEqual(['moved', 'waiting', 'new', 'came later']);

        for (const id of builds) await after.remove(id);
        await deleteNow(after, upgraded);
        expect((await Promise.all(builds.map((id) => mongodb.list(id)))).flat()).toEqual([]);
        expect(await upgraded.query('select from build_source_chunks')).toEqual([]);
        expect(await after.check!()).toBe('ok');
        await upgraded.close();
        await postgres.dispose();
      },
    );

    it('if MongoDB dies while a text is replaced, the old one is complete, and nothing of the new one remains', async () => {
      const name = server.database();
      const own = createMongodbArchive({ url: server.url, database: name, ...TIMING, limitMs: 15_000 });
      await own.put('bld', log('old'));
      const big = Array.from(
        { length: 200_000 },
        (_, line) => `${line} ${Math.sin(line)} ${Math.cos(line)}`,
      ).join('\n');
      const put = own.put('bld', log(big)).then(
        () => 'stored',
        (error: TriageError) => error.code,
      );
      const client = await new MongoClient(server.url).connect();
      const pieces = client.db(name).collection('archive_pieces');
      while ((await pieces.countDocuments({})) < 105) await delay(5);
      await server.kill();
      expect(await put).toBe('storage-failed');
      await resume();

      expect(await own.read('bld', 'build.log')).toBe('old');
      const before = await pieces.countDocuments({});
      await own.tidy(0);
      console.info(
        `${before - 1} pieces of a writing that was cut off; left of them: ${(await pieces.countDocuments({})) - 1}`,
      );
      expect(await pieces.countDocuments({})).toBe(1);
      expect(await own.read('bld', 'build.log')).toBe('old');
      await client.close();
      await own.close();
    });
  });
});

function log(text: string, name = 'build.log') {
  return { name, kind: 'log' as const, text, notes: [] };
}

/** Does what the work table has to delete, due or not. */
async function deleteNow(archive: BuildArchive, database: Database): Promise<void> {
  await database.query('update work set free_at = clock_timestamp()');
  const deps = { work: createWorkStore(database), masker: createMasker(), logger: silentLogger };
  for (const handler of createRemovalHandlers(archive))
    await drainWork(handler, deps, new AbortController().signal);
}

/** Opens a database that was filled before it had the column `driver`, and upgraded then. */
async function openUpgraded(url: string, fill: (old: Database) => Promise<void>): Promise<PgDatabase> {
  const migrationsFolder = await mkdtemp(join(tmpdir(), 'faultline-archive-'));
  for (const name of await readdir(MIGRATIONS_FOLDER))
    if (name < '0055') await cp(join(MIGRATIONS_FOLDER, name), join(migrationsFolder, name));
  const old = await openPostgres({ url, poolSize: 2, migrationsFolder });
  await old.migrate();
  await fill(old);
  await old.close();
  await rm(migrationsFolder, { recursive: true, force: true });
  const database = await openPostgres({ url, poolSize: 2 });
  await database.migrate();
  return database;
}

const INSERT_OLD_SOURCE = `
  insert into build_sources (build_id, name, kind, lines, bytes, notes, place) values ($1, 'build.log', 'log', $2, $3, '{}', $4)`;
const INSERT_OLD_CHUNK = `
  insert into build_source_chunks (build_id, name, chunk, first_line, bytes) values ($1, 'build.log', 0, 1, $2)`;
