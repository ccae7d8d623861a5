import type { AskGraph } from '../../graphs/ask/graph.ts';
import { recursionLimit } from '../../graphs/ask/routes.ts';
import type { AskStateValue } from '../../graphs/ask/state.ts';
import type { Step } from '../domain/analysis.ts';
import type { Citation, Thread, Turn } from '../domain/conversation.ts';
import { TriageError } from '../domain/errors.ts';
import type { Evidence } from '../domain/evidence.ts';
import { newId } from '../domain/ids.ts';
import type { Clock } from '../lib/time.ts';
import type { Converse, TextPiece, Topic } from '../ports/analyst.ts';
import type { ConversationStore } from '../ports/reviews.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import { chooseCause } from './choose-cause.ts';
import { remember } from './remember.ts';
import type { Topics } from './topic.ts';

/** Longer ones are logs, not questions. */
export const MAX_QUESTION = 2_000;
/** Rounds of tool calls for one question. */
const MAX_ROUNDS = 3;
const MAX_TITLE = 120;
/** Evidence that earlier turns of a thread found and that is still held in mind; cited evidence of all turns stays stored with them. */
const MAX_REMEMBERED_EVIDENCE = 40;
/** Turns of which more is remembered than that they were. */
const MAX_TURNS = 200;
const NOTHING_HOLDS = 'The evidence of this build does not support any answer to this question.';

export interface AskDeps {
  readonly graph: AskGraph;
  readonly converse: Converse;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  readonly topics: Topics;
  readonly conversations: ConversationStore;
  /** Hides secrets in what a person typed or pasted. */
  readonly mask: (text: string) => Promise<string>;
  /** Of one question, in milliseconds. */
  readonly timeLimitMs: number;
}

export interface AskInput {
  readonly about: { readonly analysisId: string } | { readonly buildId: string };
  readonly question: string;
  /** A thread to go on with. */
  readonly threadId?: string | undefined;
  readonly askedBy: string;
}

/** Who watches an answer in the making. Must not throw. */
export interface AskWatcher {
  readonly onStep?: ((step: Step) => void) | undefined;
  readonly onText?: ((piece: TextPiece) => void) | undefined;
}

/** A question that may be answered: it is readable, and its thread and analysis are there. */
export interface OpenQuestion {
  readonly thread: Thread;
  readonly topic: Topic;
  readonly isNew: boolean;
  /** Masked. */
  readonly question: string;
  readonly askedBy: string;
}

/** Follow-up questions about analyses, with threads that are kept. */
export interface Ask {
  /**
   * Looks whether it can be answered; a new thread is stored with its first answer. Throws `invalid-input` for a question that is empty
   * or too long, `not-found`, and `conflict` where the build is not analysed yet, the thread is about another analysis or is just being
   * asked something else.
   */
  open(input: AskInput): Promise<OpenQuestion>;
  /**
   * Answers, and keeps question and answer in the thread. Throws `conflict` as above, `timeout` (retryable) and `cancelled`; what is cut
   * off is not kept.
   */
  answer(opened: OpenQuestion, watcher: AskWatcher, signal: AbortSignal): Promise<Turn>;
  threads(
    filter: { readonly analysisId?: string; readonly buildId?: string; readonly repositories?: readonly string[] },
    page: { limit: number; offset: number },
  ): Promise<Thread[]>;
  /** The last 200 turns. Throws `not-found`. */
  thread(id: string): Promise<{ readonly thread: Thread; readonly turns: readonly Turn[] }>;
  /** Deletes it with all its turns. Throws `not-found`. */
  forget(id: string): Promise<void>;
}

export function createAsk(deps: AskDeps): Ask {
  const { conversations } = deps;
  const busy = new Set<string>();
  const refuseBusy = ({ id }: Thread) => {
    if (busy.has(id)) throw new TriageError('conflict', `The thread ${id} is already answering another question.`, { retryable: true });
  };
  return {
    open: async (input) => {
      const opened = await openQuestion(input, deps);
      refuseBusy(opened.thread);
      return opened;
    },
    answer: async (opened, watcher, signal) => {
      refuseBusy(opened.thread);
      busy.add(opened.thread.id);
      try {
        return await answer(opened, deps, watcher, signal);
      } finally {
        busy.delete(opened.thread.id);
      }
    },
    threads: (filter, page) => conversations.list(filter, page),
    thread: async (id) => {
      const thread = await conversations.find(id);
      if (thread === null) throw noThread(id);
      return { thread, turns: await conversations.turns(id, MAX_TURNS) };
    },
    forget: async (id) => {
      if (!(await conversations.remove(id))) throw noThread(id);
    },
  };
}

async function openQuestion(input: AskInput, deps: AskDeps): Promise<OpenQuestion> {
  const question = await readQuestion(input.question, deps);
  const { about, threadId, askedBy } = input;
  if (threadId !== undefined) {
    const thread = await deps.conversations.find(threadId);
    if (thread === null) throw noThread(threadId);
    const fits = 'analysisId' in about ? thread.analysisId === about.analysisId : thread.buildId === about.buildId;
    if (!fits) throw new TriageError('conflict', `The thread ${threadId} is about the analysis ${thread.analysisId}, not about this one.`);
    return { thread, topic: await deps.topics.ofAnalysis(thread.analysisId), isNew: false, question, askedBy };
  }
  const analysisId = 'analysisId' in about ? about.analysisId : await causeOf(about.buildId, question, deps.topics);
  const topic = await deps.topics.ofAnalysis(analysisId);
  return { thread: newThread(topic, question, askedBy, deps.clock.now()), topic, isNew: true, question, askedBy };
}

