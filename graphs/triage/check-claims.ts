import type { Answer, Claim } from '../../src/domain/analysis.ts';
import { type Evidence, holdsQuote } from '../../src/domain/evidence.ts';

export interface CheckedClaims {
  readonly kept: readonly Claim[];
  /** Claims that were dropped, each with the reason; `byCode`: what they cite or quote is not there. */
  readonly dropped: readonly { readonly claim: Claim; readonly reason: string; readonly byCode: boolean }[];
}

/**
 * The part of verification that no model may do: a claim must name evidence that exists, and every quotation must stand
 * literally on its line of that evidence. Whatever fails is dropped.
 */
export function checkClaims(answer: Answer, evidence: readonly Evidence[], unsupported: readonly string[]): CheckedClaims {
  const byId = new Map(evidence.map((item) => [item.id, item]));
  const kept: Claim[] = [];
  const dropped: { claim: Claim; reason: string; byCode: boolean }[] = [];
  for (const claim of answer.claims) {
    const reason = whyNot(claim, byId);
    if (reason !== null) dropped.push({ claim, reason, byCode: true });
    else if (unsupported.includes(claim.text)) dropped.push({ claim, reason: 'its evidence does not support it', byCode: false });
    else kept.push(claim);
  }
  return { kept, dropped };
}

/** Whether one of the claims quotes a log or report of the build, rather than only citing documents, code or the past. */
export function quoteBuild(claims: readonly Claim[], sources: readonly { readonly name: string }[]): boolean {
  const printed = new Set(sources.map((source) => source.name));
  return claims.some((claim) => claim.quotes.some((quote) => printed.has(quote.source)));
}

function whyNot(claim: Claim, byId: ReadonlyMap<string, Evidence>): string | null {
  if (claim.evidence.length === 0) return 'it cites no evidence';
  const missing = claim.evidence.filter((id) => !byId.has(id));
  if (missing.length > 0) return `it cites ${missing.join(', ')}, which does not exist`;
  const cited = claim.evidence.flatMap((id) => byId.get(id) ?? []);
  const wrong = claim.quotes.find((quote) => !cited.some((item) => holdsQuote(item, quote)));
  if (wrong !== undefined) return `the quoted text is not at ${wrong.source}:${wrong.line}`;
  return null;
}
