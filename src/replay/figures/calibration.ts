import { bootstrap, computeProportion, type Proportion } from '../../lib/statistics.ts';
import { fitPlatt } from '../calibrate/fit.ts';
import { resolveProject, splitIntoFolds } from '../cases/case.ts';
import type { ReplayedCase } from '../run/replay.ts';
import {
  addAt,
  computeRatio,
  createShareFigure,
  type Figure,
  isRight,
  listClusterSums,
  listIds,
  listJudgedCases,
  withInterval,
} from './figure.ts';

/**
 * The source of the probability: the classification, or the verified answer, which decides whether it is
 * published.
 */
export type StatedBy = 'classification' | 'answer';

/** A case with the probability that was stated and whether its category was right. */
interface StatedCase {
  readonly stated: number;
  readonly right: boolean;
  readonly one: ReplayedCase;
}

/**
 * Returns the cases with a labeled category and a stated probability, most confident first, in a stable
 * order.
 */
export function listStatements(cases: readonly ReplayedCase[], of: StatedBy): StatedCase[] {
  const stated = listJudgedCases(cases).flatMap((entry): StatedCase[] => {
    const { confidence, answerConfidence } = entry.one.result;
    const probability = of === 'classification' ? confidence : answerConfidence;
    return probability === null ? [] : [{ stated: probability, right: isRight(entry), one: entry.one }];
  });
  return stated.sort(
    (left, right) => right.stated - left.stated || (left.one.result.id < right.one.result.id ? -1 : 1),
  );
}

/** The probability from which a wrong category counts as a confident error. */
export const CONFIDENT = 0.85;
/** The number of parts for cross-validation. The cases of a project are in one part. */
const FOLDS = 5;
/** The number of sums per bin: cases, their stated probabilities, and how many were right. */
const PER_BIN = 3;

/**
 * Scores how reliable stated probabilities are: those of the classified category, or those of the whole
 * answer, which decide about publishing and whose figures are named "answer: …". Returns none if no case
 * states one.
 */
export function scoreCalibration(cases: readonly ReplayedCase[], of: StatedBy = 'classification'): Figure[] {
  const stated = listStatements(cases, of);
  if (stated.length === 0) return [];
  const prefix = of === 'answer' ? 'answer: ' : '';
  const figure = (name: string, value: number): Figure => ({
    name: prefix + name,
    value,
    cases: stated.length,
  });
  const heldOutCases = of === 'answer' ? null : findHeldOut(stated);
  const crossed = 'expected calibration error, cross-validated by project';
  return [
    createShareFigure(
      `${prefix}confident errors`,
      stated,
      (statedCase) => !statedCase.right && statedCase.stated >= CONFIDENT,
      'bad',
    ),
    computeErrorFigure(`${prefix}expected calibration error`, stated, 'width'),
    computeErrorFigure(`${prefix}expected calibration error, bins of equal mass`, stated, 'mass'),
    ...(heldOutCases === null ? [] : [computeErrorFigure(crossed, heldOutCases, 'width')]),
    computeBrierFigure(`${prefix}Brier score`, stated),
    ...splitBrierParts(stated).map(([name, value]) => figure(`Brier score: ${name}`, value)),
    ...scoreCoverage(stated, prefix),
  ];
}

/**
 * Computes the expected calibration error over ten bins of stated probability (Guo et al. 2017, arXiv
 * 1706.04599).
 */
function computeErrorFigure(name: string, stated: readonly StatedCase[], binning: Binning): Figure {
  const findBin = createBinner(stated, binning);
  const clusters = listClusterSums(stated, BINS * PER_BIN, (sums, statedCase) => {
    const place = findBin(statedCase.stated) * PER_BIN;
    addAt(sums, place, 1);
    addAt(sums, place + 1, statedCase.stated);
    addAt(sums, place + 2, Number(statedCase.right));
  });
  const value = computeErrorOfSums(addUp(clusters));
  const [interval] = bootstrap(clusters, (sums) => [computeErrorOfSums(sums)]);
  return withInterval({ name, value, cases: stated.length }, interval);
}

