/**
 * The risk that an operator accepts: the highest share of wrong answers among the published ones, and the
 * confidence with which it must hold.
 */
export interface Risk {
  readonly most: number;
  readonly confidence: number;
}

/**
 * Returns the one-sided upper confidence limit of the share `count` / `of` (Clopper & Pearson 1934). Counts
 * may be fractional, as weighted cases are. Returns 1 if there is no case.
 */
export function computeUpperShare(count: number, of: number, confidence: number): number {
  return of <= count ? 1 : computeBetaQuantile(count + 1, of - count, confidence);
}

/**
 * Computes the minimum number of cases without a wrong one that is needed to prove the risk: (1 - most)^n ≤ 1
 * - confidence.
 */
export function computeCasesNeeded({ most, confidence }: Risk): number {
  return Math.ceil(Math.log(1 - confidence) / Math.log(1 - most) - 1e-9);
}

/** The number of steps of the search. Each step halves the interval. */
const HALVINGS = 60;
const TERMS = 300;
const TINY = 1e-300;

/**
 * Computes the quantile of the Beta distribution: the share below which the variable lies with this
 * probability.
 */
function computeBetaQuantile(a: number, b: number, probability: number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2;
    if (computeIncompleteBeta(middle, a, b) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Computes the regularized incomplete beta function by its continued fraction (Lentz's method; DLMF 8.17.22).
 */
function computeIncompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - computeIncompleteBeta(1 - x, b, a);
  const front =
    Math.exp(
      computeLogGamma(a + b) -
        computeLogGamma(a) -
        computeLogGamma(b) +
        a * Math.log(x) +
        b * Math.log(1 - x),
    ) / a;
  let c = 1;
  let d = 1 / avoidZero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / avoidZero(1 + even * d);
    c = avoidZero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / avoidZero(1 + odd * d);
    c = avoidZero(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-12) break;
  }
  return front * value;
}

function avoidZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** Computes ln Γ(x) for x > 0 with Stirling's series (DLMF 5.11.1), after the recurrence has made x large. */
function computeLogGamma(x: number): number {
  let shift = 0;
  let at = x;
  while (at < 10) {
    shift -= Math.log(at);
    at += 1;
  }
  const inverse = 1 / (at * at);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / at;
  return shift + (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2 + series;
}
