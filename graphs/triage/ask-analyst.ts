import { settleOrAbort } from '../../src/lib/time.ts';
import type { Analyst, Judgment } from '../../src/ports/analyst.ts';
import { findExhaustedBudget, getTimeLeft, type Spent, startDeadline } from './budget.ts';
import { getContext, type TriageRuntime } from './context.ts';
import type { TriageLimits } from './state.ts';

/** The limits of a run, and the resources that it has used so far. */
export interface RunBudget {
  readonly limits: TriageLimits;
  readonly spent: Spent;
}

/**
 * Asks the analyst. If the budget is used up, or its time runs out during the judgment, the fallback analyst
 * judges at no cost, and a note says so. A run that has used up its budget therefore ends with an answer
 * instead of an error. Without a fallback analyst, the budget has no effect here. Other errors of the analyst
 * are thrown unchanged.
 */
export async function askAnalyst<Value>(
  runtime: TriageRuntime,
  { limits, spent }: RunBudget,
  ask: (analyst: Analyst, signal: AbortSignal) => Promise<Judgment<Value>>,
): Promise<Judgment<Value>> {
  const { analyst, fallbackAnalyst = analyst } = getContext(runtime);
  const askFallback = async (exhausted: string) => ({
    ...(await ask(fallbackAnalyst, runtime.signal)),
    note: describeExhaustedBudget(exhausted, fallbackAnalyst),
  });
  if (fallbackAnalyst.name === analyst.name) return await ask(analyst, runtime.signal);
  const exhausted = findExhaustedBudget(spent, limits);
  if (exhausted !== null) return await askFallback(exhausted);
  const left = getTimeLeft(spent, limits);
  if (left === null) return await ask(analyst, runtime.signal);
  const deadline = startDeadline(left);
  try {
    return await settleOrAbort(
      ask(analyst, AbortSignal.any([runtime.signal, deadline.signal])),
      deadline.signal,
    );
  } catch (error) {
    if (!deadline.signal.aborted || runtime.signal.aborted) throw error;
    return await askFallback(`${limits.budget?.seconds} seconds`);
  } finally {
    deadline.stop();
  }
}

/** Describes that the budget is used up and that the fallback analyst continues. */
export function describeExhaustedBudget(exhausted: string, fallbackAnalyst: Pick<Analyst, 'name'>): string {
  return (
    `The budget of this run (${exhausted}) is used up; the ${fallbackAnalyst.name} continue with what ` +
    'is known.'
  );
}
