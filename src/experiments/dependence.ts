import { isBeyondChance } from '../domain/conditions.ts';
import { CONDITIONS, type ConditionKind } from '../domain/experiment.ts';
import {
  type Condition,
  createZoneConditions,
  findNetworkOff,
  seedCommand,
  shiftClock,
} from './conditions.ts';
import type { Outcome } from './outcome.ts';

export interface Lab {
  /** The command without a condition, followed by the output of a run of it. */
  readonly argv: readonly string[];
  readonly output: string;
  readonly runs: number;
  /** The frequency with which it failed. */
  readonly fails: 'sometimes' | 'always' | 'never';
  /** False if the network is off anyway. */
  readonly hasNetwork: boolean;
  readonly run: (condition: Condition) => Promise<Outcome>;
  /** Checks whether there is time for another run. */
  readonly isOpen: () => boolean;
}

export interface Counts {
  readonly condition: Condition;
  passed: number;
  failed: number;
}

export interface Dependence {
  readonly on: ConditionKind;
  /** The counts of the condition under which it fails, and of the one under which it passes. */
  readonly counts: readonly Counts[];
}

/**
 * Searches for a condition other than the code on which a failure depends: a seed, time zone, time of day or
 * date under which it always fails and another under which it always passes, or the network. Each condition
 * is tried once. If one fails and one passes, both are run as often as every arm. Returns null if none is
 * found, or if there is not enough time.
 */
export async function findDependence(lab: Lab): Promise<Dependence | null> {
  for (const on of CONDITIONS) {
    const isOfUse = on === 'seed' ? lab.fails !== 'always' : on !== 'network' || lab.hasNetwork;
    const conditions = isOfUse ? await listConditions(on, lab) : [];
    const plain: Condition = { name: on === 'network' ? 'the network on' : '', argv: lab.argv, env: {} };
    const [first] = conditions;
    if (first === undefined) continue;
    const counts =
      lab.fails !== 'sometimes'
        ? await split(lab, [plain, ...conditions])
        : on === 'network'
          ? await compare(lab, plain, first)
          : await split(lab, conditions);
    if (counts !== null) return { on, counts };
  }
  return null;
}

async function listConditions(on: ConditionKind, { argv, output, runs }: Lab): Promise<Condition[]> {
  switch (on) {
    case 'seed':
      return Array.from({ length: 2 * runs }, (_, at) => seedCommand(argv, output, at + 1)).filter(
        (condition) => condition !== null,
      );
    case 'time zone':
      return createZoneConditions(argv);
    case 'time':
      return await shiftClock(argv, Date.now());
    case 'network': {
      const off = await findNetworkOff();
      return off === null ? [] : [{ name: 'the network off', argv: [...off, ...argv], env: {} }];
    }
  }
}

/**
 * Finds one condition that fails every time and one that passes every time. Tries conditions once each, then
 * repeats the first one that failed and the first one that passed.
 */
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
  const [red, green] = [createCounts(failed, { failed: 1 }), createCounts(passed, { passed: 1 })];
  for (let run = 0; run < lab.runs; run += 1) {
    if (!(await tryAgain(lab, [red, green])) || red.passed > 0 || green.failed > 0) return null;
  }
  return [red, green];
}

/**
 * Compares runs with and without the network, in turn. Returns counts if the command always has the same
 * outcome without the network and both outcomes with it.
 */
async function compare(lab: Lab, plain: Condition, condition: Condition): Promise<Counts[] | null> {
  const [on, off] = [createCounts(plain), createCounts(condition)];
  for (let run = 0; run < 2 * lab.runs; run += 1) {
    if (!(await tryAgain(lab, [on, off])) || (off.passed > 0 && off.failed > 0)) return null;
  }
  return isBeyondChance(on, off) ? [off, on] : null;
}

function createCounts(
  condition: Condition,
  first: { readonly passed?: number; readonly failed?: number } = {},
): Counts {
  return { condition, passed: 0, failed: 0, ...first };
}

/**
 * Runs each condition once more. Returns false if one of them neither passed nor failed, or if the time has
 * run out.
 */
async function tryAgain(lab: Lab, all: readonly Counts[]): Promise<boolean> {
  for (const counts of all) {
    const outcome = lab.isOpen() ? await lab.run(counts.condition) : 'other';
    if (outcome !== 'passed' && outcome !== 'failed') return false;
    counts[outcome] += 1;
  }
  return true;
}
