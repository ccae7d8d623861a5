import { computeSpent } from '../budget.ts';
import { getContext, type TriageRuntime } from '../context.ts';
import { createFinishedStep, getNow, sumUsage } from '../finished-step.ts';
import { type TriageStateUpdate, type TriageStateValue, toInsight } from '../state.ts';
import { createCallsStep, runTools, type ToolReplies } from '../tool-calls.ts';

/** Makes the chosen calls in parallel. A tool's failure is a reply like any other. */
export async function executeTool(
  state: TriageStateValue,
  runtime: TriageRuntime,
): Promise<TriageStateUpdate> {
  const startedAt = getNow(runtime);
  const { subject, classification } = toInsight(state);
  const run = {
    limits: state.limits,
    spent: computeSpent(state),
    subject,
    category: classification.category,
  };
  const asked = await runTools(state.calls, run, runtime);
  const step = { node: 'execute_tool', round: state.rounds, ...createCallsStep(asked) };
  return {
    replies: [...state.replies, ...asked.replies],
    usage: { ...sumUsage(asked.corrections), toolCalls: asked.replies.length },
    ...recordCorrections(asked),
    ...createFinishedStep(getContext(runtime), startedAt, step),
  };
}

/** Returns the prompt and notes of corrected calls. Their cost is added with that of the calls. */
function recordCorrections({ corrections }: ToolReplies): TriageStateUpdate {
  const notes = [...new Set(corrections.flatMap(({ note }) => note ?? []))];
  const promptHash = corrections.find((correction) => correction.promptHash !== null)?.promptHash ?? null;
  return {
    ...(notes.length === 0 ? {} : { notes }),
    ...(promptHash === null ? {} : { promptHashes: { correct_call: promptHash } }),
  };
}
