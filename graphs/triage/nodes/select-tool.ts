import type { ToolCall, ToolOutcome } from '../../../src/domain/evidence.ts';
import { contextOf, type TriageRuntime } from '../context.ts';
import { insightOf } from '../insight.ts';
import { costOf, finishedStep, startWatch, traceOf } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** More than this in one step is a sign of a confused model, not of a thorough one. */
const MAX_CALLS = 6;

/** Picks the independent questions of this round among the tools of the category; never the same question twice. */
export async function selectTool(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const { analyst, toolbox } = contextOf(runtime);
  const insight = insightOf(state);
  // The verdict stays in the state while the loop goes on: the web's turn is the first choice after it, and only that.
  const askWeb = state.verdict?.action === 'web_search' && !state.webAsked;
  const offered = toolbox.offered(insight.classification.category).filter((tool) => tool.fallback === askWeb);
  const plan = state.plan ?? { thought: '', confidence: 0, enough: false, retrieval: 0 };
  const judgement = await analyst.chooseTools({ ...insight, plan, offered }, runtime.signal);
  const names = new Set(offered.map((tool) => tool.name));
  const known = judgement.value.filter((call) => names.has(call.tool));
  const calls = withoutRepeats(known, state.outcomes).slice(0, MAX_CALLS);
  return {
    calls,
    webAsked: state.webAsked || askWeb,
    ...costOf('select_tool', judgement),
    ...notesOn(judgement.value, known, calls),
    ...finishedStep(runtime, watch, {
      node: 'select_tool',
      round: state.rounds,
      by: judgement.by,
      judgements: [traceOf(runtime, 'select_tool', watch.startedAt, judgement)],
      summary: calls.length === 0 ? 'no further question would help' : calls.map((call) => call.tool).join(', '),
    }),
  };
}

function withoutRepeats(calls: readonly ToolCall[], outcomes: readonly ToolOutcome[]): ToolCall[] {
  const seen = new Set(outcomes.map((outcome) => keyOf(outcome.call)));
  return calls.filter((call) => {
    const key = keyOf(call);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function keyOf(call: ToolCall): string {
  const args = Object.entries(call.args).sort(([left], [right]) => left.localeCompare(right));
  return JSON.stringify([call.tool, args]);
}

function notesOn(chosen: readonly ToolCall[], known: readonly ToolCall[], kept: readonly ToolCall[]): TriageStateUpdate {
  const notes: string[] = [];
  const refused = chosen.filter((call) => !known.includes(call)).map((call) => call.tool);
  if (refused.length > 0) notes.push(`Not offered for this category, so not asked: ${[...new Set(refused)].join(', ')}.`);
  if (known.length > kept.length) notes.push(`${known.length - kept.length} repeated or surplus questions were not asked.`);
  return notes.length === 0 ? {} : { notes };
}
