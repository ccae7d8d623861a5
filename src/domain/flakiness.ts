import { z } from 'zod';

/**
 * A mark of the strip. It says whether a failure was a flake, which later passed without a change, or a
 * lasting failure as far as is known.
 */
export const RunMark = z.object({
  buildId: z.string(),
  mark: z.enum(['passed', 'failed', 'flake']),
  at: z.string(),
});
export type RunMark = z.infer<typeof RunMark>;

/** The known facts about one run of a test. `recent` of `measureFlakiness` says how it ended. */
export const TestRunFacts = z.object({
  buildId: z.string(),
  /** `failed` if any of its results in the build failed; skipped ones do not count. */
  outcome: z.enum(['passed', 'failed']),
  commit: z.string().nullable(),
  /**
   * The lane: provider and pipeline. Only runs of the same lane are compared, because elsewhere the same test
   * may run on another system.
   */
  lane: z.string(),
  onDefaultBranch: z.boolean(),
  /** The ISO 8601 time at which the build was received. */
  at: z.string(),
  pipeline: z.string(),
  number: z.string(),
  branch: z.string().nullable(),
  /** The machine, if the report names it. */
  runner: z.string().nullable(),
  durationMs: z.number().nullable(),
});
export type TestRunFacts = z.infer<typeof TestRunFacts>;

/** The fields of a run that are compared with other runs. */
export type TestRun = Pick<
  TestRunFacts,
  'buildId' | 'outcome' | 'commit' | 'lane' | 'onDefaultBranch' | 'at'
>;

/**
 * The end of the period without notifications about a test's failures, the person who decided it, and the
 * reason.
 */
const Quarantine = z.object({ until: z.string(), by: z.string(), reason: z.string().nullable() });
/** A change of a test's quarantine. Without `until`, the quarantine ended at this time. */
const QuarantineEvent = Quarantine.extend({ until: z.string().nullable(), at: z.string() });
export type QuarantineEvent = z.infer<typeof QuarantineEvent>;

/** The counts from the stored results of one test, over its newest `WINDOW` runs. */
export const FlakinessCounts = z.object({
  runs: z.int(),
  failed: z.int(),
  /** The number of failed runs that are flakes; see `measureFlakiness`. */
  flakes: z.int(),
  /** The number of commits on which it failed and was run again. */
  rerun: z.int(),
  /** The number of these commits on which it then passed without a change. */
  recovered: z.int(),
  /** The number of runs on the default branch. */
  defaultRuns: z.int(),
  /** The number of runs on the default branch that ended differently from the one before in the same lane. */
  flips: z.int(),
  /** The time of the oldest flake in the window. Null if there is none. */
  since: z.iso.datetime().nullable(),
  lastFlakeAt: z.iso.datetime().nullable(),
  lastFailedAt: z.iso.datetime().nullable(),
  /** The newest runs, oldest first, at most `STRIP`. */
  recent: z.array(RunMark),
});
export type FlakinessCounts = z.infer<typeof FlakinessCounts>;

/** A test with the counts from its results. */
export const TestFlakiness = FlakinessCounts.extend({
  repository: z.string(),
  name: z.string(),
  suite: z.string().nullable(),
  file: z.string().nullable(),
  /** The quarantine. Null if there is none, or if it has ended. */
  quarantine: Quarantine.nullable(),
  /** The changes of the quarantine, newest last. */
  quarantineEvents: z.array(QuarantineEvent),
});
export type TestFlakiness = z.infer<typeof TestFlakiness>;

/**
 * The maximum number of the newest runs of a test that count. Older results may concern a fault that was
 * fixed.
 */
export const WINDOW = 100;

/** The number of runs that the strip shows. */
export const STRIP = 30;

/**
 * The minimum number of changes between passed and failed on the default branch for alternation alone to
 * count: the test broke and recovered twice. A single break that is then fixed makes only two changes.
 */
const ALTERNATES_FROM = 4;

/**
 * Counts over the newest runs; `runs` come newest first. A failed run is a flake where
 * - a later run of the same commit in the same lane passed, or
 * - it is alone between two passed runs on the default branch, in a lane that changed at least
 *   `ALTERNATES_FROM` times there. A run that passed first and failed later on the same commit is none: an
 *   expired certificate looks like that too. `marked` newest runs stand in `recent`.
 */
