import { type CategoryMap, calibrate } from '../../domain/calibration.ts';
import { type Category, mapCategories } from '../../domain/category.ts';

/**
 * An answer whose truth is known: its confidence after verification and before any calibration, and whether
 * it was right.
 */
export interface LabelledAnswer extends Statement {
  readonly id: string;
  /** The project. Answers of one project are never on both sides of a split. */
  readonly project: string;
  readonly category: Category;
  /** The time of the decision or of the failure, ISO 8601; null if unknown. */
  readonly at: string | null;
}

export function getWeight({ weight = 1 }: Statement): number {
  return weight;
}

/**
 * Computes the effective sample size of weighted cases: the number of equally weighted cases that carry as
 * much information (Kish 1965). Without weights, it is the number of cases.
 */
export function computeEffectiveSize(statements: readonly Statement[]): number {
  const weight = statements.reduce((sum, statement) => sum + getWeight(statement), 0);
  const squares = statements.reduce((sum, statement) => sum + getWeight(statement) ** 2, 0);
  return squares === 0 ? 0 : weight ** 2 / squares;
}

/**
 * Scales the weights so that their sum is the effective sample size. Otherwise a case that represents twenty
 * would count as twenty.
 */
function scaleWeights<One extends Statement>(
  statements: readonly One[],
): (One & { readonly weight: number })[] {
  const weight = statements.reduce((sum, statement) => sum + getWeight(statement), 0);
  const share = weight === 0 ? 1 : computeEffectiveSize(statements) / weight;
  return statements.map((statement) => ({ ...statement, weight: getWeight(statement) * share }));
}

/** The method of the fit. `auto` is isotonic if there are enough cases, or else Platt. */
export type FitMethod = 'auto' | 'isotonic' | 'platt';

/**
 * The minimum number of cases for isotonic regression. Below about a thousand cases it overfits, and Platt's
 * method with two parameters is better (Niculescu-Mizil & Caruana 2005).
 */
export const ISOTONIC_FROM = 1000;
/**
 * The minimum number of cases for a map with two parameters. With 30 cases, a share of right answers of 0.9
 * is known to ± 0.11.
 */
export const OWN_FROM = 30;
/** The minimum number of cases that shows whether a category behaves like the others. */
export const POOLED_FROM = 10;
/**
 * The number of cases at which a category's own curve and the curve of all categories have the same weight.
 */
const DRAWN = 30;
/**
 * The prior for a category without cases: 6 of 8 right. With it, six right cases are needed to publish at a
 * threshold of 0.85.
 */
const BELIEVED = { right: 6, of: 8 };

/**
 * The points at which other curves than step functions are sampled. They are closer together in the range in
 * which answers are published.
 */
const GRID = [
  0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85,
  0.875, 0.9,
].concat([0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1]);

type Curve = (stated: number) => number;

/**
 * Fits one map per category to the stated probabilities of its answers. Weighted cases count by their
 * effective sample size.
 */
export function fitCategories(
  answers: readonly LabelledAnswer[],
  method: FitMethod,
): Record<Category, CategoryMap> {
  const pooled = computeEffectiveSize(answers) >= OWN_FROM ? fitCurve(answers, method) : null;
  return mapCategories((category) => {
    const ofCategory = answers.filter((answer) => answer.category === category);
    const counts = { cases: ofCategory.length, right: ofCategory.filter(({ right }) => right).length };
    const worth = computeEffectiveSize(ofCategory);
    if (pooled === null || worth < POOLED_FROM) return capCurve(ofCategory, counts, pooled);
    if (worth < OWN_FROM)
      return {
        method: 'pooled',
        ...counts,
        points: sample((stated) => Math.min(stated, pooled(stated)), GRID),
      };
    return fitOwnCurve(ofCategory, counts, pooled, method);
  });
}

/** Returns the method for a category with this number of cases. */
function chooseMethod(cases: number, method: FitMethod): 'isotonic' | 'platt' {
  return method === 'isotonic' || (method === 'auto' && cases >= ISOTONIC_FROM) ? 'isotonic' : 'platt';
}

