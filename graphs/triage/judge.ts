import { type JudgementTrace, NO_USAGE, type Step, type Usage } from '../../src/domain/analysis.ts';
import type { Analyst, Judgement } from '../../src/ports/analyst.ts';
import { type Spent, timeLeft, usedUp } from './budget.ts';
import { contextOf, type TriageRuntime } from './context.ts';
import { startDeadline } from './deadline.ts';
import type { TriageLimits, TriageStateUpdate } from './state.ts';

/** When a node began, for its step. */
export interface Stopwatch {
  readonly startedAt: number;
}

export function startWatch(runtime: TriageRuntime): Stopwatch {
  return { startedAt: contextOf(runtime).clock.now() };
}

/** What a judgement may still cost. */
export interface RunBudget {
  readonly limits: TriageLimits;
  readonly spent: Spent;
}

/**
 * Asks the analyst. Where the budget is used up, or its seconds run out while he judges, the fallback one judges for nothing
 * and the note says so: a run out of budget ends with an answer, never with an error. Throws only what ends the run.
 */
export async function judged<Value>(
  runtime: TriageRuntime,
  { limits, spent }: RunBudget,
  ask: (analyst: Analyst, signal: AbortSignal) => Promise<Judgement<Value>>,
): Promise<Judgement<Value>> {
  const { analyst, fallbackAnalyst = analyst } = contextOf(runtime);
  const isFree = fallbackAnalyst.name === analyst.name;
  if (isFree) return await ask(analyst, runtime.signal);
  const gone = usedUp(spent, limits);
  if (gone !== null) return withNote(await ask(fallbackAnalyst, runtime.signal), outOfBudget(gone, fallbackAnalyst));
  const left = timeLeft(spent, limits);
  if (left === null) return await ask(analyst, runtime.signal);
  const late = startDeadline(left);
  try {
    return await untilAborted(ask(analyst, AbortSignal.any([runtime.signal, late.signal])), late.signal);
  } catch (error) {
    if (!late.signal.aborted || runtime.signal.aborted) throw error;
    return withNote(await ask(fallbackAnalyst, runtime.signal), outOfBudget(`${limits.budget?.seconds} seconds`, fallbackAnalyst));
  } finally {
    late.stop();
  }
}

/** The trace entry of a finished node; also told to whoever watches the run. */
export function finishedStep(
  runtime: TriageRuntime,
  watch: Stopwatch,
  facts: Pick<Step, 'node' | 'round' | 'summary'> & Partial<Pick<Step, 'by' | 'outcomes' | 'judgements' | 'investigator'>>,
): Pick<TriageStateUpdate, 'steps'> {
  const { clock, onStep } = contextOf(runtime);
  const step: Step = {
    ...facts,
    startedAt: new Date(watch.startedAt).toISOString(),
    milliseconds: Math.max(0, clock.now() - watch.startedAt),
  };
  onStep?.(step);
  return { steps: [step] };
}

/** What a judgement adds to the state: cost, prompt, model, and why somebody else judged. */
export function costOf(name: string, judgement: Judgement<unknown>, extra: Partial<Usage> = {}): TriageStateUpdate {
  return {
    usage: { ...usageOf([judgement]), ...extra },
    ...(judgement.promptHash === null ? {} : { promptHashes: { [name]: judgement.promptHash } }),
    ...(judgement.model === null ? {} : { model: judgement.model }),
    ...(judgement.note === null ? {} : { notes: [judgement.note] }),
  };
}

/** What several judgements cost together. */
export function usageOf(judgements: readonly Judgement<unknown>[]): Usage {
  const sum = (value: (judgement: Judgement<unknown>) => number) => judgements.reduce((total, one) => total + value(one), 0);
  return {
    ...NO_USAGE,
    inputTokens: sum(({ usage }) => usage.inputTokens),
    outputTokens: sum(({ usage }) => usage.outputTokens),
    costUsd: sum(({ usage }) => usage.costUsd),
    modelCalls: sum(({ usage }) => usage.modelCalls),
  };
}

/** A judgement as the trace shows it; `startedAt` is when it was asked for. */
export function traceOf(runtime: TriageRuntime, name: string, startedAt: number, judgement: Judgement<unknown>): JudgementTrace {
  const { by, model, promptHash, note, usage } = judgement;
  return { name, by, model, promptHash, note, milliseconds: Math.max(0, contextOf(runtime).clock.now() - startedAt), ...usage };
}

/** Said where the fallback analyst judges because the budget is gone. */
export function outOfBudget(gone: string, fallbackAnalyst: Pick<Analyst, 'name'>): string {
  return `The budget of this run (${gone}) is used up; the ${fallbackAnalyst.name} continue with what is known.`;
}

function withNote<Value>(judgement: Judgement<Value>, note: string): Judgement<Value> {
  return { ...judgement, note };
}

/** Settles with the work, or as soon as the signal ends: whoever ignores his signal holds nobody up. */
function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const stop = () => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  return promise;
}