export function measureFlakiness(runs: readonly TestRun[], marked = STRIP): FlakinessCounts {
  const window = runs.slice(0, WINDOW).toReversed();
  const commits = groupByCommit(window);
  const branches = [
    ...Map.groupBy(
      window.filter((run) => run.onDefaultBranch),
      (run) => run.lane,
    ).values(),
  ];
  const flips = branches.map(countFlips);
  const flakes = new Set([
    ...commits.flatMap(listPassedLater),
    ...branches.flatMap((lane, at) => ((flips[at] ?? 0) < ALTERNATES_FROM ? [] : listRunsAlone(lane))),
  ]);
  const rerun = commits.filter((group) => group.slice(0, -1).some(isFailed));
  const flaked = window.filter((run) => flakes.has(run));
  return {
    runs: window.length,
    failed: window.filter(isFailed).length,
    flakes: flaked.length,
    rerun: rerun.length,
    recovered: rerun.filter((group) => listPassedLater(group).length > 0).length,
    defaultRuns: branches.flat().length,
    flips: flips.reduce((sum, flip) => sum + flip, 0),
    since: flaked[0]?.at ?? null,
    lastFlakeAt: flaked.at(-1)?.at ?? null,
    lastFailedAt: window.findLast(isFailed)?.at ?? null,
    recent: window
      .slice(-marked)
      .map((run) => ({ buildId: run.buildId, mark: flakes.has(run) ? 'flake' : run.outcome, at: run.at })),
  };
}

/**
 * Estimates the probability that a failure of this test goes away when it is run again without a change: of
 * the commits on which it failed and was run again, the share on which it then passed, with half a case added
 * on either side (the mean under Jeffreys' prior, Beta(½, ½); Brown, Cai & DasGupta 2001). Returns null if no
 * commit was ever run again. The estimate reflects only the test's past: it changes no category and hides no
 * failure.
 */
export function estimateFlakeProbability({
  rerun,
  recovered,
}: Pick<FlakinessCounts, 'rerun' | 'recovered'>): number | null {
  return rerun === 0 ? null : (recovered + 0.5) / (rerun + 1);
}

/**
 * A break on the default branch: the first run that failed, the run before it that passed, and the run after
 * it that passed again.
 */
export interface Break<Run extends TestRun> {
  readonly good: Run | null;
  readonly bad: Run;
  readonly fixed: Run | null;
}

/**
 * Returns the newest break of a lane of the default branch that is not a flake, or null if none is known.
 * `runs` are ordered newest first. Commits that no build ran may lie between `good` and `bad`.
 */
export function findLastBreak<Run extends TestRun>(runs: readonly Run[]): Break<Run> | null {
  const flakes = new Set(
    measureFlakiness(runs, WINDOW).recent.flatMap(({ buildId, mark }) => (mark === 'flake' ? [buildId] : [])),
  );
  const counted = runs
    .slice(0, WINDOW)
    .toReversed()
    .filter((run) => run.onDefaultBranch && !flakes.has(run.buildId));
  const breaks = [...Map.groupBy(counted, ({ lane }) => lane).values()].flatMap((lane) => {
    const last = lane.findLastIndex(isFailed);
    const good = lane.slice(0, last + 1).findLastIndex((run) => !isFailed(run));
    const bad = last === -1 ? undefined : lane[good + 1];
    return bad === undefined ? [] : [{ good: lane[good] ?? null, bad, fixed: lane[last + 1] ?? null }];
  });
  return breaks.toSorted((left, right) => right.bad.at.localeCompare(left.bad.at))[0] ?? null;
}

function groupByCommit(runs: readonly TestRun[]): TestRun[][] {
  const known = runs.filter((run) => run.commit !== null);
  return [...Map.groupBy(known, (run) => `${run.lane}\n${run.commit}`).values()];
}

/** Returns the failed runs of one commit after which it passed. */
function listPassedLater(group: readonly TestRun[]): TestRun[] {
  const lastPass = group.findLastIndex((run) => run.outcome === 'passed');
  return group.filter((run, at) => isFailed(run) && at < lastPass);
}

function countFlips(lane: readonly TestRun[]): number {
  return lane.filter((run, at) => at > 0 && lane[at - 1]?.outcome !== run.outcome).length;
}

function listRunsAlone(lane: readonly TestRun[]): TestRun[] {
  return lane.filter(
    (run, at) => isFailed(run) && lane[at - 1]?.outcome === 'passed' && lane[at + 1]?.outcome === 'passed',
  );
}

function isFailed(run: TestRun): boolean {
  return run.outcome === 'failed';
}