/**
 * Computes the same as `computeCalibrationError` from the sums of the bins, because resampling adds sums and
 * not cases.
 */
function computeErrorOfSums(sums: readonly number[]): number {
  let [error, cases] = [0, 0];
  for (let bin = 0; bin < BINS; bin++) {
    const [count = 0, stated = 0, right = 0] = sums.slice(bin * PER_BIN, (bin + 1) * PER_BIN);
    error += Math.abs(right - stated);
    cases += count;
  }
  return computeRatio(error, cases);
}

/**
 * Computes the mean squared difference between the stated probability and the outcome, which is 1 if it was
 * right, and else 0 (Brier 1950).
 */
function computeBrierFigure(name: string, stated: readonly StatedCase[]): Figure {
  const clusters = listClusterSums(stated, 2, (sums, statedCase) => {
    addAt(sums, 0, (statedCase.stated - Number(statedCase.right)) ** 2);
    addAt(sums, 1, 1);
  });
  const score = ([sum = 0, count = 0]: readonly number[]) => computeRatio(sum, count);
  const [interval] = bootstrap(clusters, (sums) => [score(sums)]);
  return withInterval({ name, value: score(addUp(clusters)), cases: stated.length }, interval);
}

/**
 * Splits the Brier score into reliability − resolution + uncertainty (Murphy 1973, J. Appl. Meteorology
 * 12:595) over the ten bins of equal width. The loss by binning is "within bins" (Stephenson, Coelho &
 * Jolliffe 2008, Weather and Forecasting 23:752), so that the four add up to the score; resolution is
 * subtracted.
 */
