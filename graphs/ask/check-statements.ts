import type { Answer, Claim } from '../../src/domain/analysis.ts';
import type { LeftOut, Statement } from '../../src/domain/conversation.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import { checkClaims } from '../triage/check-claims.ts';

export interface CheckedStatements {
  readonly kept: readonly Statement[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * What no model may decide: cited evidence must exist, and every quotation must stand literally where it is cited, or, in a statement
 * that cites nothing, anywhere in the evidence. What fails is left out, with the reason.
 */
export function checkStatements(statements: readonly Statement[], evidence: readonly Evidence[], answer: Answer): CheckedStatements {
  const kept: Statement[] = [];
  const leftOut: LeftOut[] = [];
  for (const statement of statements) {
    const reason = reasonAgainst(statement, evidence, answer);
    if (reason === null) kept.push(statement);
    else leftOut.push({ text: statement.text, reason });
  }
  const [first, ...rest] = kept;
  return { kept: first === undefined ? [] : [{ ...first, lead: first.lead.trimStart() }, ...rest], leftOut };
}

/** The analysis' own check of one claim. */
function reasonAgainst({ text, quotes, evidence: ids }: Statement, evidence: readonly Evidence[], answer: Answer): string | null {
  if (ids.length === 0 && quotes.length === 0) return null;
  const claim: Claim = { text, quotes, evidence: ids.length > 0 ? ids : evidence.map(({ id }) => id) };
  return checkClaims({ ...answer, claims: [claim] }, evidence, []).dropped[0]?.reason ?? null;
}
