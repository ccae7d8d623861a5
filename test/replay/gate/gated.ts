import type { DatasetRow } from '../../../src/replay/cases/case.ts';
import type { Figure } from '../../../src/replay/figures/figure.ts';
import type { GatedRun } from '../../../src/replay/gate.ts';
import { Bar, type Gate } from '../../../src/replay/gate-bars.ts';
import { createReplayedCase, type ReplayedCase } from '../../../src/replay/run/replay.ts';
import { type CaseResult, toFailedResult } from '../../../src/replay/run/results.ts';

/** A gate of bars as a file would hold them. */
export function createGate(bars: readonly object[], others: Partial<Gate> = {}): Gate {
  return { path: 'bars.json', bars: bars.map((bar) => Bar.parse(bar)), baseline: null, ...others };
}

/** A data set that was replayed, with these figures under the heading "category". */
export function createRun(figures: readonly Partial<Figure>[], others: Partial<GatedRun> = {}): GatedRun {
  const whole = figures.map((figure) => ({ name: 'category accuracy', value: 1, cases: 50, ...figure }));
  const cases = [createAnswered('a', 'CODE_ERROR')];
  return {
    name: 'set.jsonl',
    label: 'set.jsonl',
    sections: [{ title: 'category', figures: whole }],
    cases,
    isAll: true,
    ...others,
  };
}

/** A case whose label is CODE_ERROR unless said otherwise, and what was answered. */
export function createAnswered(
  id: string,
  category: string | null,
  labels: Partial<DatasetRow> = { category: 'CODE_ERROR' },
): ReplayedCase {
  return createReplayedCase({ id, ...labels }, createResult(id, category));
}

export function createResult(id: string, category: string | null): CaseResult {
  return { ...toFailedResult(id, '', 0), error: null, category, confidence: 0.7, action: 'human_review' };
}
