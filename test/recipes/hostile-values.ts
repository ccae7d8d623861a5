import fc from 'fast-check';
import stock from './hostile-pieces.json' with { type: 'json' };

/** What the author of a pull request chooses, and a CI system hands to its jobs. */
export interface HostileValues {
  readonly branch: string;
  readonly tag: string;
  readonly title: string;
  readonly author: string;
}

/** A command on the PATH of every recipe under test that leaves a file: whoever runs it was injected. */
export const CANARY = 'pwned';

/** Values that were seen to break a recipe, and one of each kind. */
export const KNOWN_HOSTILE: readonly HostileValues[] = stock.known.map((nasty) => ({
  branch: `feature/${nasty}`,
  tag: `v1${nasty}`,
  title: nasty,
  author: nasty,
}));

/**
 * Puts as many more together at random, of pieces that name the token in the language of a system, run the canary, or end a quotation, a document or
 * a value. The same ones for a seed.
 */
export function createHostileValues(seed: number, count: number): HostileValues[] {
  const text = fc
    .array(fc.constantFrom(...stock.pieces), { minLength: 1, maxLength: 6 })
    .map((pieces) => pieces.join(''));
  const values = fc.record({
    branch: text.map((nasty) => `feature/${nasty}`),
    tag: text.map((nasty) => `v1${nasty}`),
    title: text,
    author: text,
  });
  return fc.sample(values, { seed, numRuns: count });
}
