import type { Build } from '../domain/build.ts';
import type { Thread, Turn } from '../domain/conversation.ts';
import type { ConversationStore, HistoryStore } from '../ports/stores.ts';
import type { WebSearch } from '../ports/toolbox.ts';

/** Creates a store of conversations in memory, for the terminal without a database. */
export function createMemoryConversations(): ConversationStore {
  const threads = new Map<string, Thread>();
  const turns = new Map<string, Turn[]>();
  return {
    find: async (id) => threads.get(id) ?? null,
    list: async ({ analysisId, buildId }, { limit, offset }) =>
      [...threads.values()]
        .filter(
          (thread) =>
            (analysisId ?? thread.analysisId) === thread.analysisId &&
            (buildId ?? thread.buildId) === thread.buildId,
        )
        .sort((left, right) => right.lastAskedAt.localeCompare(left.lastAskedAt))
        .slice(offset, offset + limit),
    turns: async (id, limit) => (turns.get(id) ?? []).slice(-limit),
    append: async (thread, turn) => {
      const known = turns.get(thread.id) ?? [];
      turns.set(thread.id, [...known, turn]);
      threads.set(thread.id, { ...thread, turns: known.length + 1, lastAskedAt: turn.askedAt });
    },
    remove: async (id) => {
      turns.delete(id);
      return threads.delete(id);
    },
  };
}

/**
 * Creates an empty history, with at most the last passed build. The command line uses it if no database is
 * configured.
 */
export function createEmptyHistory(lastGreen: Build | null = null): HistoryStore {
  return {
    kept: false,
    failureHistory: async () => [],
    consecutiveFailures: async () => ({ count: 0, firstBuild: null, lastGreen, same: 0, firstSame: null }),
    similarFailures: async () => [],
  };
}

/** Creates a web search that is reported as not configured, and never throws an error. */
export function createNoWebSearch(): WebSearch {
  return { driver: 'none', configured: false, search: async () => [] };
}
