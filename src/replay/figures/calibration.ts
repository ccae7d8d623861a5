import { bootstrap } from '../../lib/statistics.ts';
import { fitPlatt } from '../calibrate/platt.ts';
import { projectFolds } from '../cases/project-folds.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { BINS } from './calibration-error.ts';
import { addAt, clusterSums } from './clusters.ts';
import { scoreCoverage } from './coverage.ts';
import { caseShare, type Figure, ratio, withInterval } from './figure.ts';
import { type Binning, binner } from './reliability.ts';
import { type StatedBy, type StatedCase, statementsOf } from './statements.ts';

/** From this probability on, a wrong category is a confident error. */
export const CONFIDENT = 0.85;
/** Cases are held out in so many parts; no project is in two. */
const FOLDS = 5;
/** What a bin adds up: cases, what they stated, how many were right. */
const PER_BIN = 3;

/**
 * How far a stated probability can be trusted, over the cases that state one: of the classification's category, or of the whole answer, by which
 * it is published and whose figures are called "answer: …". Empty where none does.
 */
export function scoreCalibration(cases: readonly ReplayedCase[], of: StatedBy = 'classification'): Figure[] {
  const stated = statementsOf(cases, of);
  if (stated.length === 0) return [];
  const prefix = of === 'answer' ? 'answer: ' : '';
  const figure = (name: string, value: number): Figure => ({ name: prefix + name, value, cases: stated.length });
  const held = of === 'answer' ? null : heldOut(stated);
  const crossed = 'expected calibration error, cross-validated by project';
  return [
    caseShare(`${prefix}confident errors`, stated, (one) => !one.right && one.stated >= CONFIDENT, 'bad'),
    errorFigure(`${prefix}expected calibration error`, stated, 'width'),
    errorFigure(`${prefix}expected calibration error, bins of equal mass`, stated, 'mass'),
    ...(held === null ? [] : [errorFigure(crossed, held, 'width')]),
    brierFigure(`${prefix}Brier score`, stated),
    ...brierParts(stated).map(([name, value]) => figure(`Brier score: ${name}`, value)),
    ...scoreCoverage(stated, prefix),
  ];
}

/** Expected calibration error over ten bins of stated probability (Guo et al. 2017, arXiv 1706.04599). */
function errorFigure(name: string, stated: readonly StatedCase[], binning: Binning): Figure {
  const binOf = binner(stated, binning);
  const clusters = clusterSums(stated, BINS * PER_BIN, (sums, one) => {
    const place = binOf(one.stated) * PER_BIN;
    addAt(sums, place, 1);
    addAt(sums, place + 1, one.stated);
    addAt(sums, place + 2, Number(one.right));
  });
  const value = errorOfSums(addedUp(clusters));
  const [interval] = bootstrap(clusters, (sums) => [errorOfSums(sums)]);
  return withInterval({ name, value, cases: stated.length }, interval);
}

/** The same as `calibrationError`, of what the bins add up to: a resample adds sums, not cases. */
function errorOfSums(sums: readonly number[]): number {
  let [error, cases] = [0, 0];
  for (let bin = 0; bin < BINS; bin++) {
    const [count = 0, stated = 0, right = 0] = sums.slice(bin * PER_BIN, (bin + 1) * PER_BIN);
    error += Math.abs(right - stated);
    cases += count;
  }
  return ratio(error, cases);
}

/** The mean squared distance of what was stated to 1 where it was right, else to 0 (Brier 1950). */
function brierFigure(name: string, stated: readonly StatedCase[]): Figure {
  const clusters = clusterSums(stated, 2, (sums, one) => {
    addAt(sums, 0, (one.stated - Number(one.right)) ** 2);
    addAt(sums, 1, 1);
  });
  const score = ([sum = 0, count = 0]: readonly number[]) => ratio(sum, count);
  const [interval] = bootstrap(clusters, (sums) => [score(sums)]);
  return withInterval({ name, value: score(addedUp(clusters)), cases: stated.length }, interval);
}

/**
 * Reliability − resolution + uncertainty (Murphy 1973, J. Appl. Meteorology 12:595) over the ten bins of equal width; what the bins blur is
 * "within bins" (Stephenson, Coelho & Jolliffe 2008, Weather and Forecasting 23:752), so that the four add up to the score: resolution counts against it.
 */
function brierParts(stated: readonly StatedCase[]): [name: string, value: number][] {
  const total = stated.length;
  const base = stated.filter(({ right }) => right).length / total;
  const binOf = binner(stated, 'width');
  let [reliability, resolution, score] = [0, 0, 0];
  for (const members of Map.groupBy(stated, (one) => binOf(one.stated)).values()) {
    const weight = members.length / total;
    const share = members.filter(({ right }) => right).length / members.length;
    const said = members.reduce((sum, one) => sum + one.stated, 0) / members.length;
    reliability += weight * (said - share) ** 2;
    resolution += weight * (share - base) ** 2;
    score += members.reduce((sum, one) => sum + (one.stated - Number(one.right)) ** 2, 0) / total;
  }
  const uncertainty = base * (1 - base);
  const within = score - (reliability - resolution + uncertainty);
  return [
    ['reliability', reliability],
    ['resolution', resolution],
    ['uncertainty', uncertainty],
    ['within bins', within],
  ];
}

/** Each statement as a calibration says it that was fitted on other projects only; null where all are of one project. */
function heldOut(stated: readonly StatedCase[]): StatedCase[] | null {
  const folds = projectFolds(stated, FOLDS);
  if (folds.length < 2) return null;
  return folds.flatMap((fold) => {
    const others = folds.filter((other) => other !== fold).flat();
    const calibrated = fitPlatt(others);
    return fold.map((one) => ({ ...one, stated: calibrated(one.stated) }));
  });
}

function addedUp(clusters: readonly (readonly number[])[]): number[] {
  const sums: number[] = [];
  for (const cluster of clusters) for (const [at, value] of cluster.entries()) sums[at] = (sums[at] ?? 0) + value;
  return sums;
}
