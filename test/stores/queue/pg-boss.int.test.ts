import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createPgBossQueue } from '../../../src/stores/queue/pg-boss.ts';
import { ATTEMPTS, jobQueueContract } from '../../contract/job-queue-contract.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../support/pglite.ts';

let db: EmbeddedDatabase;
beforeAll(async () => {
  db = await openEmbeddedDatabase();
});
afterAll(async () => db.dispose());

jobQueueContract('pg-boss on pglite', async (polling) => {
  const open = () =>
    createPgBossQueue({
      db,
      logger: silentLogger,
      attempts: ATTEMPTS,
      ...(polling === 'never' ? { pollSeconds: 3600 } : {}),
    });
  const queue = await open();
  const empty = async () =>
    void (await db.query(`delete from pgboss.job where name in ('triage', 'triage-dead')`));
  return { queue, restart: open, dispose: empty };
});

describe('pg-boss on the embedded database', () => {
  it('never runs inside somebody’s transaction, and lets a busy worker and other queries take turns', async () => {
    const queue = await createPgBossQueue({ db, logger: silentLogger });
    let done = 0;
    await queue.work(
      async () => {
        done += 1;
      },
      { concurrency: 2 },
    );

    await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        await queue.enqueue(`job-${number}`);
        const undone = db.transaction(async (sql) => {
          await sql.query(
            `insert into deliveries (source, delivery_id, event, body_sha256) values ('t', $1, 'e', 'h')`,
            [String(number)],
          );
          throw new Error('roll back');
        });
        await expect(undone).rejects.toThrow('roll back');
      }),
    );

    await expect.poll(() => done, { timeout: 10_000 }).toBe(20);
    expect(await db.query('select count(*) from deliveries')).toEqual([{ count: 0 }]);
    await queue.stop({ timeoutMs: 1000 });
  });

  it('hands out a job whose process died while it ran', async () => {
    const before = await createPgBossQueue({ db, logger: silentLogger });
    await before.work(() => new Promise(() => undefined), { concurrency: 1 });
    await before.enqueue('orphan');
    await expect
      .poll(() => db.query(`select state::text from pgboss.job where singleton_key = 'orphan'`))
      .toEqual([{ state: 'active' }]);

    const after = await createPgBossQueue({ db, logger: silentLogger });
    const seen: string[] = [];
    await after.work(async (jobId) => void seen.push(jobId), { concurrency: 1 });

    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['orphan']);
    await after.stop({ timeoutMs: 100 });
    await before.stop({ timeoutMs: 100 });
  });
});
