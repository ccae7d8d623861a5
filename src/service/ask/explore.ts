import type { AskSession } from '../../domain/ask-session.ts';
import { createSparseBuild } from '../../domain/build.ts';
import type { Place, Turn } from '../../domain/conversation.ts';
import { createId } from '../../domain/ids.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import type { PlaceTopic } from '../../ports/analyst.ts';
import { type AnswerDeps, type AskWatcher, answerQuestion, readQuestion } from './answer-question.ts';

/** The maximum number of rounds of tool calls for one question about a place. */
const MAX_ROUNDS = 10;
/** The maximum number of lines of what was learned that later questions see. */
const MAX_LEARNED = 40;
const MAX_LINE = 300;

/** A place that can be asked about, with the commit that is read. */
export interface ExploredPlace {
  readonly kind: Place['kind'];
  readonly name: string;
  readonly hasHistory: boolean;
  /** The repository as its code host names it. */
  readonly repository: string;
  readonly commit: string;
}

/** The part of a session that a question continues. */
export type SessionMemory = Pick<AskSession, 'id' | 'turns' | 'learned' | 'stack'>;
/** The session that a question continues or begins. The stack is read where it is not known. */
type StartedSession = Omit<SessionMemory, 'stack'> & { readonly stack: SessionMemory['stack'] | null };

export type Explorer = ReturnType<typeof createExplorer>;

/** Creates questions about a repository or a folder of documents without a failure. */
export function createExplorer(deps: AnswerDeps, explored: ExploredPlace) {
  const subject = createPlaceSubject(explored);
  return {
    /**
     * Answers a question and returns the session with the new turn and what was learned. A null session
     * begins a new one. Throws `invalid-input`, `timeout` (retryable) and `cancelled`; the session is then
     * unchanged.
     */
    ask: async (
      raw: string,
      session: StartedSession | null,
      askedBy: string,
      watcher: AskWatcher,
      signal: AbortSignal,
    ): Promise<{ readonly turn: Turn; readonly memory: SessionMemory }> => {
      const question = await readQuestion(raw, deps);
      const stack = session?.stack ?? (await readStack(deps, explored, subject, signal));
      const { id, turns, learned } = session ?? {
        id: createId('ses', deps.clock.now()),
        turns: [],
        learned: [],
      };
      const { kind, name, hasHistory } = explored;
      const topic: PlaceTopic = {
        place: { kind, name, hasHistory, learned: [...stack, ...learned] },
        subject,
      };
      const asked = { topic, evidence: [], turns, threadId: id, question, askedBy, maxRounds: MAX_ROUNDS };
      const turn = await answerQuestion(asked, deps, watcher, signal);
      const memory = { id, turns: [...turns, turn], learned: learn(learned, turn), stack };
      return { turn, memory };
    },
  };
}

/** Creates the empty failure that tools ask about: a build of nothing but a repository and a commit. */
function createPlaceSubject({ repository, commit }: ExploredPlace): TriageSubject {
  const build = createSparseBuild({ repository, commit, pipeline: 'ask', number: '1' });
  return {
    triageId: createId('tri', Date.now()),
    build: { ...build, id: 'ask', receivedAt: new Date().toISOString() },
    failures: [],
    fingerprint: { algorithm: 'none', version: 0, value: 'none' },
    generic: false,
    excerpts: [],
    failingTests: [],
    diagnostics: [],
    exceptions: [],
    messages: [],
    exits: [],
    failedSections: [],
    toolchains: [],
    notes: [],
    sources: [],
    tokens: 0,
  };
}

/** Returns the technology stack, a line each; empty for documents. */
async function readStack(
  { toolbox }: AnswerDeps,
  { kind }: ExploredPlace,
  subject: TriageSubject,
  signal: AbortSignal,
): Promise<string[]> {
  if (kind !== 'repository') return [];
  const call = { tool: 'describe_stack', args: {}, why: 'the technology stack is kept in the session' };
  const { findings } = await toolbox.run(call, subject, 'CODE_ERROR', signal);
  return (findings[0]?.text ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, 12);
}

/** Adds what an answer stated with evidence: its first statements, with their files. */
export function learn(learned: readonly string[], { question, statements, citations }: Turn): string[] {
  const proven = statements.filter(({ basis }) => basis === 'evidence').slice(0, 2);
  if (proven.length === 0) return [...learned];
  const files = [...new Set(citations.map(({ source }) => source))].slice(0, 4);
  const text = proven.map((statement) => statement.text.replace(/ ?\[E\d+(?:, ?E\d+)*\]/g, '')).join(' ');
  const line = `${question} → ${text} (${files.join(', ')})`.replace(/\s+/g, ' ').slice(0, MAX_LINE);
  return [...learned, line].slice(-MAX_LEARNED);
}
