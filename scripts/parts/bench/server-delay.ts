import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { generateLog } from './bench-logs.ts';
import { openServerWorld, type ServerWorld } from './server-world.ts';

const Figures = z.object({ max: z.number(), p99: z.number() });
const METER = new URL('loop-meter.ts', import.meta.url).href;

/**
 * Runs `scripts/bench server delay [--megabytes 200] [--small 100]`: measures how long the event loop is blocked
 * while logs arrive and are read.
 */
export async function run(args: readonly string[]): Promise<void> {
  const options = {
    megabytes: { type: 'string', default: '200' },
    small: { type: 'string', default: '100' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const folder = mkdtempSync(join(tmpdir(), 'faultline-delay-'));
  const bytes = Number(values.megabytes) * 1_000_000;
  // One request may use a quarter of the limit.
  const limits = { FAULTLINE_MAX_LOG_BYTES: `${8 * bytes}` };
  const world = await openServerWorld({
    NODE_OPTIONS: `--import=${METER}`,
    BENCH_LOOP_FOLDER: folder,
    ...limits,
  });
  try {
    const [worker] = await world.startWorkers(1);
    const processes = { api: world.api.process.pid ?? 0, worker: worker?.process.pid ?? 0 };
    const measure = async (what: string, work: () => Promise<void>) => {
      await readFigures(folder, Object.values(processes));
      await work();
      await world.idle();
      const [api, reader] = await readFigures(folder, Object.values(processes));
      for (const [name, delay] of Object.entries({ api, worker: reader }))
        console.log(
          `   ${what.padEnd(36)} ${name.padEnd(7)} longest ${delay?.max.toFixed(0)} ms, p99 ${delay?.p99.toFixed(1)} ms`,
        );
    };
    const small = Number(values.small);
    const logs = Array.from({ length: small }, (_, i) => generateLog(20_000 + (i * 236_000) / small, i + 1));
    await measure('warm-up: 10 logs of 20 to 250 KB', () =>
      uploadAll(
        world,
        0,
        logs.filter((_, i) => i % 10 === 0),
      ),
    );
    await measure(`${small} logs of 20 to 250 KB`, () => uploadAll(world, 1_000, logs));
    const large = generateLog(bytes, 7);
    await measure(`one log of ${values.megabytes} MB`, () => uploadAll(world, 9_000, [large]));
  } finally {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function uploadAll(world: ServerWorld, from: number, logs: readonly string[]): Promise<void> {
  for (const [i, log] of logs.entries()) await world.uploadForm(from + i, log);
}

/** Returns what the processes measured since the last call. */
async function readFigures(folder: string, processes: readonly number[]): Promise<z.infer<typeof Figures>[]> {
  const files = processes.map((pid) => join(folder, `${pid}.json`));
  for (const file of files) rmSync(file, { force: true });
  for (const pid of processes) process.kill(pid, 'SIGIO');
  while (!files.every((file) => existsSync(file))) await sleep(20);
  await sleep(50);
  return files.map((file) => Figures.parse(JSON.parse(readFileSync(file, 'utf8'))));
}
