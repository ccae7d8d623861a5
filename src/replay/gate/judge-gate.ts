import type { ReplayedCase } from '../run/replay.ts';
import type { Bar, Gate } from './bars.ts';
import { compareToBaseline } from './compare-to-baseline.ts';
import type { BarOutcome, GateResult } from './gate-result.ts';
import type { GatedRun } from './gated-run.ts';
import { judgeBar } from './judge-bar.ts';
import { judgeWorse } from './judge-worse.ts';
import { nearestName } from './nearest-name.ts';

/**
 * Holds every bar against every data set that it is for. What cannot be judged is failed, never passed: a figure that is not there, a data
 * set that was not replayed, is empty, has no label, holds rows that cannot be read, or was not replayed to its end.
 */
export async function judgeGate(gate: Gate, runs: readonly GatedRun[]): Promise<GateResult> {
  const outcomes: BarOutcome[] = runs.flatMap((run) => problemsOf(run, gate.bars));
  for (const run of runs) {
    const own = gate.bars.filter(({ dataset }) => dataset === undefined || dataset === run.name);
    const worse = own.some(({ worseBy }) => worseBy !== undefined) ? await compareToBaseline(gate.baseline, run) : null;
    for (const bar of own) outcomes.push(bar.worseBy === undefined ? judgeBar(bar, run) : judgeWorse(bar, bar.worseBy, run, worse));
  }
  const names = [...new Set(runs.map(({ name }) => name))];
  for (const bar of gate.bars)
    if (bar.dataset !== undefined && !names.includes(bar.dataset)) outcomes.push(notReplayed(bar, bar.dataset, names));
  if (runs.length === 0) outcomes.push(problem('(none)', 'Nothing was replayed, so no bar was checked.'));
  return { schema: 1, file: gate.path, ok: outcomes.every(({ status }) => status !== 'failed'), outcomes };
}

function problemsOf({ name, label, cases, isAll }: GatedRun, bars: readonly Bar[]): BarOutcome[] {
  const problems: string[] = [];
  if (cases.length === 0) problems.push(`${label} has no cases: nothing was measured.`);
  else if (!cases.some(hasLabel)) problems.push(`${label} has no labels: its answers could not be checked.`);
  const [unreadable, ...more] = cases.filter(({ row }) => row === null).map(({ result }) => result.id);
  if (unreadable !== undefined)
    problems.push(
      `${label} has ${more.length === 0 ? '1 row' : `${more.length + 1} rows`} that cannot be read, ${unreadable} for one: what ${more.length === 0 ? 'it' : 'they'} would have shown nobody knows.`,
    );
  if (!isAll) problems.push(`${label} was not fully replayed: the missing cases may be the failing ones.`);
  if (bars.every(({ dataset }) => dataset !== undefined && dataset !== name))
    problems.push(`No bar covers ${name}: add one, or leave the data set out.`);
  return problems.map((sentence) => problem(label, sentence));
}

function hasLabel({ row }: ReplayedCase): boolean {
  if (row === null) return false;
  const lists = [row.expected_lines, row.failing_tests, row.faulty_files, row.required_mentions, row.forbidden_mentions];
  return (
    row.category != null || row.kind != null || row.group != null || row.root_cause != null || lists.some((list) => (list?.length ?? 0) > 0)
  );
}

function notReplayed({ figure, why }: Bar, dataset: string, names: readonly string[]): BarOutcome {
  const near = nearestName(dataset, names);
  const hint = near === null ? `replayed: ${names.join(', ') || 'nothing'}` : `did you mean ${near}?`;
  return { ...problem(dataset, `${dataset} was not replayed, so ${figure} could not be checked; ${hint}`), figure, why: why ?? null };
}

function problem(dataset: string, sentence: string): BarOutcome {
  const nothing = { bar: null, value: null, interval: null, cases: null, why: null, against: [] };
  return { dataset, figure: '(data set)', status: 'failed', sentence, ...nothing };
}
