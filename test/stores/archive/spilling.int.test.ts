import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TriageError } from '../../../src/domain/errors.ts';
import type { BuildArchive } from '../../../src/ports/build-archive.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createMongodbArchive, type MongodbArchive } from '../../../src/stores/archive/mongodb.ts';
import { createSpillingArchive } from '../../../src/stores/archive/spilling.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';
import { type OwnMongodb, startMongodb, startOwnMongodb, withoutMongodb } from '../../support/mongodb.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { THOROUGH } from '../../support/thorough.ts';

const LIMIT_MS = 1_500;
const REST_MS = 200;

describe.skipIf(withoutMongodb)('MongoDB with the database as its spare', () => {
  // Where neither has a bad day, a text goes the way that the contract of MongoDB's archive tries.
  if (THOROUGH) {
    buildArchiveContract('mongodb, spilling', async () => {
      const [server, database] = [await startMongodb(), await openTestDatabase()];
      const primary = createMongodbArchive({ url: server.url, database: server.database() });
      const archive = createSpillingArchive({ primary, database, logger: silentLogger });
      const dispose = async () => {
        await primary.close();
        await server.stop();
        await database.dispose();
      };
      return { archive, dispose };
    });
  }

  describe('on bad days', () => {
    let server: OwnMongodb;
    let database: TestDatabase;
    let primary: MongodbArchive;
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
      await database.query('delete from archive_removals');
      await primary?.close();
      primary = createMongodbArchive({ url: server.url, database: server.database(), limitMs: LIMIT_MS });
      archive = createSpillingArchive({ primary, database, logger: silentLogger, restMs: REST_MS });
      return async () => {
        await server.resume();
        await server.fillDisk(false);
        await primary.close();
      };
    });

    const log = (text: string, name = 'build.log') => ({ name, kind: 'log' as const, text, notes: [] });
    const settle = () => archive.settle!(new AbortController().signal);
    const here = async () => (await database.query(`select name from build_sources where place = 'database'`)).length;
    const chunksHere = async () => (await database.query('select chunk from build_source_chunks')).length;

    it('T29: MongoDB dies, comes back and is slow while 60 texts arrive; each is read back from where it belongs', async () => {
      const texts = new Map(Array.from({ length: 60 }, (_, n) => [`bld_${n}`, `line one of ${n}\n${'x'.repeat(n * 50)}\nend`]));
      let taken = 0;
      for (const [buildId, text] of texts) {
        if (taken === 15) await server.kill();
        if (taken === 30) await server.resume();
        if (taken === 40) await server.pause();
        await archive.put(buildId, log(text));
        taken += 1;
      }
      const spilled = await here();
      await expect(archive.check!()).rejects.toThrow('unavailable');
      await server.resume();

      const { moved, waiting } = await settle();

      let lost = 0;
      for (const [buildId, text] of texts) {
        if ((await archive.read(buildId, 'build.log')) !== text || (await primary.read(buildId, 'build.log')) !== text) lost += 1;
      }
      console.info(`60 texts, ${spilled} kept by the database meanwhile, ${moved} brought to MongoDB; lost: ${lost}`);
      expect({ lost, waiting, here: await here(), chunks: await chunksHere() }).toEqual({ lost: 0, waiting: 0, here: 0, chunks: 0 });
      expect(moved).toBe(spilled);
      expect(spilled).toBeGreaterThanOrEqual(35);
      expect(await archive.check!()).toBe('ok');
    });

    it('T29: what only MongoDB has is unavailable while it is away, what the database has is not, and the list is known', async () => {
      await archive.put('bld', log('far', 'far.log'));
      await server.kill();
      await archive.put('bld', log('near', 'near.log'));

      expect((await archive.list('bld')).map(({ name }) => name)).toEqual(['far.log', 'near.log']);
      expect(await archive.read('bld', 'near.log')).toBe('near');
      expect(await archive.lines('bld', 'near.log', 1, 5)).toEqual({ lineStart: 1, lines: ['near'] });
      await expect(archive.read('bld', 'far.log')).rejects.toMatchObject({ code: 'storage-failed', retryable: true });
      await expect(archive.lines('bld', 'far.log', 1, 5)).rejects.toMatchObject({ code: 'storage-failed', retryable: true });
    });

    it('T29: a newer text that was kept by the database wins over the older one in MongoDB', async () => {
      await archive.put('bld', log('old'));
      await server.kill();
      await archive.put('bld', log('new'));
      await server.resume();
      expect(await archive.read('bld', 'build.log')).toBe('new');

      await archive.put('bld', log('newest'));
      expect(await here()).toBe(1);
      await settle();

      expect(await primary.read('bld', 'build.log')).toBe('newest');
      expect(await here()).toBe(0);
    });

    it('a deletion while MongoDB is away is done later, and spares what came after it', async () => {
      await archive.put('bld', log('old', 'old.log'));
      await archive.put('other', log('stays'));
      await server.kill();
      await archive.remove('bld');
      await archive.put('bld', log('new', 'new.log'));

      expect((await archive.list('bld')).map(({ name }) => name)).toEqual(['new.log']);
      await expect(archive.check!()).rejects.toThrow('1 deletion wait');
      await server.resume();
      expect(await settle()).toEqual({ removed: 1, moved: 1, waiting: 0, pending: 0 });

      expect((await primary.list('bld')).map(({ name }) => name)).toEqual(['new.log']);
      expect(await primary.read('other', 'build.log')).toBe('stays');
    });

    it('T68: the disk of MongoDB is full: the text is kept by the database, nothing is half stored, and it goes home later', async () => {
      const big = Array.from({ length: 30_000 }, (_, line) => `${line} ${Math.sin(line)}`).join('\n');
      await archive.put('before', log('readable'));
      await server.fillDisk(true);
      await expect(primary.put('direct', log(big))).rejects.toMatchObject({ code: 'storage-failed', details: { full: true } });
      await archive.put('bld', log(big));

      expect(await archive.read('before', 'build.log')).toBe('readable');
      expect(await archive.read('bld', 'build.log')).toBe(big);
      expect(await primary.list('direct')).toEqual([]);
      expect((await settle()).waiting).toBe(1);
      await server.fillDisk(false);
      expect(await settle()).toEqual({ removed: 0, moved: 1, waiting: 0, pending: 0 });
      expect(await primary.read('bld', 'build.log')).toBe(big);
    });

    it('a move that is cut off between its steps is finished by the next one', async () => {
      await server.kill();
      await archive.put('bld', log('text'));
      await server.resume();
      // As if it had died after MongoDB acknowledged and before the database gave the text up.
      await primary.put('bld', log('text'));

      expect(await settle()).toMatchObject({ moved: 1, waiting: 0 });
      expect(await archive.read('bld', 'build.log')).toBe('text');
    });

    it('two that move at once lose nothing', async () => {
      await server.kill();
      for (let n = 0; n < 10; n += 1) await archive.put(`bld_${n}`, log(`text ${n}`));
      await server.resume();
      const other = createSpillingArchive({ primary, database, logger: silentLogger });
      await Promise.all([settle(), other.settle!(new AbortController().signal)]);
      await settle();

      const read = await Promise.all(Array.from({ length: 10 }, (_, n) => primary.read(`bld_${n}`, 'build.log')));
      expect(read).toEqual(Array.from({ length: 10 }, (_, n) => `text ${n}`));
      expect(await here()).toBe(0);
    });

    it('a replacement that was overtaken is refused', async () => {
      await primary.put('bld', log('one'));
      const before = await primary.generation('bld', 'build.log');
      await primary.put('bld', log('two'));

      await expect(primary.put('bld', log('late'), before)).rejects.toMatchObject({ code: 'conflict' });
      expect(await primary.read('bld', 'build.log')).toBe('two');
      expect(await primary.tidy(0)).toBe(0);
    });

    it('MongoDB dies while a text is replaced: the old one is still whole, and nothing is left of the new one', async () => {
      const name = server.database();
      const own = createMongodbArchive({ url: server.url, database: name, limitMs: LIMIT_MS });
      await own.put('bld', log('old'));
      const big = Array.from({ length: 200_000 }, (_, line) => `${line} ${Math.sin(line)} ${Math.cos(line)}`).join('\n');
      const put = own.put('bld', log(big)).then(
        () => 'stored',
        (error: TriageError) => error.code,
      );
      const client = await new MongoClient(server.url).connect();
      const pieces = client.db(name).collection('archive_pieces');
      while ((await pieces.countDocuments({})) < 105) await delay(5);
      await server.kill();
      expect(await put).toBe('storage-failed');
      await server.resume();

      expect(await own.read('bld', 'build.log')).toBe('old');
      const before = await pieces.countDocuments({});
      await own.tidy(0);
      console.info(`${before - 1} pieces of a writing that was cut off; left of them: ${(await pieces.countDocuments({})) - 1}`);
      expect(await pieces.countDocuments({})).toBe(1);
      expect(await own.read('bld', 'build.log')).toBe('old');
      await client.close();
      await own.close();
    });
  });
});
