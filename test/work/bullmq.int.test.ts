import { Queue, QueueEvents } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRIAGE } from '../../src/domain/work.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { type Logger, silentLogger } from '../../src/ports/telemetry.ts';
import type { Wakeable } from '../../src/ports/work.ts';
import { type BullmqWakeUpOptions, createBullmqWakeUp } from '../../src/work/drivers/bullmq.ts';
import { startWorker } from '../../src/work/worker.ts';
import { openTestDatabase } from '../support/postgres.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';
import { createTriageWorld } from '../support/triage-world.ts';

describe.skipIf(withoutRedis)('the job queue on a real Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => redis.stop());

  const open = async (prefix: string, more: Partial<BullmqWakeUpOptions> = {}) =>
    await createBullmqWakeUp({
      url: redis.url,
      prefix,
      logger: silentLogger,
      concurrency: 1,
      rank: async () => 1,
      ...more,
    });

  /** A worker that only notes which items it is told to run. */
  function createNoting(
    seen: string[],
    run: (key: string) => Promise<void> = async () => undefined,
  ): Wakeable {
    return {
      look: () => undefined,
      run: async (_topic, key) => {
        seen.push(key);
        await run(key);
      },
    };
  }

  it('activates a job named after the build, which runs the compiled graph and completes', async () => {
    const db = await openTestDatabase();
    const { host, port } = new URL(redis.url);
    const connection = { host: host.split(':')[0] ?? '', port: Number(port) };
    const queue = new Queue(TRIAGE, { connection, prefix: 'graph' });
    const events = new QueueEvents(TRIAGE, { connection, prefix: 'graph' });
    await events.waitUntilReady();
    const history: string[] = [];
    const names = new Map<string, string>();
    events.on('added', ({ jobId, name }) => void names.set(jobId, name));
    events.on('active', ({ jobId }) => void history.push(`active ${names.get(jobId)}`));
    events.on('completed', ({ jobId }) => void history.push(`completed ${names.get(jobId)}`));
    let active: string[] = [];
    const nodes: string[] = [];
    const onStep = (_buildId: string, { node }: { readonly node: string }) => {
      nodes.push(node);
      if (nodes.length === 1)
        void queue.getActive().then((jobs) => {
          active = jobs.map(({ name }) => name);
        });
    };
    const { stores, handler, accept } = createTriageWorld(db, { onStep });
    const wakeUp = await open('graph', { rank: stores.work.rank });
    const deps = { work: stores.work, masker: createMasker(), logger: silentLogger };
    const worker = startWorker({ ...deps, handlers: [handler], wakeUp, intervalMs: 60_000 });
    const build = await accept();

    await wakeUp.wake(TRIAGE, build.id);

    await expect
      .poll(() => history, { timeout: 20_000 })
      .toEqual([`active ${build.id}`, `completed ${build.id}`]);
    expect(active).toEqual([build.id]);
    expect([nodes[0], nodes.at(-1)]).toEqual(['classify', 'verify']);
    expect(await stores.work.find(TRIAGE, build.id)).toMatchObject({
      outcome: 'done',
      lease: 1,
      held: false,
    });
    expect(await stores.analyses.listByBuild(build.id)).toHaveLength(1);
    expect(await wakeUp.depth()).toBe(0);
    console.info(`1 job named ${build.id}: ${history.join(', ')}; nodes: ${nodes.join(', ')}`);
    await worker.stop();
    await wakeUp.close();
    await events.close();
    await queue.close();
    await db.dispose();
  });

  it('delivers a build once while its job waits, and again for a change during its run', async () => {
    const wakeUp = await open('news');
    const seen: string[] = [];
    let finish = () => {};
    for (let time = 0; time < 3; time++) await wakeUp.wake(TRIAGE, 'bld_1');
    expect(await wakeUp.depth()).toBe(1);
    const run = async () => {
      if (seen.length === 1)
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
    };
    wakeUp.start(createNoting(seen, run));
    await expect.poll(() => seen).toEqual(['bld_1']);
    for (let time = 0; time < 3; time++) await wakeUp.wake(TRIAGE, 'bld_1');
    finish();

    await expect.poll(async () => await wakeUp.depth()).toBe(0);
    expect(seen).toEqual(['bld_1', 'bld_1']);
    await wakeUp.close();
  });

  it('delivers the lowest rank first, even if it changed while waiting', async () => {
    const ranks = new Map([
      ['third', 30],
      ['second', 20],
      ['first', 10],
      ['late', 40],
    ]);
    const wakeUp = await open('ranks', { rank: async (_topic, key) => ranks.get(key) ?? 0 });
    for (const key of ranks.keys()) await wakeUp.wake(TRIAGE, key);
    ranks.set('late', 5);
    await wakeUp.wake(TRIAGE, 'late');
    const seen: string[] = [];
    wakeUp.start(createNoting(seen));

    await expect.poll(() => seen).toEqual(['late', 'first', 'second', 'third']);
    await wakeUp.close();
  });

  it('delivers more jobs while some wait without a slot, and fewer when they return', async () => {
    const wakeUp = await open('sizes');
    const seen: string[] = [];
    const ends: (() => void)[] = [];
    wakeUp.start(
      createNoting(seen, async () => {
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    for (const key of ['a', 'b', 'c']) await wakeUp.wake(TRIAGE, key);
    await expect.poll(() => seen).toEqual(['a']);
    wakeUp.resize(TRIAGE, 2);
    await expect.poll(() => seen).toEqual(['a', 'b']);
    wakeUp.resize(TRIAGE, 1);
    ends.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seen).toEqual(['a', 'b']);
    ends.shift()?.();
    await expect.poll(() => seen).toEqual(['a', 'b', 'c']);
    ends.shift()?.();
    await wakeUp.close();
  });

  it('T25: warns of a Redis that evicts jobs when its memory is full, with a fix', async () => {
    const warned: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, message) => void warned.push(message) };
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const careless = await open('policy', { logger });
    await expect
      .poll(() => warned)
      .toEqual([expect.stringContaining('CONFIG SET maxmemory-policy noeviction')]);
    await careless.close();

    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    const careful = await open('policy', { logger });
    await careful.wake(TRIAGE, 'bld_1');
    expect(warned).toHaveLength(1);
    await careful.close();
  });

  it('delivers a build again whose process died', async () => {
    let begun = 0;
    for (let crash = 0; crash < 2; crash += 1) {
      const wakeUp = await open('crashes', { lockMs: 300 });
      if (crash === 0) await wakeUp.wake(TRIAGE, 'bld_1');
      const hangs = () => {
        begun += 1;
        return new Promise<void>(() => undefined);
      };
      wakeUp.start(createNoting([], hangs));
      await expect.poll(() => begun, { timeout: 10_000 }).toBe(crash + 1);
      // As far as Redis can tell, the process is gone.
      await wakeUp.close();
    }
    const alive = await open('crashes', { lockMs: 300 });
    const seen: string[] = [];
    alive.start(createNoting(seen));

    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['bld_1']);
    await alive.close();
  });

  it('reports once that Redis refuses jobs, and delivers them when it accepts them again', async () => {
    const warned: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, message) => void warned.push(message) };
    const wakeUp = await open('full', { logger });
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    for (let time = 0; time < 3; time += 1) {
      await expect(wakeUp.wake(TRIAGE, 'bld_1')).rejects.toMatchObject({
        code: 'upstream-failed',
        retryable: true,
      });
    }
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');

    await wakeUp.wake(TRIAGE, 'bld_1');

    expect(warned).toEqual([expect.stringContaining('Redis refuses messages')]);
    await wakeUp.close();
  });
});
