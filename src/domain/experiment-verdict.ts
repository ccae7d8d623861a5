import { computeProportion } from '../lib/statistics.ts';
import { formatCount } from '../lib/text.ts';
import { shortenCommit } from './build.ts';
import { findDependenceArms } from './conditions.ts';
import { type Arm, type Experiment, MIN_RUNS } from './experiment.ts';

export function countRuns({ passed, failed, other }: Arm): number {
  return passed + failed + other;
}

export function isMixed({ passed, failed }: Arm): boolean {
  return passed > 0 && failed > 0;
}

function isEvery(arm: Arm, outcome: 'passed' | 'failed'): boolean {
  return countRuns(arm) > 0 && arm[outcome] === countRuns(arm);
}

type Verdict = Pick<Experiment, 'verdict' | 'sentence'>;
type Facts = Pick<Experiment, 'arms' | 'dependsOnOthers' | 'polluters' | 'dependsOn'>;

/** Computes the verdict and its sentences from the run counts. Submitted text is never repeated. */
export function judgeRuns({ arms, dependsOnOthers, polluters, dependsOn }: Facts): Verdict {
  const plain = arms.filter(({ under }) => under === undefined);
  const { verdict, sentence: counts } = judgePlain(
    plain.filter((arm) => countRuns(arm) > 0),
    { dependsOnOthers, polluters },
  );
  const sentence = counts + describeCached(plain);
  const dependent = findDependenceArms(arms, dependsOn);
  if (dependent === null) return { verdict, sentence };
  const parts = dependent.map(
    (arm) => `${arm.failed} of ${countRuns(arm)} ${arm.under === '' ? 'as it is' : `with ${arm.under}`}`,
  );
  return { verdict, sentence: `${sentence} It depends on the ${dependsOn}: fails ${parts.join(', ')}.` };
}

/**
 * Returns true if the failing tests fail in every run of the suite, but pass in every run alone, of which
 * there are at least `MIN_RUNS`.
 */
export function dependsOnSuite(arms: readonly Arm[]): boolean {
  const [suite, alone] = (['suite', 'alone'] as const).map((what) => findCheckoutArm(arms, what));
  if (suite === undefined || alone === undefined) return false;
  return isEvery(suite, 'failed') && isEvery(alone, 'passed') && countRuns(alone) >= MIN_RUNS;
}

/** Returns true if the failing test always fails when it runs after the other tests of the experiment. */
export function failsAfterOthers(arms: readonly Arm[]): boolean {
  const after = findCheckoutArm(arms, 'after');
  return after !== undefined && isEvery(after, 'failed') && countRuns(after) >= MIN_RUNS;
}

function findCheckoutArm(arms: readonly Arm[], what: Arm['what']): Arm | undefined {
  return arms.find((arm) => arm.where === 'here' && arm.what === what && arm.under === undefined);
}

function judgePlain(
  arms: readonly Arm[],
  { dependsOnOthers, polluters }: Pick<Facts, 'dependsOnOthers' | 'polluters'>,
): Verdict {
  const mixed = arms.find(isMixed);
  if (mixed !== undefined) return createFlakyVerdict(mixed);
  const base = arms.find(({ where }) => where === 'base') ?? null;
  const here = findMainArm(arms, base);
  if (here === null || here.other > 0) return createInconclusiveVerdict(here, base);
  const alone = dependsOnOthers === true ? describeDependence(arms, polluters) : '';
  if (here.failed === 0) return createNotReproducedVerdict(here);
  const fails = `Fails ${here.failed} of ${countRuns(here)} here`;
  if (base === null)
    return { verdict: 'reproduced', sentence: `${fails}. It was not compared with a base.${alone}` };
  const enough = countRuns(here) >= MIN_RUNS && countRuns(base) >= MIN_RUNS;
  const there =
    `${base.failed} of ${countRuns(base)} on the ` +
    `base${base.commit === null ? '' : ` (${shortenCommit(base.commit)})`}`;
  if (enough && isEvery(base, 'passed')) {
    const odds = Math.floor(1 / computeMaxChance(here.failed, base.passed)).toLocaleString('en');
    const chance = `A test that fails at random would look like this at most once in ${odds} times.`;
    return {
      verdict: 'this-change',
      sentence: `${fails}, ${there}: introduced by this change. ${chance}${alone}`,
    };
  }
  if (enough && isEvery(base, 'failed'))
    return {
      verdict: 'not-this-change',
      sentence: `${fails} and ${there}: not caused by this change.${alone}`,
    };
  return createInconclusiveVerdict(here, base);
}

