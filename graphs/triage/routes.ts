import { Send } from '@langchain/langgraph';
import type { Classification, TerminationReason } from '../../src/domain/analysis.ts';
import { CATEGORIES } from '../../src/domain/category.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { computeSpent, findExhaustedBudget } from './budget.ts';
import {
  type Assignment,
  type Investigator,
  type TriageLimits,
  type TriageStateValue,
  toInsight,
} from './state.ts';
import { INVESTIGATORS } from './tool-calls.ts';

/** The confidence in the plan from which on no further call is worth its time. */
const SURE = 0.9;
/**
 * The confidence of a model's classification from which on the calls of the first round are enough, because
 * the answer is verified in any case.
 */
const CERTAIN = 0.92;
const FRUITLESS_ROUNDS = 2;
const IDLE_ROUNDS = 2;

type Investigation = Send<'investigate', { assignment: Assignment }>;
type LoopState = Pick<
  TriageStateValue,
  | 'limits'
  | 'plan'
  | 'rounds'
  | 'fruitless'
  | 'idle'
  | 'outcomes'
  | 'surplus'
  | 'callsAtVerdict'
  | 'verdict'
  | 'evidence'
  | 'evidenceAtVerdict'
  | 'usage'
  | 'steps'
>;

/** Checks whether the run must end with what is known, without further judgements or tool calls. */
function isBudgetSpent(state: Pick<TriageStateValue, 'limits' | 'usage' | 'steps'>): boolean {
  return findExhaustedBudget(computeSpent(state), state.limits) !== null;
}

/**
 * Returns why the loop ends here, or null if it continues. A plan ends it only after at least one call since
 * the last verdict, so that an answer that was sent back is not given again unchanged, and never while a
 * chosen call waits for this round. `rounds` counts the rounds that have begun.
 */
function findTermination(state: LoopState): TerminationReason | null {
  if (isBudgetSpent(state)) return 'budget_exhausted';
  const made = state.outcomes.slice(state.callsAtVerdict).some(({ status }) => status !== 'refused');
  const asked = made && state.surplus.length === 0;
  if (asked && state.plan?.enough) return state.plan.confidence >= SURE ? 'confident' : 'enough_information';
  if (asked && (state.plan?.confidence ?? 0) >= SURE) return 'confident';
  if (state.idle >= IDLE_ROUNDS) return 'no_relevant_tool';
  if (state.fruitless >= FRUITLESS_ROUNDS) return 'no_progress';
  if (state.rounds > state.limits.maxIterations) return 'max_iterations';
  return null;
}

/** Routes to the loop, or to parallel investigators if the profile and the failure call for them. */
export function routeAfterClassify(state: TriageStateValue): 'reason' | 'generate_answer' | Investigation[] {
  if (isBudgetSpent(state)) return 'generate_answer';
  return callsForInvestigators(state)
    ? INVESTIGATORS.map((investigator) => toInvestigation(investigator, state))
    : 'reason';
}

/** Routes the investigators that found something to another round if the profile allows one. */
export function routeAfterConsolidate(
  state: TriageStateValue,
): 'reason' | 'generate_answer' | Investigation[] {
  if (isBudgetSpent(state)) return 'generate_answer';
  if (state.investigations >= (state.limits.investigators?.rounds ?? 1)) return 'reason';
  const again = state.conclusions.filter(({ round, found }) => round === state.investigations && found);
  return again.length === 0
    ? 'reason'
    : again.map(({ investigator }) => toInvestigation(investigator, state));
}

/**
 * Checks whether the answer was sent back and nothing has been found since. Another answer would be the same.
 */
function isUnchanged({ verdict, evidence, evidenceAtVerdict }: LoopState): boolean {
  return verdict !== null && evidence.length === evidenceAtVerdict;
}

/** Routes to the answer, or to a person if the answer would be the one that was sent back. */
function conclude(state: LoopState): 'generate_answer' | 'hand_over' {
  return isUnchanged(state) ? 'hand_over' : 'generate_answer';
}

/** Routes to a person if the answer was sent back and `reason` finds nothing more to look up. */
export function routeAfterReason(state: LoopState): 'select_tool' | 'generate_answer' | 'hand_over' {
  if (state.plan?.enough && isUnchanged(state)) return 'hand_over';
  return findTermination(state) === null ? 'select_tool' : conclude(state);
}

/**
 * Routes refused calls to `observe`, so that the next round sees the reason. If no tool is relevant, one more
 * round is tried, but not for an answer that was sent back.
 */
export function routeAfterSelectTool(
  state: LoopState & Pick<TriageStateValue, 'calls' | 'replies'>,
): 'execute_tool' | 'observe' | 'reason' | 'generate_answer' | 'hand_over' {
  if (isBudgetSpent(state)) return conclude(state);
  if (state.calls.length > 0) return 'execute_tool';
  if (state.replies.length > 0) return 'observe';
  if (isUnchanged(state)) return 'hand_over';
  return state.idle < IDLE_ROUNDS && state.rounds < state.limits.maxIterations ? 'reason' : 'generate_answer';
}

/**
 * Routes to `await_reviewer` if a person was asked. After the last round, no further reasoning about what to
 * ask is needed.
 */
export function routeAfterObserve(
  state: LoopState & Pick<TriageStateValue, 'question' | 'classification'>,
): 'await_reviewer' | 'reason' | 'generate_answer' | 'hand_over' {
  if (state.question !== null) return 'await_reviewer';
  const isLast = state.rounds >= state.limits.maxIterations || state.fruitless >= FRUITLESS_ROUNDS;
  if (isLast || isCertain(state) || isBarren(state) || isBudgetSpent(state)) return conclude(state);
  return 'reason';
}

