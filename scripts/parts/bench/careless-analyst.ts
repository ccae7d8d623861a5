import type { Claim } from '../../../src/domain/analysis.ts';
import type { Analyst } from '../../../src/ports/analyst.ts';

/** One in this many answers is careless. */
const CARELESS_EVERY = 3;

/**
 * Creates an analyst that answers like the given one, but in every third failure quotes words that do not
 * exist, as models do. It shows what verification is worth. The id of the build decides which answers are
 * careless, so that every design meets the same ones.
 */
export function createCarelessAnalyst(analyst: Analyst): Analyst {
  return {
    ...analyst,
    answer: async (input, signal) => {
      const judgment = await analyst.answer(input, signal);
      if (!isCareless(input.subject.build.id)) return judgment;
      return { ...judgment, value: { ...judgment.value, claims: judgment.value.claims.map(misquoteClaim) } };
    },
  };
}

/** Tells whether the answer about a build is careless. */
export function isCareless(buildId: string): boolean {
  return (
    [...buildId].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521, 7) %
      CARELESS_EVERY ===
    0
  );
}

function misquoteClaim(claim: Claim): Claim {
  return {
    ...claim,
    quotes: claim.quotes.map((quote) => ({ ...quote, text: `${quote.text} (as far as I remember)` })),
  };
}
