/** A share of something that was counted: `of` in all, of which `hits`. `low` and `high` bound it with 95 % confidence. */
export interface Proportion {
  readonly hits: number;
  readonly of: number;
  /** hits / of; 0 where nothing was counted. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The 97.5th percentile of the normal distribution: 95 % lie within it on both sides. */
const Z = 1.959963984540054;

/**
 * The share with its Wilson score interval (Wilson 1927, without continuity correction), which stays within 0 and 1 and holds for few
 * cases and for shares near the ends, where the usual p ± 1.96·s does not (Brown, Cai & DasGupta 2001). With none counted: 0 to 1.
 */
export function proportion(hits: number, of: number): Proportion {
  if (of <= 0) return { hits: 0, of: 0, share: 0, low: 0, high: 1 };
  const share = hits / of;
  const weight = 1 + (Z * Z) / of;
  const middle = (share + (Z * Z) / (2 * of)) / weight;
  const reach = (Z / weight) * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of));
  return { hits, of, share, low: hits === 0 ? 0 : Math.max(0, middle - reach), high: hits === of ? 1 : Math.min(1, middle + reach) };
}
