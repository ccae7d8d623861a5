import type { AskGraph } from '../../../graphs/ask/graph.ts';
import { computeRecursionLimit } from '../../../graphs/ask/routes.ts';
import type { AskStateUpdate, AskStateValue } from '../../../graphs/ask/state.ts';
import type { Step } from '../../domain/analysis.ts';
import type { Citation, Turn } from '../../domain/conversation.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Evidence } from '../../domain/evidence.ts';
import { omitUndefined } from '../../lib/collections.ts';
import type { Clock } from '../../lib/time.ts';
import type { Converse, PlaceTopic, TextPiece, Topic } from '../../ports/analyst.ts';
import type { Person, Toolbox } from '../../ports/toolbox.ts';
import { remember } from './remember.ts';

/** The length limit of a question, in characters. Longer texts are logs, not questions. */
export const MAX_QUESTION = 2_000;
/**
 * The maximum number of evidence items from earlier turns of a thread that are remembered. Cited evidence of
 * all turns remains stored with them.
 */
const MAX_REMEMBERED_EVIDENCE = 40;
/** The additional time of a question whose answer may wait for a person, in milliseconds. */
const PERSON_MS = 10 * 60_000;
const NOTHING_HOLDS = 'The evidence does not support any answer to this question.';

export interface AnswerDeps {
  readonly graph: AskGraph;
  readonly converse: Converse<Topic | PlaceTopic>;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  /** Hides secrets in what a person typed or pasted. */
  readonly mask: (text: string) => Promise<string>;
  /** The time limit of one question, in milliseconds. */
  readonly timeLimitMs: number;
}

/** The callbacks for an answer in progress. They must not throw. */
export interface AskWatcher {
  readonly onStep?: ((step: Step) => void) | undefined;
  readonly onText?: ((piece: TextPiece) => void) | undefined;
  /** The person who asks, whom a model may ask back. */
  readonly person?: Person | undefined;
}

/** A question with its topic and the earlier turns of its thread. */
export interface AskedQuestion {
  readonly topic: NonNullable<AskStateUpdate['topic']>;
  /** Evidence that is known before the thread: that of the analysis. */
  readonly evidence: readonly Evidence[];
  readonly turns: readonly Turn[];
  readonly threadId: string;
  /** The masked text of the question. */
  readonly question: string;
  readonly askedBy: string;
  readonly maxRounds: number;
}

/** Returns the masked question. Throws `invalid-input` if it is empty or too long. */
export async function readQuestion(raw: string, { mask }: Pick<AnswerDeps, 'mask'>): Promise<string> {
  const question = raw.replaceAll('\0', '\ufffd').trim();
  if (question === '') throw new TriageError('invalid-input', 'The question is empty.');
  if (question.length > MAX_QUESTION)
    throw new TriageError(
      'invalid-input',
      `The question has ${question.length} characters; the limit is ${MAX_QUESTION}.`,
    );
  return await mask(question);
}

/** Answers one question; nothing is stored. Throws `timeout` (retryable) and `cancelled`. */
export async function answerQuestion(
  asked: AskedQuestion,
  deps: AnswerDeps,
  watcher: AskWatcher,
  signal: AbortSignal,
): Promise<Turn> {
  const { converse, toolbox, clock } = deps;
  const { topic, question, maxRounds } = asked;
  const startedAt = clock.now();
  const known = [...asked.evidence, ...listRememberedEvidence(asked.turns)];
  const { onStep, onText, person } = watcher;
  const limitMs = deps.timeLimitMs + (person === undefined ? 0 : PERSON_MS);
  const tooLong = AbortSignal.timeout(limitMs);
  const whom = person === undefined ? undefined : withMask(person, deps);
  const config = {
    context: { converse, toolbox, clock, onStep, onText, person: whom },
    recursionLimit: computeRecursionLimit(maxRounds),
    signal: AbortSignal.any([signal, tooLong]),
  };
  const input = { topic, question, memory: remember(asked.turns), known, maxRounds };
  const state: AskStateValue = await deps.graph.invoke(input, config).catch((cause: unknown) => {
    if (signal.aborted) throw new TriageError('cancelled', 'The answer was stopped.', { cause });
    if (!tooLong.aborted) throw cause;
    throw new TriageError('timeout', `No answer within ${Math.round(limitMs / 1000)} s.`, {
      retryable: true,
      cause,
    });
  });
  return createTurn(state, asked, { known, startedAt, now: clock.now() });
}

/** Masks what a person answers before a model or a file gets it. */
function withMask(person: Person, { mask }: Pick<AnswerDeps, 'mask'>): Person {
  return {
    ask: async (question, signal) => {
      const answer = await person.ask(question, signal);
      return answer === null ? null : await mask(answer);
    },
  };
}

/** Returns the remembered evidence in numeric order. If there is too much, the newest is kept. */
function listRememberedEvidence(turns: readonly Turn[]): Evidence[] {
  return turns.flatMap(({ evidence }) => evidence).slice(-MAX_REMEMBERED_EVIDENCE);
}

interface TurnFacts {
  readonly known: readonly Evidence[];
  readonly startedAt: number;
  readonly now: number;
}

function createTurn(
  state: AskStateValue,
  { threadId, turns, question, askedBy }: AskedQuestion,
  facts: TurnFacts,
): Turn {
  const { understanding, reply, found, leftOut } = state;
  if (understanding === null)
    throw new TriageError('internal', 'The question was answered without being understood');
  const text = reply.map((statement) => statement.lead + statement.text).join('');
  return {
    threadId,
    position: (turns.at(-1)?.position ?? 0) + 1,
    question,
    askedBy,
    askedAt: new Date(facts.startedAt).toISOString(),
    ...understanding,
    text: text === '' ? NOTHING_HOLDS : text,
    statements: reply,
    citations: listCitations(state, [...facts.known, ...found]),
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

function listCitations({ reply }: AskStateValue, evidence: readonly Evidence[]): Citation[] {
  const cited = new Set(reply.flatMap((statement) => statement.evidence));
  return evidence
    .filter(({ id }) => cited.has(id))
    .map(({ id, title, tool, source, lineStart, lineEnd, url }) => ({
      id,
      title,
      tool,
      source,
      ...omitUndefined({ lineStart, lineEnd, url }),
    }));
}
