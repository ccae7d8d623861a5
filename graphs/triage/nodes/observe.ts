import { getContext, type TriageRuntime } from '../context.ts';
import { createFinishedStep, getNow } from '../finished-step.ts';
import { ASK_REVIEWER, findQuestion } from '../question.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';
import { describeNewEvidence, numberEvidence } from '../tool-calls.ts';

/** Numbers new findings, drops those that are already known, and counts rounds that brought nothing. */
export async function observe(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const question = findQuestion(state.replies);
  // The question to a person is not evidence, but its answer will be.
  const replies = state.replies.map((reply) =>
    reply.call.tool === ASK_REVIEWER ? { ...reply, findings: [] } : reply,
  );
  const { found, outcomes } = numberEvidence(replies, state.evidence, state.rounds);
  const answered = state.replies.some((reply) => reply.status === 'ok');
  const summary = `${describeNewEvidence(found)}${question === null ? '' : '; asked a reviewer'}`;
  return {
    evidence: found,
    outcomes,
    replies: [],
    question,
    fruitless: answered ? 0 : state.fruitless + 1,
    ...createFinishedStep(getContext(runtime), startedAt, { node: 'observe', round: state.rounds, summary }),
  };
}