/**
 * Fits the curve of one category. Below the tenth percentile of confidence there are hardly any data, so
 * there the curve may lower a confidence but not raise it.
 */
function fitOwnCurve(
  answers: readonly LabelledAnswer[],
  counts: Pick<CategoryMap, 'cases' | 'right'>,
  pooled: Curve,
  method: FitMethod,
): CategoryMap {
  const worth = computeEffectiveSize(answers);
  const share = worth / (worth + DRAWN);
  const curve = fitCurve(answers, method);
  const stated = answers.map((answer) => answer.stated).sort((left, right) => left - right);
  const seen = stated[POOLED_FROM - 1] ?? 1;
  const drawn = (at: number) => share * curve(at) + (1 - share) * pooled(at);
  const fitted = chooseMethod(worth, method);
  return {
    method: fitted,
    ...counts,
    points: sample(
      (at) => (at < seen ? Math.min(at, drawn(at)) : drawn(at)),
      [...GRID, seen, ...(fitted === 'isotonic' ? stated : [])],
    ),
  };
}

/**
 * Returns the stated probability, limited to the value that the few cases of the category and those of all
 * other categories support.
 */
function capCurve(
  answers: readonly LabelledAnswer[],
  counts: Pick<CategoryMap, 'cases' | 'right'>,
  pooled: Curve | null,
): CategoryMap {
  const right = scaleWeights(answers).reduce((sum, answer) => sum + (answer.right ? answer.weight : 0), 0);
  const most = (right + BELIEVED.right) / (computeEffectiveSize(answers) + BELIEVED.of);
  const curve = (stated: number) => Math.min(stated, most, pooled?.(stated) ?? 1);
  return { method: 'capped', ...counts, points: sample(curve, [...GRID, most]) };
}

function fitCurve(statements: readonly Statement[], method: FitMethod): Curve {
  if (chooseMethod(computeEffectiveSize(statements), method) === 'platt')
    return fitPlatt(scaleWeights(statements));
  const points = fitIsotonic(statements);
  return (stated) => calibrate(points, stated);
}

/** Samples a curve at no more than a thousand points. The values are rounded and never decrease. */
function sample(curve: Curve, at: readonly number[]): CategoryMap['points'] {
  const places = [...new Set(at.map(round))].sort((left, right) => left - right);
  const kept = places.length <= 900 ? places : GRID;
  let least = 0;
  return kept.map((stated) => {
    least = Math.max(least, round(Math.min(1, Math.max(0, curve(stated)))));
    return [stated, least];
  });
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

/** A stated probability, and whether it was right. */
export interface Statement {
  readonly stated: number;
  readonly right: boolean;
  /** The number of cases that it represents; 1 if absent. */
  readonly weight?: number;
}

const STEPS = 100;
/** The maximum number of times that a step is halved if it does not reduce the loss. */
const SHORTER = 40;
/**
 * The strength of the prior that keeps the fit near the identity (slope 1, offset 0): about the weight of one
 * case.
 */
const PRIOR = 1;
const EDGE = 1e-4;

/**
 * Fits a sigmoid to the log-odds of the statements (Platt 1999, with his smoothed targets; Newton's method as
 * in Lin, Lin & Weng 2007). With few cases, a prior keeps it near the identity. The curve never decreases: a
 * negative slope, which only arises by chance, is replaced by the share of right answers.
 */
export function fitPlatt(statements: readonly Statement[]): (stated: number) => number {
  const all = statements.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const right = statements.reduce((sum, entry) => sum + (entry.right ? (entry.weight ?? 1) : 0), 0);
  const wrong = all - right;
  const [high, low] = [(right + 1) / (right + 2), 1 / (wrong + 2)];
  const points = statements.map((entry) => ({
    x: computeLogit(entry.stated),
    y: entry.right ? high : low,
    weight: entry.weight ?? 1,
  }));
  let line: Line = { slope: 1, offset: 0 };
  for (let step = 0; step < STEPS; step++) {
    const next = takeStep(points, line, computeNewtonStep(points, line));
    const moved = Math.abs(next.slope - line.slope) + Math.abs(next.offset - line.offset);
    line = next;
    if (moved < 1e-9) break;
  }
  const { slope, offset } = line;
  if (slope < 0) return () => (right + 1) / (all + 2);
  return (stated) => computeSigmoid(slope * computeLogit(stated) + offset);
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly weight: number;
}

interface Line {
  readonly slope: number;
  readonly offset: number;
}

/**
 * Takes the whole step, or the largest part of it by halving that reduces the loss. Far from the optimum,
 * whole steps would oscillate.
 */
function takeStep(points: readonly Point[], line: Line, step: Line): Line {
  const before = computeLoss(points, line);
  for (let halved = 0; halved < SHORTER; halved++) {
    const share = 0.5 ** halved;
    const next = { slope: line.slope - share * step.slope, offset: line.offset - share * step.offset };
    if (computeLoss(points, next) < before) return next;
  }
  return line;
}

/** Computes the cross entropy plus the prior that keeps the fit near the identity. */
function computeLoss(points: readonly Point[], { slope, offset }: Line): number {
  const penalty = (PRIOR / 2) * ((slope - 1) ** 2 + offset ** 2);
  return points.reduce((sum, { x, y, weight }) => {
    const z = slope * x + offset;
    return sum + weight * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - y * z);
  }, penalty);
}

