import { TriageError } from '../../src/domain/errors.ts';
import type { Ask } from '../../src/service/ask/ask.ts';
import type { Stores } from '../../src/stores/stores.ts';

/** Threads as they are stored; whoever may ask gets a refusal that only asking gives. */
export function storedAsk({ conversations }: Pick<Stores, 'conversations'>): Ask {
  return {
    byRules: true,
    open: async () => Promise.reject(new TriageError('conflict', 'It was asked.')),
    answer: async () => Promise.reject(new TriageError('internal', 'never')),
    threads: (filter, page) => conversations.list(filter, page),
    thread: async (id) => {
      const thread = await conversations.find(id);
      if (thread === null) throw new TriageError('not-found', `There is no thread ${id}.`);
      return { thread, turns: [] };
    },
    forget: async (id) => void (await conversations.remove(id)),
  };
}
