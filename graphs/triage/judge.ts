import { type JudgementTrace, NO_USAGE, type Step, type Usage } from '../../src/domain/analysis.ts';
import { type Clock, settleOrAbort } from '../../src/lib/time.ts';
import type { Analyst, Judgement } from '../../src/ports/analyst.ts';
import { findExhaustedBudget, getTimeLeft, type Spent, startDeadline } from './budget.ts';
import { getContext, type TriageRuntime } from './context.ts';
import type { TriageLimits } from './state.ts';

/** The limits of a run, and the resources that it has used so far. */
export interface RunBudget {
  readonly limits: TriageLimits;
  readonly spent: Spent;
}

/**
 * Asks the analyst. If the budget is used up, or its seconds run out during the judgment, the fallback
 * analyst judges at no cost and a note says so. A run without budget therefore ends with an answer, never
 * with an error. Throws only errors that end the run.
 */
export async function askAnalyst<Value>(
  runtime: TriageRuntime,
  { limits, spent }: RunBudget,
  ask: (analyst: Analyst, signal: AbortSignal) => Promise<Judgement<Value>>,
): Promise<Judgement<Value>> {
  const { analyst, fallbackAnalyst = analyst } = getContext(runtime);
  const askFallback = async (gone: string) => ({
    ...(await ask(fallbackAnalyst, runtime.signal)),
    note: describeExhaustedBudget(gone, fallbackAnalyst),
  });
  if (fallbackAnalyst.name === analyst.name) return await ask(analyst, runtime.signal);
  const gone = findExhaustedBudget(spent, limits);
  if (gone !== null) return await askFallback(gone);
  const left = getTimeLeft(spent, limits);
  if (left === null) return await ask(analyst, runtime.signal);
  const late = startDeadline(left);
  try {
    return await settleOrAbort(ask(analyst, AbortSignal.any([runtime.signal, late.signal])), late.signal);
  } catch (error) {
    if (!late.signal.aborted || runtime.signal.aborted) throw error;
    return await askFallback(`${limits.budget?.seconds} seconds`);
  } finally {
    late.stop();
  }
}

/** Describes that the budget is used up and that the fallback analyst continues. */
export function describeExhaustedBudget(gone: string, fallbackAnalyst: Pick<Analyst, 'name'>): string {
  return (
    `The budget of this run (${gone}) is used up; the ${fallbackAnalyst.name} continue with what ` +
    'is known.'
  );
}

interface StepContext {
  readonly clock: Clock;
  readonly onStep?: ((step: Step) => void) | undefined;
}
type StepFacts = Pick<Step, 'node' | 'round' | 'summary'> &
  Partial<Pick<Step, 'by' | 'outcomes' | 'judgements' | 'investigator'>>;

/**
 * Returns the trace entry of a finished node, with the judgement that it is based on, if any. Also passes the
 * entry to the observer of the run.
 */
export function createFinishedStep(
  { clock, onStep }: StepContext,
  startedAt: number,
  facts: StepFacts,
  judgement?: Judgement<unknown>,
): { readonly steps: Step[] } {
  const milliseconds = Math.max(0, clock.now() - startedAt);
  const by =
    judgement === undefined
      ? {}
      : { by: judgement.by, judgements: [toJudgementTrace(facts.node, milliseconds, judgement)] };
  const step: Step = { ...facts, ...by, startedAt: new Date(startedAt).toISOString(), milliseconds };
  onStep?.(step);
  return { steps: [step] };
}

/**
 * Returns what a judgement adds to the state: cost, prompt, model, and why another analyst judged, if one
 * did.
 */
export function toCostUpdate(name: string, judgement: Judgement<unknown>, extra: Partial<Usage> = {}) {
  return {
    usage: { ...sumUsage([judgement]), ...extra },
    ...(judgement.promptHash === null ? {} : { promptHashes: { [name]: judgement.promptHash } }),
    ...(judgement.model === null ? {} : { model: judgement.model }),
    ...(judgement.note === null ? {} : { notes: [judgement.note] }),
  };
}

/**
 * Returns what a node with one judgement adds to the state in addition to its value: the cost of the
 * judgement and the finished step.
 */
export function createJudgedStep(
  runtime: TriageRuntime,
  startedAt: number,
  facts: StepFacts,
  judgement: Judgement<unknown>,
  extra?: Partial<Usage>,
) {
  return {
    ...toCostUpdate(facts.node, judgement, extra),
    ...createFinishedStep(getContext(runtime), startedAt, facts, judgement),
  };
}

/** Returns the time at which a node begins, for its step, in milliseconds since 1970. */
export function getStartTime(runtime: TriageRuntime): number {
  return getContext(runtime).clock.now();
}

/** Returns the total usage of several judgements. */
export function sumUsage(judgements: readonly Judgement<unknown>[]): Usage {
  const sum = (value: (usage: Judgement<unknown>['usage']) => number) =>
    judgements.reduce((total, { usage }) => total + value(usage), 0);
  return {
    ...NO_USAGE,
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    costUsd: sum((usage) => usage.costUsd),
    modelCalls: sum((usage) => usage.modelCalls),
  };
}

/** Returns a judgement as the trace shows it. */
export function toJudgementTrace(
  name: string,
  milliseconds: number,
  judgement: Judgement<unknown>,
): JudgementTrace {
  const { by, model, promptHash, note, usage } = judgement;
  return { name, by, model, promptHash, note, milliseconds: Math.max(0, milliseconds), ...usage };
}
