import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyTestDatabase } from '../../../test/support/pglite.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { startRedis } from '../../../test/support/redis.ts';
import { startBusyWorker } from './ingest-busy.ts';
import { createSender, type Load } from './ingest-load.ts';
import { drain, type Side, startSide } from './ingest-side.ts';

const SECRET = 'a-secret-of-the-bench';
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

/**
 * Runs `scripts/bench server ingest [--rounds 5] [--seconds 6] [--only postgres|embedded|stopped] [--rate N]`:
 * measures the accepted webhooks, compared with a bare Fastify server.
 */
export async function run(args: readonly string[]): Promise<void> {
  const options = {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    only: { type: 'string' },
    // The best rate of the reference in an earlier run. `--only stopped` then measures only the p99 without
    // Redis.
    rate: { type: 'string', default: '5000' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const folder = await mkdtemp(join(tmpdir(), 'faultline-bench-'));
  const settings = { rounds: Number(values.rounds), seconds: Number(values.seconds), folder };
  try {
    if (values.only === 'stopped') await measureOnPostgres(settings, Number(values.rate));
    if (values.only === undefined || values.only === 'postgres') await measureOnPostgres(settings);
    if (values.only === undefined || values.only === 'embedded') await measureOnPglite(settings);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Measures with PostgreSQL. If `stoppedAt`, the best rate of the reference, is given, measures only the case
 * without Redis.
 */
async function measureOnPostgres(settings: Settings, stoppedAt?: number): Promise<void> {
  const postgres = await startPostgres({ own: true, settings: ['fsync=on', 'synchronous_commit=on'] });
  const redis = await startRedis();
  const database = await postgres.createMigrated();
  const reference = await startSide('reference', 'ingest-reference.ts', [database, SECRET], settings.folder);
  const ours = await startSide('faultline', 'ingest-ours.ts', [database, SECRET, redis.url], settings.folder);
  try {
    const sides = [reference, ours] as const;
    const best = stoppedAt ?? (await compare('PostgreSQL, fsync on', sides, settings));
    if (stoppedAt === undefined) {
      await compareAtHalf('half the best rate', best / 2, sides, settings);
      await redis.pause();
      await compareAtHalf('half the best rate, Redis answers nothing', best / 2, sides, settings);
    }
    await redis.kill();
    await compareAtHalf('half the best rate, Redis stopped', best / 2, sides, settings);
  } finally {
    await Promise.all([reference.stop(), ours.stop()]);
    await redis.stop();
    await postgres.dispose();
  }
}

async function measureOnPglite(settings: Settings): Promise<void> {
  const place = (name: string) => copyTestDatabase(join(settings.folder, name));
  const reference = await startSide(
    'reference',
    'ingest-reference.ts',
    [await place('reference'), SECRET],
    settings.folder,
  );
  const ours = await startSide(
    'faultline',
    'ingest-ours.ts',
    [await place('faultline'), SECRET],
    settings.folder,
  );
  try {
    await compare('PGlite on disk', [reference, ours], settings);
  } finally {
    await Promise.all([reference.stop(), ours.stop()]);
  }
}

/** Sends as many requests as are answered. Returns the median rate of the reference. */
async function compare(what: string, sides: readonly [Side, Side], settings: Settings): Promise<number> {
  console.log(
    `-- ${what}: accepted webhooks a second, 32 connections, ${createSender(SECRET).bytes} bytes each`,
  );
  for (const { name, command } of sides) console.log(`   ${name}: ${command}`);
  const [reference, ours] = await interleave(sides, settings, undefined);
  const rates = [reference, ours].map((loads) => median(loads.map(({ perSecond }) => perSecond)));
  const [theirs = 0, own = 0] = rates;
  console.log(
    `   median ${theirs.toFixed(0)}/s and ${own.toFixed(0)}/s: ratio ${(own / theirs).toFixed(2)} (goal 0.70)`,
  );
  return theirs;
}

async function compareAtHalf(
  what: string,
  rate: number,
  sides: readonly [Side, Side],
  settings: Settings,
): Promise<void> {
  console.log(`-- ${what} (${rate.toFixed(0)}/s): p99 of acceptance, a worker busy`);
  const worker = startBusyWorker();
  const [reference, ours] = await interleave(sides, settings, Math.round(rate)).finally(() => worker.stop());
  const [theirs = 0, own = 0] = [reference, ours].map((loads) => median(loads.map(({ p99 }) => p99)));
  const failed = ours.reduce((sum, { refused, lost }) => sum + refused + lost, 0);
  console.log(
    `   median p99 ${theirs} ms and ${own} ms: ratio ${(own / theirs).toFixed(2)} (goal 1.50); failed acceptances: ${failed}`,
  );
}

/**
 * Measures the sides in turn. The next one begins when everything that the previous one accepted has become a
 * build.
 */
async function interleave(
  sides: readonly [Side, Side],
  { rounds, seconds }: Settings,
  rate: number | undefined,
): Promise<[Load[], Load[]]> {
  const loads: [Load[], Load[]] = [[], []];
  const sender = createSender(SECRET);
  await warmUp(sides, sender);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      const load = await sender.send({ url: side.url, seconds, ...(rate === undefined ? {} : { rate }) });
      const left = await side.backlog();
      const drained = await drain(side);
      loads[index === 0 ? 0 : 1].push(load);
      const after = left === 0 ? '' : `; ${left} builds later, within ${drained.toFixed(1)} s`;
      const { perSecond, p50, p99, refused, lost } = load;
      const told = `${perSecond.toFixed(0)}/s, p50 ${p50} ms, p99 ${p99} ms, refused ${refused}, lost ${lost}`;
      console.log(`   round ${round + 1} ${side.name.padEnd(9)} ${told}${after}`);
    }
  }
  return loads;
}

async function warmUp(sides: readonly [Side, Side], sender: ReturnType<typeof createSender>): Promise<void> {
  for (const side of sides) {
    await sender.send({ url: side.url, seconds: 2 });
    await drain(side);
  }
}
