import type { ToolCall, ToolOutcome } from '../../../src/domain/evidence.ts';
import type { ToolDescription } from '../../../src/ports/toolbox.ts';
import { type AskRuntime, contextOf } from '../context.ts';
import { costOf, finishedStep, inquiryOf, understandingOf } from '../judge.ts';
import type { AskStateUpdate, AskStateValue } from '../state.ts';

/** A person waits for the answer; more at once is a sign of a confused model. */
const MAX_CALLS = 4;
/** Puts a question into the review queue and waits for a person; here a person is asking. */
const NOT_HERE: ReadonlySet<string> = new Set(['ask_reviewer']);

/** Picks what to look up, among the tools of the analysis' category and nothing else; never the same call twice. */
export async function chooseTools(state: AskStateValue, runtime: AskRuntime): Promise<AskStateUpdate> {
  const { converse, clock, toolbox } = contextOf(runtime);
  const startedAt = clock.now();
  const round = state.rounds + 1;
  const offered = offeredFor(state, toolbox.offered(state.topic.analysis.category));
  const input = { ...inquiryOf(state), understanding: understandingOf(state), offered, round };
  const judgement = await converse.chooseTools(input, runtime.signal);
  const names = new Set(offered.map(({ name }) => name));
  const known = judgement.value.filter(({ tool }) => names.has(tool));
  const calls = withoutRepeats(known, state.outcomes).slice(0, MAX_CALLS);
  const refused = [...new Set(judgement.value.filter(({ tool }) => !names.has(tool)).map(({ tool }) => tool))];
  const notes = refused.length === 0 ? [] : [`Not available for this category, so not used: ${refused.join(', ')}.`];
  const summary = calls.length === 0 ? 'nothing more to look up' : calls.map(({ tool }) => tool).join(', ');
  return {
    calls,
    rounds: round,
    ...costOf('ask_choose_tools', judgement, { iterations: 1 }),
    notes: judgement.note === null ? notes : [judgement.note, ...notes],
    ...finishedStep(runtime, startedAt, { node: 'choose_tools', round, summary }, judgement),
  };
}

/** Fallback tools only after something else was looked up in vain. */
function offeredFor({ outcomes }: AskStateValue, all: readonly ToolDescription[]): ToolDescription[] {
  const inVain = outcomes.length > 0 && outcomes.every(({ status }) => status !== 'ok');
  return all.filter(({ name, fallback }) => !NOT_HERE.has(name) && (!fallback || inVain));
}

function withoutRepeats(calls: readonly ToolCall[], outcomes: readonly ToolOutcome[]): ToolCall[] {
  const seen = new Set(outcomes.map(({ call }) => keyOf(call)));
  return calls.filter((call) => {
    const key = keyOf(call);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function keyOf(call: ToolCall): string {
  const args = Object.entries(call.args).sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([call.tool, args]);
}
