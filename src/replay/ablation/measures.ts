import { type Measure, meanMeasure } from '../compare/measure.ts';
import { MEASURES } from '../compare/measures.ts';
import { CONFIDENT } from '../figures/calibration.ts';
import { isRight, judgedCases } from '../figures/judged.ts';
import { rankOf } from '../figures/suspects.ts';
import { scoreTests } from '../figures/tests.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { COVERAGE_AT_EQUAL_RISK } from './equal-risk.ts';

/** What two systems that differ in one part are compared by: everything that two runs are, and what only shows there. */
export const ABLATION_MEASURES: readonly Measure[] = [
  ...MEASURES,
  COVERAGE_AT_EQUAL_RISK,
  meanMeasure('confident but wrong answers', 'lower', sureAndWrong),
  meanMeasure('published with quotes that are not in the log', 'lower', misquoted),
  meanMeasure('faulty file in the first three', 'higher', (run) => amongFirst(run, 3)),
  meanMeasure('failing tests: F1 of a log', 'higher', testsOf),
];

/** By what it is published by, which is no classification's probability where an answer was verified. */
function sureAndWrong(run: ReplayedCase): number | null {
  const [judged] = judgedCases([run]);
  const stated = run.result.answerConfidence;
  return judged === undefined || stated === null ? null : Number(stated >= CONFIDENT && !isRight(judged));
}

function misquoted({ result, quotes }: ReplayedCase): number | null {
  if (result.action === null || result.error !== null) return null;
  return Number(result.action === 'auto_notify' && quotes.literal < quotes.made);
}

function amongFirst(run: ReplayedCase, count: number): number | null {
  if ((run.row?.faulty_files?.length ?? 0) === 0 || run.result.action === null) return null;
  const rank = rankOf(run);
  return Number(rank !== null && rank <= count);
}

function testsOf(run: ReplayedCase): number | null {
  return scoreTests([run]).find(({ name }) => name === 'failing tests: F1')?.value ?? null;
}
