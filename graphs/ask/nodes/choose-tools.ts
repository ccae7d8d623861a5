import { getCallKey, type ToolCall, type ToolOutcome } from '../../../src/domain/evidence.ts';
import type { ToolDescription } from '../../../src/ports/toolbox.ts';
import { getContext } from '../../triage/context.ts';
import { createFinishedStep, toCostUpdate } from '../../triage/finished-step.ts';
import { ASK_REVIEWER } from '../../triage/question.ts';
import { describeForeignTools } from '../../triage/tool-calls.ts';
import { ASK_PERSON } from '../ask-person.ts';
import { type AskRuntime, getToolCategory, getUnderstanding, toInquiry } from '../context.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/**
 * The maximum number of calls in a round. A person waits for the answer, and a model that requests more is
 * confused.
 */
const MAX_CALLS = 4;

/**
 * Chooses what to look up, only among the tools of the analysis' category. Never makes the same call twice.
 */
export async function chooseTools(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const context = getContext(runtime);
  const startedAt = context.clock.now();
  const round = state.rounds + 1;
  const all = context.toolbox.offered(getToolCategory(state));
  const offered = listOfferedTools(state, all, context.person !== undefined);
  const input = { ...toInquiry(state), understanding: getUnderstanding(state), offered, round };
  const judgment = await context.converse.chooseTools(input, runtime.signal);
  const names = new Set(offered.map(({ name }) => name));
  const known = judgment.value.filter(({ tool }) => names.has(tool));
  const calls = withoutRepeats(known, state.outcomes).slice(0, MAX_CALLS);
  const notes = describeForeignTools(judgment.value, names);
  const summary = calls.length === 0 ? 'nothing more to look up' : calls.map(({ tool }) => tool).join(', ');
  return {
    calls,
    rounds: round,
    ...toCostUpdate('ask_choose_tools', judgment, { iterations: 1 }),
    notes: judgment.note === null ? notes : [judgment.note, ...notes],
    ...createFinishedStep(context, startedAt, { node: 'choose_tools', round, summary }, judgment),
  };
}

/**
 * Returns the tools that may be chosen. Fallback tools are offered only after other calls found nothing. No
 * reviewer is asked, because a person is already asking; that person is, once, if present.
 */
function listOfferedTools(
  { outcomes }: AskStateValue,
  all: readonly ToolDescription[],
  hasPerson: boolean,
): ToolDescription[] {
  const inVain = outcomes.length > 0 && outcomes.every(({ status }) => status !== 'ok');
  const tools = all.filter(({ name, fallback }) => name !== ASK_REVIEWER && (!fallback || inVain));
  const isAsked = outcomes.some(({ call }) => call.tool === ASK_REVIEWER);
  return hasPerson && !isAsked ? [...tools, ASK_PERSON] : tools;
}

function withoutRepeats(calls: readonly ToolCall[], outcomes: readonly ToolOutcome[]): ToolCall[] {
  // One person answers one question.
  const getKey = (call: ToolCall) => (call.tool === ASK_REVIEWER ? ASK_REVIEWER : getCallKey(call));
  const seen = new Set(outcomes.map(({ call }) => getKey(call)));
  return calls.filter((call) => !seen.has(getKey(call)) && seen.add(getKey(call)));
}
