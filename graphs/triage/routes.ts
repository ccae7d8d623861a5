import type { TerminationReason } from '../../src/domain/analysis.ts';
import type { TriageLimits, TriageStateValue } from './state.ts';

/** Confidence in the plan from which no further question is worth its time (DESIGN: the loop). */
const SURE = 0.9;
const FRUITLESS_ROUNDS = 2;

type LoopState = Pick<TriageStateValue, 'limits' | 'plan' | 'rounds' | 'calls' | 'fruitless' | 'outcomes' | 'callsAtVerdict'>;
type VerdictState = Pick<TriageStateValue, 'verdict'>;

/**
 * Why the loop ends here, or null where it goes on. A plan ends it only once something has been asked since the last
 * verdict: an answer that was sent back is not given again unchanged. `rounds` counts rounds begun.
 */
function terminationOf(state: LoopState): TerminationReason | null {
  const asked = state.outcomes.length > state.callsAtVerdict;
  if (asked && state.plan?.enough) return state.plan.confidence >= SURE ? 'confident' : 'enough_information';
  if (asked && (state.plan?.confidence ?? 0) >= SURE) return 'confident';
  if (state.fruitless >= FRUITLESS_ROUNDS) return 'no_progress';
  if (state.rounds > state.limits.maxIterations) return 'max_iterations';
  return null;
}

export function afterReason(state: LoopState): 'select_tool' | 'generate_answer' {
  return terminationOf(state) === null ? 'select_tool' : 'generate_answer';
}

/** No relevant question is left: answer with what is known. */
export function afterSelectTool(state: Pick<TriageStateValue, 'calls'>): 'execute_tool' | 'generate_answer' {
  return state.calls.length > 0 ? 'execute_tool' : 'generate_answer';
}

/** The last round needs no further reasoning about what to ask. */
export function afterObserve(state: LoopState): 'reason' | 'generate_answer' {
  if (state.rounds >= state.limits.maxIterations || state.fruitless >= FRUITLESS_ROUNDS) return 'generate_answer';
  return 'reason';
}

/** A corrected answer goes back to `reason` with the gaps; a weak one asks the web once; all else is done. */
export function afterVerify(state: VerdictState): 'reason' | 'select_tool' | 'end' {
  if (state.verdict?.action === 'self_correct') return 'reason';
  if (state.verdict?.action === 'web_search') return 'select_tool';
  return 'end';
}

/** The reason as `generate_answer` stores it: what ended the loop just now. */
export function storedTermination(state: LoopState): TerminationReason {
  const reason = terminationOf(state);
  if (reason !== null) return reason;
  if (state.calls.length === 0) return 'no_relevant_tool';
  return 'max_iterations';
}

/**
 * Super-steps a run may take: four nodes a round, classify, and an answer with its verdict for each correction and the
 * one web search. LangGraph's default of 25 is too low from six rounds on.
 */
export function recursionLimit(limits: TriageLimits): number {
  const answers = 1 + limits.maxCorrections + 1;
  return 4 * (limits.maxIterations + answers) + 4;
}
