import { join, resolve } from 'node:path';
import {
  openDocumentExplorer,
  openLocalRepository,
  openRepositoryExplorer,
  openSessions,
  type ScanOptions,
} from '../../app/explore-app.ts';
import type { Config } from '../../config/schema.ts';
import { type AskSession, SESSION_VERSION } from '../../domain/ask-session.ts';
import type { Thread } from '../../domain/conversation.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import type { Explorer, SessionMemory } from '../../service/ask/explore.ts';
import type { SessionFiles } from '../../stores/session-files.ts';
import { say } from '../terminal.ts';
import type { AskClient } from './ask-clients.ts';

const TERMINAL = 'terminal';

/** Returns the folder of the sessions: `--session-dir`, or one in the data directory. */
export function getSessionFolder(named: string | undefined, dataDir: string): string {
  return named === undefined ? join(dataDir, 'sessions') : resolve(named);
}

/** Opens questions about a repository on this machine: a clone at its last commit, or a folder as it is. */
export async function openRepositoryClient(
  path: string,
  config: Config,
  sessionFolder: string,
): Promise<AskClient> {
  const opened = await openLocalRepository(path, AbortSignal.timeout(30_000));
  const { hasHistory, commit } = opened.place;
  if (hasHistory) say(`About commit ${commit.slice(0, 10)}; changes that are not committed are not read.`);
  const explorer = await openRepositoryExplorer(config, opened, silentLogger);
  return createPlaceClient(path, 'repository', explorer, await openSessions(sessionFolder));
}

/** Opens questions about a folder of documents on this machine. */
export async function openDocumentClient(
  path: string,
  config: Config,
  sessionFolder: string,
  scan: ScanOptions,
): Promise<AskClient> {
  const explorer = await openDocumentExplorer(config, path, scan, silentLogger);
  return createPlaceClient(path, 'documents', explorer, await openSessions(sessionFolder));
}

/** Creates the client of a place. Each session is a file that a later question continues. */
function createPlaceClient(
  target: string,
  kind: AskSession['target']['kind'],
  explorer: Explorer,
  files: SessionFiles,
): AskClient {
  const path = resolve(target);
  return {
    target,
    kept: true,
    location: (id) => files.getPath(id),
    ask: async (question, id, watcher, signal) => {
      const before = id === undefined ? null : await files.load(id);
      const { turn, memory } = await explorer.ask(question, before, TERMINAL, watcher, signal);
      const startedAt = before?.startedAt ?? turn.askedAt;
      await files.save(createSession(memory, { kind, path, hash: null }, startedAt));
      return turn;
    },
    threads: async () => (await files.list(path)).map(toThread),
    turns: async (id) => (await files.load(id)).turns,
    close: async () => undefined,
  };
}

/** Creates the content of a session file. */
function createSession(
  { id, turns, learned, stack }: SessionMemory,
  target: AskSession['target'],
  startedAt: string,
): AskSession {
  return {
    format: 'faultline-session',
    version: SESSION_VERSION,
    id,
    target,
    startedAt,
    learned: [...learned],
    stack: [...stack],
    turns: [...turns],
  };
}

/** Shows a session as the thread that lists of conversations name. */
function toThread({ id, startedAt, turns }: AskSession): Thread {
  return {
    id,
    analysisId: '',
    buildId: '',
    title: (turns[0]?.question ?? '').replace(/\s+/g, ' ').slice(0, 120),
    startedBy: TERMINAL,
    startedAt,
    lastAskedAt: turns.at(-1)?.askedAt ?? startedAt,
    turns: turns.length,
  };
}
