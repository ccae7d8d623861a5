import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSparseBuild } from '../../src/domain/build.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createPostgresCheckpointer, sweepCheckpoints } from '../../src/stores/checkpointer.ts';
import type { PgDatabase } from '../../src/stores/database/pool-database.ts';
import { createStores } from '../../src/stores/stores.ts';
import {
  openMigrated,
  openTestDatabase,
  startPostgres,
  type TestServer,
  withoutPostgres,
} from '../support/postgres.ts';

const State = Annotation.Root({ count: Annotation<number>(), text: Annotation<string>() });

type Opened = PgDatabase & { dispose(): Promise<void> };

testCheckpointer('on the embedded database', openTestDatabase);

describe.skipIf(withoutPostgres)('checkpointer on a PostgreSQL server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => server?.dispose());
  testCheckpointer('on PostgreSQL', () => openMigrated(server));
});

function testCheckpointer(name: string, open: () => Promise<Opened>): void {
  describe(`checkpointer ${name}`, () => {
    let db: Opened;
    beforeAll(async () => {
      db = await open();
    });
    afterAll(async () => db.dispose());

    /** Three nodes; the middle one works with the database like any tool does, and fails as long as `fails()`. */
    async function createGraph(fails: () => boolean, ran: string[]) {
      const checkpointer = await createPostgresCheckpointer(db);
      return new StateGraph(State)
        .addNode('first', async ({ count }) => {
          ran.push('first');
          return { count: count + 1 };
        })
        .addNode('second', async ({ count }) => {
          ran.push('second');
          if (fails()) throw new Error('killed');
          const [row] = await db.query<{ sum: number }>('select $1::int + 1 as sum', [count]);
          return { count: row?.sum ?? 0 };
        })
        .addNode('third', async () => {
          ran.push('third');
          return { text: 'done ü' };
        })
        .addEdge(START, 'first')
        .addEdge('first', 'second')
        .addEdge('second', 'third')
        .addEdge('third', END)
        .compile({ checkpointer });
    }

    it('reports a full disk as retryable', async () => {
      const compiled = await createGraph(() => false, []);
      await db.query(
        `create function refuse_checkpoints() returns trigger language plpgsql as
         $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`,
      );
      await db.query(
        'create trigger refuse before insert on checkpoints.checkpoints execute function refuse_checkpoints()',
      );
      const config = { configurable: { thread_id: 'tri_full' }, durability: 'sync' as const };
      try {
        await expect(compiled.invoke({ count: 1 }, config)).rejects.toMatchObject({
          code: 'storage-failed',
          retryable: true,
        });
      } finally {
        await db.query('drop trigger refuse on checkpoints.checkpoints');
      }
    });

    it('continues after the last finished node, and repeats none', async () => {
      const ran: string[] = [];
      let failing = true;
      const compiled = await createGraph(() => failing, ran);
      const config = { configurable: { thread_id: 'tri_resume' }, durability: 'sync' as const };

      await expect(compiled.invoke({ count: 1, text: '' }, config)).rejects.toThrow('killed');
      failing = false;
      const resumed = await createGraph(() => failing, ran);
      const result = await resumed.invoke(null, config);

      expect(result).toEqual({ count: 3, text: 'done ü' });
      expect(ran).toEqual(['first', 'second', 'second', 'third']);
    });

    it('stores the writes of a node before its checkpoint if others run in parallel, and not if it is alone', async () => {
      const ran: string[] = [];
      let failing = true;
      const checkpointer = await createPostgresCheckpointer(db);
      const compiled = new StateGraph(State)
        .addNode('alone', async ({ count }) => ({ count: count + 1 }))
        .addNode('left', async () => {
          ran.push('left');
          return { text: 'left' };
        })
        .addNode('right', async ({ count }) => {
          ran.push('right');
          await sleep(50);
          if (failing) throw new Error('killed');
          return { count: count + 1 };
        })
        .addNode('joined', async ({ count }) => ({ count: count + 1 }))
        .addEdge(START, 'alone')
        .addEdge('alone', 'left')
        .addEdge('alone', 'right')
        .addEdge(['left', 'right'], 'joined')
        .compile({ checkpointer });
      const config = { configurable: { thread_id: 'tri_beside' }, durability: 'sync' as const };
      const written = async () =>
        await db.query(
          'select distinct channel from checkpoints.checkpoint_writes where thread_id = $1 order by 1',
          ['tri_beside'],
        );

      await expect(compiled.invoke({ count: 1, text: '' }, config)).rejects.toThrow('killed');
      const midway = await written();
      failing = false;
      const result = await compiled.invoke(null, config);

      expect(midway).toEqual([
        { channel: '__error__' },
        { channel: 'join:left+right:joined' },
        { channel: 'text' },
      ]);
      expect(result).toEqual({ count: 4, text: 'left' });
      expect(ran).toEqual(['left', 'right', 'right']);
    });

    it('keeps threads apart during many other queries and failing transactions', async () => {
      const compiled = await createGraph(() => false, []);
      const noise = Array.from({ length: 60 }, async (_, number) => {
        if (number % 3 === 0)
          await expect(db.query('select from nowhere')).rejects.toMatchObject({ code: 'storage-failed' });
        else if (number % 3 === 1) await db.query('select count(*) from builds');
        else {
          const undone = db.transaction(async (sql) => {
            await sql.query(
              `insert into deliveries (source, delivery_id, event, body_sha256) values ('t', $1, 'e', 'h')`,
              [String(number)],
            );
            throw new Error('roll back');
          });
          await expect(undone).rejects.toThrow('roll back');
        }
      });
      const runs = Array.from({ length: 12 }, (_, number) =>
        compiled.invoke(
          { count: number * 10, text: '' },
          { configurable: { thread_id: `tri_many_${number}` }, durability: 'sync' },
        ),
      );

      const results = await Promise.all(runs);
      await Promise.all(noise);

      expect(results.map((result) => result.count)).toEqual(
        Array.from({ length: 12 }, (_, number) => number * 10 + 2),
      );
      const state = await compiled.getState({ configurable: { thread_id: 'tri_many_7' } });
      expect(state.values).toEqual({ count: 72, text: 'done ü' });
      expect(state.next).toEqual([]);
      expect(await db.query('select count(*) from deliveries')).toEqual([{ count: 0 }]);
    });

    it('deletes one thread and no other', async () => {
      const compiled = await createGraph(() => false, []);
      for (const thread of ['tri_gone', 'tri_stays'])
        await compiled.invoke({ count: 1, text: '' }, { configurable: { thread_id: thread } });
      const checkpointer = await createPostgresCheckpointer(db);

      await checkpointer.deleteThread('tri_gone');

      expect(await checkpointer.getTuple({ configurable: { thread_id: 'tri_gone' } })).toBeUndefined();
      expect(await checkpointer.getTuple({ configurable: { thread_id: 'tri_stays' } })).toBeDefined();
      const left = await db.query(
        `select distinct thread_id from checkpoints.checkpoint_blobs where thread_id like 'tri_gone'`,
      );
      expect(left).toEqual([]);
    });

    it('deletes what remains of concluded or deleted triages, and nothing that may continue', async () => {
      await sweepCheckpoints(db);
      const stores = createStores(db, systemClock);
      const { build } = await stores.builds.upsert(
        createSparseBuild({ repository: 'shop/api', pipeline: 'ci', number: '1' }),
      );
      const open = await stores.triages.open(build.id, 'aa');
      const concluded = await stores.triages.open(build.id, 'bb');
      await db.transaction((sql) => stores.triages.conclude(concluded.id, 'ana_1', sql));
      const compiled = await createGraph(() => false, []);
      for (const thread of [open.id, concluded.id, 'tri_nobody']) {
        await compiled.invoke({ count: 1, text: '' }, { configurable: { thread_id: thread } });
      }

      expect(await sweepCheckpoints(db)).toBe(2);

      for (const table of ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']) {
        expect(await db.query(`select distinct thread_id as thread from checkpoints.${table}`)).toEqual([
          { thread: open.id },
        ]);
      }
      expect((await compiled.getState({ configurable: { thread_id: open.id } })).values).toEqual({
        count: 3,
        text: 'done ü',
      });
      expect(await sweepCheckpoints(db)).toBe(0);
    });

    it('T72: continues 50 runs that an earlier release stored, with a graph that stores more', async () => {
      const before = new PostgresSaver(db.pool, undefined, { schema: 'checkpoints' });
      await before.setup();
      const threads = Array.from({ length: 50 }, (_, number) => ({
        number,
        config: { configurable: { thread_id: `tri_old_${number}` } },
      }));
      const old = new StateGraph(State)
        .addNode('first', async ({ count }) => ({ count: count + 1 }))
        .addNode('second', async () => {
          throw new Error('killed');
        })
        .addEdge(START, 'first')
        .addEdge('first', 'second')
        .addEdge('second', END)
        .compile({ checkpointer: before });
      for (const { number, config } of threads) {
        await expect(
          old.invoke({ count: number, text: 'alt' }, { ...config, durability: 'sync' }),
        ).rejects.toThrow('killed');
      }

      const More = Annotation.Root({
        ...State.spec,
        notes: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
      });
      const young = new StateGraph(More)
        .addNode('first', async () => {
          throw new Error('a finished node ran again');
        })
        .addNode('second', async ({ count, notes }) => ({
          count: count + 100,
          notes: [`${notes.length} before`],
        }))
        .addEdge(START, 'first')
        .addEdge('first', 'second')
        .addEdge('second', END)
        .compile({ checkpointer: await createPostgresCheckpointer(db) });
      const ends: (typeof More.State)[] = [];
      for (const { config } of threads) ends.push(await young.invoke(null, config));

      const lost = threads.filter(
        ({ number }) => ends[number]?.count !== number + 101 || ends[number]?.text !== 'alt',
      );
      console.info(
        `T72 ${name}: ${threads.length} stored runs resumed by a newer graph; lost: ${lost.length}`,
      );
      expect(lost).toEqual([]);
      expect(ends[7]?.notes).toEqual(['0 before']);
    });
  });
}
