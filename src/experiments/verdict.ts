import { shortCommit } from '../domain/build.ts';
import { type Arm, type Experiment, MIN_RUNS } from '../domain/experiment.ts';
import { proportion } from '../lib/statistics.ts';

export function countOf({ passed, failed, other }: Arm): number {
  return passed + failed + other;
}

/** Whether an arm has been run as often as it is to be; one that a cache answers is not tried for ever. */
export function isDone(arm: Arm, runs: number): boolean {
  return countOf(arm) >= runs || (arm.cached ?? 0) >= MOST_CACHED;
}

/** Answers of a cache after which no run is expected. */
export const MOST_CACHED = 2;

export function isMixed({ passed, failed }: Arm): boolean {
  return passed > 0 && failed > 0;
}

export function isEvery(arm: Arm, outcome: 'passed' | 'failed'): boolean {
  return countOf(arm) > 0 && arm[outcome] === countOf(arm);
}

/** Runs of an arm from which something may be concluded. */
export function least(runs: number): number {
  return Math.min(runs, MIN_RUNS);
}

type Verdict = Pick<Experiment, 'verdict' | 'sentence'>;

/** What the counts tell, and the sentence that says so. */
export function verdictOf(
  arms: readonly Arm[],
  { runs, dependsOnOthers, polluters }: { readonly runs: number } & Pick<Experiment, 'dependsOnOthers' | 'polluters'>,
): Verdict {
  const { verdict, sentence } = judge(
    arms.filter((arm) => countOf(arm) > 0),
    { runs, dependsOnOthers, polluters },
  );
  return { verdict, sentence: sentence + cachedPasses(arms) };
}

function judge(
  arms: readonly Arm[],
  { runs, dependsOnOthers, polluters }: { readonly runs: number } & Pick<Experiment, 'dependsOnOthers' | 'polluters'>,
): Verdict {
  const mixed = arms.find(isMixed);
  if (mixed !== undefined) return flaky(mixed);
  const base = arms.find(({ where }) => where === 'base') ?? null;
  const here = mainArm(arms, base);
  if (here === null || here.other > 0) return unclear(here, base);
  const alone = dependsOnOthers === true ? dependence(arms, polluters) : '';
  if (here.failed === 0) return notReproduced(here);
  const fails = `Fails ${here.failed} of ${countOf(here)} here`;
  if (base === null) return { verdict: 'reproduced', sentence: `${fails}. It was not compared with a base.${alone}` };
  const enough = countOf(here) >= least(runs) && countOf(base) >= least(runs);
  const there = `${base.failed} of ${countOf(base)} on the base${base.commit === null ? '' : ` (${shortCommit(base.commit)})`}`;
  if (enough && isEvery(base, 'passed')) {
    const odds = Math.floor(1 / byChance(here.failed, base.passed)).toLocaleString('en');
    const chance = `A test that fails at random would look like this at most once in ${odds} times.`;
    return { verdict: 'this-change', sentence: `${fails}, ${there}: introduced by this change. ${chance}${alone}` };
  }
  if (enough && isEvery(base, 'failed'))
    return { verdict: 'not-this-change', sentence: `${fails} and ${there}: not caused by this change.${alone}` };
  return unclear(here, base);
}

/** What is said of passes that were none. */
function cachedPasses(arms: readonly Arm[]): string {
  const total = (of: (arm: Arm) => number) => arms.reduce((sum, arm) => sum + of(arm), 0);
  const [cached, passed] = [total((arm) => arm.cached ?? 0), total((arm) => arm.passed)];
  if (cached === 0) return '';
  const which =
    passed === 0
      ? cached === 1
        ? 'The only pass was'
        : `All ${cached} passes were`
      : cached === 1
        ? '1 pass was'
        : `${cached} passes were`;
  return ` ${which} answered by a cache and ${cached === 1 ? 'does' : 'do'} not count as ${cached === 1 ? 'a run' : 'runs'}: turn the cache off in the command.`;
}

function dependence(arms: readonly Arm[], polluters: readonly string[]): string {
  const [after, alone] = (['after', 'alone'] as const).map((what) => arms.find((arm) => arm.where === 'here' && arm.what === what));
  if (after === undefined || alone === undefined || polluters.length === 0)
    return ' The failing tests pass alone, so they depend on other tests or on their order.';
  const names = polluters.slice(0, MOST_NAMED).map((name) => `"${name}"`);
  const rest = polluters.length > MOST_NAMED ? ` and ${polluters.length - MOST_NAMED} more` : '';
  return ` It depends on other tests: fails ${after.failed} of ${countOf(after)} behind ${names.join(', ')}${rest}, ${alone.failed} of ${countOf(alone)} alone.`;
}

/** Tests named in a sentence. */
const MOST_NAMED = 3;

/** The arm that the base is compared with, else the one that failed, else the one that ran most often. */
function mainArm(arms: readonly Arm[], base: Arm | null): Arm | null {
  const here = arms.filter(({ where, what }) => where === 'here' && (base === null ? what !== 'after' : what === base.what));
  return here.toSorted((a, b) => b.failed - a.failed || countOf(b) - countOf(a))[0] ?? null;
}

/** The largest probability, over all rates at which a test may fail at random, of so many failures and then so many passes. */
function byChance(failures: number, passes: number): number {
  const rate = failures / (failures + passes);
  return rate ** failures * (1 - rate) ** passes;
}

function flaky(arm: Arm): Verdict {
  const { share, low, high } = proportion(arm.failed, arm.failed + arm.passed);
  const percent = (value: number) => Math.round(value * 100);
  const where = arm.where === 'here' ? 'here' : 'on the base';
  const rate = `${percent(share)}% of runs (95% interval ${percent(low)} to ${percent(high)}%)`;
  return {
    verdict: 'flaky',
    sentence: `Fails ${arm.failed} of ${arm.failed + arm.passed} ${where} without any change: flaky, in ${rate}.`,
  };
}

function notReproduced(arm: Arm): Verdict {
  const most = Math.round((1 - 0.05 ** (1 / arm.passed)) * 100);
  const rest = `If it fails at random, it fails in fewer than ${most}% of runs (95% confidence).`;
  return { verdict: 'not-reproduced', sentence: `Passes ${arm.passed} of ${countOf(arm)} here: not reproduced. ${rest}` };
}

function unclear(here: Arm | null, base: Arm | null): Verdict {
  const told = (arm: Arm, where: string) =>
    `${arm.failed} of ${countOf(arm)} runs failed this way ${where}${arm.other > 0 ? `, ${arm.other} in another way` : ''}`;
  const parts = [here === null ? [] : [told(here, 'here')], base === null ? [] : [told(base, 'on the base')]].flat();
  return { verdict: 'inconclusive', sentence: `Inconclusive: ${parts.length === 0 ? 'nothing was run' : parts.join('; ')}.` };
}
