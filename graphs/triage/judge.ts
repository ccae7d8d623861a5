import { type JudgementTrace, NO_USAGE, type Step, type Usage } from '../../src/domain/analysis.ts';
import type { Judgement } from '../../src/ports/analyst.ts';
import { contextOf, type TriageRuntime } from './context.ts';
import type { TriageStateUpdate } from './state.ts';

/** When a node began, for its step. */
export interface Stopwatch {
  readonly startedAt: number;
}

export function startWatch(runtime: TriageRuntime): Stopwatch {
  return { startedAt: contextOf(runtime).clock.now() };
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
    usage: { ...NO_USAGE, ...judgement.usage, ...extra },
    ...(judgement.promptHash === null ? {} : { promptHashes: { [name]: judgement.promptHash } }),
    ...(judgement.model === null ? {} : { model: judgement.model }),
    ...(judgement.note === null ? {} : { notes: [judgement.note] }),
  };
}

/** A judgement as the trace shows it; `startedAt` is when it was asked for. */
export function traceOf(runtime: TriageRuntime, name: string, startedAt: number, judgement: Judgement<unknown>): JudgementTrace {
  const { by, model, promptHash, note, usage } = judgement;
  return { name, by, model, promptHash, note, milliseconds: Math.max(0, contextOf(runtime).clock.now() - startedAt), ...usage };
}
