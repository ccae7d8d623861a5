import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import type { Config } from '../../config/schema.ts';
import type { Step } from '../../domain/analysis.ts';
import type { Citation, Thread, Turn } from '../../domain/conversation.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { counted } from '../../lib/text.ts';
import { clip, disarmRunnerCommands, visibleLine, visibleLines } from '../../notifications/visible-text.ts';
import type { TextPiece } from '../../ports/analyst.ts';
import type { ServerOptions } from '../command-parts.ts';
import { type Progress, phaseText, startProgress } from '../progress.ts';
import { dataDirectory, LOCAL_SERVICE, readConfig, resolveToken } from '../settings.ts';
import { createVoice, interruptSignal, jsonText, print, say, type Voice } from '../terminal.ts';
import type { Answered, AskClient } from './ask-clients.ts';

export interface AskCommandOptions extends ServerOptions {
  readonly thread?: string;
  readonly resume?: boolean;
  readonly repo?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly plain?: boolean;
}

/** Runs `faultline ask`: answers one question, or opens a session on a terminal. */
export async function runAsk(
  target: string,
  question: string | undefined,
  options: AskCommandOptions,
): Promise<void> {
  const voice = createVoice(options);
  if (
    question === undefined &&
    (process.stdin.isTTY !== true || process.stdout.isTTY !== true || options.json === true)
  ) {
    throw new TriageError(
      'invalid-config',
      `Add a question: faultline ask ${visibleLine(target)} "why?" (a session needs a terminal)`,
    );
  }
  const progress = startProgress({ ...voice, quiet: options.json === true });
  let client: AskClient | undefined;
  try {
    client = await openClient(target, options, progress, question === undefined);
    const thread = await chooseThread(client, options);
    if (question === undefined) await converse(client, thread, progress);
    else await answerOnce(client, question, thread, options, voice, progress);
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
  const dataDir = dataDirectory(options.data);
  if (target === '-' && session)
    throw new TriageError(
      'invalid-config',
      'A session reads questions from standard input. Pass the log as a file instead.',
    );
  if (target === '-' || statSync(target, { throwIfNoEntry: false }) !== undefined) {
    if (options.thread !== undefined || options.resume === true)
      throw new TriageError(
        'invalid-config',
        'Questions about a log file are not stored, so there is no thread to continue.',
      );
    const { openLogClient } = await import('./ask-clients.ts');
    const signal = session ? new AbortController().signal : interruptSignal();
    const given = {
      ...(options.repo === undefined ? {} : { repo: options.repo }),
      onStep: (text: string) => progress.phase(text),
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
  voice: Voice,
  progress: Progress,
): Promise<void> {
  const asItComes = voice.color && options.json !== true;
  const words = wordByWord((text) => void process.stdout.write(text));
  const watcher = {
    onStep: (step: Parameters<typeof phaseText>[0]) => {
      if (step.node !== 'compose_answer' && step.node !== 'check_citations') progress.phase(phaseText(step));
    },
    ...(asItComes && {
      onText: (piece: Parameters<typeof words.onText>[0]) => {
        progress.stop();
        words.onText(piece);
      },
    }),
  };
  const turn = await client.ask(question, thread, watcher, interruptSignal());
  progress.stop();
  words.end();
  if (options.json) return print(jsonText({ ok: true, schema: 1, kept: client.kept, ...turn }));
  await print(asItComes ? `\n\n${answerFoot(turn)}` : plainAnswer(turn, client.kept));
  say(leaving(client, turn.threadId));
}

async function converse(client: AskClient, thread: string | undefined, progress: Progress): Promise<void> {
  progress.stop();
  const last = await runSession(client, thread, {
    input: process.stdin,
    output: process.stdout,
    terminal: true,
  });
  process.stdout.write('\n');
  if (last !== undefined) say(leaving(client, last));
}

function leaving({ kept, target }: AskClient, thread: string): string {
  if (!kept) return 'Not stored: conversations about a log file are not kept.';
  return `Stored. Continue with: faultline ask ${visibleLine(target)} --thread ${thread}`;
}

interface SessionStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Line editing and keys; false where lines simply arrive. */
  readonly terminal: boolean;
}

const HELP = `Ask in your own words: how it failed, what changed since the last green build, why, who, what to do.
/trace    how the last answer was made      /threads  conversations about this
/new      start a new conversation          /help     this
/quit     leave (also Ctrl-D); Ctrl-C stops an answer`;
const PROMPT = 'ask> ';
const RECALLED = 3;

/**
 * Questions and answers in a terminal until Ctrl-D or /quit. Returns the thread that was last talked in, if
 * any.
 */
export async function runSession(
  client: AskClient,
  threadId: string | undefined,
  streams: SessionStreams,
): Promise<string | undefined> {
  const session = new Session(client, threadId, (text) => void streams.output.write(text));
  const lines = createInterface({ ...streams, prompt: PROMPT });
  lines.on('SIGINT', () => {
    if (!session.stop()) {
      streams.output.write('\nPress Ctrl-D to leave.\n');
      lines.prompt();
    }
  });
  // From here on what is typed is kept, also before it is requested.
  const arriving = lines[Symbol.asyncIterator]();
  await session.begin();
  lines.prompt();
  for (let next = await arriving.next(); next.done !== true; next = await arriving.next()) {
    if (!(await session.take(next.value.trim()))) break;
    lines.prompt();
  }
  lines.close();
  return session.thread;
}

/**
 * The state of a conversation in a terminal: its thread, the last answer's steps, and how to stop the one in
 * the making.
 */
class Session {
  thread: string | undefined;
  private steps: Step[] = [];
  private answering: AbortController | null = null;
  private readonly client: AskClient;
  private readonly write: (text: string) => void;

  constructor(client: AskClient, thread: string | undefined, write: (text: string) => void) {
    this.client = client;
    this.thread = thread;
    this.write = write;
  }

  async begin(): Promise<void> {
    if (this.thread === undefined)
      return this.write(`${dim(`About ${visibleLine(this.client.target)}. Type /help for commands.`)}\n`);
    const turns = await this.client.turns(this.thread);
    this.write(
      `${recapText(turns.slice(-RECALLED))}\n${dim(`Continuing ${this.thread} (${counted(turns.length, 'question')} so far).`)}\n`,
    );
  }

  /** Stops the answer in the making; false where there is none. */
  stop(): boolean {
    this.answering?.abort();
    return this.answering !== null;
  }

  /** Handles one line; false where it says to leave. */
  async take(line: string): Promise<boolean> {
    if (line === '/quit' || line === '/exit') return false;
    if (line.startsWith('/')) await this.command(line);
    else if (line !== '') await this.ask(line);
    return true;
  }

  private async command(line: string): Promise<void> {
    if (line === '/trace')
      return this.write(this.steps.length === 0 ? 'No questions yet.\n' : `${traceText(this.steps)}\n`);
    if (line === '/threads')
      return this.write(`${(await this.client.threads()).map(threadText).join('\n') || 'None yet.'}\n`);
    if (line === '/new') this.thread = undefined;
    this.write(line === '/new' ? 'Your next question starts a new conversation.\n' : `${HELP}\n`);
  }

  private async ask(question: string): Promise<void> {
    this.steps = [];
    this.answering = new AbortController();
    const words = wordByWord(this.write);
    const onStep = (step: Step) => {
      this.steps.push(step);
      if (step.node === 'execute_tools') this.write(`${dim(phaseText(step))}\n`);
    };
    try {
      const turn = await this.client.ask(
        question,
        this.thread,
        { onStep, onText: words.onText },
        this.answering.signal,
      );
      words.end();
      this.thread = turn.threadId;
      this.write(`\n${answerFoot(turn)}`);
    } catch (error) {
      words.end();
      const stopped = error instanceof TriageError && error.code === 'cancelled';
      this.write(
        stopped
          ? '\nStopped. This question is not stored.\n'
          : `\nerror: ${visibleLine(getErrorMessage(error))}\n`,
      );
    } finally {
      this.answering = null;
    }
  }
}

const MAX_LINE = 4_000;

/**
 * Formats an answer as `Key<tab>value` lines for pipes, with the keys Shape, Answer (one per line of text),
 * Cites, Dropped, Note, Usage, and Thread.
 */
export function plainAnswer(turn: Answered, kept: boolean): string {
  const rows: (readonly [string, string])[] = [
    ['Shape', turn.shape],
    ...visibleLines(turn.text)
      .filter((line) => line !== '')
      .map((line) => ['Answer', line] as const),
    ...turn.citations.map((citation) => ['Cites', citationText(citation)] as const),
    ...leftOutLines(turn).map((line) => ['Dropped', line] as const),
    ...turn.notes.map((note) => ['Note', note] as const),
    ['Usage', usageText(turn)],
    ...(kept ? [['Thread', turn.threadId] as const] : []),
  ];
  return rows
    .map(([key, value]) => `${key}\t${disarmRunnerCommands(clip(visibleLine(value), MAX_LINE))}\n`)
    .join('');
}

/** Formats what follows the text on a terminal: the citations, the statements to disregard, and the cost. */
export function answerFoot(turn: Answered): string {
  const lines = [
    ...turn.citations.map((citation) => dim(visibleLine(citationText(citation)))),
    ...leftOutLines(turn).map((line) =>
      styleText('yellow', `disregard: ${clip(visibleLine(line), MAX_LINE)}`, { validateStream: false }),
    ),
    ...turn.notes.map((note) => dim(`note: ${visibleLine(note)}`)),
    dim(usageText(turn)),
  ];
  return `${lines.join('\n')}\n`;
}

/** Formats a citation: "[E3] build.log:121-122 failed test". Returns raw text that the caller must escape. */
function citationText({ id, source, lineStart, lineEnd, title }: Citation): string {
  const lines =
    lineStart === undefined
      ? ''
      : `:${lineStart}${lineEnd === undefined || lineEnd === lineStart ? '' : `-${lineEnd}`}`;
  return `[${id}] ${source}${lines} ${title}`;
}

function leftOutLines({ leftOut, statements }: Answered): string[] {
  const unproven = statements.filter(({ basis }) => basis === 'none').length;
  return [
    ...leftOut.map(({ text, reason }) => `“${text}”: ${reason}`),
    ...(unproven === 0
      ? []
      : [`${counted(unproven, 'sentence is', 'sentences are')} not backed by evidence`]),
  ];
}

function usageText({ analyst, model, usage, milliseconds }: Answered): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const spent =
    tokens === 0 ? [] : [`${tokens.toLocaleString('en-US')} tokens`, `$${usage.costUsd.toFixed(4)}`];
  return [
    visibleLine(model ?? analyst),
    counted(usage.toolCalls, 'tool call'),
    ...spent,
    `${(milliseconds / 1000).toFixed(1)} s`,
  ].join(' · ');
}

/** Formats the steps of an answer for `/trace`, one per line. */
function traceText(steps: readonly Step[]): string {
  return steps
    .map(
      ({ node, milliseconds, by, summary }) =>
        `${node.padEnd(16)}${String(Math.round(milliseconds)).padStart(6)} ` +
        `ms  ${by ?? ''}  ${clip(visibleLine(summary), 200)}`,
    )
    .join('\n');
}

function threadText({ id, turns, lastAskedAt, title }: Thread): string {
  return `${id}  ${lastAskedAt.slice(0, 16).replace('T', ' ')}  ${counted(turns, 'question')}  ${visibleLine(title)}`;
}

/** Formats earlier turns, which are shown when a session is resumed. */
function recapText(turns: readonly Turn[]): string {
  return turns
    .map(({ question, text }) => `${dim(`> ${visibleLine(question)}`)}\n${visibleLines(text).join('\n')}\n`)
    .join('\n');
}

/**
 * Shows an answer word by word as it arrives. Words are never split, because a terminal might interpret half
 * of an escape sequence.
 */
export function wordByWord(write: (text: string) => void): {
  readonly onText: (piece: TextPiece) => void;
  end(): void;
} {
  let held = '';
  const show = (text: string) =>
    write(
      text
        .split(/(\s)/)
        .map((part) => (part === '\n' ? part : /^\s$/.test(part) ? ' ' : visibleLine(part)))
        .join(''),
    );
  const flush = () => {
    show(held);
    held = '';
  };
  return {
    onText: ({ text, restart }) => {
      if (restart === true) {
        flush();
        write('\n[the answer stopped there; disregard the text above. New answer:]\n');
      }
      held += text;
      const end = Math.max(held.lastIndexOf(' '), held.lastIndexOf('\n')) + 1;
      if (end === 0) return;
      show(held.slice(0, end));
      held = held.slice(end);
    },
    end: flush,
  };
}

function dim(text: string): string {
  return styleText('dim', text, { validateStream: false });
}
