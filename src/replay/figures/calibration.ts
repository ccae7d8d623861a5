import { fitPlatt, type Statement } from '../calibrate/platt.ts';
import { projectFolds } from '../cases/project-folds.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, mean } from './figure.ts';
import { isRight, judgedCases } from './judged.ts';

/** From this probability on, a wrong category is a confident error. */
export const CONFIDENT = 0.85;
const BINS = 10;
/** Cases are held out in so many parts; no project is in two. */
const FOLDS = 5;

/** How far the stated probability of the category can be trusted, over the cases that state one. Empty where none does. */
export function scoreCalibration(cases: readonly ReplayedCase[]): Figure[] {
  const judged = judgedCases(cases).flatMap((entry) => {
    const stated = entry.one.result.confidence;
    return stated === null ? [] : [{ stated, right: isRight(entry), one: entry.one }];
  });
  if (judged.length === 0) return [];
  const figure = (name: string, value: number): Figure => ({ name, value, cases: judged.length });
  const errors = judged.filter(({ stated, right }) => !right && stated >= CONFIDENT);
  const held = heldOut(judged);
  return [
    figure('confident errors', errors.length / judged.length),
    figure('expected calibration error', calibrationError(judged)),
    ...(held === null ? [] : [figure('expected calibration error, cross-validated by project', calibrationError(held))]),
    figure('Brier score', mean(judged.map(({ stated, right }) => (stated - Number(right)) ** 2))),
  ];
}

/** Expected calibration error over ten bins of stated probability (Guo et al. 2017, arXiv 1706.04599). */
function calibrationError(statements: readonly Statement[]): number {
  let error = 0;
  for (let bin = 0; bin < BINS; bin++) {
    const inside = statements.filter(({ stated }) => Math.min(BINS - 1, Math.floor(stated * BINS)) === bin);
    if (inside.length === 0) continue;
    const right = mean(inside.map((entry) => Number(entry.right)));
    error += (inside.length / statements.length) * Math.abs(right - mean(inside.map(({ stated }) => stated)));
  }
  return error;
}

/** Each statement as a calibration says it that was fitted on other projects only; null where all are of one project. */
function heldOut(judged: readonly (Statement & { readonly one: ReplayedCase })[]): Statement[] | null {
  const folds = projectFolds(judged, FOLDS);
  if (folds.length < 2) return null;
  return folds.flatMap((fold) => {
    const others = folds.filter((other) => other !== fold).flat();
    const calibrated = fitPlatt(others);
    return fold.map(({ stated, right }) => ({ stated: calibrated(stated), right }));
  });
}
