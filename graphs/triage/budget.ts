import type { Step, Usage } from '../../src/domain/analysis.ts';
import { findMax } from '../../src/lib/collections.ts';
import type { TriageLimits } from './state.ts';

/** The part of the budget that a run has used so far. */
export interface Spent {
  readonly tokens: number;
  readonly costUsd: number;
  readonly milliseconds: number;
}

type SpendingState = {
  readonly usage: Usage;
  readonly steps: readonly Pick<Step, 'milliseconds' | 'investigator'>[];
};

/**
 * Sums the tokens of both directions, the cost in dollars, and the time of the finished nodes. Time in which
 * no work was done (a process that was down, waiting for a person) does not count. Parallel investigators
 * count as long as the slowest of them.
 */
export function computeSpent({ usage, steps }: SpendingState): Spent {
  const total = (list: SpendingState['steps']) => list.reduce((sum, step) => sum + step.milliseconds, 0);
  const alone = steps.filter(({ investigator }) => investigator === undefined);
  const groups = Map.groupBy(
    steps.filter(({ investigator }) => investigator !== undefined),
    ({ investigator }) => investigator,
  );
  const slowest = findMax([...groups.values()].map(total), 0);
  return {
    tokens: usage.inputTokens + usage.outputTokens,
    costUsd: usage.costUsd,
    milliseconds: total(alone) + slowest,
  };
}

/**
 * Returns which part of the budget is used up, as text for people ("60,000 tokens"). Returns null if some of
 * each part is left.
 */
export function findExhaustedBudget(spent: Spent, { budget }: Pick<TriageLimits, 'budget'>): string | null {
  if (budget === undefined) return null;
  const { tokens, costUsd, seconds } = budget;
  if (tokens !== null && spent.tokens >= tokens) return `${tokens.toLocaleString('en-US')} tokens`;
  if (costUsd !== null && spent.costUsd >= costUsd) return `$${costUsd}`;
  if (seconds !== null && spent.milliseconds >= seconds * 1000) return `${seconds} seconds`;
  return null;
}

/** Returns the milliseconds that are left of the budget. Returns null if the budget has no time limit. */
export function getTimeLeft(spent: Spent, { budget }: Pick<TriageLimits, 'budget'>): number | null {
  if (budget === undefined || budget.seconds === null) return null;
  return Math.max(0, budget.seconds * 1000 - spent.milliseconds);
}

/** A signal that aborts after a time, and whose timer can be stopped. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly stop: () => void;
}

/**
 * Starts a deadline that aborts its signal after a number of milliseconds, unless it is stopped before.
 * `AbortSignal.timeout` cannot be stopped, and would keep the listeners of a short run in memory until the
 * time limit.
 */
export function startDeadline(milliseconds: number): Deadline {
  const controller = new AbortController();
  // A timer may fire just before its time. The budget would then seem to have a millisecond left.
  const timer = setTimeout(
    () => controller.abort(new DOMException('The time limit was reached', 'TimeoutError')),
    milliseconds + 2,
  ).unref();
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}
