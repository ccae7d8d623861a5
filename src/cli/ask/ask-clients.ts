import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { openSessions } from '../../app/explore-app.ts';
import { createTerminalApp } from '../../app/terminal-app.ts';
import { createApp } from '../../app.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { Step } from '../../domain/analysis.ts';
import type { SourceText } from '../../domain/build.ts';
import type { Thread, Turn } from '../../domain/conversation.ts';
import { getErrorMessage, TriageError, type TriageErrorCode } from '../../domain/errors.ts';
import { parseJson } from '../../lib/text.ts';
import { createMasker } from '../../log/mask/mask.ts';
import type { LogInPieces } from '../../log/read-log.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import { findBuild } from '../../service/answers/views.ts';
import type { AskWatcher } from '../../service/ask/answer-question.ts';
import type { Ask, AskInput } from '../../service/ask/ask.ts';
import { createLogSessions } from '../../service/ask/log-sessions.ts';
import { AnswerView, ThreadList, ThreadView } from '../../service/ask/views.ts';
import { askServer, Refusal, type Service, send } from '../server-client.ts';
import { isDirectory, openLargeLog, readInput } from '../triage/input.ts';
import { requireOneBuild } from '../triage/one-build.ts';
import { createLocalBuild } from '../triage/triage-input.ts';

/** A turn of a conversation as any client returns it. A service returns the steps only with the thread. */
export type Answered = Omit<Turn, 'steps'>;

/** The target of questions about one analysis or build: a service, a data directory, or a log in memory. */
export interface AskClient {
  readonly target: string;
  /** True if threads outlive the process. */
  readonly kept: boolean;
  /** Returns the file of a thread, where each is a file. */
  location?(threadId: string): string;
  ask(
    question: string,
    threadId: string | undefined,
    watcher: AskWatcher,
    signal: AbortSignal,
  ): Promise<Answered>;
  /** Lists the threads, newest question first. */
  threads(): Promise<readonly Thread[]>;
  /** Lists the turns of a thread with their steps, oldest first. */
  turns(threadId: string): Promise<readonly Turn[]>;
  close(): Promise<void>;
}

const TERMINAL = 'terminal';
const LISTED = 20;

/** Asks the stores of a data directory that no service uses. Throws `locked` if a service uses it. */
export async function openStoredClient(target: string, config: Config): Promise<AskClient> {
  const app = await createApp(config, silentLogger);
  try {
    const about = await resolveSubject(target, async (id) => (await findBuild(app.stores.builds, id, {})).id);
    return createClient(target, about, app.ask, true, () => app.close({ drainMs: 0 }));
  } catch (error) {
    await app.close({ drainMs: 0 });
    throw error;
  }
}

/**
 * Analyzes a log in memory and opens questions about its main cause. The log stays open until the client is
 * closed.
 */
export async function openLogClient(
  path: string,
  options: {
    readonly repo?: string;
    readonly onStep: (text: string) => void;
    /** The folder that keeps the sessions about the log; null for standard input. */
    readonly sessions: string | null;
  },
  config: Config,
  signal: AbortSignal,
): Promise<AskClient> {
  const large = await openLargeLog(path, createMasker(createMaskingOptions(config)));
  try {
    const sources = large === null ? await readInput(path, config.http.maxLogBytes) : [large.source];
    requireOneBuild(sources, { allowUnrelated: !isDirectory(path) });
    const build = createLocalBuild();
    const clones =
      options.repo === undefined
        ? config.codeHost.clones
        : { ...config.codeHost.clones, [build.repository]: resolve(options.repo) };
    const app = await createTerminalApp(
      { ...config, codeHost: { ...config.codeHost, clones } },
      silentLogger,
    );
    const around = {
      maskedSecrets: large?.secrets ?? 0,
      onStep: ({ node }: { node: string }) => options.onStep(`analyzing: ${node}`),
    };
    const triaged = await app.triage(build, sources, signal, around);
    if (triaged.analyses.length === 0)
      throw new TriageError('internal', 'No answer was produced. Please report this log');
    const about = { buildId: build.id };
    const close = async () => large?.close();
    if (options.sessions === null) return createClient(path, about, await triaged.ask(), false, close);
    const files = await openSessions(options.sessions);
    const target = { kind: 'log', path: resolve(path), hash: hashLog(path, sources) } as const;
    const { analyses, reading } = triaged;
    const stack = reading.toolchains;
    const ask = await triaged.ask(createLogSessions({ files, target, analyses, stack }));
    const client = createClient(path, about, ask, true, close);
    return { ...client, location: (id) => files.getPath(id) };
  } catch (error) {
    large?.close();
    throw error;
  }
}

