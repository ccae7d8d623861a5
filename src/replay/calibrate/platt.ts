/** A probability that was stated, and whether it was right. */
export interface Statement {
  readonly stated: number;
  readonly right: boolean;
  /** How many cases it stands for; 1 where it is left out. */
  readonly weight?: number;
}

const STEPS = 100;
/** A step that does not lessen the loss is halved so often at most. */
const SHORTER = 40;
/** How strongly the fit clings to what was stated (slope 1, offset 0): about as much as one case speaks. */
const PRIOR = 1;
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
  let line: Line = { slope: 1, offset: 0 };
  for (let step = 0; step < STEPS; step++) {
    const next = lowered(points, line, newtonStep(points, line));
    const moved = Math.abs(next.slope - line.slope) + Math.abs(next.offset - line.offset);
    line = next;
    if (moved < 1e-9) break;
  }
  const { slope, offset } = line;
  if (slope < 0) return () => (right + 1) / (all + 2);
  return (stated) => sigmoid(slope * logit(stated) + offset);
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

/** A whole step, or as much of it as lessens the loss: far from the end whole steps leap over it, to and fro for ever. */
function lowered(points: readonly Point[], line: Line, step: Line): Line {
  const before = loss(points, line);
  for (let halved = 0; halved < SHORTER; halved++) {
    const share = 0.5 ** halved;
    const next = { slope: line.slope - share * step.slope, offset: line.offset - share * step.offset };
    if (loss(points, next) < before) return next;
  }
  return line;
}

/** Cross entropy and what holds the fit near the statement. */
function loss(points: readonly Point[], { slope, offset }: Line): number {
  const held = (PRIOR / 2) * ((slope - 1) ** 2 + offset ** 2);
  return points.reduce((sum, { x, y, weight }) => {
    const z = slope * x + offset;
    return sum + weight * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - y * z);
  }, held);
}

function newtonStep(points: readonly Point[], { slope, offset }: Line): Line {
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
  return { slope: (ones * bySlope - x1 * byOffset) / determinant, offset: (xx * byOffset - x1 * bySlope) / determinant };
}

function logit(probability: number): number {
  const p = Math.min(1 - EDGE, Math.max(EDGE, probability));
  return Math.log(p / (1 - p));
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
