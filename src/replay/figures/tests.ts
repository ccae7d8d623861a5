import type { FailingTest } from '../../domain/failure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, f1, ratio } from './figure.ts';

/** Precision and recall over all named tests together; names are compared by their words, so that notation does not count. */
export function scoreTests(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.failing_tests?.length ?? 0) > 0);
  if (labelled.length === 0) return [];
  let hits = 0;
  let wanted = 0;
  let named = 0;
  for (const { row, result } of labelled) {
    const truth = [...new Set(row?.failing_tests ?? [])];
    wanted += truth.length;
    named += result.failingTests.length;
    hits += countNamed(truth, result.failingTests);
  }
  const precision = ratio(hits, named);
  const recall = ratio(hits, wanted);
  return [
    { name: 'failing tests: precision', value: precision, cases: labelled.length },
    { name: 'failing tests: recall', value: recall, cases: labelled.length },
    { name: 'failing tests: F1', value: f1(precision, recall), cases: labelled.length },
  ];
}

/** How many of the labelled tests were named; each found test counts for one of them. */
export function countNamed(truth: readonly string[], tests: readonly Pick<FailingTest, 'name' | 'suite' | 'file'>[]): number {
  const found = tests.map((test) => ({ all: wordsOf(`${test.file ?? ''} ${test.suite ?? ''} ${test.name}`), own: wordsOf(test.name) }));
  return matchTests(truth.map(wordsOf), found);
}

function matchTests(truth: readonly string[][], found: readonly { all: string[]; own: string[] }[]): number {
  const free = new Set(found);
  let hits = 0;
  for (const words of truth) {
    const match = [...free].find(({ all, own }) => words.every((word) => all.includes(word)) || own.every((word) => words.includes(word)));
    if (match === undefined) continue;
    free.delete(match);
    hits++;
  }
  return hits;
}

function wordsOf(name: string): string[] {
  return name.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}
