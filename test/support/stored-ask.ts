import { TriageError } from '../../src/domain/errors.ts';
import type { Ask } from '../../src/service/ask/ask.ts';
import type { RepositoryAsk } from '../../src/service/ask/ask-repository.ts';
import type { Stores } from '../../src/stores/stores.ts';

/** Creates access to stored threads. Asking throws. */
export function createStoredAsk({ conversations }: Pick<Stores, 'conversations'>): Ask {
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

/** Creates access to stored threads about repositories. Asking throws. */
export function createStoredRepositoryAsk({
  repositoryThreads: threads,
}: Pick<Stores, 'repositoryThreads'>): RepositoryAsk {
  const thread: RepositoryAsk['thread'] = async (id) => {
    const found = await threads.find(id);
    if (found === null) throw new TriageError('not-found', `There is no thread ${id}.`);
    return { thread: found, turns: [] };
  };
  return {
    byRules: true,
    repositories: async ({ repositories }) => [...(repositories ?? [])],
    open: async () => Promise.reject(new TriageError('conflict', 'It was asked.')),
    answer: async () => Promise.reject(new TriageError('internal', 'never')),
    threads: (filter, page) => threads.list(filter, page),
    thread,
    forget: async (id) => void (await threads.remove(id)),
  };
}
