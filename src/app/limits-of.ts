import type { TriageLimits } from '../../graphs/triage/state.ts';
import type { Config } from '../config/schema.ts';

/** How often a correction may send an answer back (DESIGN: verify). */
const MAX_CORRECTIONS = 2;

/** What bounds a run. In the configuration 0 is no limit, for the graph null. */
export function limitsOf({ triage }: Pick<Config, 'triage'>): TriageLimits {
  const { maxIterations, thresholds, investigators, budget } = triage;
  const { tokens, costUsd, seconds } = budget;
  return {
    maxIterations,
    maxCorrections: MAX_CORRECTIONS,
    thresholds,
    budget: { tokens: tokens || null, costUsd: costUsd || null, seconds: seconds || null },
    investigators,
  };
}
