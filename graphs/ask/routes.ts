import type { AskStateValue } from './state.ts';

/** Routes to the answer, from the facts that are known, if no call was chosen. */
export function routeAfterChooseTools({
  calls,
}: Pick<AskStateValue, 'calls'>): 'execute_tools' | 'compose_answer' {
  return calls.length > 0 ? 'execute_tools' : 'compose_answer';
}

/**
 * Routes to another round only if rounds are left and the last round found something new or was the first.
 */
export function routeAfterExecuteTools({
  rounds,
  maxRounds,
  gained,
}: Pick<AskStateValue, 'rounds' | 'maxRounds' | 'gained'>): 'choose_tools' | 'compose_answer' {
  return rounds < maxRounds && (gained > 0 || rounds === 1) ? 'choose_tools' : 'compose_answer';
}

/** Routes to the answer, from the facts that are known, if no rounds are allowed. */
export function routeAfterUnderstand({
  maxRounds,
}: Pick<AskStateValue, 'maxRounds'>): 'choose_tools' | 'compose_answer' {
  return maxRounds > 0 ? 'choose_tools' : 'compose_answer';
}

/**
 * Returns how many super-steps a question may take: understand, two nodes per round, one more choice, answer,
 * check, and one to spare.
 */
export function computeRecursionLimit(maxRounds: number): number {
  return 2 * maxRounds + 6;
}
