import type { Evidence, Finding, ToolOutcome } from '../../../src/domain/evidence.ts';
import type { TriageRuntime } from '../context.ts';
import { finishedStep, startWatch } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Numbers what was found, drops what was known already, and counts rounds that brought nothing. */
export async function observe(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const found = numbered(state.replies, state.evidence);
  const answered = state.replies.some((reply) => reply.status === 'ok');
  return {
    evidence: found,
    outcomes: state.replies.map((reply) => ({ ...reply, findings: [] })),
    replies: [],
    fruitless: answered ? 0 : state.fruitless + 1,
    ...finishedStep(runtime, watch, {
      node: 'observe',
      round: state.rounds,
      summary: found.length === 0 ? 'nothing new' : `${found.length} new: ${found.map((item) => item.id).join(', ')}`,
    }),
  };
}

function numbered(replies: readonly ToolOutcome[], known: readonly Evidence[]): Evidence[] {
  const seen = new Set(known.map(identityOf));
  const found: Evidence[] = [];
  for (const reply of replies) {
    for (const finding of reply.findings) {
      const identity = identityOf(finding);
      if (seen.has(identity)) continue;
      seen.add(identity);
      found.push({ ...finding, id: `E${known.length + found.length + 1}`, tool: reply.answeredBy ?? reply.call.tool });
    }
  }
  return found;
}

/** The same lines of the same source are the same evidence, whoever brought them. */
function identityOf(finding: Finding): string {
  return JSON.stringify([finding.source, finding.lineStart ?? null, finding.lineEnd ?? null, finding.text]);
}
