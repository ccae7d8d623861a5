import type { Answer, Claim } from '../../src/domain/analysis.ts';
import { type Evidence, holdsQuote } from '../../src/domain/evidence.ts';

export interface CheckedClaims {
  readonly kept: readonly Claim[];
  /** Claims that were dropped, each with the reason; `byCode`: what they cite or quote is not there. */
  readonly dropped: readonly { readonly claim: Claim; readonly reason: string; readonly byCode: boolean }[];
}

/**
 * Checks the part of an answer that no model may decide: a claim must cite evidence that exists, and every
 * quotation must occur literally on its line of that evidence. Claims that fail are dropped.
 */
export function checkClaims(
  answer: Pick<Answer, 'claims'>,
  evidence: readonly Evidence[],
  unsupported: readonly string[],
): CheckedClaims {
  const byId = new Map(evidence.map((item) => [item.id, item]));
  const kept: Claim[] = [];
  const dropped: { claim: Claim; reason: string; byCode: boolean }[] = [];
  for (const claim of answer.claims) {
    const reason = findObstacle(claim, byId);
    if (reason !== null) dropped.push({ claim, reason, byCode: true });
    else if (unsupported.includes(claim.text))
      dropped.push({ claim, reason: 'its evidence does not support it', byCode: false });
    else kept.push(claim);
  }
  return { kept, dropped };
}

/**
 * Checks whether one of the claims quotes a log or report of the build, and not only documents, code, or
 * earlier failures.
 */
export function quoteBuild(claims: readonly Claim[], sources: readonly { readonly name: string }[]): boolean {
  const printed = new Set(sources.map((source) => source.name));
  return claims.some((claim) => claim.quotes.some((quote) => printed.has(quote.source)));
}

function findObstacle(claim: Claim, byId: ReadonlyMap<string, Evidence>): string | null {
  if (claim.evidence.length === 0) return 'it cites no evidence';
  const missing = claim.evidence.filter((id) => !byId.has(id));
  if (missing.length > 0) return `it cites ${missing.join(', ')}, which does not exist`;
  const cited = claim.evidence.flatMap((id) => byId.get(id) ?? []);
  const wrong = claim.quotes.find((quote) => !cited.some((item) => holdsQuote(item, quote)));
  if (wrong !== undefined) return `the quoted text is not at ${wrong.source}:${wrong.line}`;
  return null;
}
