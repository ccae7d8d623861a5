import { CONDITIONS, type Experiment } from '../domain/experiment.ts';
import { atTimes, type Condition, inZones, networkOff, seeded } from './conditions.ts';
import type { Outcome } from './outcome.ts';

type Kind = (typeof CONDITIONS)[number];

export interface Lab {
  /** The command as it is run without a condition, and what a run of it printed. */
  readonly argv: readonly string[];
  readonly output: string;
  readonly runs: number;
  /** Whether it failed sometimes, each time or never. */
  readonly fails: 'sometimes' | 'always' | 'never';
  /** False where the network is off anyhow. */
  readonly hasNetwork: boolean;
  readonly run: (condition: Condition) => Promise<Outcome>;
  /** Whether there is time for another run. */
  readonly isOpen: () => boolean;
}

export interface Counts {
  readonly condition: Condition;
  passed: number;
  failed: number;
}

export interface Dependence {
  readonly on: NonNullable<Experiment['dependsOn']>;
  /** That under which it fails, and that under which it passes. */
  readonly counts: readonly Counts[];
  readonly sentence: string;
}

/** A dependence is named where chance alone would look like it less often than this. */
const MOST_CHANCE = 0.01;

/**
 * Looks for what a failure depends on besides the code: a seed, time zone, time of day or date under which it always fails and another under
 * which it always passes, or the network. Each is tried once; where one fails and one passes, both are run as often as every arm.
 * Null where none is found, or time does not suffice.
 */
export async function findDependence(lab: Lab): Promise<Dependence | null> {
  for (const on of CONDITIONS) {
    const isOfUse = on === 'seed' ? lab.fails !== 'always' : on !== 'network' || lab.hasNetwork;
    const conditions = isOfUse ? await conditionsOf(on, lab) : [];
    const plain: Condition = { name: on === 'network' ? 'the network on' : '', argv: lab.argv, env: {} };
    const [first] = conditions;
    if (first === undefined) continue;
    const counts =
      lab.fails !== 'sometimes'
        ? await split(lab, [plain, ...conditions])
        : on === 'network'
          ? await compare(lab, plain, first)
          : await split(lab, conditions);
    if (counts !== null) return { on, counts, sentence: sentenceOf(on, counts) };
  }
  return null;
}

async function conditionsOf(on: Kind, { argv, output, runs }: Lab): Promise<Condition[]> {
  switch (on) {
    case 'seed':
      return Array.from({ length: 2 * runs }, (_, at) => seeded(argv, output, at + 1)).filter((condition) => condition !== null);
    case 'time zone':
      return inZones(argv);
    case 'time':
      return await atTimes(argv, Date.now());
    case 'network': {
      const off = await networkOff();
      return off === null ? [] : [{ name: 'the network off', argv: [...off, ...argv], env: {} }];
    }
  }
}

/** One of them that fails each time and one that passes each time; of those that were tried once, the first of each. */
async function split(lab: Lab, conditions: readonly Condition[]): Promise<Counts[] | null> {
  const first: { passed?: Condition; failed?: Condition } = {};
  for (const condition of conditions) {
    if (!lab.isOpen()) return null;
    const outcome = await lab.run(condition);
    if (outcome === 'passed' || outcome === 'failed') first[outcome] ??= condition;
    if (first.passed !== undefined && first.failed !== undefined) break;
  }
  const { passed, failed } = first;
  if (passed === undefined || failed === undefined) return null;
  const [red, green] = [countsOf(failed, { failed: 1 }), countsOf(passed, { passed: 1 })];
  for (let run = 0; run < lab.runs; run += 1) {
    if (!(await tryAgain(lab, [red, green])) || red.passed > 0 || green.failed > 0) return null;
  }
  return [red, green];
}

/** With and without the network, in turn: whether it always goes one way without it, while it goes both ways with it. */
async function compare(lab: Lab, plain: Condition, condition: Condition): Promise<Counts[] | null> {
  const [on, off] = [countsOf(plain), countsOf(condition)];
  for (let run = 0; run < 2 * lab.runs; run += 1) {
    if (!(await tryAgain(lab, [on, off])) || (off.passed > 0 && off.failed > 0)) return null;
  }
  return byChanceAlone(on, off) < MOST_CHANCE ? [off, on] : null;
}

function countsOf(condition: Condition, first: { readonly passed?: number; readonly failed?: number } = {}): Counts {
  return { condition, passed: 0, failed: 0, ...first };
}

/** False where one of them neither passed nor failed, or time is over. */
async function tryAgain(lab: Lab, all: readonly Counts[]): Promise<boolean> {
  for (const counts of all) {
    const outcome = lab.isOpen() ? await lab.run(counts.condition) : 'other';
    if (outcome !== 'passed' && outcome !== 'failed') return false;
    counts[outcome] += 1;
  }
  return true;
}

function sentenceOf(on: Kind, counts: readonly Counts[]): string {
  const parts = counts.map(({ condition, passed, failed }) => {
    const how = condition.name === '' ? 'as it is' : `with ${condition.name}`;
    return `${failed} of ${failed + passed} ${how}`;
  });
  return ` It depends on the ${on}: fails ${parts.join(', ')}.`;
}

/**
 * Fisher's exact test for runs without the network that all went one way: how probable it is, if the network had no part in it, that all runs
 * that went the other way are among those with it.
 */
export function byChanceAlone(on: Pick<Counts, 'passed' | 'failed'>, off: Pick<Counts, 'passed' | 'failed'>): number {
  const [n, m] = [on.passed + on.failed, off.passed + off.failed];
  const others = off.passed === m ? on.failed : on.passed;
  let chance = 1;
  for (let at = 0; at < others; at += 1) chance *= (n - at) / (n + m - at);
  return chance;
}
