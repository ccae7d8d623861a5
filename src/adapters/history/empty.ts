import type { Build } from '../../domain/build.ts';
import type { HistoryStore } from '../../ports/stores.ts';

/** A past of which nothing is known but perhaps the last green build: for the terminal, which opens no database unless one is named. */
export function createEmptyHistory(lastGreen: Build | null = null): HistoryStore {
  return {
    kept: false,
    failureHistory: async () => [],
    consecutiveFailures: async () => ({ count: 0, firstBuild: null, lastGreen, same: 0, firstSame: null }),
    similarFailures: async () => [],
  };
}
