import { type Proportion, proportion } from '../../lib/statistics.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, idsOf } from './figure.ts';
import { type StatedBy, type StatedCase, statementsOf } from './statements.ts';

/** What would be answered from this stated probability on, and how much of it was right. */
export interface CoveragePoint extends Proportion {
  readonly threshold: number;
  /** Share of the cases that state at least so much. */
  readonly coverage: number;
}

/** More points than a line can show say nothing more. */
const MOST_POINTS = 200;
const COVERAGES = [0.6, 0.8, 0.9, 1];

/** Accuracy against coverage: a point for each probability that was stated, the highest first, thinned out evenly where there are more than 200. */
export function coverageCurve(cases: readonly ReplayedCase[], of: StatedBy): CoveragePoint[] {
  const points = pointsOf(statementsOf(cases, of));
  if (points.length <= MOST_POINTS) return points;
  const step = (points.length - 1) / (MOST_POINTS - 1);
  return Array.from({ length: MOST_POINTS }, (_, at) => points[Math.round(at * step)]).filter((point) => point !== undefined);
}

/**
 * Accuracy where the surest 60, 80, 90 and 100 % are answered, and the area under the curve of risk and coverage. Cases that state the same
 * are answered together, so more may be covered than is asked.
 */
export function scoreCoverage(statements: readonly StatedCase[], prefix: string): Figure[] {
  if (statements.length === 0) return [];
  const points = pointsOf(statements);
  const figures = COVERAGES.map((coverage): Figure => {
    const point = points.find((one) => one.coverage >= coverage - 1e-9) ?? points.at(-1);
    const { share = 0, low = 0, high = 1, of = 0 } = point ?? {};
    const wrong = statements.slice(0, of).filter(({ right }) => !right);
    const name = `${prefix}accuracy at ${Math.round(coverage * 100)} % coverage`;
    return { name, value: share, cases: of, interval: [low, high], ...(wrong.length === 0 ? {} : { against: idsOf(wrong) }) };
  });
  return [...figures, { name: `${prefix}area under risk and coverage`, value: areaUnderRisk(points), cases: statements.length }];
}

/**
 * The mean, over k = 1 … n, of the share of wrong ones among the k surest (AURC: Geifman, Uziel & El-Yaniv 2019, arXiv 1805.08206); 0 is best.
 * Among cases that state the same, right and wrong ones are taken in proportion.
 */
function areaUnderRisk(points: readonly CoveragePoint[]): number {
  let [before, wrongBefore, area] = [0, 0, 0];
  for (const { of, hits } of points) {
    const wrong = of - hits;
    const share = (wrong - wrongBefore) / (of - before);
    for (let k = before + 1; k <= of; k++) area += (wrongBefore + share * (k - before)) / k;
    [before, wrongBefore] = [of, wrong];
  }
  return before === 0 ? 0 : area / before;
}

/** One point a level; the statements come with the surest first. */
function pointsOf(statements: readonly StatedCase[]): CoveragePoint[] {
  const points: CoveragePoint[] = [];
  let hits = 0;
  for (const [at, { stated, right }] of statements.entries()) {
    if (right) hits++;
    if (statements[at + 1]?.stated === stated) continue;
    points.push({ threshold: stated, coverage: (at + 1) / statements.length, ...proportion(hits, at + 1) });
  }
  return points;
}
