import type { Claim } from '../../../src/domain/analysis.ts';
import type { LeftOut, Statement } from '../../../src/domain/conversation.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { checkClaims } from '../../triage/check-claims.ts';
import { getContext } from '../../triage/context.ts';
import { createFinishedStep } from '../../triage/finished-step.ts';
import type { AskRuntime } from '../context.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/**
 * Keeps the statements that hold: every citation must exist, and every quotation must occur at the stated
 * place.
 */
export async function checkCitations(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const context = getContext(runtime);
  const startedAt = context.clock.now();
  const { kept, leftOut } = checkStatements(state.reply, [...state.known, ...state.found]);
  const summary =
    leftOut.length === 0
      ? 'all statements are supported'
      : `${leftOut.length} left out: ${leftOut[0]?.reason}`;
  const step = createFinishedStep(context, startedAt, {
    node: 'check_citations',
    round: state.rounds,
    summary,
  });
  return { reply: kept, leftOut, ...step };
}

/**
 * Checks the parts of an answer that no model may decide. Cited evidence must exist, and every quotation must
 * occur literally in the cited evidence or, if the statement cites nothing, anywhere in the evidence.
 * Statements that fail are left out, with the reason.
 */
export function checkStatements(statements: readonly Statement[], evidence: readonly Evidence[]) {
  const kept: Statement[] = [];
  const leftOut: LeftOut[] = [];
  for (const statement of statements) {
    const reason = findReasonAgainst(statement, evidence);
    if (reason !== null) leftOut.push({ text: statement.text, reason });
    else kept.push(kept.length === 0 ? { ...statement, lead: statement.lead.trimStart() } : statement);
  }
  return { kept, leftOut };
}

/**
 * Returns why a statement fails the check that the analysis applies to one claim. Returns null if it passes.
 */
function findReasonAgainst(
  { text, quotes, evidence: ids }: Statement,
  evidence: readonly Evidence[],
): string | null {
  if (ids.length === 0 && quotes.length === 0) return null;
  const claim: Claim = { text, quotes, evidence: ids.length > 0 ? ids : evidence.map(({ id }) => id) };
  // A summary holds the model's words: it may be cited, but not quoted.
  const texts = evidence.map((item) => (item.tool === 'summarize_text' ? { ...item, text: '' } : item));
  return checkClaims({ claims: [claim] }, texts, []).dropped[0]?.reason ?? null;
}
