import { CONFIDENT } from '../figures/calibration.ts';
import { isInTopTwo } from '../figures/categories.ts';
import { isExcused, isRealFailure, isRight, type Judged, judgedCases } from '../figures/judged.ts';
import { lineRecall } from '../figures/lines.ts';
import { rankOf } from '../figures/suspects.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { type Better, type Measure, meanMeasure } from './measure.ts';
import type { PairedCase } from './paired-cases.ts';
import { CALIBRATION_ERROR, MACRO_F1, QUOTATIONS } from './whole-measures.ts';

/** What a case is worth by its main label: the first of these that the labels allow decides which cases are won and lost. */
export const MAIN_WORTHS: readonly { readonly name: string; readonly worth: (run: ReplayedCase) => number | null }[] = [
  { name: 'category accuracy', worth: ofJudged(isRight) },
  { name: 'faulty file: mean reciprocal rank', worth: ofSuspects((rank) => (rank === null ? 0 : 1 / rank)) },
  { name: 'recall of labelled lines', worth: recallOf },
];

/** Everything that two sides are compared by, in the order of the table. */
export const MEASURES: readonly Measure[] = [
  category('category accuracy', 'higher', isRight),
  MACRO_F1,
  category('category top-2', 'higher', isInTopTwo),
  whereClassified(
    meanMeasure('kind accuracy', 'higher', ({ row, result }) => (row?.kind == null ? null : Number(result.kind === row.kind))),
  ),
  category('published and right', 'higher', (one) => isPublished(one) && isRight(one)),
  category('published and wrong', 'lower', (one) => isPublished(one) && !isRight(one)),
  category('abstained', null, ({ one }) => one.result.abstained === true),
  whereClassified(meanMeasure('real failures called infrastructure or flaky', 'lower', excusedOf)),
  meanMeasure('confident errors', 'lower', (run) => statedOf(run, (stated, right) => Number(!right && stated >= CONFIDENT))),
  CALIBRATION_ERROR,
  meanMeasure('Brier score', 'lower', (run) => statedOf(run, (stated, right) => (stated - Number(right)) ** 2)),
  meanMeasure('recall of labelled lines', 'higher', recallOf),
  QUOTATIONS,
  suspects('faulty file first', (rank) => Number(rank === 1)),
  suspects('faulty file in the first five', (rank) => Number(rank !== null && rank <= 5)),
  suspects('faulty file: mean reciprocal rank', (rank) => (rank === null ? 0 : 1 / rank)),
];

function category(name: string, better: Better, holds: (one: Judged) => boolean): Measure {
  return whereClassified(meanMeasure(name, better, ofJudged(holds)));
}

function suspects(name: string, worth: (rank: number | null) => number): Measure {
  const measure = meanMeasure(name, 'higher', ofSuspects(worth));
  return { ...measure, prepare: (pairs) => (runsOf(pairs).some(({ result }) => result.action !== null) ? measure.prepare(pairs) : null) };
}

/** A run that only read says nothing of categories; being wrong everywhere would be unjust. */
function whereClassified(measure: Measure): Measure {
  return { ...measure, prepare: (pairs) => (runsOf(pairs).some(({ result }) => result.category !== null) ? measure.prepare(pairs) : null) };
}

function runsOf(pairs: readonly PairedCase[]): ReplayedCase[] {
  return pairs.flatMap(({ runs }) => [...runs.a, ...runs.b]);
}

function ofJudged(holds: (one: Judged) => boolean): (run: ReplayedCase) => number | null {
  return (run) => judgedCases([run]).map((one) => Number(holds(one)))[0] ?? null;
}

function ofSuspects(worth: (rank: number | null) => number): (run: ReplayedCase) => number | null {
  return (run) => ((run.row?.faulty_files?.length ?? 0) === 0 ? null : worth(rankOf(run)));
}

function recallOf(run: ReplayedCase): number | null {
  return (run.row?.expected_lines?.length ?? 0) === 0 ? null : lineRecall(run);
}

function statedOf(run: ReplayedCase, worth: (stated: number, right: boolean) => number): number | null {
  const { confidence } = run.result;
  return confidence === null ? null : (judgedCases([run]).map((one) => worth(confidence, isRight(one)))[0] ?? null);
}

function isPublished({ one }: Judged): boolean {
  return one.result.action === 'auto_notify';
}

/** The worst mistake there is; only failures of the code or of a test that are not flaky by their label can be met by it. */
function excusedOf(run: ReplayedCase): number | null {
  const [judged] = judgedCases([run]);
  return judged !== undefined && isRealFailure(judged) ? Number(isExcused(judged)) : null;
}
