import type { Claim } from '../../../src/domain/analysis.ts';
import type { Analyst } from '../../../src/ports/analyst.ts';

/** One answer in so many is careless. */
const CARELESS_EVERY = 3;

/**
 * An analyst that answers as the given one, but quotes in every third failure words that are nowhere, as models do: what a design makes of
 * that is what its verification is worth. Which ones goes by the build alone, so that every design meets the same.
 */
export function carelessAnalyst(analyst: Analyst): Analyst {
  return {
    ...analyst,
    answer: async (input, signal) => {
      const judgment = await analyst.answer(input, signal);
      if (!isCareless(input.subject.build.id)) return judgment;
      return { ...judgment, value: { ...judgment.value, claims: judgment.value.claims.map(misquoting) } };
    },
  };
}

/** Whether the answer about a build is one of the careless. */
export function isCareless(buildId: string): boolean {
  return (
    [...buildId].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521, 7) %
      CARELESS_EVERY ===
    0
  );
}

function misquoting(claim: Claim): Claim {
  return {
    ...claim,
    quotes: claim.quotes.map((quote) => ({ ...quote, text: `${quote.text} (as far as I remember)` })),
  };
}
