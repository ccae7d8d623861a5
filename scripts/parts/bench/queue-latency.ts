import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { WakeUp, WorkHandler } from '../../../src/ports/work.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../../src/stores/database/pool-database.ts';
import { createWorkStore, type WorkStore } from '../../../src/stores/work.ts';
import { createBullmqWakeUp } from '../../../src/work/drivers/bullmq.ts';
import { createLocalWakeUp } from '../../../src/work/drivers/local.ts';
import { startWorker } from '../../../src/work/worker.ts';
import { startRedis } from '../../../test/support/redis.ts';

/** The time after which an idle worker waits for a signal, in milliseconds. */
const REST_MS = 20;

/** A signal to a worker. `heard` is called with the id of the signal when its handler runs. */
interface Notifier {
  readonly name: string;
  ring(id: string): Promise<unknown>;
  close(): Promise<void>;
}

type Heard = (id: string) => void;

/**
 * Runs `scripts/bench server queue [--rounds 5] [--rings 40]`: measures the time from the commit of a request to
 * its handler, one after the other, compared with bare BullMQ.
 */
export async function run(args: readonly string[]): Promise<void> {
  const options = {
    rounds: { type: 'string', default: '5' },
    rings: { type: 'string', default: '40' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const size = { rounds: Number(values.rounds), rings: Number(values.rings) };
  console.log(
    `commit to handler, ms; ${size.rounds} rounds of ${size.rings} rings each, taken in turns; concurrency 1`,
  );
  const folder = await mkdtemp(join(tmpdir(), 'faultline-bench-'));
  const database = await openPglite({ dataDir: join(folder, 'database') });
  try {
    await database.migrate();
    await compareOnRedis(size, database);
    await compare('embedded', 50, size, (heard) => openOurs(database, heard), null);
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Size {
  readonly rounds: number;
  readonly rings: number;
}

async function compareOnRedis(size: Size, database: PgDatabase): Promise<void> {
  const redis = await startRedis();
  try {
    await compare(
      'Redis',
      50,
      size,
      (heard) => openOurs(database, heard, redis.url),
      (heard) => openBareBullmq(redis.url, heard),
    );
  } finally {
    await redis.stop();
  }
}

async function compare(
  title: string,
  aim: number,
  size: Size,
  open: (heard: Heard) => Promise<Notifier>,
  bare: ((heard: Heard) => Promise<Notifier>) | null,
) {
  const ours = await timeWork(open);
  const theirs = bare === null ? null : await timeWork(bare);
  for (let round = 0; round < size.rounds; round += 1) {
    await ours.measure(size.rings);
    await theirs?.measure(size.rings);
  }
  await ours.close();
  await theirs?.close();
  const mine = summarizeTimes(ours.times);
  console.log(`${title}: ${ours.name} median ${mine.median} (p95 ${mine.p95})`);
  if (theirs !== null) {
    const other = summarizeTimes(theirs.times);
    console.log(
      `  ${theirs.name} median ${other.median} (p95 ${other.p95}); ratio ${(mine.median / other.median).toFixed(2)}`,
    );
  }
  console.log(`  aim ≤ ${aim} ms: ${mine.median <= aim ? 'reached' : 'missed'}`);
}

async function timeWork(open: (heard: Heard) => Promise<Notifier>) {
  const waiting = new Map<string, () => void>();
  const notifier = await open((id) => waiting.get(id)?.());
  const times: number[] = [];
  const once = async () => {
    const id = randomUUID();
    const heard = new Promise<number>((settle) => {
      waiting.set(id, () => settle(performance.now()));
    });
    await delay(REST_MS);
    const startedAt = performance.now();
    await notifier.ring(id);
    const heardAt = await heard;
    waiting.delete(id);
    return heardAt - startedAt;
  };
  await once();
  const measure = async (rings: number) => {
    for (let ring = 0; ring < rings; ring += 1) times.push(await once());
  };
  return { name: notifier.name, times, measure, close: notifier.close };
}

function summarizeTimes(times: readonly number[]): { readonly median: number; readonly p95: number } {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number) => Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2));
  return { median: at(0.5), p95: at(0.95) };
}

/** Opens the work table with its worker, which is woken through Redis or by a local event. */
export async function openOurs(db: PgDatabase, heard: Heard, redis?: string): Promise<Notifier> {
  const work = createWorkStore(db);
  const wakeUp = await openWakeUp(db, work, redis);
  const handler: WorkHandler = {
    topic: 'triage',
    leaseMs: 60_000,
    limits: null,
    longestDelayMs: 1_000,
    handle: async (items) => {
      for (const { key } of items) heard(key);
      return { outcome: 'done', forget: true };
    },
  };
  const deps = { work, masker: createMasker(), logger: silentLogger };
  const worker = startWorker({ ...deps, handlers: [handler], wakeUp, intervalMs: 60_000 });
  return {
    name: `Faultline (${wakeUp.driver})`,
    ring: async (key) => {
      await work.add([{ topic: 'triage', key }]);
      await wakeUp.wake('triage', key);
    },
    close: async () => {
      await worker.stop();
      await wakeUp.close();
    },
  };
}

async function openWakeUp(database: PgDatabase, work: WorkStore, url?: string): Promise<WakeUp> {
  if (url === undefined) return createLocalWakeUp({ database, work });
  const options = { url, prefix: 'bench', logger: silentLogger, concurrency: 1, rank: work.rank };
  return await createBullmqWakeUp(options);
}

async function openBareBullmq(url: string, heard: Heard): Promise<Notifier> {
  const [adding, working] = [new Redis(url), new Redis(url, { maxRetriesPerRequest: null })];
  const queue = new Queue<{ id: string }>('bare', {
    connection: adding,
    defaultJobOptions: { removeOnComplete: true },
  });
  const worker = new Worker<{ id: string }>('bare', async ({ data }) => heard(data.id), {
    connection: working,
  });
  await worker.waitUntilReady();
  const close = async () => {
    await worker.close();
    await queue.close();
    adding.disconnect();
    working.disconnect();
  };
  return { name: 'bare BullMQ', ring: (id) => queue.add('ring', { id }), close };
}
