import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TriageError } from '../../src/domain/errors.ts';
import type { Database, Sql } from '../../src/ports/database.ts';

export interface DatabaseUnderTest {
  /** Opened on `migrationsFolder`, with nothing in it. */
  readonly db: Database;
  /** A second connection of the same process to the same data, where the provider allows one. */
  readonly second: Database | null;
  dispose(): Promise<void>;
}

/** What every database promises. */
export function testDatabaseContract(
  name: string,
  open: (migrationsFolder: string) => Promise<DatabaseUnderTest>,
): void {
  describe(`database: ${name}`, () => {
    let under: DatabaseUnderTest;
    let db: Database;
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'faultline-migrations-'));
      await writeFile(
        join(folder, '0001_things.sql'),
        'create table things (id int primary key, note text, at timestamptz, data jsonb);',
      );
      under = await open(folder);
      db = under.db;
    });
    afterAll(async () => {
      await under.dispose();
      await rm(folder, { recursive: true, force: true });
    });

    async function count(): Promise<number | undefined> {
      return (await db.query<{ count: number }>('select count(*) from things'))[0]?.count;
    }

    describe('migrations', () => {
      it('are applied once, even if requested twice at the same time', async () => {
        const both = await Promise.all([db.migrate(), (under.second ?? db).migrate()]);

        expect(both.flatMap((result) => result.applied)).toEqual(['0001_things']);
        expect(await db.migrate()).toEqual({ applied: [] });
      });

      it('that were added since are applied in order', async () => {
        await writeFile(join(folder, '0003_more.sql'), 'alter table more add column b int;');
        await writeFile(join(folder, '0002_more.sql'), 'create table more (a int);');

        expect(await db.migrate()).toEqual({ applied: ['0002_more', '0003_more'] });
        expect(await db.query('select a, b from more')).toEqual([]);
      });

      it('leave nothing behind if one fails, and continue once it is corrected', async () => {
        await writeFile(join(folder, '0004_good.sql'), 'create table good (a int);');
        await writeFile(join(folder, '0005_bad.sql'), 'create table bad (a int); select nonsense;');

        await expect(db.migrate()).rejects.toMatchObject({ code: 'storage-failed' });
        expect(await db.query(`select to_regclass('good') as good, to_regclass('bad') as bad`)).toEqual([
          { good: null, bad: null },
        ]);

        await writeFile(join(folder, '0005_bad.sql'), 'create table bad (a int);');
        expect(await db.migrate()).toEqual({ applied: ['0004_good', '0005_bad'] });
      });

      it('are refused if one was changed after it was applied, comments included, until it is restored or the schema compared', async () => {
        const before = 'create table more (a int);';
        await writeFile(join(folder, '0002_more.sql'), `${before} -- a remark`);
        await writeFile(join(folder, '0006_late.sql'), 'create table late (a int);');
        const refusal = {
          code: 'invalid-config',
          message: expect.stringMatching(/0002_more \(checksum .*"faultline migrate --repair"/),
        };
        await expect(db.migrate()).rejects.toMatchObject(refusal);
        expect(await db.query(`select to_regclass('late') as late`)).toEqual([{ late: null }]);

        await writeFile(join(folder, '0002_more.sql'), before);
        expect(await db.migrate()).toEqual({ applied: ['0006_late'] });

        await writeFile(join(folder, '0002_more.sql'), 'create table more (a int, c int);');
        await db.query('drop table late');
        expect(await db.migrate({ repair: true })).toEqual({
          applied: [],
          repaired: ['column late.a', 'column more.c'],
        });
        expect(await db.migrate()).toEqual({ applied: [] });
        expect(await db.query('select a, b, c from more')).toEqual([]);
      });

      it('are refused on a database that a newer version wrote', async () => {
        const aside = await mkdtemp(join(tmpdir(), 'faultline-aside-'));
        await cp(folder, aside, { recursive: true });
        await rm(join(folder, '0005_bad.sql'));

        await expect(db.migrate()).rejects.toMatchObject({ code: 'invalid-config' });

        await cp(aside, folder, { recursive: true });
        await rm(aside, { recursive: true, force: true });
      });
    });

    describe('statements and transactions', () => {
      beforeEach(async () => {
        await db.query('delete from things');
      });

      it('read counts as numbers and times as ISO 8601 in UTC', async () => {
        const at = '2026-03-01T10:00:00.123Z';
        await db.query('insert into things (id, at) values (1, $1)', ['2026-03-01T12:00:00.123+02:00']);

        expect(
          await db.query(
            'select count(*), max(at) as at, null::timestamptz as never, 9007199254740991::int8 as big from things',
          ),
        ).toEqual([{ count: 1, at, never: null, big: 9_007_199_254_740_991 }]);
        expect(await db.query('select id from things where at = $1', [new Date(at)])).toEqual([{ id: 1 }]);
      });

      it('accept objects as jsonb and arrays as arrays, and replace characters that PostgreSQL refuses', async () => {
        const data = { text: 'a\0b', 'k\0': ['\ud800', { deep: '\0' }], number: 1.5, none: null };
        await db.query('insert into things (id, note, data) values (1, $1, $2)', ['n\0te', data]);

        expect(await db.query('select note, data from things')).toEqual([
          {
            note: 'n\uFFFDte',
            data: { text: 'a\uFFFDb', 'k\uFFFD': ['\uFFFD', { deep: '\uFFFD' }], number: 1.5, none: null },
          },
        ]);
        expect(
          await db.query('select array_length($1::text[], 1) as length, ($1::text[])[1] as first', [
            ['x\0', 'y'],
          ]),
        ).toEqual([{ length: 2, first: 'x\uFFFD' }]);
      });

      it('never insert values into the SQL text', async () => {
        const evil = `'); drop table things; --`;
        await db.query('insert into things (id, note) values (1, $1)', [evil]);

        expect(await db.query('select note from things')).toEqual([{ note: evil }]);
      });

      it('commit a transaction as a whole and return its result', async () => {
        const result = await db.transaction(async (sql) => {
          await sql.query('insert into things (id) values (1)');
          await sql.query('insert into things (id) values (2)');
          return 'both';
        });

        expect(result).toBe('both');
        expect(await count()).toBe(2);
      });

      it('roll back if the callback throws, and rethrow its error', async () => {
        const error = new Error('changed my mind');

        const failing = db.transaction(async (sql) => {
          await sql.query('insert into things (id) values (1)');
          throw error;
        });

        await expect(failing).rejects.toBe(error);
        expect(await count()).toBe(0);
      });

      it('remain usable after failing statements, alone and in transactions, in sequence and at once', async () => {
        const wrong = () => db.query('select nonsense');
        const wrongInside = () =>
          db.transaction((sql) => sql.query('insert into things (id) values (1), (1)'));

        for (let round = 0; round < 5; round += 1) {
          await expect(wrong()).rejects.toMatchObject({
            code: 'storage-failed',
            retryable: false,
            details: { state: '42703' },
          });
          await expect(wrongInside()).rejects.toMatchObject({
            code: 'storage-failed',
            details: { state: '23505', table: 'things' },
          });
        }
        const mixed = await Promise.allSettled([wrong(), count(), wrongInside(), count(), wrong(), count()]);
        expect(mixed.map((result) => result.status)).toEqual([
          'rejected',
          'fulfilled',
          'rejected',
          'fulfilled',
          'rejected',
          'fulfilled',
        ]);
        expect(await count()).toBe(0);
      });

      it('do not report a commit if the error of a failed statement was ignored', async () => {
        const failing = db.transaction(async (sql) => {
          await sql.query('insert into things (id) values (1)');
          await sql.query('select nonsense').catch(() => undefined);
        });

        await expect(failing).rejects.toMatchObject({ code: 'storage-failed' });
        expect(await count()).toBe(0);
      });

      it('refuse the outer database inside a transaction and its Sql afterwards, instead of waiting forever', async () => {
        let kept: Sql | null = null;
        await db.transaction(async (sql) => {
          kept = sql;
          await expect(db.query('select 1')).rejects.toMatchObject({ code: 'internal' });
          await expect(db.transaction((inner) => inner.query('select 1'))).rejects.toMatchObject({
            code: 'internal',
          });
        });

        await expect((kept as unknown as Sql).query('select 1')).rejects.toMatchObject({ code: 'internal' });
        expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
      });

      it('are isolated: concurrent increments lose nothing', async () => {
        await db.query('insert into things (id, data) values (1, $1)', [{ n: 0 }]);

        await Promise.all(
          Array.from({ length: 25 }, () =>
            db.transaction(async (sql) => {
              const [row] = await sql.query<{ n: number }>(
                `select (data->>'n')::int as n from things where id = 1 for update`,
              );
              await sql.query('update things set data = $1 where id = 1', [{ n: (row?.n ?? 0) + 1 }]);
            }),
          ),
        );

        expect(await db.query(`select data from things`)).toEqual([{ data: { n: 25 } }]);
      });

      it('mark errors that are retryable', async () => {
        for (const state of ['40001', '40P01', '57P01', '08006']) {
          const error = await db
            .query(`do $$ begin raise exception 'x' using errcode = '${state}'; end $$`)
            .catch((thrown: TriageError) => thrown);
          expect(error).toMatchObject({ code: 'storage-failed', retryable: true, details: { state } });
        }
      });
    });

    it('closes once, however often it is requested, and then refuses queries', async () => {
      await Promise.all([db.close(), db.close()]);

      await expect(db.query('select 1')).rejects.toMatchObject({ code: 'storage-failed' });
    });
  });
}
