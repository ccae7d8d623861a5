import { Command, isInterrupted } from '@langchain/langgraph';
import type { ReviewerAnswer } from './question.ts';
import type { TriageStateUpdate } from './state.ts';

/** Whether the run ended for now because it waits for a person. */
export function isWaiting(state: unknown): boolean {
  return isInterrupted(state);
}

/** What a waiting run is given to go on with; null: no answer in time. */
export function resumedWith(answer: ReviewerAnswer): Command<unknown, TriageStateUpdate, never> {
  return new Command<unknown, TriageStateUpdate, never>({ resume: { answer } });
}
