import type { ReplayedCase } from '../run/replay.ts';
import type { Figure } from './figure.ts';

/** How many of the quotations that the claims make stand on their line of the log. */
export function scoreQuotes(cases: readonly ReplayedCase[]): Figure[] {
  const made = cases.reduce((total, one) => total + one.quotes.made, 0);
  if (made === 0) return [];
  const literal = cases.reduce((total, one) => total + one.quotes.literal, 0);
  return [{ name: 'quotations literally in the log', value: literal / made, cases: made }];
}
