/** A probability that was stated, and whether it was right. */
export interface Statement {
  readonly stated: number;
  readonly right: boolean;
  /** How many cases it stands for; 1 where it is left out. */
  readonly weight?: number;
}

const STEPS = 100;
/** How strongly the fit clings to what was stated (slope 1, offset 0): about as much as one case speaks. */
const PRIOR = 1;
const LONGEST_STEP = 2;
const EDGE = 1e-4;

/**
 * Fits a sigmoid over the log-odds of what was stated (Platt 1999, with his smoothed targets; Newton's method as in Lin, Lin & Weng
 * 2007), held near the statement itself where few cases speak. The map never falls: a slope below zero, which only chance gives, becomes the share of right answers.
 */
export function fitPlatt(statements: readonly Statement[]): (stated: number) => number {
  const all = statements.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const right = statements.reduce((sum, entry) => sum + (entry.right ? (entry.weight ?? 1) : 0), 0);
  const wrong = all - right;
  const [high, low] = [(right + 1) / (right + 2), 1 / (wrong + 2)];
  const points = statements.map((entry) => ({ x: logit(entry.stated), y: entry.right ? high : low, weight: entry.weight ?? 1 }));
  let slope = 1;
  let offset = 0;
  for (let step = 0; step < STEPS; step++) {
    const move = newtonStep(points, slope, offset);
    slope -= move.slope;
    offset -= move.offset;
    if (Math.abs(move.slope) + Math.abs(move.offset) < 1e-9) break;
  }
  if (slope < 0) return () => (right + 1) / (all + 2);
  return (stated) => sigmoid(slope * logit(stated) + offset);
}

function newtonStep(
  points: readonly { x: number; y: number; weight: number }[],
  slope: number,
  offset: number,
): { slope: number; offset: number } {
  let [bySlope, byOffset, xx, x1, ones] = [PRIOR * (slope - 1), PRIOR * offset, PRIOR, 0, PRIOR];
  for (const { x, y, weight } of points) {
    const p = sigmoid(slope * x + offset);
    const bend = weight * p * (1 - p);
    bySlope += weight * (p - y) * x;
    byOffset += weight * (p - y);
    xx += bend * x * x;
    x1 += bend * x;
    ones += bend;
  }
  const determinant = xx * ones - x1 * x1;
  return { slope: bounded((ones * bySlope - x1 * byOffset) / determinant), offset: bounded((xx * byOffset - x1 * bySlope) / determinant) };
}

function bounded(step: number): number {
  return Math.min(LONGEST_STEP, Math.max(-LONGEST_STEP, step));
}

function logit(probability: number): number {
  const p = Math.min(1 - EDGE, Math.max(EDGE, probability));
  return Math.log(p / (1 - p));
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
