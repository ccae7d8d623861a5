import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { estimateFlakeProbability, TestFlakiness } from '../../domain/flakiness.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { toCsv } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import type { ShownStores } from '../../stores/stores.ts';

export const FlakyTest = TestFlakiness.extend({
  /** Share of the newest runs that were flakes, with its 95 % interval. */
  rate: z.object({ share: z.number(), low: z.number(), high: z.number() }),
  /**
   * The probability that a failure of this test goes away when it is run again without a change. Null if that
   * was never tried.
   */
  probability: z.number().nullable(),
});

/** Formats a test for programs. */
export function formatFlakyTest(test: TestFlakiness): z.infer<typeof FlakyTest> {
  const { share, low, high } = computeProportion(test.flakes, test.runs);
  return { ...test, rate: { share, low, high }, probability: roundProbability(test) };
}

const DAY_MS = 86_400_000;
const name = z.string().min(1).max(300);

/** The request to quarantine a test, and for how long. */
export const QuarantineRequest = z.strictObject({
  repository: name,
  suite: z
    .string()
    .min(1)
    .max(2000)
    .nullable()
    .default(null)
    .describe('As the report writes it; null: the report names none'),
  name: z.string().min(1).max(2000),
  days: z.coerce.number().int().min(0).max(90).describe('From now on; 0 ends the quarantine'),
  reason: z.string().trim().max(500).nullable().default(null),
});

/** Stops notifications about a test's failures for some days. Throws `not-found` if the test never failed. */
export async function quarantineTest(
  {
    stores,
    clock,
  }: {
    readonly stores: { readonly flakiness: Pick<ShownStores['flakiness'], 'quarantine'> };
    readonly clock: Clock;
  },
  { days, reason, ...test }: z.infer<typeof QuarantineRequest>,
  by: string,
): Promise<TestFlakiness> {
  const until = days === 0 ? null : new Date(clock.now() + days * DAY_MS).toISOString();
  const changed = await stores.flakiness.quarantine(test, { until, by, reason: reason || null });
  if (changed === null)
    throw new TriageError('not-found', `No test ${test.name} is known to have failed in ${test.repository}.`);
  return changed;
}

const HEADING = (
  'repository suite test file runs failed flakes failed_and_rerun then_passed ' +
  'default_branch_runs default_branch_changes flake_probability since last_flake'
).split(' ');

/** Formats all data about the tests as CSV, one row per test. */
export function formatAsCsv(tests: readonly TestFlakiness[]): string {
  const rows = tests.map((test) => [
    test.repository,
    test.suite,
    test.name,
    test.file,
    test.runs,
    test.failed,
    test.flakes,
    test.rerun,
    test.recovered,
    test.defaultRuns,
    test.flips,
    roundProbability(test),
    test.since,
    test.lastFlakeAt,
  ]);
  return toCsv(HEADING, rows);
}

/** Formats one name per line as `class#method`, which Surefire's `excludesFile` and similar options read. */
export function formatAsJunitNames(tests: readonly TestFlakiness[]): string {
  return joinLines(tests.map(({ suite, name }) => (suite === null ? name : `${suite}#${name}`)));
}

/** Formats one name per line. */
export function formatAsNames(tests: readonly TestFlakiness[]): string {
  return joinLines(tests.map(({ name }) => name));
}

/** Returns the probability rounded to three decimals, or null if no failure was ever rerun on its commit. */
function roundProbability(test: TestFlakiness): number | null {
  const probability = estimateFlakeProbability(test);
  return probability === null ? null : Math.round(probability * 1000) / 1000;
}

/** Joins names, one per line. Line breaks in a name become spaces. */
function joinLines(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `${name.replace(/[\r\n]/g, ' ')}\n`).join('');
}
