import type { Thread, Turn } from '../../domain/conversation.ts';
import { TriageError } from '../../domain/errors.ts';
import { createId } from '../../domain/ids.ts';
import type { Topic } from '../../ports/analyst.ts';
import type { ConversationStore } from '../../ports/stores.ts';
import { type AnswerDeps, type AskWatcher, answerQuestion, readQuestion } from './answer-question.ts';
import { chooseCause } from './choose-cause.ts';
import type { Topics } from './topic.ts';

/** The maximum number of rounds of tool calls for one question. */
const MAX_ROUNDS = 3;
const MAX_TITLE = 120;
/** The maximum number of turns of which more than their number is remembered. */
const MAX_TURNS = 200;

export interface AskDeps extends AnswerDeps {
  readonly topics: Topics;
  readonly conversations: ConversationStore;
  readonly byRules: boolean;
}

export interface AskInput {
  readonly about: { readonly analysisId: string } | { readonly buildId: string };
  readonly question: string;
  /** The thread to continue. */
  readonly threadId?: string | undefined;
  readonly askedBy: string;
}

/** A question that can be answered: it is readable, and its thread and analysis exist. */
export interface OpenQuestion {
  readonly thread: Thread;
  readonly topic: Topic;
  readonly isNew: boolean;
  /** The masked text of the question. */
  readonly question: string;
  readonly askedBy: string;
}

export type Ask = ReturnType<typeof createAsk>;

/** Creates follow-up questions about analyses, with stored threads. */
export function createAsk(deps: AskDeps) {
  const { conversations } = deps;
  const busy = new Set<string>();
  const refuseBusy = ({ id }: Thread) => {
    if (busy.has(id))
      throw new TriageError('conflict', `The thread ${id} is already answering another question.`, {
        retryable: true,
      });
  };
  return {
    /**
     * True if no model is configured. Known questions are then recognized by their words, and other questions
     * are answered with the known facts.
     */
    byRules: deps.byRules,
    /**
     * Checks whether a question can be answered. A new thread is stored with its first answer. Throws
     * `invalid-input` for a question that is empty or too long, `not-found`, and `conflict` if the build is
     * not analyzed yet, or if the thread is about another analysis or is already answering another question.
     */
    open: async (input: AskInput) => {
      const opened = await openQuestion(input, deps);
      refuseBusy(opened.thread);
      return opened;
    },
    /**
     * Answers a question, and stores question and answer in the thread. Throws `conflict` as above, `timeout`
     * (retryable) and `cancelled`. An answer that is cut off is not stored.
     */
    answer: async (opened: OpenQuestion, watcher: AskWatcher, signal: AbortSignal) => {
      refuseBusy(opened.thread);
      busy.add(opened.thread.id);
      try {
        return await answer(opened, deps, watcher, signal);
      } finally {
        busy.delete(opened.thread.id);
      }
    },
    threads: (...how: Parameters<ConversationStore['list']>) => conversations.list(...how),
    /** Returns a thread with its last 200 turns. Throws `not-found`. */
    thread: async (id: string) => {
      const thread = await conversations.find(id);
      if (thread === null) throw createNoThreadError(id);
      return { thread, turns: await conversations.turns(id, MAX_TURNS) };
    },
    /** Deletes a thread with all its turns. Throws `not-found`. */
    forget: async (id: string) => {
      if (!(await conversations.remove(id))) throw createNoThreadError(id);
    },
  };
}

async function openQuestion(input: AskInput, deps: AskDeps): Promise<OpenQuestion> {
  const question = await readQuestion(input.question, deps);
  const { about, threadId, askedBy } = input;
  if (threadId !== undefined) {
    const thread = await deps.conversations.find(threadId);
    if (thread === null) throw createNoThreadError(threadId);
    const fits =
      'analysisId' in about ? thread.analysisId === about.analysisId : thread.buildId === about.buildId;
    if (!fits)
      throw new TriageError(
        'conflict',
        `The thread ${threadId} is about the analysis ${thread.analysisId}, not about this one.`,
      );
    return {
      thread,
      topic: await deps.topics.ofAnalysis(thread.analysisId),
      isNew: false,
      question,
      askedBy,
    };
  }
  const analysisId =
    'analysisId' in about ? about.analysisId : await findCause(about.buildId, question, deps.topics);
  const topic = await deps.topics.ofAnalysis(analysisId);
  return {
    thread: createThread(topic, question, askedBy, deps.clock.now()),
    topic,
    isNew: true,
    question,
    askedBy,
  };
}

function createThread({ analysis }: Topic, question: string, askedBy: string, now: number): Thread {
  const at = new Date(now).toISOString();
  const title = question.replace(/\s+/g, ' ').slice(0, MAX_TITLE);
  const { id: analysisId, buildId } = analysis;
  return {
    id: createId('thr', now),
    analysisId,
    buildId,
    title,
    startedBy: askedBy,
    startedAt: at,
    lastAskedAt: at,
    turns: 0,
  };
}

async function findCause(buildId: string, question: string, topics: Topics): Promise<string> {
  const analysis = chooseCause(question, await topics.ofBuild(buildId));
  if (analysis === null)
    throw new TriageError('conflict', 'This build has no analysis yet. Ask again once it is analyzed.', {
      retryable: true,
    });
  return analysis.id;
}

async function answer(
  opened: OpenQuestion,
  deps: AskDeps,
  watcher: AskWatcher,
  signal: AbortSignal,
): Promise<Turn> {
  const { thread, topic, question, askedBy } = opened;
  const { conversations } = deps;
  const turns = opened.isNew ? [] : await conversations.turns(thread.id, MAX_TURNS);
  const asked = {
    topic: { ...topic, otherCauses: [...topic.otherCauses] },
    evidence: topic.analysis.evidence,
    maxRounds: MAX_ROUNDS,
    question,
    askedBy,
    turns,
    threadId: thread.id,
  };
  const turn = await answerQuestion(asked, deps, watcher, signal);
  await conversations.append(thread, turn);
  return turn;
}

function createNoThreadError(id: string): TriageError {
  return new TriageError('not-found', `There is no thread ${id}.`);
}

/** The suggested retry delay if no slot is free, in milliseconds. */
const RETRY_MS = 5_000;

export type Gate = ReturnType<typeof createGate>;

/** Creates a gate that runs at most this number of tasks at once. */
export function createGate(places: number) {
  let running = 0;
  return {
    /**
     * Takes a slot and returns a function that releases it. Throws `rate-limited` if none is free, so that no
     * caller waits without notice.
     */
    enter: () => {
      if (running >= places) {
        const message = `${running} questions are already being answered. Try again in ${RETRY_MS / 1000} s.`;
        throw new TriageError('rate-limited', message, { retryable: true, retryAfterMs: RETRY_MS });
      }
      running += 1;
      let left = false;
      return () => {
        if (!left) running -= 1;
        left = true;
      };
    },
  };
}
