import { predictRerun } from '../../domain/rerun.ts';
import type { DatasetRow } from '../cases/case.ts';
import type { ReplayedCase } from '../run/replay.ts';
import {
  computeF1,
  computeRatio,
  createShareFigure,
  type Figure,
  isExcused,
  isRealFailure,
  isRight,
  listJudgedCases,
} from './figure.ts';

/** The probability from which an estimate counts as "passes". */
const EVEN = 0.5;

/** Returns whether a rerun of a row's commit would pass. Returns null if that is unknown. */
export function readRerunLabel({ intermittent, transient }: DatasetRow): boolean | null {
  if (intermittent != null) return intermittent;
  if (transient === 'yes') return true;
  return transient === 'no' ? false : null;
}

interface Labelled {
  readonly one: ReplayedCase;
  readonly passes: boolean;
}

/**
 * Scores the estimates of reruns: among the cases with a known result, how many passing ones are found, and
 * among failures of code and tests, how many are said to pass. Returns none if nothing was estimated.
 */
export function scoreReruns(cases: readonly ReplayedCase[]): Figure[] {
  const estimated = cases.filter(({ result }) => result.transient !== null);
  if (estimated.length === 0) return [];
  const labelled = estimated.flatMap((replayedCase): Labelled[] => {
    const passes = replayedCase.row === null ? null : readRerunLabel(replayedCase.row);
    return passes === null ? [] : [{ one: replayedCase, passes }];
  });
  const real = listJudgedCases(estimated).filter(isRealFailure);
  const isTold = ({ one }: { readonly one: ReplayedCase }) => predictRerun(one.result.transient) === true;
  return [
    ...scoreLabelled(labelled, isTold),
    ...(real.length === 0
      ? []
      : [createShareFigure('code and test failures told to pass', real, isTold, 'bad')]),
  ];
}

function scoreLabelled(labelled: readonly Labelled[], isTold: (entry: Labelled) => boolean): Figure[] {
  const passing = labelled.filter(({ passes }) => passes);
  const failing = labelled.filter(({ passes }) => !passes);
  if (labelled.length === 0) return [];
  const isFound = ({ one }: Labelled) => (one.result.transient ?? 0) >= EVEN;
  const found = labelled.filter(isFound);
  const hits = found.filter(({ passes }) => passes).length;
  const isMislabelled = (entry: Labelled) =>
    entry.one.result.action === 'auto_notify' && !isExcusedOrRight(entry.one);
  const reruns =
    passing.length === 0
      ? []
      : [
          {
            name: 'F1 of those that pass',
            value: computeF1(computeRatio(hits, found.length), computeRatio(hits, passing.length)),
            cases: labelled.length,
          },
          createShareFigure('recall of those that pass', passing, isFound),
          createShareFigure('pass, and published as something else', passing, isMislabelled, 'bad'),
        ];
  return [
    ...reruns,
    ...(found.length === 0
      ? []
      : [createShareFigure('precision of those that pass', found, ({ passes }) => passes)]),
    ...(failing.length === 0 ? [] : [createShareFigure('fail, and told to pass', failing, isTold, 'bad')]),
    createShareFigure('told to pass', labelled, isTold, 'neither'),
  ];
}

/** Checks whether an answer blames the environment, or has the labeled category. */
function isExcusedOrRight(replayedCase: ReplayedCase): boolean {
  const category = replayedCase.result.category;
  const [judged] = listJudgedCases([replayedCase]);
  if (judged !== undefined && isRight(judged)) return true;
  return isExcused({ truth: '', said: category, accepted: [], one: replayedCase });
}