/** Returns a sentence about passes that came from a cache, or '' if there are none. */
function describeCached(arms: readonly Arm[]): string {
  const sum = (field: 'cached' | 'passed') => arms.reduce((total, arm) => total + (arm[field] ?? 0), 0);
  const [cached, isAll] = [sum('cached'), sum('passed') === 0];
  const advice = 'turn the cache off in the command.';
  if (cached === 0) return '';
  if (cached === 1)
    return (
      ` ${isAll ? 'The only pass' : '1 pass'} was answered by a cache and does not count as a ` +
      `run: ${advice}`
    );
  return (
    ` ${isAll ? `All ${cached}` : cached} passes were answered by a cache and do not count as ` +
    `runs: ${advice}`
  );
}

function describeDependence(arms: readonly Arm[], polluters: readonly string[]): string {
  const [after, alone] = (['after', 'alone'] as const).map((what) => findCheckoutArm(arms, what));
  if (after === undefined || alone === undefined || polluters.length === 0)
    return ' The failing tests pass alone, so they depend on other tests or on their order.';
  const others = formatCount(polluters.length, 'other test');
  return (
    ` It depends on other tests: fails ${after.failed} of ${countRuns(after)} ` +
    `after ${others}, ${alone.failed} of ${countRuns(alone)} alone.`
  );
}

/**
 * Returns the arm to compare with the base; without a base, the arm with most failures, then the arm with
 * most runs.
 */
function findMainArm(arms: readonly Arm[], base: Arm | null): Arm | null {
  const here = arms.filter(
    ({ where, what }) => where === 'here' && (base === null ? what !== 'after' : what === base.what),
  );
  return here.toSorted((a, b) => b.failed - a.failed || countRuns(b) - countRuns(a))[0] ?? null;
}

/**
 * Computes the maximum probability of this many failures followed by this many passes, over all rates at
 * which a test may fail at random.
 */
function computeMaxChance(failures: number, passes: number): number {
  const rate = failures / (failures + passes);
  return rate ** failures * (1 - rate) ** passes;
}

function createFlakyVerdict(arm: Arm): Verdict {
  const { share, low, high } = computeProportion(arm.failed, arm.failed + arm.passed);
  const percent = (value: number) => Math.round(value * 100);
  const where = arm.where === 'here' ? 'here' : 'on the base';
  const rate = `${percent(share)}% of runs (95% interval ${percent(low)} to ${percent(high)}%)`;
  return {
    verdict: 'flaky',
    sentence:
      `Fails ${arm.failed} of ${arm.failed + arm.passed} ${where} without any change: ` +
      `flaky, in ${rate}.`,
  };
}

function createNotReproducedVerdict(arm: Arm): Verdict {
  const most = Math.round((1 - 0.05 ** (1 / arm.passed)) * 100);
  const rest = `If it fails at random, it fails in fewer than ${most}% of runs (95% confidence).`;
  return {
    verdict: 'not-reproduced',
    sentence: `Passes ${arm.passed} of ${countRuns(arm)} here: not reproduced. ${rest}`,
  };
}

function createInconclusiveVerdict(here: Arm | null, base: Arm | null): Verdict {
  const describeRuns = (arm: Arm, where: string) =>
    `${arm.failed} of ${countRuns(arm)} runs failed this ` +
    `way ${where}${arm.other > 0 ? `, ${arm.other} in another way` : ''}`;
  const parts = [
    here === null ? [] : [describeRuns(here, 'here')],
    base === null ? [] : [describeRuns(base, 'on the base')],
  ].flat();
  return {
    verdict: 'inconclusive',
    sentence: `Inconclusive: ${parts.length === 0 ? 'nothing was run' : parts.join('; ')}.`,
  };
}
