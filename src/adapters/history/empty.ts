import type { HistoryStore } from '../../ports/stores.ts';

/** A past of which nothing is known: for the terminal, which opens no database unless one is named. */
export function createEmptyHistory(): HistoryStore {
  return {
    kept: false,
    failureHistory: async () => [],
    consecutiveFailures: async () => ({ count: 0, firstBuild: null, lastGreen: null }),
    similarFailures: async () => [],
  };
}