async function readQuestion(raw: string, { mask }: AskDeps): Promise<string> {
  const question = raw.replaceAll('\0', '\ufffd').trim();
  if (question === '') throw new TriageError('invalid-input', 'The question is empty.');
  if (question.length > MAX_QUESTION)
    throw new TriageError('invalid-input', `The question has ${question.length} characters; the limit is ${MAX_QUESTION}.`);
  return await mask(question);
}

function newThread({ analysis }: Topic, question: string, askedBy: string, now: number): Thread {
  const at = new Date(now).toISOString();
  const title = question.replace(/\s+/g, ' ').slice(0, MAX_TITLE);
  const { id: analysisId, buildId } = analysis;
  return { id: newId('thr', now), analysisId, buildId, title, startedBy: askedBy, startedAt: at, lastAskedAt: at, turns: 0 };
}

async function causeOf(buildId: string, question: string, topics: Topics): Promise<string> {
  const analysis = chooseCause(question, await topics.ofBuild(buildId));
  if (analysis === null)
    throw new TriageError('conflict', 'This build has no analysis yet. Ask again once it is analyzed.', { retryable: true });
  return analysis.id;
}

async function answer(opened: OpenQuestion, deps: AskDeps, watcher: AskWatcher, signal: AbortSignal): Promise<Turn> {
  const { thread, topic, question } = opened;
  const { graph, converse, toolbox, clock, conversations } = deps;
  const startedAt = clock.now();
  const turns = opened.isNew ? [] : await conversations.turns(thread.id, MAX_TURNS);
  const known = [...topic.analysis.evidence, ...rememberedEvidence(turns)];
  const input = {
    topic: { ...topic, otherCauses: [...topic.otherCauses] },
    question,
    memory: remember(turns),
    known,
    maxRounds: MAX_ROUNDS,
  };
  const tooLong = AbortSignal.timeout(deps.timeLimitMs);
  const config = {
    context: { converse, toolbox, clock, onStep: watcher.onStep, onText: watcher.onText },
    recursionLimit: recursionLimit(MAX_ROUNDS),
    signal: AbortSignal.any([signal, tooLong]),
  };
  const state: AskStateValue = await graph.invoke(input, config).catch((cause: unknown) => {
    if (signal.aborted) throw new TriageError('cancelled', 'The answer was stopped.', { cause });
    if (!tooLong.aborted) throw cause;
    throw new TriageError('timeout', `No answer within ${Math.round(deps.timeLimitMs / 1000)} s.`, { retryable: true, cause });
  });
  const last = turns.at(-1)?.position ?? 0;
  const turn = turnOf(state, opened, { position: last + 1, known, startedAt, now: clock.now() });
  await conversations.append(thread, turn);
  return turn;
}

/** Newest first kept, in order of their numbers. */
function rememberedEvidence(turns: readonly Turn[]): Evidence[] {
  return turns.flatMap(({ evidence }) => evidence).slice(-MAX_REMEMBERED_EVIDENCE);
}

interface TurnFacts {
  readonly position: number;
  readonly known: readonly Evidence[];
  readonly startedAt: number;
  readonly now: number;
}

function turnOf(state: AskStateValue, { thread, question, askedBy }: OpenQuestion, facts: TurnFacts): Turn {
  const { understanding, reply, found, leftOut } = state;
  if (understanding === null) throw new TriageError('internal', 'The question was answered without being understood');
  const text = reply.map((statement) => statement.lead + statement.text).join('');
  return {
    threadId: thread.id,
    position: facts.position,
    question,
    askedBy,
    askedAt: new Date(facts.startedAt).toISOString(),
    ...understanding,
    text: text === '' ? NOTHING_HOLDS : text,
    statements: reply,
    citations: citationsOf(state, [...facts.known, ...found]),
    leftOut,
    evidence: found,
    steps: state.steps,
    usage: state.usage,
    analyst: state.analyst,
    model: state.model,
    promptHashes: state.promptHashes,
    notes: [...new Set(state.notes)],
    milliseconds: facts.now - facts.startedAt,
  };
}

function citationsOf({ reply }: AskStateValue, evidence: readonly Evidence[]): Citation[] {
  const cited = new Set(reply.flatMap((statement) => statement.evidence));
  return evidence
    .filter(({ id }) => cited.has(id))
    .map(({ id, title, tool, source, lineStart, lineEnd, url }) => ({
      ...{ id, title, tool, source },
      ...(lineStart === undefined ? {} : { lineStart }),
      ...(lineEnd === undefined ? {} : { lineEnd }),
      ...(url === undefined ? {} : { url }),
    }));
}

function noThread(id: string): TriageError {
  return new TriageError('not-found', `There is no thread ${id}.`);
}
