import { messageOf } from '../../domain/errors.ts';
import type { CaseOutcome } from '../cases/case.ts';
import { compareRuns } from '../compare/compare-runs.ts';
import type { Comparison } from '../compare/comparison.ts';
import type { RunResults } from '../compare/read-results.ts';
import type { GatedRun } from './gated-run.ts';

/** The run beside the baseline (A) on the cases that both have; a sentence where they cannot be compared. */
export async function compareToBaseline(baseline: RunResults | null, run: GatedRun): Promise<Comparison | string> {
  if (baseline === null) return 'no baseline is named.';
  const results = new Map(run.cases.map(({ result }) => [result.id, result]));
  try {
    return await compareRuns({ dataset: run.label, cases: outcomesOf(run), files: { a: [baseline], b: [{ path: run.name, results }] } });
  } catch (error) {
    return messageOf(error);
  }
}

async function* outcomesOf({ cases }: GatedRun): AsyncGenerator<CaseOutcome> {
  for (const [index, { row }] of cases.entries()) {
    if (row !== null) yield { line: index + 1, one: { row, load: () => Promise.reject(new Error('a comparison reads no log')) } };
  }
}
