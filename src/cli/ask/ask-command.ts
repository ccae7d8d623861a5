import { constants, existsSync, statSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { toAnswerForm } from '../../domain/answer-form.ts';
import { TriageError } from '../../domain/errors.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { ServerOptions } from '../command-parts.ts';
import { openKeyboard } from '../keyboard.ts';
import { formatCallLines, formatPhaseText, type Progress, startProgress } from '../progress.ts';
import { getDataDirectory, LOCAL_SERVICE, readConfig, resolveToken } from '../settings.ts';
import {
  createInterruptSignal,
  createOutputStyle,
  formatJson,
  type OutputStyle,
  print,
  say,
} from '../terminal.ts';
import { answerFoot, formatPlainAnswer, showWordByWord } from './answer-text.ts';
import type { AskClient } from './ask-clients.ts';
import { chooseTargetKind } from './ask-target.ts';
import { formatComparison } from './comparison-text.ts';
import { runSession } from './session.ts';

export interface AskCommandOptions extends ServerOptions {
  readonly thread?: string;
  readonly resume?: boolean;
  readonly repo?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly plain?: boolean;
  readonly code?: boolean;
  readonly documents?: boolean;
  readonly scanThreads?: number;
  readonly preview?: number;
  readonly logs?: boolean;
  readonly sessionDir?: string;
}

/** Runs `faultline ask`: answers one question, or opens a session on a terminal. */
export async function runAsk(
  target: string,
  question: string | undefined,
  options: AskCommandOptions,
): Promise<void> {
  const style = createOutputStyle(options);
  if (
    question === undefined &&
    (process.stdin.isTTY !== true || process.stdout.isTTY !== true || options.json === true)
  ) {
    throw new TriageError(
      'invalid-config',
      `Add a question: faultline ask ${toVisibleLine(target)} "why?" (a session needs a terminal)`,
    );
  }
  const progress = startProgress({ ...style, quiet: options.json === true });
  let client: AskClient | undefined;
  try {
    client = await openClient(target, options, progress, question === undefined);
    const thread = await chooseThread(client, options);
    if (question === undefined) await converse(client, thread, progress);
    else await answerOnce(client, question, thread, options, style, progress);
  } finally {
    progress.stop();
    await client?.close();
  }
}

/**
 * Opens the client for a target. A log is analyzed in this process. An id is looked up in the service at
 * `--url`, in the data directory, or in the service that uses the data directory.
 */
async function openClient(
  target: string,
  options: AskCommandOptions,
  progress: Progress,
  session: boolean,
): Promise<AskClient> {
  const dataDir = getDataDirectory(options.data);
  if (target === '-' && session)
    throw new TriageError(
      'invalid-config',
      'A session reads questions from standard input. Pass the log as a file instead.',
    );
  if (target === '-' || statSync(target, { throwIfNoEntry: false }) !== undefined) {
    const kind = await chooseTargetKind(target, options);
    if (kind !== 'logs') return await openPlace(target, kind, options, dataDir);
    const { openLogClient } = await import('./ask-clients.ts');
    const { getSessionFolder } = await import('./place-client.ts');
    const folder = getSessionFolder(options.sessionDir, dataDir);
    const sessions = target !== '-' && (await canWrite(folder)) ? folder : null;
    if (sessions === null && (options.thread !== undefined || options.resume === true))
      throw new TriageError(
        'invalid-config',
        'Questions about standard input, or without a data directory to write to, are not stored.',
      );
    const signal = session ? new AbortController().signal : createInterruptSignal();
    const given = {
      ...(options.repo === undefined ? {} : { repo: options.repo }),
      onStep: (text: string) => progress.phase(text),
      sessions,
    };
    return await openLogClient(target, given, withAnalyst(readConfig(dataDir), options), signal);
  }
  const url = options.url ?? process.env.FAULTLINE_URL;
  if (url === undefined && existsSync(join(dataDir, 'database'))) {
    progress.phase('opening the data directory');
    const stored = await openStored(target, withAnalyst(readConfig(dataDir), options));
    if (stored !== null) return stored;
  }
  const token = resolveToken(options.token ?? process.env.FAULTLINE_TOKEN, dataDir);
  const { openServerClient } = await import('./ask-clients.ts');
  return openServerClient(target, { url: url ?? LOCAL_SERVICE, token });
}

async function canWrite(folder: string): Promise<boolean> {
  return await mkdir(folder, { recursive: true, mode: 0o700 })
    .then(() => access(folder, constants.W_OK))
    .then(() => true)
    .catch(() => false);
}

async function openPlace(
  target: string,
  kind: 'repository' | 'documents',
  options: AskCommandOptions,
  dataDir: string,
): Promise<AskClient> {
  const config = withAnalyst(readConfig(dataDir), options);
  const { getSessionFolder, openDocumentClient, openRepositoryClient } = await import('./place-client.ts');
  const sessions = getSessionFolder(options.sessionDir, dataDir);
  if (kind === 'repository') return await openRepositoryClient(target, config, sessions);
  const scan = { threads: options.scanThreads, previewCharacters: options.preview };
  return await openDocumentClient(target, config, sessions, scan);
}

/** Opens the data directory. Returns null if a service uses it; the caller then asks that service. */
async function openStored(target: string, config: Config): Promise<AskClient | null> {
  const { openStoredClient } = await import('./ask-clients.ts');
  return await openStoredClient(target, config).catch((error: unknown) => {
    if (error instanceof TriageError && error.code === 'locked') return null;
    throw error;
  });
}

function withAnalyst(config: Config, { analyst }: AskCommandOptions): Config {
  return { ...config, analyst: { ...config.analyst, driver: analyst ?? config.analyst.driver } };
}

async function chooseThread(
  client: AskClient,
  { thread, resume }: AskCommandOptions,
): Promise<string | undefined> {
  if (thread !== undefined || resume !== true) return thread;
  const [newest] = await client.threads();
  if (newest === undefined) say('No conversation about this yet; starting a new one.');
  return newest?.id;
}

async function answerOnce(
  client: AskClient,
  question: string,
  thread: string | undefined,
  options: AskCommandOptions,
  style: OutputStyle,
  progress: Progress,
): Promise<void> {
  const asItComes = style.color && options.json !== true;
  // A comparison is shown side by side once it is whole.
  let isTable = false;
  const words = showWordByWord((text) => void process.stdout.write(text));
  const person = options.json === true ? undefined : openKeyboard(progress);
  const watcher = {
    person,
    onStep: (step: Parameters<typeof formatPhaseText>[0]) => {
      if (step.node === 'understand') isTable = step.summary.startsWith('comparison');
      if (step.node === 'execute_tools') for (const line of formatCallLines(step)) progress.line(line);
      if (step.node !== 'compose_answer' && step.node !== 'check_citations')
        progress.phase(formatPhaseText(step));
    },
    ...(asItComes && {
      onText: (piece: Parameters<typeof words.onText>[0]) => {
        if (isTable) return;
        progress.stop();
        words.onText(piece);
      },
    }),
  };
  const turn = await client.ask(question, thread, watcher, createInterruptSignal());
  progress.stop();
  words.end();
  if (options.json)
    return print(formatJson({ ok: true, schema: 1, kept: client.kept, ...turn, form: toAnswerForm(turn) }));
  const table = isTable ? formatComparison(turn, style.width) : '';
  await print(asItComes ? `${table}\n\n${answerFoot(turn)}` : formatPlainAnswer(turn, client.kept));
  say(formatFarewell(client, turn.threadId));
}

async function converse(client: AskClient, thread: string | undefined, progress: Progress): Promise<void> {
  progress.stop();
  const last = await runSession(client, thread, {
    input: process.stdin,
    output: process.stdout,
    terminal: true,
  });
  process.stdout.write('\n');
  if (last !== undefined) say(formatFarewell(client, last));
}

function formatFarewell({ kept, target, location }: AskClient, thread: string): string {
  if (location !== undefined)
    return (
      `Stored in ${toVisibleLine(location(thread))}. ` +
      `Continue with: faultline ask ${toVisibleLine(target)} --resume`
    );
  if (!kept)
    return target === '-'
      ? 'Not stored: conversations about standard input are not kept.'
      : 'Not stored: the data directory cannot be written.';
  return `Stored. Continue with: faultline ask ${toVisibleLine(target)} --thread ${thread}`;
}