/** Returns what changes with the content of a log: a hash of its text, or of the time of a large file. */
function hashLog(path: string, sources: readonly (SourceText | LogInPieces)[]): string {
  const hash = createHash('sha256');
  for (const source of sources) {
    if ('text' in source) hash.update(`${source.name}\n${source.text}\n`);
    else hash.update(`${source.name}\n${statSync(path).size} ${statSync(path).mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Checks whether an id names a build: `bld_…` and `provider:number` do, anything else names an analysis. */
function namesBuild(target: string): boolean {
  return target.startsWith('bld_') || target.includes(':');
}

async function resolveSubject(
  target: string,
  buildIdOf: (id: string) => Promise<string>,
): Promise<AskInput['about']> {
  return namesBuild(target) ? { buildId: await buildIdOf(target) } : { analysisId: target };
}

function createClient(
  target: string,
  about: AskInput['about'],
  ask: Ask,
  kept: boolean,
  close: () => Promise<void>,
): AskClient {
  return {
    target,
    kept,
    ask: async (question, threadId, watcher, signal) =>
      await ask.answer(await ask.open({ about, question, threadId, askedBy: TERMINAL }), watcher, signal),
    threads: () => ask.threads(about, { limit: LISTED, offset: 0 }),
    turns: async (threadId) => (await ask.thread(threadId)).turns,
    close,
  };
}

const TIMEOUT_MS = 180_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Opens a client of a running service, which receives answers as they are written. */
export function openServerClient(target: string, server: Service): AskClient {
  const path = `/api/${namesBuild(target) ? 'builds' : 'analyses'}/${encodeURIComponent(target)}/ask`;
  const filter = `${namesBuild(target) ? 'build' : 'analysis'}=${encodeURIComponent(target)}`;
  return {
    target,
    kept: true,
    ask: (question, thread, watcher, signal) =>
      askForEvents(server, path, { question, ...(thread === undefined ? {} : { thread }) }, watcher, signal),
    threads: async () =>
      (await askServer(server, 'GET', `/api/threads?${filter}&limit=20`, ThreadList)).items,
    turns: async (id) =>
      (await askServer(server, 'GET', `/api/threads/${encodeURIComponent(id)}`, ThreadView)).turns,
    close: async () => undefined,
  };
}

async function askForEvents(
  server: Service,
  path: string,
  body: object,
  watcher: AskWatcher,
  signal: AbortSignal,
): Promise<Answered> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const response = await send(server, 'POST', path, body, limited, { accept: 'text/event-stream' });
    if (!response.ok || response.body === null) throw toRefusalError(response.status, await response.text());
    return await readAnswer(response.body, watcher);
  } catch (cause) {
    if (signal.aborted) throw new TriageError('cancelled', 'The answer was stopped.', { cause });
    if (cause instanceof TriageError) throw cause;
    const message = `The response of ${server.url} was interrupted: ${getErrorMessage(cause)}`;
    throw new TriageError('upstream-failed', message, { cause, retryable: true });
  }
}

const TextEvent = z.object({ text: z.string(), restart: z.boolean().optional() });

/** Reads events up to the answer. Throws the error that the service reports. */
async function readAnswer(body: ReadableStream<Uint8Array>, watcher: AskWatcher): Promise<Answered> {
  for await (const { event, data } of parseEvents(body)) {
    if (event === 'step') watcher.onStep?.(Step.parse(data));
    else if (event === 'text') {
      const { text, restart } = TextEvent.parse(data);
      watcher.onText?.(restart === undefined ? { text } : { text, restart });
    } else if (event === 'answer') return AnswerView.parse(data);
    else if (event === 'error') {
      const { code, message } = Refusal.shape.error.parse(data);
      throw new TriageError(toErrorCode(code), message);
    }
  }
  throw new TriageError('upstream-failed', 'The service closed the connection without an answer.', {
    retryable: true,
  });
}

/** Parses server-sent events one by one and ignores comments. */
async function* parseEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; data: unknown }> {
  const decoder = new TextDecoder();
  let buffered = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new TriageError('too-large', 'The response of the service is too large.');
    buffered += decoder.decode(chunk, { stream: true });
    const blocks = buffered.split('\n\n');
    buffered = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7);
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
      if (event !== undefined) yield { event, data: JSON.parse(data.join('\n')) };
    }
  }
}

function toRefusalError(status: number, text: string): TriageError {
  const refusal = Refusal.safeParse(parseJson(text));
  if (!refusal.success) return new TriageError('upstream-failed', `The service answered ${status}`);
  const { code, message } = refusal.data.error;
  return new TriageError(toErrorCode(code), message);
}

const KNOWN: readonly TriageErrorCode[] = [
  ...([
    'invalid-input',
    'not-found',
    'conflict',
    'rate-limited',
    'timeout',
    'cancelled',
    'unauthenticated',
  ] as const),
  ...(['forbidden', 'storage-failed', 'quota-exhausted', 'upstream-auth', 'internal'] as const),
];

function toErrorCode(code: string): TriageErrorCode {
  return KNOWN.find((triageErrorCode) => triageErrorCode === code) ?? 'upstream-failed';
}
