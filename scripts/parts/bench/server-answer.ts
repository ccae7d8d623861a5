import { parseArgs } from 'node:util';
import { z } from 'zod';
import { readCapturedFailure } from '../../../test/support/captured-failures.ts';
import { openServerWorld, type ServerWorld } from './server-world.ts';

const LOG_BYTES = 3 * 1024 * 1024;
const WARM_UP = 3;
const Reviews = z.object({ items: z.array(z.object({ id: z.string(), version: z.int() })) });
const Reviewed = z.object({ review: z.object({ version: z.int() }) });

/**
 * Runs `scripts/bench server answer [--builds 20]`: measures the time from the webhook to the stored analysis,
 * with the rules analyst, one api process and one worker.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { builds: { type: 'string', default: '20' } } });
  // No answer is confident enough to be published, so that a person can confirm one.
  const world = await openServerWorld({ FAULTLINE_AUTO_NOTIFY: '1' });
  try {
    await world.startWorkers(1);
    const builds = Number(values.builds);
    await report('new failure, 3 MB log', 1.5, world, builds, (number) => createLargeLog(`order-${number}`));
    const known = readCapturedFailure('profile-none-attribute').log;
    await world.fail(5000, known);
    await world.answered(5000);
    await confirm(world);
    await report('known failure', 0.3, world, builds, () => known, 'recall');
  } finally {
    await world.close();
  }
}

let number = 0;

async function report(
  what: string,
  goal: number,
  world: ServerWorld,
  builds: number,
  logOf: (number: number) => string,
  analyst?: string,
): Promise<void> {
  const seconds: number[] = [];
  for (let build = 0; build < WARM_UP + builds; build++) {
    number += 1;
    const log = logOf(number);
    const startedAt = performance.now();
    await world.fail(number, log);
    const analysts = await world.answered(number);
    if (build >= WARM_UP) seconds.push((performance.now() - startedAt) / 1000);
    if (analyst !== undefined && analysts.some((other) => other !== analyst))
      throw new Error(`answered by ${analysts.join(', ')}`);
  }
  const sorted = seconds.toSorted((left, right) => left - right);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(2);
  console.log(
    `   ${what.padEnd(24)} median ${at(0.5)} s, min ${at(0)} s, max ${at(1)} s (n=${builds}; goal ${goal} s)`,
  );
}

/** Creates a log of a Java build of 3 MB that fails near its end, in a test with this name. */
function createLargeLog(name: string): string {
  const failure = readCapturedFailure('loyalty-customer-null').log.replaceAll(
    'guestsWithoutMembership',
    `guests${name.replace('-', '')}`,
  );
  const lines: string[] = [];
  for (let bytes = failure.length, line = 0; bytes < LOG_BYTES; line++) {
    const text = `[INFO] Downloaded from central: org/example/part-${line}/${line % 90}.${line % 7}/part-${line}.jar (${line % 900} kB at ${line % 80} MB/s)`;
    lines.push(text);
    bytes += text.length + 1;
  }
  return `${lines.join('\n')}\n${failure}`;
}

/** Accepts the one waiting answer as a person would. */
async function confirm(world: ServerWorld): Promise<void> {
  const { items } = Reviews.parse(await world.call('GET', '/api/reviews?state=waiting&limit=200'));
  for (const { id } of items) {
    await world.call('POST', `/api/reviews/${id}/claim`, {});
    const { review } = Reviewed.parse(await world.call('GET', `/api/reviews/${id}`));
    await world.call('POST', `/api/reviews/${id}/decision`, { type: 'accept', version: review.version });
  }
}
