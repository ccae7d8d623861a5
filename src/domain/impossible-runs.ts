import { append } from '../lib/collections.ts';
import { findBisectionPoints, judgeBisection } from './bisection.ts';
import { isConditionName } from './conditions.ts';
import { type Arm, type Bisection, type Experiment, type FixTrial, MIN_RUNS } from './experiment.ts';
import { dependsOnSuite, judgeRuns } from './experiment-verdict.ts';
import { refuseFix } from './fix-refusals.ts';
import { judgeAttempt, judgeTrial } from './fix-verdict.ts';

/**
 * An impossible statement in an experiment: the path of the field, and a message that says what is wrong and
 * how to correct it.
 */
export interface Doubt {
  readonly path: string;
  readonly message: string;
}

/** The maximum number of runs of one arm, at one commit, or with one change. */
const MAX_RUNS = 1_000;
/** The maximum number of runs of a whole bisection. */
const MAX_BISECTION_RUNS = 10_000;
const MAX_COMMITS = 5_000;
const COMMIT = /^[0-9a-f]{7,64}$/;

/**
 * Finds statements of an experiment on a build that cannot be true: counts without runs, a verdict that its
 * runs do not support, or a fix that must not be shown. `head` is the commit of the build.
 */
export function findDoubts(experiment: Experiment, head: string | null): Doubt[] {
  const { arms, verdict, bisection, fixes } = experiment;
  const doubts = [
    ...doubtArms(arms),
    ...arms.flatMap(({ where, commit }, at) =>
      where === 'base' && commit !== null && head !== null && isSameCommit(commit, head)
        ? [
            {
              path: `arms.${at}.commit`,
              message: 'is the commit of the build: name another base with --base',
            },
          ]
        : [],
    ),
  ];
  const dependsOnOthers =
    experiment.dependsOnOthers === true ? dependsOnSuite(arms) : experiment.dependsOnOthers;
  const expected = judgeRuns({ ...experiment, dependsOnOthers }).verdict;
  if (doubts.length === 0 && expected !== verdict) {
    const message =
      `is ${verdict}, and the runs say ${expected}: a comparison needs at least ${MIN_RUNS} runs here and ` +
      'on the base, all with the same result in each place';
    doubts.push({ path: 'verdict', message });
  }
  if (bisection !== undefined) append(doubts, prefixDoubts('bisection', doubtBisection(bisection)));
  if (fixes !== undefined)
    append(doubts, prefixDoubts('fixes', [...doubtTrial(fixes), ...doubtDiffs(fixes)]));
  return doubts;
}

/** Finds arms whose counts do not match their runs. */
export function doubtArms(arms: readonly Arm[]): Doubt[] {
  const doubts = arms.flatMap((arm, at) => prefixDoubts(`arms.${at}`, doubtArm(arm)));
  const keys = arms.map(({ where, what, under }) => JSON.stringify([where, what, under]));
  for (const [at, key] of keys.entries())
    if (keys.indexOf(key) < at)
      doubts.push({ path: `arms.${at}`, message: 'is there twice: count its runs together' });
  const bases = new Set(arms.flatMap(({ where, commit }) => (where === 'base' ? [commit] : [])));
  if (bases.size > 1) doubts.push({ path: 'arms', message: 'have several bases: compare with one commit' });
  return doubts;
}

function doubtArm(arm: Arm): Doubt[] {
  const { where, commit, under, cached = 0, exitCodes, milliseconds } = arm;
  const doubts = doubtRuns(arm, MAX_RUNS);
  if (cached < 0 || cached > MAX_RUNS)
    doubts.push({
      path: 'cached',
      message: `is ${cached}: count the passes that a cache answered, from 0 to ${MAX_RUNS}`,
    });
  if (milliseconds.length !== exitCodes.length)
    doubts.push({
      path: 'milliseconds',
      message: `are ${milliseconds.length} of ${exitCodes.length} runs: send the duration of each`,
    });
  else if (milliseconds.some((duration) => duration < 1))
    doubts.push({
      path: 'milliseconds',
      message: 'are below 1: a run takes time, so send the duration of each in milliseconds',
    });
  if (where === 'base' && (commit === null || !COMMIT.test(commit)))
    doubts.push({ path: 'commit', message: 'is no commit: send the hash of the base' });
  if (where === 'here' && commit !== null)
    doubts.push({ path: 'commit', message: 'is not null: the checkout may have changes of its own' });
  if (under !== undefined && !isConditionName(under))
    doubts.push({
      path: 'under',
      message: 'is no condition that faultline confirm tries, such as TZ=UTC: leave the arm out',
    });
  return doubts;
}

interface Counted {
  readonly passed: number;
  readonly failed: number;
  readonly other?: number;
  readonly exitCodes: readonly (number | null)[];
}

/** Checks that every run has an exit code, and that only runs that ended with 0 count as passed. */
function doubtRuns({ passed, failed, other = 0, exitCodes }: Counted, most: number): Doubt[] {
  const counts = Object.entries({ passed, failed, other });
  const negative = counts.filter(([, count]) => count < 0);
  if (negative.length > 0)
    return negative.map(([path, count]) => ({ path, message: `is ${count}: count the runs from 0` }));
  const runs = passed + failed + other;
  if (runs > most)
    return [{ path: 'exitCodes', message: `are of ${runs} runs, more than ${most}: send fewer` }];
  if (runs !== exitCodes.length)
    return [
      {
        path: 'exitCodes',
        message:
          `are ${exitCodes.length}, and passed + failed + other is ${runs}: ` +
          'send the exit code of each run',
      },
    ];
  const green = exitCodes.filter((code) => code === 0).length;
  const message = (what: string, count: number, ended: number, how: string) =>
    `is ${count}, and ${ended} runs ended with an exit code ${how} 0: a run has ${what} only then`;
  if (passed > green) return [{ path: 'passed', message: message('passed', passed, green, 'of') }];
  if (failed > runs - green)
    return [{ path: 'failed', message: message('failed', failed, runs - green, 'other than') }];
  return [];
}

