import { interrupt } from '@langchain/langgraph';
import { getContext, type TriageRuntime } from '../context.ts';
import { createFinishedStep, getNow } from '../finished-step.ts';
import { Resumption, toEvidence } from '../question.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/**
 * Waits for a person's answer. The run is interrupted here and its checkpoint is kept. It is resumed with the
 * answer, which becomes evidence, or with null if no answer came in time. Does nothing before the wait,
 * because a resumed node starts from the beginning.
 */
export async function awaitReviewer(
  state: TriageStateValue,
  runtime: TriageRuntime,
): Promise<TriageStateUpdate> {
  const { question } = state;
  if (question === null) return {};
  const { answer } = Resumption.parse(interrupt({ questionId: question.id }));
  const startedAt = getNow(runtime);
  const summary =
    answer === null ? 'no answer in time' : `${answer.by} answered: E${state.evidence.length + 1}`;
  return {
    question: null,
    ...(answer === null
      ? { fruitless: state.fruitless + 1, notes: [`No answer in time: ${question.text}`] }
      : { evidence: [toEvidence(question, answer, state.evidence.length)] }),
    ...createFinishedStep(getContext(runtime), startedAt, {
      node: 'await_reviewer',
      round: state.rounds,
      summary,
    }),
  };
}
