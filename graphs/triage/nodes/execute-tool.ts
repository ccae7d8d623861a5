import { spentOf } from '../budget.ts';
import type { TriageRuntime } from '../context.ts';
import { insightOf } from '../insight.ts';
import { finishedStep, startWatch, usageOf } from '../judge.ts';
import { type Asked, runTools } from '../run-tools.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Asks the chosen questions side by side. A tool's failure is a reply like any other. */
export async function executeTool(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const { subject, classification } = insightOf(state);
  const run = { limits: state.limits, spent: spentOf(state), subject, category: classification.category };
  const asked = await runTools(state.calls, run, runtime);
  const { replies, corrections, judgements } = asked;
  return {
    replies: [...state.replies, ...replies],
    usage: { ...usageOf(corrections), toolCalls: replies.length },
    ...saidByCorrections(asked),
    ...finishedStep(runtime, watch, {
      node: 'execute_tool',
      round: state.rounds,
      summary: replies.map((reply) => `${reply.call.tool}: ${reply.summary}`).join(' · '),
      outcomes: replies.map(({ findings: _findings, ...outcome }) => outcome),
      ...(judgements.length === 0 ? {} : { judgements: [...judgements] }),
    }),
  };
}

/** Prompt and notes of corrections; their cost is added up with the calls. */
function saidByCorrections({ corrections }: Asked): TriageStateUpdate {
  const notes = [...new Set(corrections.flatMap(({ note }) => note ?? []))];
  const promptHash = corrections.find((correction) => correction.promptHash !== null)?.promptHash ?? null;
  return {
    ...(notes.length === 0 ? {} : { notes }),
    ...(promptHash === null ? {} : { promptHashes: { correct_call: promptHash } }),
  };
}
