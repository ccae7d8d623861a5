import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRetryable } from '../../../src/domain/errors.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { Database } from '../../../src/ports/database.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { WorkHandler } from '../../../src/ports/work.ts';
import { type PgDatabase, runInTurn } from '../../../src/stores/database/pool-database.ts';
import { type LIMITS, openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { createLocalWakeUp } from '../../../src/work/drivers/local.ts';
import { startWorker } from '../../../src/work/worker.ts';
import { startGate } from '../../support/gate.ts';
import { openMigrated, startPostgres, type TestServer, withoutPostgres } from '../../support/postgres.ts';
import { createTriageJobs } from '../../support/triage-jobs.ts';
import { sampleBuild } from '../samples.ts';

describe.skipIf(withoutPostgres)('failures of a PostgreSQL server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres({ own: true });
  });
  afterAll(async () => server?.dispose());

  async function openThings(
    limits: Partial<typeof LIMITS> = {},
    poolSize = 4,
  ): Promise<PgDatabase & { readonly url: string }> {
    const url = await server.createDatabase();
    const db = await openPostgres({ url, poolSize, limits });
    await db.query('create table things (id int, half text, primary key (id, half))');
    return { ...db, url };
  }

  it('T26: after a fast restart and a crash under load, everything acknowledged is stored completely, and the pool recovers', async () => {
    const db = await openThings();
    const told = new Set<number>();
    const refused: unknown[] = [];
    let next = 0;
    let working = true;
    const writers = Array.from({ length: 6 }, async () => {
      while (working) {
        next += 1;
        const id = next;
        const stored = db.transaction(async (sql) => {
          await sql.query(`insert into things values ($1, 'first')`, [id]);
          await delay(2);
          await sql.query(`insert into things values ($1, 'second')`, [id]);
        });
        await stored.then(
          () => told.add(id),
          (error: unknown) => refused.push(error),
        );
        if (!told.has(id)) await delay(20);
      }
    });

    const recoveries: number[] = [];
    for (const mode of ['fast', 'immediate'] as const) {
      await delay(300);
      await server.stop(mode);
      await expect(db.query('insert into things values (0, $1)', [mode])).rejects.toMatchObject({
        code: 'storage-failed',
        retryable: true,
      });
      await server.start();
      const since = performance.now();
      const before = told.size;
      while (told.size < before + 20) await delay(10);
      recoveries.push(Math.round(performance.now() - since));
    }
    working = false;
    await Promise.all(writers);

    const rows = await db.query<{ id: number; halves: number }>(
      'select id, count(*) as halves from things group by id',
    );
    const stored = new Set(rows.map((row) => row.id));
    const lost = [...told].filter((id) => !stored.has(id));
    const torn = rows.filter(({ halves }) => halves !== 2);
    console.info(
      `T26: ${told.size} transactions acknowledged, ${refused.length} refused; lost: ${lost.length}, torn: ${torn.length}; ` +
        `twenty more were stored ${recoveries.join(' and ')} ms after the server was back`,
    );
    expect({ lost, torn, refusals: refused.filter((error) => !isRetryable(error)) }).toEqual({
      lost: [],
      torn: [],
      refusals: [],
    });
    await db.close();
  });

  it('T27: a forgotten transaction is ended, and its locks are released', async () => {
    const db = await openThings({ idle_in_transaction_session_timeout: 200 });
    await db.query(`insert into things values (1, 'first')`);
    const forgotten = db.transaction(async (sql) => {
      await sql.query(`update things set half = 'held'`);
      await delay(600);
      await sql.query('select 1');
    });
    const waits = delay(50).then(() => db.query(`update things set half = 'taken'`));

    await expect(forgotten).rejects.toMatchObject({ code: 'storage-failed', retryable: true });
    await waits;
    expect(await db.query('select half from things')).toEqual([{ half: 'taken' }]);
    await db.close();
  });

  it('T27: statements and locks have limits; neither is retried at once, but the error is retryable', async () => {
    const db = await openThings({ statement_timeout: 300, lock_timeout: 100 });
    await db.query(`insert into things values (1, 'first')`);
    await expect(db.query('select pg_sleep(5)')).rejects.toMatchObject({
      retryable: true,
      details: { state: '57014', busy: true },
    });
    const holder = new pg.Client({ connectionString: db.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query(`update things set half = 'held'`);
    let tries = 0;

    const waiting = db.transaction(async (sql) => {
      tries += 1;
      await sql.query(`update things set half = 'wanted'`);
    });

    await expect(waiting).rejects.toMatchObject({ retryable: true, details: { state: '55P03', busy: true } });
    await holder.end();
    expect(tries).toBe(1);
    await db.close();
  });

  it('T26: a worker whose database is down reports so once, and continues by itself', async () => {
    const db = await openMigrated(server);
    let lines = 0;
    const counting = {
      ...silentLogger,
      warn: () => {
        lines += 1;
      },
    };
    const stores = createStores(db, { now: () => Date.now() });
    const seen: string[] = [];
    const handler: WorkHandler = {
      topic: 'test',
      leaseMs: 60_000,
      concurrency: 8,
      limits: null,
      longestDelayMs: 1_000,
      handle: async (items) => {
        for (const { key } of items) seen.push(key);
        return { outcome: 'done' };
      },
    };
    const wakeUp = createLocalWakeUp({ database: db, work: stores.work });
    const worker = startWorker({
      work: stores.work,
      handlers: [handler],
      wakeUp,
      masker: createMasker(),
      logger: counting,
      intervalMs: 1_000,
    });

    await server.stop('immediate');
    await delay(3_000);
    const said = lines;
    await server.start();

    await expect
      .poll(
        async () => {
          await stores.work.add([{ topic: 'test', key: 'after' }]).catch(() => undefined);
          return seen;
        },
        { timeout: 20_000 },
      )
      .toContain('after');
    // It looks once a second, whatever its concurrency.
    expect(said).toBeGreaterThan(0);
    expect(said).toBeLessThan(6);
    await worker.stop(500);
    await wakeUp.close();
    await db.dispose();
  });

  it('a worker is woken for work that another process requested, also after its connection was lost', async () => {
    const db = await openMigrated(server);
    const heard: string[] = [];
    const { work } = createStores(db, { now: () => Date.now() });
    const [other, own] = [
      createLocalWakeUp({ database: db, work }),
      createLocalWakeUp({ database: db, work }),
    ];
    own.start({ look: (topic) => void heard.push(topic), run: async () => undefined });
    const hears = async (topic: string) => {
      const wake = async () => {
        await other.wake(topic, 'bld_1').catch(() => undefined);
        return heard;
      };
      await expect.poll(wake, { timeout: 20_000 }).toContain(topic);
    };
    await hears('first');
    await db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'faultline listener'`,
    );
    await hears('second');
    await own.close();
    await db.dispose();
  });

  it('a process waits until it may set up the database, whatever the lock limit', async () => {
    const db = await openThings({ lock_timeout: 100 });
    const seen: string[] = [];
    const first = runInTurn(db, async () => {
      seen.push('first begins');
      await delay(500);
      seen.push('first ends');
    });
    const second = delay(100).then(() => runInTurn(db, async () => seen.push('second begins')));

    await Promise.all([first, second]);

    expect(seen).toEqual(['first begins', 'first ends', 'second begins']);
    await db.close();
  });

  it('T27: of two deadlocked transactions one is run again, and both are stored', async () => {
    const db = await openThings();
    await db.query(`insert into things values (1, 'a'), (2, 'a')`);
    const order = [
      [1, 2],
      [2, 1],
    ];
    let runs = 0;
    const cross = order.map((ids) =>
      db.transaction(async (sql) => {
        runs += 1;
        for (const id of ids) {
          await sql.query(`update things set half = half || 'b' where id = $1`, [id]);
          await delay(100);
        }
      }),
    );

    await Promise.all(cross);

    expect(await db.query('select id, half from things order by id')).toEqual([
      { id: 1, half: 'abb' },
      { id: 2, half: 'abb' },
    ]);
    expect(runs).toBe(3);
    await db.close();
  });

  it('T27: a query whose connection an administrator ended is repeated; a write is not', async () => {
    const db = await openThings();
    const ended = async (text: string) => {
      const asked = db.query(text);
      asked.catch(() => undefined);
      await delay(150);
      await endOthers(server, db);
      return await asked;
    };

    expect(await ended('select pg_sleep(0.5), 1 as one')).toMatchObject([{ one: 1 }]);
    const change = ended(`insert into things select 1, 'once' from pg_sleep(0.5)`);
    await expect(change).rejects.toMatchObject({ retryable: true });
    expect(await db.query('select count(*) from things')).toEqual([{ count: 0 }]);
    await db.close();
  });

  it('T28: with every connection busy, callers get an error soon, at once in a long queue, and none waits forever', async () => {
    const db = await openThings({ connectionTimeoutMillis: 300 }, 2);
    const busy = Array.from({ length: 2 }, () => db.query('select pg_sleep(2)'));

    const line = await Promise.allSettled(Array.from({ length: 150 }, () => db.query('select 1')));

    const refusals = line.flatMap((promiseSettledResult) =>
      promiseSettledResult.status === 'rejected' ? [promiseSettledResult.reason] : [],
    );
    console.info(
      `T28: 150 questions while both connections are busy: ${refusals.length} refused, ${150 - refusals.length} answered, hanging: 0`,
    );
    expect(refusals).toHaveLength(150);
    for (const error of refusals)
      expect(error).toMatchObject({ code: 'storage-failed', retryable: true, details: { busy: true } });
    expect(
      refusals.filter((error) => String(error).includes('many requests are waiting')).length,
    ).toBeGreaterThanOrEqual(50);
    await Promise.allSettled(busy);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    await db.close();
  });

  it('a server that accepts connections and does not respond is given up, and found again later', async () => {
    const address = new URL(await server.createDatabase());
    const gate = await startGate({ host: address.hostname, port: Number(address.port) });
    address.port = String(gate.port);
    const db = await openPostgres({
      url: address.href,
      poolSize: 2,
      limits: { query_timeout: 300, connectionTimeoutMillis: 300 },
    });
    gate.freeze();

    await expect(db.query('select 1')).rejects.toMatchObject({ code: 'storage-failed', retryable: true });
    await expect(db.transaction((sql) => sql.query('select 1'))).rejects.toMatchObject({
      code: 'storage-failed',
      retryable: true,
    });

    await gate.open();
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    await db.close();
    await gate.close();
  });

  it('T69: leases and claims use the clock of the database, whatever the clocks of the processes', async () => {
    const db = await openMigrated(server);
    const minutes = (count: number) => ({ now: () => Date.now() + count * 60_000 });
    const [behind, ahead] = [createStores(db, minutes(-10)), createStores(db, minutes(10))];
    const { build } = await behind.builds.upsert(sampleBuild());
    await behind.triages.request(build.id);
    const [ours, theirs] = [createTriageJobs(behind), createTriageJobs(ahead)];

    const held = await ours.lease(build.id, 60_000);
    expect(held).not.toBeNull();
    expect(await theirs.lease(build.id, 60_000)).toBeNull();
    expect(held === null ? null : await theirs.renew(held, 400)).toBe(true);
    await delay(500);
    const taken = await ours.lease(build.id, 60_000);

    expect(taken?.lease).toBe((held?.lease ?? 0) + 1);
    expect(held === null ? null : await theirs.renew(held, 60_000)).toBe(false);
    await db.dispose();
  });
});

/** Ends every other session of the database. */
async function endOthers(server: TestServer, db: Database): Promise<void> {
  const [row] = await db.query<{ name: string }>('select current_database() as name');
  const admin = await openPostgres({ url: server.url, poolSize: 2 });
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and state = 'active'`,
    [row?.name],
  );
  await admin.close();
}