/** Finds statements that the runs of a bisection do not support. */
export function doubtBisection(bisection: Bisection): Doubt[] {
  const { commits, tried, skipped, candidates, verdict, confidence } = bisection;
  if (commits > MAX_COMMITS)
    return [{ path: 'commits', message: `is ${commits}, more than ${MAX_COMMITS}: search fewer` }];
  const doubts = tried.flatMap((point, at) => prefixDoubts(`tried.${at}`, doubtRuns(point, MAX_RUNS)));
  if (doubts.length > 0) return doubts;
  const runs = tried.reduce((sum, { exitCodes }) => sum + exitCodes.length, 0);
  if (runs > MAX_BISECTION_RUNS)
    return [{ path: 'tried', message: `has ${runs} runs, more than ${MAX_BISECTION_RUNS}: send fewer` }];
  if ([...tried, ...skipped, ...candidates].some(({ commit }) => !COMMIT.test(commit)))
    return [{ path: 'tried', message: 'names what is no commit: send whole hashes' }];
  const points = findBisectionPoints(bisection);
  if (points === null || isOutOfOrder(tried) || isOutOfOrder(skipped))
    return [
      {
        path: 'tried',
        message: 'does not say at which places among the commits it was tried: send `at`, 0 for the good one',
      },
    ];
  if (verdict === 'part')
    return candidates.length === 0
      ? []
      : [{ path: 'candidates', message: 'are named in a part: leave them out' }];
  const expected = judgeBisection(points);
  if (verdict !== expected.verdict && verdict !== 'inconclusive')
    return [
      {
        path: 'verdict',
        message:
          `is ${verdict}, and the runs say ${expected.verdict}: send every run, at the commit and at the ` +
          'one before',
      },
    ];
  if (Math.abs(confidence - (verdict === 'not-reproduced' ? 0 : expected.share)) > 0.001)
    return [
      { path: 'confidence', message: `is ${confidence}, and the runs say ${expected.share.toFixed(3)}` },
    ];
  return doubtCandidates(bisection, expected);
}

/** Checks that the candidates are the commits at the positions that the runs point to. */
function doubtCandidates(
  { tried, skipped, candidates, verdict }: Bisection,
  { from, to }: { readonly from: number; readonly to: number },
): Doubt[] {
  const isNone = verdict === 'not-reproduced' || verdict === 'before';
  const count = isNone || to === 0 ? 0 : to - from + 1;
  const mayBeNone = verdict === 'inconclusive' && candidates.length === 0;
  if (candidates.length !== count && !mayBeNone)
    return [
      {
        path: 'candidates',
        message: `are ${candidates.length}, and the runs point to ${count}: name just these`,
      },
    ];
  const known = new Map([...tried, ...skipped].map(({ at, commit }) => [at, commit]));
  const wrong = candidates.findIndex(({ commit }, index) => (known.get(from + index) ?? commit) !== commit);
  return wrong === -1
    ? []
    : [{ path: `candidates.${wrong}.commit`, message: 'is not the commit that was tried at its place' }];
}

function isOutOfOrder(places: readonly { readonly at?: number | undefined }[]): boolean {
  return places.some(({ at = 0 }, index) => index > 0 && at <= (places[index - 1]?.at ?? 0));
}

/** Finds statements that the runs with changes do not support. */
export function doubtTrial(trial: FixTrial): Doubt[] {
  const doubts = prefixDoubts('before', doubtRuns(trial.before, MAX_RUNS));
  for (const [at, attempt] of trial.attempts.entries()) {
    const found = prefixDoubts(`attempts.${at}`, doubtRuns(attempt, MAX_RUNS));
    const expected =
      attempt.verdict === 'refused' && attempt.exitCodes.length === 0
        ? 'refused'
        : judgeAttempt(attempt, trial);
    if (found.length === 0 && expected !== attempt.verdict) {
      const message =
        `is ${attempt.verdict}, and the runs say ${expected}: a fix needs at least ${MIN_RUNS} runs that ` +
        `fail without it, ${MIN_RUNS} that pass with it, a report of the tool that shows it (reported: ` +
        'true) where tests are named, and the wider check';
      found.push({ path: `attempts.${at}.verdict`, message });
    }
    append(doubts, found);
  }
  if (doubts.length === 0 && judgeTrial(trial) !== trial.verdict)
    doubts.push({ path: 'verdict', message: `is ${trial.verdict}, and the runs say ${judgeTrial(trial)}` });
  return doubts;
}

/** Checks that every change that would be shown could have been tried. */
function doubtDiffs({ attempts }: FixTrial): Doubt[] {
  return attempts.flatMap(({ diff }, at) =>
    diff === null
      ? []
      : refuseFix(diff, { tests: false, workflows: false }).map((reason) => ({
          path: `attempts.${at}.diff`,
          message: `is not shown to anybody: ${reason}. Send the attempt without its diff`,
        })),
  );
}

function isSameCommit(left: string, right: string): boolean {
  return left.startsWith(right) || right.startsWith(left);
}

function prefixDoubts(path: string, doubts: readonly Doubt[]): Doubt[] {
  return doubts.map((doubt) => ({ ...doubt, path: `${path}.${doubt.path}` }));
}
