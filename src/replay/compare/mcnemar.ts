/** What the cases say on which the two sides disagree. */
export interface McNemar {
  /** Right on the second side only. */
  readonly won: number;
  /** Right on the first side only. */
  readonly lost: number;
  /** Exact two-sided p: how often chance alone, heads or tails a disagreement, is at least as lopsided. */
  readonly exact: number;
  /** The mid-p: the exact p less half the probability of what was seen, on both sides. What verdicts go by. */
  readonly midP: number;
}

/**
 * McNemar's test for paired proportions (McNemar 1947, Psychometrika 12:153) by the binomial distribution itself, however many pairs
 * disagree; the mid-p is what Fagerland, Lydersen & Laake 2013 (BMC Medical Research Methodology 13:91) recommend, because the exact
 * p is needlessly strict with few pairs. 1 where no pair disagrees.
 */
export function mcNemar(won: number, lost: number): McNemar {
  const pairs = won + lost;
  const fewer = Math.min(won, lost);
  if (pairs === 0) return { won, lost, exact: 1, midP: 1 };
  // Terms are kept as logarithms: half to the power of a thousand is no number.
  let logTerm = -pairs * Math.LN2;
  let below = 0;
  for (let count = 0; count < fewer; count++) {
    below += Math.exp(logTerm);
    logTerm += Math.log((pairs - count) / (count + 1));
  }
  const seen = Math.exp(logTerm);
  const exact = Math.min(1, 2 * (below + seen));
  const midP = won === lost ? 1 : 2 * below + seen;
  return { won, lost, exact, midP };
}
