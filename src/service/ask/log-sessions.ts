import type { Analysis } from '../../domain/analysis.ts';
import { type AskSession, SESSION_VERSION } from '../../domain/ask-session.ts';
import type { Thread, Turn } from '../../domain/conversation.ts';
import { TriageError } from '../../domain/errors.ts';
import type { ConversationStore } from '../../ports/stores.ts';
import type { SessionFiles } from '../../stores/session-files.ts';
import { chooseCause } from './choose-cause.ts';
import { learn } from './explore.ts';

interface LogSessionParts {
  readonly files: SessionFiles;
  readonly target: AskSession['target'];
  /** The answers of this run about the log; a session is about the one that its first question meant. */
  readonly analyses: readonly Analysis[];
  readonly stack: readonly string[];
}

/**
 * Keeps conversations about a log as session files. Only sessions about the same content are listed. Evidence
 * of earlier turns whose number this run gave to other evidence is not continued.
 */
export function createLogSessions({ files, target, analyses, stack }: LogSessionParts): ConversationStore {
  const taken = new Set(analyses.flatMap(({ evidence }) => evidence).map(({ id }) => id));
  const load = async (id: string) =>
    await files.load(id).catch((error: unknown) => {
      if (error instanceof TriageError && error.code === 'not-found') return null;
      throw error;
    });
  const toThread = ({ id, startedAt, turns }: AskSession): Thread => {
    const [first] = turns;
    const about = chooseCause(first?.question ?? '', analyses);
    return {
      id,
      analysisId: about?.id ?? '',
      buildId: about?.buildId ?? '',
      title: first?.question ?? '',
      startedBy: first?.askedBy ?? '',
      startedAt,
      lastAskedAt: turns.at(-1)?.askedAt ?? startedAt,
      turns: turns.length,
    };
  };
  return {
    find: async (id) => {
      const session = await load(id);
      if (session === null) return null;
      if (session.target.path === target.path && session.target.hash === target.hash)
        return toThread(session);
      throw new TriageError(
        'conflict',
        `The session ${id} is about ${session.target.path}, which is not this log or has changed since.`,
      );
    },
    list: async (_filter, { limit, offset }) =>
      (await files.list(target.path))
        .filter(({ target: { hash } }) => hash === target.hash)
        .map(toThread)
        .slice(offset, offset + limit),
    turns: async (id, limit) =>
      ((await load(id))?.turns ?? []).slice(-limit).map((turn) => ({
        ...turn,
        evidence: turn.evidence.filter((item) => !taken.has(item.id)),
      })),
    append: async ({ id, startedAt }, turn: Turn) => {
      const before = await load(id);
      await files.save({
        format: 'faultline-session',
        version: SESSION_VERSION,
        id,
        target,
        startedAt,
        learned: learn(before?.learned ?? [], turn),
        stack: [...stack],
        turns: [...(before?.turns ?? []), turn],
      });
    },
    remove: async () => false,
  };
}
