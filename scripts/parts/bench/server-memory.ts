import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readCapturedFailures } from '../../../test/support/captured-failures.ts';
import { openServerWorld } from './server-world.ts';

const TENTHS = 10;
/** The maximum number of waiting builds. With more, the sender would be measured. */
const AHEAD = 32;
const LOGS = readCapturedFailures().map(({ log }) => log);

/**
 * Runs `scripts/bench server memory [--builds 10000]`: measures the resident memory of api and worker after each
 * tenth of the triages.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { builds: { type: 'string', default: '10000' } },
  });
  const builds = Number(values.builds);
  const world = await openServerWorld();
  try {
    const [worker] = await world.startWorkers(1);
    const [api, work]: number[][] = [[], []];
    const startedAt = performance.now();
    for (let tenth = 1; tenth <= TENTHS; tenth++) {
      const from = (builds / TENTHS) * (tenth - 1);
      for (let build = from; build < from + builds / TENTHS; build += AHEAD) {
        const wave = Array.from(
          { length: Math.min(AHEAD, from + builds / TENTHS - build) },
          (_, index) => build + index + 1,
        );
        await Promise.all(wave.map((number) => world.upload(number, LOGS[number % LOGS.length] ?? '')));
        await world.idle();
      }
      api?.push(measureResidentMegabytes(world.api.process.pid));
      work?.push(measureResidentMegabytes(worker?.process.pid));
      console.log(
        `   after ${from + builds / TENTHS} triages: api ${api?.at(-1)} MB, worker ${work?.at(-1)} MB (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`,
      );
    }
    for (const [name, sizes = []] of [['api', api] as const, ['worker', work] as const]) {
      const [early, late] = [computeMedian(sizes.slice(2, 5)), computeMedian(sizes.slice(-3))];
      console.log(
        `   ${name}: median ${early} MB in the third to fifth tenth, ${late} MB in the last three: ${(late / early).toFixed(2)} (flat: 1.00)`,
      );
    }
  } finally {
    await world.close();
  }
}

function measureResidentMegabytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

function computeMedian(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
