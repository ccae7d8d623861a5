import { TriageError } from '../../../src/domain/errors.ts';
import { computeSpent, findExhaustedBudget } from '../budget.ts';
import { getContext, type TriageRuntime } from '../context.ts';
import { createFinishedStep, getNow } from '../finished-step.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/**
 * Passes an answer that was sent back to a person unchanged, because nothing new was found that could change
 * it.
 */
export async function handOver(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const { verdict } = state;
  if (verdict === null) throw new TriageError('internal', 'An answer without a verdict was handed over');
  const isSpent = findExhaustedBudget(computeSpent(state), state.limits) !== null;
  const reasons = [...verdict.reasons, 'no further lookup would change the result'];
  const step = { node: 'hand_over', round: state.rounds, summary: 'nothing new was found: a person decides' };
  return {
    verdict: { ...verdict, action: 'human_review', reasons },
    ...(isSpent ? { termination: 'budget_exhausted' as const } : {}),
    ...createFinishedStep(getContext(runtime), startedAt, step),
  };
}
