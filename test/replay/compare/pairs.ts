import type { Comparison } from '../../../src/domain/comparison.ts';
import { type CaseOutcome, DatasetRow } from '../../../src/replay/cases/case.ts';
import { type CompareOptions, compareRuns } from '../../../src/replay/compare/compare-runs.ts';
import { type CaseResult, toFailedResult } from '../../../src/replay/run/results.ts';
import type { RunResults } from '../../../src/replay/run/results-file.ts';

/** A case of a test: its labels, and what each side said; null: nothing, or one answer a repeat. */
export interface TestCase {
  readonly labels?: object;
  readonly a: Partial<CaseResult> | null | readonly Partial<CaseResult>[];
  readonly b: Partial<CaseResult> | null | readonly Partial<CaseResult>[];
}

export function compareCases(
  cases: readonly TestCase[],
  others: Partial<CompareOptions> = {},
): Promise<Comparison> {
  return compareRuns({
    dataset: 'cases.jsonl',
    cases: createOutcomes(cases.map(({ labels }, index) => ({ id: `c${index}`, ...labels }))),
    files: { a: createFiles(cases, 'a'), b: createFiles(cases, 'b') },
    ...others,
  });
}

export async function* createOutcomes(rows: readonly object[]): AsyncGenerator<CaseOutcome> {
  for (const [index, row] of rows.entries()) {
    yield {
      line: index + 1,
      one: { row: DatasetRow.parse(row), load: () => Promise.reject(new Error('nobody reads logs again')) },
    };
  }
}

/** A right or wrong answer to a case whose label is CODE_ERROR. */
export function createAnswer(category: string, others: Partial<CaseResult> = {}): Partial<CaseResult> {
  return { category, action: 'human_review', confidence: 0.7, ...others };
}

function createFiles(cases: readonly TestCase[], side: 'a' | 'b'): RunResults[] {
  const answers = cases.map((testCase) => [testCase[side] ?? []].flat());
  const repeats = Math.max(1, ...answers.map((ones) => ones.length));
  return Array.from({ length: repeats }, (_, at) => ({
    path: `${side}${at}.jsonl`,
    results: new Map(
      answers.flatMap((ones, index) => {
        const answer = ones[at];
        return answer === undefined
          ? []
          : [[`c${index}`, { ...toFailedResult(`c${index}`, '', 0), error: null, ...answer }]];
      }),
    ),
  }));
}