function computeNewtonStep(points: readonly Point[], { slope, offset }: Line): Line {
  let [bySlope, byOffset, xx, x1, ones] = [PRIOR * (slope - 1), PRIOR * offset, PRIOR, 0, PRIOR];
  for (const { x, y, weight } of points) {
    const p = computeSigmoid(slope * x + offset);
    const bend = weight * p * (1 - p);
    bySlope += weight * (p - y) * x;
    byOffset += weight * (p - y);
    xx += bend * x * x;
    x1 += bend * x;
    ones += bend;
  }
  const determinant = xx * ones - x1 * x1;
  return {
    slope: (ones * bySlope - x1 * byOffset) / determinant,
    offset: (xx * byOffset - x1 * bySlope) / determinant,
  };
}

function computeLogit(probability: number): number {
  const p = Math.min(1 - EDGE, Math.max(EDGE, probability));
  return Math.log(p / (1 - p));
}

function computeSigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

interface Block {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
  readonly right: number;
}

/** The maximum calibrated probability. No number of cases makes the next one certain. */
const SUREST = 0.99;
const LEAST = 0.01;

/**
 * Fits the closest curve to the shares of right answers that never decreases, by pool-adjacent-violators
 * (Ayer et al. 1955; for calibration Zadrozny & Elkan 2002): neighbors in decreasing order are merged until
 * none are left. The curve is constant within a merged block, linear between blocks, and within 0.01..0.99.
 * Requires at least one statement.
 */
export function fitIsotonic(statements: readonly Statement[]): CategoryMap['points'] {
  const blocks: Block[] = [];
  for (const block of groupSameStatements(statements)) {
    let joined = block;
    for (
      let last = blocks.at(-1);
      last !== undefined && computeShare(last) >= computeShare(joined);
      last = blocks.at(-1)
    ) {
      blocks.pop();
      joined = {
        from: last.from,
        to: joined.to,
        weight: last.weight + joined.weight,
        right: last.right + joined.right,
      };
    }
    blocks.push(joined);
  }
  return blocks.flatMap((block) => {
    const share = Math.min(SUREST, Math.max(LEAST, computeShare(block)));
    const begin: [number, number] = [block.from, share];
    return block.from === block.to ? [begin] : [begin, [block.to, share] satisfies [number, number]];
  });
}

function groupSameStatements(statements: readonly Statement[]): Block[] {
  const found = new Map<number, Block>();
  for (const { stated, right, weight = 1 } of statements) {
    const known = found.get(stated) ?? { from: stated, to: stated, weight: 0, right: 0 };
    found.set(stated, { ...known, weight: known.weight + weight, right: known.right + (right ? weight : 0) });
  }
  return [...found.values()].sort((left, right) => left.from - right.from);
}

function computeShare({ right, weight }: Block): number {
  return right / weight;
}
