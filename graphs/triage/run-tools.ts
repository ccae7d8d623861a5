import type { JudgementTrace } from '../../src/domain/analysis.ts';
import type { Category } from '../../src/domain/category.ts';
import type { ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import type { Judgement } from '../../src/ports/analyst.ts';
import { timeLeft } from './budget.ts';
import { contextOf, type TriageRuntime } from './context.ts';
import { startDeadline } from './deadline.ts';
import { judged, type RunBudget, traceOf } from './judge.ts';

/** What came of several calls made side by side, in their order. */
export interface Asked {
  readonly replies: readonly ToolOutcome[];
  readonly corrections: readonly Judgement<ToolCall | null>[];
  readonly judgements: readonly JudgementTrace[];
}

export interface ToolRun extends RunBudget {
  readonly subject: TriageSubject;
  readonly category: Category;
}

interface One {
  readonly reply: ToolOutcome;
  readonly correction: Judgement<ToolCall | null> | null;
  readonly judgement: JudgementTrace | null;
}

/** Asks independent questions side by side. A tool's failure is a reply like any other, and so is the end of the time. */
export async function runTools(calls: readonly ToolCall[], run: ToolRun, runtime: TriageRuntime): Promise<Asked> {
  const left = timeLeft(run.spent, run.limits);
  const late = left === null ? null : startDeadline(left);
  const asking = Promise.all(calls.map((call) => ask(call, run, runtime, late?.signal ?? null)));
  const asked = await asking.finally(() => late?.stop());
  return {
    replies: asked.map((one) => one.reply),
    corrections: asked.flatMap((one) => one.correction ?? []),
    judgements: asked.flatMap((one) => one.judgement ?? []),
  };
}

/** Runs one call; arguments that the tool refuses go back to the analyst once, with the tool's own words. */
async function ask(call: ToolCall, run: ToolRun, runtime: TriageRuntime, late: AbortSignal | null): Promise<One> {
  const { toolbox, clock } = contextOf(runtime);
  const { subject } = run;
  const reply = await put(call, run, runtime, late);
  const tool = toolbox.describe(call.tool);
  if (reply.status !== 'invalid-arguments' || tool === null) return { reply, correction: null, judgement: null };
  const startedAt = clock.now();
  const correction = await judged(runtime, run, (analyst, signal) =>
    analyst.correctCall({ call, error: reply.summary, tool, subject }, signal),
  );
  const judgement = traceOf(runtime, 'correct_call', startedAt, correction);
  if (correction.value === null) return { reply, correction, judgement };
  // A correction mends arguments; another tool would come past what `select_tool` offered.
  const second = await put({ ...correction.value, tool: call.tool }, run, runtime, late);
  return { reply: { ...second, attempts: second.attempts + reply.attempts }, correction, judgement };
}

async function put(call: ToolCall, run: ToolRun, runtime: TriageRuntime, late: AbortSignal | null): Promise<ToolOutcome> {
  const { toolbox, clock } = contextOf(runtime);
  const startedAt = clock.now();
  try {
    const signal = late === null ? runtime.signal : AbortSignal.any([runtime.signal, late]);
    return await toolbox.run(call, run.subject, run.category, signal);
  } catch (error) {
    if (late === null || !late.aborted || runtime.signal.aborted) throw error;
    return outOfTime(call, Math.max(0, clock.now() - startedAt));
  }
}

/** The reply to a call that the time of the run cut off. */
export function outOfTime(call: ToolCall, milliseconds: number): ToolOutcome {
  const summary = 'The run reached its time limit before this tool answered.';
  return { call, status: 'timed-out', findings: [], summary, milliseconds, attempts: 1 };
}
