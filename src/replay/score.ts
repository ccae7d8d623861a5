import { CATEGORIES, type Category } from '../domain/category.ts';
import type { ReplayedCase } from './replay.ts';

/** One figure of the table: its name, its value (0..1 unless the name says otherwise), and on how many cases it rests. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly cases: number;
}

/** From this probability on, a wrong category is a confident error. */
const CONFIDENT = 0.85;

/** Whatever the labels of these cases allow; figures without a label are left out. */
export function scoreCases(cases: readonly ReplayedCase[]): Figure[] {
  return [
    { name: 'cases', value: cases.length, cases: cases.length },
    { name: 'cases that failed', value: cases.filter((one) => one.result.error !== null).length, cases: cases.length },
    ...scoreLines(cases),
    ...scoreCategories(cases),
    ...scoreTests(cases),
    ...scoreSuspects(cases),
    ...scoreGroups(cases),
    ...scoreQuotes(cases),
  ];
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;
}

/** Mean recall of the labelled lines, and the mean share of the log's characters that the excerpts keep. */
function scoreLines(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.expected_lines?.length ?? 0) > 0);
  if (labelled.length === 0) return [];
  const kept = labelled.filter((one) => one.result.logBytes > 0);
  const share = (one: ReplayedCase) => one.result.excerpts.reduce((total, excerpt) => total + excerpt.text.length, 0) / one.result.logBytes;
  return [
    { name: 'recall of labelled lines', value: mean(labelled.map(lineRecall)), cases: labelled.length },
    { name: 'share of the log kept', value: mean(kept.map(share)), cases: kept.length },
    { name: 'tokens kept (mean)', value: mean(kept.map((one) => one.result.tokens)), cases: kept.length },
  ];
}

function lineRecall({ row, result }: ReplayedCase): number {
  let wanted = 0;
  let found = 0;
  for (const [start, end] of row?.expected_lines ?? []) {
    for (let line = start; line <= end; line++) {
      wanted++;
      if (result.excerpts.some((excerpt) => excerpt.lineStart <= line && line <= excerpt.lineEnd)) found++;
    }
  }
  return wanted === 0 ? 0 : found / wanted;
}

function scoreCategories(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => one.row?.category != null && one.result.category !== null);
  if (labelled.length === 0) return [];
  const judged = labelled.map((one) => ({ truth: truthOf(one), said: one.result.category, one }));
  const classes = CATEGORIES.filter((category) => judged.some((entry) => entry.truth === category));
  const perClass = classes.map((category) => ({
    category,
    f1: f1Of(category, judged),
    n: judged.filter((entry) => entry.truth === category).length,
  }));
  const real = judged.filter((entry) => entry.truth === 'CODE_ERROR' || entry.truth === 'TEST_FAILURE');
  const confident = judged.filter((entry) => (entry.one.result.confidence ?? 0) >= CONFIDENT);
  return [
    { name: 'category accuracy', value: mean(judged.map((entry) => Number(entry.truth === entry.said))), cases: judged.length },
    { name: 'category macro-F1', value: mean(perClass.map((entry) => entry.f1)), cases: judged.length },
    ...perClass.map(({ category, f1, n }) => ({ name: `  F1 ${category}`, value: f1, cases: n })),
    { name: 'category top-2', value: mean(judged.map(({ one }) => Number(inTopTwo(one)))), cases: judged.length },
    {
      name: 'code and test failures called INFRA_ERROR',
      value: mean(real.map((entry) => Number(entry.said === 'INFRA_ERROR'))),
      cases: real.length,
    },
    {
      name: 'confident errors',
      value: mean(judged.map((entry) => Number(entry.truth !== entry.said && confident.includes(entry)))),
      cases: judged.length,
    },
    { name: 'abstained', value: mean(judged.map(({ one }) => Number(one.result.abstained))), cases: judged.length },
    { name: 'expected calibration error', value: calibrationError(judged), cases: judged.length },
    {
      name: 'published without a person',
      value: mean(judged.map(({ one }) => Number(one.result.action === 'auto_notify'))),
      cases: judged.length,
    },
  ];
}

interface Judged {
  readonly truth: string;
  readonly said: string | null;
  readonly one: ReplayedCase;
}

function acceptedOf({ row }: ReplayedCase): Category[] {
  return [row?.category ?? [], row?.also_ok ?? [], row?.category_alternatives ?? []].flat();
}

/** The label; where an accepted alternative was said, that alternative. */
function truthOf(one: ReplayedCase): string {
  const said = one.result.category;
  const accepted: readonly string[] = acceptedOf(one);
  return said !== null && accepted.includes(said) ? said : (one.row?.category ?? '');
}