/**
 * Checks whether a model's calls of this round were all answered and brought nothing that was not known. The
 * next question would be put with the same evidence. A refused or failed call is worth another round, because
 * the model reads why; and what waits for the next round is asked first.
 */
function isBarren({ steps, rounds, outcomes, evidence, surplus }: LoopState): boolean {
  const isModels = steps.some(
    ({ node, round, by }) => node === 'select_tool' && round === rounds && by === 'llm',
  );
  if (!isModels || surplus.length > 0) return false;
  const known = new Set([
    ...evidence.filter(({ tool }) => tool === 'log').map(({ id }) => id),
    ...outcomes.filter(({ round }) => round !== rounds).flatMap((outcome) => outcome.evidence ?? []),
  ]);
  const here = outcomes.filter(({ round }) => round === rounds);
  return here.every(
    ({ status, evidence: ids = [] }) => /^(?:ok|empty)$/.test(status) && ids.every((id) => known.has(id)),
  );
}

/**
 * Checks whether a model was certain of the category from the log in the first round, or of the cause when it
 * named the calls of this one. Rules always look further, because this costs them nothing.
 */
function isCertain({
  classification,
  plan,
  steps,
  rounds,
  surplus,
}: LoopState & Pick<TriageStateValue, 'classification'>): boolean {
  const isModels = steps.some(({ node, by }) => node === 'classify' && by === 'llm');
  const isPlanned = plan?.calls !== undefined && plan.confidence >= CERTAIN && surplus.length === 0;
  return isModels && (isPlanned || (rounds === 1 && (classification?.confidence ?? 0) >= CERTAIN));
}

/**
 * Routes a corrected answer back to `reason` with the gaps, and a weak answer to one web search. Everything
 * else ends.
 */
export function routeAfterVerify(state: Pick<TriageStateValue, 'verdict'>): 'reason' | 'select_tool' | 'end' {
  if (state.verdict?.action === 'self_correct') return 'reason';
  if (state.verdict?.action === 'web_search') return 'select_tool';
  return 'end';
}

/** Returns the termination reason that `generate_answer` stores: the one that has just ended the loop. */
export function toStoredTermination(
  state: LoopState & Pick<TriageStateValue, 'classification'>,
): TerminationReason {
  const ended = findTermination(state);
  if (ended !== null) return ended;
  if (isCertain(state)) return 'confident';
  return isBarren(state) ? 'no_progress' : 'max_iterations';
}

/**
 * Returns how many super-steps a run may take: four nodes per round, one for the wait for a person, classify,
 * two nodes per round of investigators, an answer with its verdict for each correction and for the one web
 * search, and the end. LangGraph's default of 25 is too low from six rounds on.
 */
export function computeRecursionLimit(limits: TriageLimits): number {
  const answers = 1 + limits.maxCorrections + 1;
  return 4 * (limits.maxIterations + answers) + 6 + 2 * (limits.investigators?.rounds ?? 0);
}

function callsForInvestigators({ limits, subject, classification }: TriageStateValue): boolean {
  const when = limits.investigators?.when ?? 'never';
  if (when === 'always' || classification === null) return when === 'always';
  return when === 'complex' && describeComplexity(subject, classification) !== null;
}

function toInvestigation(investigator: Investigator, state: TriageStateValue): Investigation {
  const { subject, classification, evidence, outcomes } = toInsight(state);
  const known = { subject, classification, evidence: [...evidence], outcomes: [...outcomes] };
  const assignment = {
    investigator,
    round: state.investigations + 1,
    limits: state.limits,
    spent: computeSpent(state),
    ...known,
  };
  return new Send('investigate', { assignment });
}

/**
 * The maximum difference at which two categories are both possible. The rules use the same limit for a close
 * runner-up.
 */
const CLOSE = 0.25;
const SEVERAL_CAUSES = 3;
const SEVERAL_TOOLCHAINS = 3;

/**
 * Returns why a failure is complex, as text for people, or null if it is not. A failure is complex if no
 * category could be named, if two categories are almost equally probable, or if two of these signs occur
 * together: several distinct errors, several toolchains, a trace without a frame of our own. The thresholds
 * are estimates.
 */
export function describeComplexity(subject: TriageSubject, classification: Classification): string | null {
  if (classification.abstained) return 'too little evidence to name a category';
  const [first = 0, second = 0] = CATEGORIES.map((category) => classification.probabilities[category]).sort(
    (left, right) => right - left,
  );
  if (first - second < CLOSE) return 'two categories are almost equally likely';
  const signs = listComplexitySigns(subject);
  return signs.length >= 2 ? signs.join(', ') : null;
}

function listComplexitySigns({ exceptions, diagnostics, toolchains }: TriageSubject): string[] {
  const errors = new Set([
    ...exceptions.map((exception) => exception.type),
    ...diagnostics
      .filter((diagnostic) => diagnostic.severity === 'error')
      .map((diagnostic) => `${diagnostic.tool} ${diagnostic.code ?? ''}`),
  ]);
  const signs: string[] = [];
  if (errors.size >= SEVERAL_CAUSES) signs.push(`${errors.size} different errors`);
  if (new Set(toolchains).size >= SEVERAL_TOOLCHAINS) signs.push(`${new Set(toolchains).size} toolchains`);
  if (exceptions.length > 0 && !exceptions.some((exception) => exception.frames.some((frame) => frame.own)))
    signs.push('no frame from the project');
  return signs;
}
