import { parseArgs } from 'node:util';
import { readCapturedFailure } from '../../../test/support/captured-failures.ts';
import { startModelAside } from './model-aside.ts';
import { openServerWorld, type ServerWorld } from './server-world.ts';

const LATENCY_MS = 800;
const ROUNDS_OF_QUESTIONS = 2;
/** The number of builds that one process triages at once: the default of server mode. */
const AT_ONCE = 4;
const GOAL = 3.6;
const LOG = readCapturedFailure('loyalty-customer-null').log;

/**
 * Runs `scripts/bench server workers [--builds 64] [--rounds 2]`: compares four worker processes with one, with a
 * model that takes 800 ms per call.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { builds: { type: 'string', default: '64' }, rounds: { type: 'string', default: '2' } },
  });
  const builds = Number(values.builds);
  const model = await startModelAside({ latencyMs: LATENCY_MS, rounds: ROUNDS_OF_QUESTIONS });
  const environment = {
    FAULTLINE_ANALYST: 'llm',
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: 'of-the-bench',
  };
  const world = await openServerWorld(environment);
  const seconds: Record<number, number[]> = { 1: [], 4: [] };
  try {
    let number = 0;
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const processes of [1, 4]) {
        const workers = await world.startWorkers(processes);
        // The time that a new process needs to load and compile is not measured.
        await measureTime(world, processes * AT_ONCE, () => ++number);
        const taken = await measureTime(world, builds, () => ++number);
        await world.stop(workers);
        seconds[processes]?.push(taken);
        console.log(
          `   ${processes} worker ${processes === 1 ? 'process ' : 'processes'}: ${builds} builds in ${taken.toFixed(1)} s, ${(builds / taken).toFixed(2)} a second`,
        );
      }
    }
  } finally {
    await world.close();
    await model.close();
  }
  const [withOne, four] = [computeMedian(seconds[1] ?? []), computeMedian(seconds[4] ?? [])];
  console.log(
    `   medians ${withOne.toFixed(1)} s and ${four.toFixed(1)} s: ${(withOne / four).toFixed(2)} times as fast (goal ${GOAL})`,
  );
}

/** Returns the seconds from the first upload until the last build is answered. */
async function measureTime(world: ServerWorld, builds: number, next: () => number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: builds }, () => world.upload(next(), LOG)));
  await world.idle();
  return (performance.now() - startedAt) / 1000;
}

function computeMedian(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
