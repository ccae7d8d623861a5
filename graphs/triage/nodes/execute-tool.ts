import { NO_USAGE } from '../../../src/domain/analysis.ts';
import type { ToolCall, ToolOutcome } from '../../../src/domain/evidence.ts';
import type { Judgement } from '../../../src/ports/analyst.ts';
import { contextOf, type TriageRuntime } from '../context.ts';
import { insightOf } from '../insight.ts';
import { finishedStep, startWatch } from '../judge.ts';
import type { TriageStateUpdate, TriageStateValue } from '../state.ts';

/** Asks the chosen questions side by side. A tool's failure is a reply like any other. */
export async function executeTool(state: TriageStateValue, runtime: TriageRuntime): Promise<TriageStateUpdate> {
  const watch = startWatch(runtime);
  const asked = await Promise.all(state.calls.map((call) => ask(state, call, runtime)));
  const replies = asked.map((one) => one.reply);
  const corrections = asked.flatMap((one) => (one.correction === null ? [] : [one.correction]));
  return {
    replies,
    usage: {
      inputTokens: sum(corrections, (correction) => correction.usage.inputTokens),
      outputTokens: sum(corrections, (correction) => correction.usage.outputTokens),
      costUsd: sum(corrections, (correction) => correction.usage.costUsd),
      modelCalls: sum(corrections, (correction) => correction.usage.modelCalls),
      toolCalls: replies.length,
      iterations: NO_USAGE.iterations,
    },
    ...saidByCorrections(corrections),
    ...finishedStep(runtime, watch, {
      node: 'execute_tool',
      round: state.rounds,
      summary: replies.map((reply) => `${reply.call.tool}: ${reply.summary}`).join(' · '),
      outcomes: replies.map(({ findings: _findings, ...outcome }) => outcome),
    }),
  };
}

interface Asked {
  readonly reply: ToolOutcome;
  readonly correction: Judgement<ToolCall | null> | null;
}

/** Runs one call; arguments that the tool refuses go back to the analyst once, with the tool's own words. */
async function ask(state: TriageStateValue, call: ToolCall, runtime: TriageRuntime): Promise<Asked> {
  const { analyst, toolbox } = contextOf(runtime);
  const { subject, classification } = insightOf(state);
  const reply = await toolbox.run(call, subject, classification.category, runtime.signal);
  const tool = toolbox.describe(call.tool);
  if (reply.status !== 'invalid-arguments' || tool === null) return { reply, correction: null };
  const correction = await analyst.correctCall({ call, error: reply.summary, tool, subject }, runtime.signal);
  if (correction.value === null) return { reply, correction };
  // A correction mends arguments; another tool would come past what `select_tool` offered.
  const second = await toolbox.run({ ...correction.value, tool: call.tool }, subject, classification.category, runtime.signal);
  return { reply: { ...second, attempts: second.attempts + reply.attempts }, correction };
}

/** Prompt and notes of corrections; their cost is added up with the calls. */
function saidByCorrections(corrections: readonly Judgement<unknown>[]): TriageStateUpdate {
  const notes = [...new Set(corrections.flatMap(({ note }) => note ?? []))];
  const promptHash = corrections.find((correction) => correction.promptHash !== null)?.promptHash ?? null;
  return {
    ...(notes.length === 0 ? {} : { notes }),
    ...(promptHash === null ? {} : { promptHashes: { correct_call: promptHash } }),
  };
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