function f1Of(category: string, judged: readonly Judged[]): number {
  const hits = judged.filter((entry) => entry.truth === category && entry.said === category).length;
  const said = judged.filter((entry) => entry.said === category).length;
  const true_ = judged.filter((entry) => entry.truth === category).length;
  return said + true_ === 0 ? 0 : (2 * hits) / (said + true_);
}

function inTopTwo(one: ReplayedCase): boolean {
  const ranked = Object.entries(one.result.probabilities).sort((left, right) => right[1] - left[1]);
  const accepted: readonly string[] = acceptedOf(one);
  return ranked.slice(0, 2).some(([category]) => accepted.includes(category));
}

/** Expected calibration error over ten bins of stated confidence (Guo et al. 2017, arXiv 1706.04599). */
function calibrationError(judged: readonly Judged[]): number {
  let error = 0;
  for (let bin = 0; bin < 10; bin++) {
    const inside = judged.filter(({ one }) => Math.min(9, Math.floor((one.result.confidence ?? 0) * 10)) === bin);
    if (inside.length === 0) continue;
    const right = mean(inside.map((entry) => Number(entry.truth === entry.said)));
    const stated = mean(inside.map(({ one }) => one.result.confidence ?? 0));
    error += (inside.length / judged.length) * Math.abs(right - stated);
  }
  return error;
}

/** Precision and recall over all named tests together; names are compared by their words, so that notation does not count. */
function scoreTests(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.failing_tests?.length ?? 0) > 0);
  if (labelled.length === 0) return [];
  let hits = 0;
  let wanted = 0;
  let named = 0;
  for (const { row, result } of labelled) {
    const truth = [...new Set(row?.failing_tests ?? [])].map(wordsOf);
    const found = result.failingTests.map((test) => ({
      all: wordsOf(`${test.file ?? ''} ${test.suite ?? ''} ${test.name}`),
      own: wordsOf(test.name),
    }));
    wanted += truth.length;
    named += found.length;
    hits += matchTests(truth, found);
  }
  const precision = named === 0 ? 0 : hits / named;
  const recall = wanted === 0 ? 0 : hits / wanted;
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return [
    { name: 'failing tests: precision', value: precision, cases: labelled.length },
    { name: 'failing tests: recall', value: recall, cases: labelled.length },
    { name: 'failing tests: F1', value: f1, cases: labelled.length },
  ];
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

function scoreSuspects(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => (one.row?.faulty_files?.length ?? 0) > 0 && one.result.action !== null);
  if (labelled.length === 0) return [];
  const top = (count: number) => mean(labelled.map((one) => Number(suspectsHit(one, count))));
  return [
    { name: 'faulty file first', value: top(1), cases: labelled.length },
    { name: 'faulty file in the first five', value: top(5), cases: labelled.length },
  ];
}

function suspectsHit({ row, result }: ReplayedCase, count: number): boolean {
  return result.suspects.slice(0, count).some(({ path }) => row?.faulty_files?.some((file) => sameFile(path, file)));
}

/** Paths in logs are rooted elsewhere: one must end with the other, segment by segment. */
function sameFile(left: string, right: string): boolean {
  return `/${left}`.endsWith(`/${right}`) || `/${right}`.endsWith(`/${left}`);
}

/** Over all pairs of cases: how many with one fingerprint are one failure, and how many of one failure have one fingerprint. */
function scoreGroups(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => one.row?.group != null);
  if (labelled.length === 0) return [];
  const pairs = (keyOf: (one: ReplayedCase) => string | null) => {
    const counts = new Map<string, number>();
    for (const one of labelled) {
      const key = keyOf(one);
      if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts.values()].reduce((total, count) => total + (count * (count - 1)) / 2, 0);
  };
  const both = pairs((one) => (one.result.fingerprint === null ? null : `${one.row?.group}\u0001${one.result.fingerprint}`));
  const sameFingerprint = pairs((one) => one.result.fingerprint);
  const sameGroup = pairs((one) => one.row?.group ?? null);
  return [
    { name: 'same fingerprint: pair precision', value: sameFingerprint === 0 ? 0 : both / sameFingerprint, cases: labelled.length },
    { name: 'same fingerprint: pair recall', value: sameGroup === 0 ? 0 : both / sameGroup, cases: labelled.length },
  ];
}

function scoreQuotes(cases: readonly ReplayedCase[]): Figure[] {
  const made = cases.reduce((total, one) => total + one.quotes.made, 0);
  if (made === 0) return [];
  const literal = cases.reduce((total, one) => total + one.quotes.literal, 0);
  return [{ name: 'quotations literally in the log', value: literal / made, cases: made }];
}
