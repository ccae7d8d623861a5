import type { RepositoryThread } from '../../domain/ask-session.ts';
import type { Turn } from '../../domain/conversation.ts';
import { TriageError } from '../../domain/errors.ts';
import { createId } from '../../domain/ids.ts';
import type { Toolbox } from '../../ports/toolbox.ts';
import type { RepositoryThreadStore } from '../../stores/repository-threads.ts';
import { type AnswerDeps, type AskWatcher, readQuestion } from './answer-question.ts';
import { createExplorer } from './explore.ts';

/** Words of the repositories to list, and the repositories that may be seen. */
export interface RepositoryQuery {
  readonly words: string;
  readonly repositories?: readonly string[];
}

export interface RepositoryAskDeps extends Omit<AnswerDeps, 'toolbox'> {
  readonly threads: RepositoryThreadStore;
  /** Opens the tools on first use. */
  readonly openToolbox: () => Promise<Toolbox>;
  /** Lists the repositories that are configured or have builds, by name. */
  readonly listKnown: (query: RepositoryQuery, limit: number) => Promise<readonly string[]>;
  /** Returns the newest commit of a repository's default branch; null if its code cannot be read. */
  readonly findCommit: (repository: string, signal: AbortSignal) => Promise<string | null>;
  readonly byRules: boolean;
}

export interface RepositoryQuestion {
  readonly repository: string;
  readonly question: string;
  /** The thread to continue. */
  readonly threadId?: string | undefined;
  readonly askedBy: string;
}

/** A question that can be answered: its repository is known, and its thread exists. */
export interface OpenRepositoryQuestion {
  readonly thread: RepositoryThread;
  readonly isNew: boolean;
  /** The masked text of the question. */
  readonly question: string;
  readonly askedBy: string;
}

const MAX_TITLE = 120;
/** The maximum number of questions of a thread. More are asked in a new one. */
const MAX_TURNS = 100;

export type RepositoryAsk = ReturnType<typeof createRepositoryAsk>;

/** Creates questions about repositories of the service, with stored threads. */
export function createRepositoryAsk(deps: RepositoryAskDeps) {
  const { threads } = deps;
  const busy = new Set<string>();
  const refuseBusy = ({ id }: RepositoryThread) => {
    if (!busy.has(id)) return;
    const message = `The thread ${id} is already answering another question.`;
    throw new TriageError('conflict', message, { retryable: true });
  };
  const find = async (id: string) => {
    const thread = await threads.find(id);
    if (thread === null) throw new TriageError('not-found', `There is no thread ${id}.`);
    return thread;
  };
  return {
    /** True if no model is configured. */
    byRules: deps.byRules,
    /** Lists the repositories that can be asked about. */
    repositories: deps.listKnown,
    /**
     * Checks whether a question can be answered. Throws `invalid-input` for a question that is empty or too
     * long, `not-found` for a repository that is not configured and has no builds, and `conflict` if the
     * thread is about another repository, is full, or is already answering.
     */
    open: async (input: RepositoryQuestion): Promise<OpenRepositoryQuestion> => {
      const question = await readQuestion(input.question, deps);
      const { repository, threadId, askedBy } = input;
      await requireKnown(repository, deps);
      if (threadId === undefined) {
        const thread = createThread(repository, question, askedBy, deps.clock.now());
        return { thread, isNew: true, question, askedBy };
      }
      const thread = await find(threadId);
      requireFitting(thread, repository);
      refuseBusy(thread);
      return { thread, isNew: false, question, askedBy };
    },
    /**
     * Answers a question, and stores it with its answer. Throws `conflict` as above, `not-found` if no commit
     * can be read, `timeout` (retryable) and `cancelled`. An answer that is cut off is not stored.
     */
    answer: async (opened: OpenRepositoryQuestion, watcher: AskWatcher, signal: AbortSignal) => {
      refuseBusy(opened.thread);
      busy.add(opened.thread.id);
      try {
        return await answer(opened, deps, watcher, signal);
      } finally {
        busy.delete(opened.thread.id);
      }
    },
    threads: (...how: Parameters<RepositoryThreadStore['list']>) => threads.list(...how),
    /** Returns a thread with its turns. Throws `not-found`. */
    thread: async (id: string) => ({ thread: await find(id), turns: await threads.turns(id) }),
    /** Deletes a thread with all its turns. Throws `not-found`. */
    forget: async (id: string) => {
      if (!(await threads.remove(id))) throw new TriageError('not-found', `There is no thread ${id}.`);
    },
  };
}

async function requireKnown(repository: string, { listKnown }: RepositoryAskDeps): Promise<void> {
  const known = await listKnown({ words: repository, repositories: [repository] }, 1);
  if (!known.includes(repository)) throw createUnknownRepositoryError();
}

async function answer(
  { thread, isNew, question, askedBy }: OpenRepositoryQuestion,
  deps: RepositoryAskDeps,
  watcher: AskWatcher,
  signal: AbortSignal,
): Promise<Turn> {
  const { repository, id } = thread;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(deps.timeLimitMs)]);
  const commit = await deps.findCommit(repository, limited);
  if (commit === null)
    throw new TriageError(
      'not-found',
      `The code of ${repository} cannot be read: no clone of it is configured, and no code host has it.`,
    );
  const place = { kind: 'repository', name: repository, repository, commit, hasHistory: true } as const;
  const explorer = createExplorer({ ...deps, toolbox: await deps.openToolbox() }, place);
  const remembered = isNew ? null : await deps.threads.remembered(id);
  const turns = isNew ? [] : await deps.threads.turns(id);
  const session = { id, turns, learned: remembered?.learned ?? [], stack: remembered?.stack ?? null };
  const { turn, memory } = await explorer.ask(question, session, askedBy, watcher, signal);
  await deps.threads.append(thread, turn, { learned: [...memory.learned], stack: [...memory.stack] });
  return turn;
}

function requireFitting({ id, repository, turns }: RepositoryThread, asked: string): void {
  if (repository !== asked)
    throw new TriageError('conflict', `The thread ${id} is about ${repository}, not about ${asked}.`);
  if (turns >= MAX_TURNS)
    throw new TriageError('conflict', `The thread ${id} has ${turns} questions. Start a new thread.`);
}

function createThread(
  repository: string,
  question: string,
  startedBy: string,
  now: number,
): RepositoryThread {
  const at = new Date(now).toISOString();
  const title = question.replace(/\s+/g, ' ').slice(0, MAX_TITLE);
  return {
    id: createId('thr', now),
    repository,
    title,
    startedBy,
    startedAt: at,
    lastAskedAt: at,
    turns: 0,
  };
}

/** Creates the error for a repository that does not exist for the caller; it tells nothing about others. */
export function createUnknownRepositoryError(): TriageError {
  return new TriageError(
    'not-found',
    'There is no such repository whose code this service can read. Name one that has builds, or one of ' +
      'FAULTLINE_CLONES.',
  );
}