function splitBrierParts(stated: readonly StatedCase[]): [name: string, value: number][] {
  const total = stated.length;
  const base = stated.filter(({ right }) => right).length / total;
  const findBin = createBinner(stated, 'width');
  let [reliability, resolution, score] = [0, 0, 0];
  for (const members of Map.groupBy(stated, (statedCase) => findBin(statedCase.stated)).values()) {
    const weight = members.length / total;
    const share = members.filter(({ right }) => right).length / members.length;
    const meanStated = members.reduce((sum, member) => sum + member.stated, 0) / members.length;
    reliability += weight * (meanStated - share) ** 2;
    resolution += weight * (share - base) ** 2;
    score += members.reduce((sum, member) => sum + (member.stated - Number(member.right)) ** 2, 0) / total;
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

/** Returns each statement as calibrated on other projects only. Returns null if there is only one project. */
function findHeldOut(stated: readonly StatedCase[]): StatedCase[] | null {
  const folds = splitIntoFolds(
    stated,
    ({ one }) => (one.row === null ? one.result.id : resolveProject(one.row)),
    FOLDS,
  );
  if (folds.length < 2) return null;
  return folds.flatMap((fold) => {
    const others = folds.filter((other) => other !== fold).flat();
    const calibrated = fitPlatt(others);
    return fold.map((statedCase) => ({ ...statedCase, stated: calibrated(statedCase.stated) }));
  });
}

function addUp(clusters: readonly (readonly number[])[]): number[] {
  const sums: number[] = [];
  for (const cluster of clusters)
    for (const [at, value] of cluster.entries()) sums[at] = (sums[at] ?? 0) + value;
  return sums;
}

export const BINS = 10;

/** Returns the bin of a stated probability, out of ten of equal width; 1 is in the last bin. */
export function getBin(stated: number): number {
  return Math.max(0, Math.min(BINS - 1, Math.floor(stated * BINS)));
}

/**
 * Computes the expected calibration error over ten bins of equal width (Guo et al. 2017, arXiv 1706.04599),
 * 0..1: the distance between the mean stated probability and the share that was right, averaged over the bins
 * by their size. `weight` is the number of statements that one represents. Returns 0 for no statements.
 */
export function computeCalibrationError(
  statements: Iterable<{ readonly stated: number; readonly right: boolean; readonly weight: number }>,
): number {
  const gaps = new Array<number>(BINS).fill(0);
  let all = 0;
  for (const { stated, right, weight } of statements) {
    const bin = getBin(stated);
    gaps[bin] = (gaps[bin] ?? 0) + weight * (Number(right) - stated);
    all += weight;
  }
  return all === 0 ? 0 : gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / all;
}

/** The kind of bins: of equal width (0 to 0.1, 0.1 to 0.2 …), or with about the same number of cases. */
type Binning = 'width' | 'mass';

/**
 * Creates a function that assigns a stated probability to one of ten bins. With `mass`, the bins follow the
 * distribution of the given statements.
 */
function createBinner(statements: readonly StatedCase[], binning: Binning): (stated: number) => number {
  if (binning === 'width') return getBin;
  const sorted = statements.map(({ stated }) => stated).sort((left, right) => left - right);
  const counts = new Map<number, { first: number; count: number }>();
  for (const [at, stated] of sorted.entries()) {
    const level = counts.get(stated);
    if (level === undefined) counts.set(stated, { first: at, count: 1 });
    else level.count++;
  }
  return (stated) => {
    const { first = 0, count = 0 } = counts.get(stated) ?? {};
    // Cases with equal probabilities are all in the bin of the middle one.
    return Math.min(BINS - 1, Math.floor(((first + count / 2) / Math.max(1, sorted.length)) * BINS));
  };
}

/** The answers with at least a certain stated probability, and how many of them were right. */
interface CoveragePoint extends Proportion {
  readonly threshold: number;
  /** The share of the cases that state at least this probability. */
  readonly coverage: number;
}

const COVERAGES = [0.6, 0.8, 0.9, 1];

/**
 * Computes the accuracy if the most confident 60, 80, 90 and 100% are answered, and the area under the
 * risk-coverage curve. Cases with the same stated probability are answered together, so more may be covered
 * than requested.
 */
function scoreCoverage(statements: readonly StatedCase[], prefix: string): Figure[] {
  if (statements.length === 0) return [];
  const points = listPoints(statements);
  const figures = COVERAGES.map((coverage): Figure => {
    const point = points.find((coveragePoint) => coveragePoint.coverage >= coverage - 1e-9) ?? points.at(-1);
    const { share = 0, low = 0, high = 1, of = 0 } = point ?? {};
    const wrong = statements.slice(0, of).filter(({ right }) => !right);
    const name = `${prefix}accuracy at ${Math.round(coverage * 100)} % coverage`;
    return {
      name,
      value: share,
      cases: of,
      interval: [low, high],
      ...(wrong.length === 0 ? {} : { against: listIds(wrong) }),
    };
  });
  return [
    ...figures,
    {
      name: `${prefix}area under risk and coverage`,
      value: computeAreaUnderRisk(points),
      cases: statements.length,
    },
  ];
}

/**
 * Computes the mean, over k = 1 … n, of the share of wrong answers among the k most confident ones (AURC:
 * Geifman, Uziel & El-Yaniv 2019, arXiv 1805.08206); 0 is best. Among cases with the same stated probability,
 * right and wrong ones are interleaved in proportion.
 */
function computeAreaUnderRisk(points: readonly CoveragePoint[]): number {
  let [before, wrongBefore, area] = [0, 0, 0];
  for (const { of, hits } of points) {
    const wrong = of - hits;
    const share = (wrong - wrongBefore) / (of - before);
    for (let k = before + 1; k <= of; k++) area += (wrongBefore + share * (k - before)) / k;
    [before, wrongBefore] = [of, wrong];
  }
  return before === 0 ? 0 : area / before;
}

/** Lists one point for each level. The statements must be sorted, most confident first. */
function listPoints(statements: readonly StatedCase[]): CoveragePoint[] {
  const points: CoveragePoint[] = [];
  let hits = 0;
  for (const [at, { stated, right }] of statements.entries()) {
    if (right) hits++;
    if (statements[at + 1]?.stated === stated) continue;
    points.push({
      threshold: stated,
      coverage: (at + 1) / statements.length,
      ...computeProportion(hits, at + 1),
    });
  }
  return points;
}
