import type { AskStateValue } from './state.ts';

/** Nothing chosen: answer with what is known. */
export function afterChooseTools({ calls }: Pick<AskStateValue, 'calls'>): 'execute_tools' | 'compose_answer' {
  return calls.length > 0 ? 'execute_tools' : 'compose_answer';
}

/** Once more only where the last round brought something new, or failed in the first, and rounds are left. */
export function afterExecuteTools({
  rounds,
  maxRounds,
  gained,
}: Pick<AskStateValue, 'rounds' | 'maxRounds' | 'gained'>): 'choose_tools' | 'compose_answer' {
  return rounds < maxRounds && (gained > 0 || rounds === 1) ? 'choose_tools' : 'compose_answer';
}

/** No rounds allowed: answer with what is known. */
export function afterUnderstand({ maxRounds }: Pick<AskStateValue, 'maxRounds'>): 'choose_tools' | 'compose_answer' {
  return maxRounds > 0 ? 'choose_tools' : 'compose_answer';
}

/** Super-steps a question may take: understand, two nodes a round, one more choice, answer, check; and one to spare. */
export function recursionLimit(maxRounds: number): number {
  return 2 * maxRounds + 6;
}
