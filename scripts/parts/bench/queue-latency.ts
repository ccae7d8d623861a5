import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { PgBoss } from 'pg-boss';
import type { JobQueue } from '../../../src/ports/job-queue.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../../src/stores/database/pool-database.ts';
import { createBullmqQueue } from '../../../src/stores/queue/bullmq.ts';
import { createPgBossQueue, poolExecutor } from '../../../src/stores/queue/pg-boss.ts';
import { startRedis } from '../../../test/support/redis.ts';

/** Long enough for a worker to find nothing and to lie down, in milliseconds. */
const REST_MS = 20;

/** Something that rings, and calls `heard` with the ring's id when its handler is called. */
interface Notifier {
  readonly name: string;
  ring(id: string): Promise<unknown>;
  close(): Promise<void>;
}

type Heard = (id: string) => void;

/** `scripts/bench server queue [--rounds 5] [--rings 40]`: from enqueue to handler, one ring after the other, beside the bare libraries. */
export async function run(args: readonly string[]): Promise<void> {
  const options = {
    rounds: { type: 'string', default: '5' },
    rings: { type: 'string', default: '40' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const size = { rounds: Number(values.rounds), rings: Number(values.rings) };
  console.log(
    `enqueue to handler, ms; ${size.rounds} rounds of ${size.rings} rings each, taken in turns; concurrency 1`,
  );
  await onRedis(size);
  await onPglite(size);
}

interface Size {
  readonly rounds: number;
  readonly rings: number;
}

async function onRedis(size: Size): Promise<void> {
  const redis = await startRedis();
  try {
    await compare(
      'Redis',
      5,
      size,
      (heard) => oursOnRedis(redis.url, heard),
      (heard) => bareBullmq(redis.url, heard),
    );
  } finally {
    await redis.stop();
  }
}

async function onPglite(size: Size): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-bench-'));
  const database = await openPglite({ dataDir: join(folder, 'database') });
  try {
    await compare(
      'embedded',
      50,
      size,
      (heard) => oursOnPglite(database, heard),
      (heard) => barePgBoss(database, heard),
    );
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(
  title: string,
  aim: number,
  size: Size,
  open: (heard: Heard) => Promise<Notifier>,
  bare: (heard: Heard) => Promise<Notifier>,
) {
  const [ours, theirs] = [await timed(open), await timed(bare)];
  for (let round = 0; round < size.rounds; round += 1) {
    await ours.measure(size.rings);
    // A poll of half a second needs no forty rings to be seen.
    await theirs.measure(title === 'embedded' ? Math.ceil(size.rings / 8) : size.rings);
  }
  await ours.close();
  await theirs.close();
  const [mine, other] = [summary(ours.times), summary(theirs.times)];
  console.log(
    `${title}: ${ours.name} median ${mine.median} (p95 ${mine.p95}) · ${theirs.name} median ${other.median} (p95 ${other.p95})`,
  );
  console.log(
    `  ratio ${(mine.median / other.median).toFixed(2)}; aim ≤ ${aim} ms: ${mine.median <= aim ? 'reached' : 'missed'}`,
  );
}

async function timed(open: (heard: Heard) => Promise<Notifier>) {
  const waiting = new Map<string, () => void>();
  const jobNotifier = await open((id) => waiting.get(id)?.());
  const times: number[] = [];
  const once = async () => {
    const id = randomUUID();
    const heard = new Promise<void>((settle) => {
      waiting.set(id, settle);
    });
    await delay(REST_MS);
    const startedAt = performance.now();
    await jobNotifier.ring(id);
    await heard;
    waiting.delete(id);
    return performance.now() - startedAt;
  };
  await once();
  const measure = async (rings: number) => {
    for (let ring = 0; ring < rings; ring += 1) times.push(await once());
  };
  return { name: jobNotifier.name, times, measure, close: jobNotifier.close };
}

function summary(times: readonly number[]): { readonly median: number; readonly p95: number } {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number) => Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2));
  return { median: at(0.5), p95: at(0.95) };
}

async function oursOnRedis(url: string, heard: Heard): Promise<Notifier> {
  return ours(await createBullmqQueue({ url, prefix: 'bench', logger: silentLogger }), heard);
}

async function oursOnPglite(db: PgDatabase, heard: Heard): Promise<Notifier> {
  return ours(await createPgBossQueue({ db, logger: silentLogger }), heard);
}

async function ours(queue: JobQueue, heard: Heard): Promise<Notifier> {
  await queue.work(async (id) => heard(id), { concurrency: 1 });
  return {
    name: `Faultline (${queue.driver})`,
    ring: (id) => queue.enqueue(id),
    close: () => queue.stop({ timeoutMs: 1000 }),
  };
}

async function bareBullmq(url: string, heard: Heard): Promise<Notifier> {
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

/** pg-boss as it comes, on a schema of its own, looking as often as it can: every half second. */
async function barePgBoss(db: PgDatabase, heard: Heard): Promise<Notifier> {
  const boss = new PgBoss({ db: poolExecutor(db.pool), schema: 'bare', backend: 'pglite', schedule: false });
  await boss.start();
  await boss.createQueue('bare');
  await boss.work<{ id: string }>('bare', { pollingIntervalSeconds: 0.5 }, async (jobs) => {
    for (const { data } of jobs) heard(data.id);
  });
  return {
    name: 'bare pg-boss',
    ring: (id) => boss.send('bare', { id }),
    close: () => boss.stop({ graceful: false, close: false }),
  };
}
