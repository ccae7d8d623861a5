import type { Claim, Classification } from '../../src/domain/analysis.ts';
import type { Route } from '../../src/domain/publish-bound.ts';
import type { ConfidenceFacts } from './compose-confidence.ts';

/**
 * Finds the route of an answer: what the rules based its category on. A model that names the category that
 * the rules are sure of, and the cause that they find, counts among theirs, else among those of models. Null
 * if a person decided a failure like it.
 */
export function findRoute(
  classification: Classification,
  reading: ConfidenceFacts['reading'],
  claims: readonly Claim[],
  floor: number,
): Route | null {
  if (classification.route !== undefined) return classification.route;
  if (classification.witnesses !== undefined) return null;
  const isShared =
    reading !== null &&
    reading.category === classification.category &&
    isSameCause(claims, reading.claims) &&
    !reading.abstained &&
    reading.confidence >= floor;
  return (isShared ? reading.route : undefined) ?? 'model';
}

/**
 * Checks whether two answers rest on the same cause: one line that both quote, or two lines that say the
 * same. The category alone may be right for a wrong reason, and the advice follows the reason.
 */
function isSameCause(claims: readonly Claim[], others: readonly Claim[]): boolean {
  const quotes = others.flatMap((other) => other.quotes);
  return claims
    .flatMap((claim) => claim.quotes)
    .some(({ source, line, text }) =>
      quotes.some(
        (quote) =>
          (quote.source === source && quote.line === line) ||
          (Math.min(text.length, quote.text.length) >= SAME_WORDS &&
            (quote.text.includes(text) || text.includes(quote.text))),
      ),
    );
}

/** Shorter quotations may be equal by chance. */
const SAME_WORDS = 20;
