import { createInterface } from 'node:readline/promises';
import type { Step } from '../../domain/analysis.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { formatCount } from '../../lib/text.ts';
import { settleOrAbort } from '../../lib/time.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { Person } from '../../ports/toolbox.ts';
import { formatQuestion } from '../keyboard.ts';
import { formatCallLines } from '../progress.ts';
import { answerFoot, dim, formatRecap, formatThreadText, showWordByWord, traceText } from './answer-text.ts';
import type { AskClient } from './ask-clients.ts';
import { formatComparison } from './comparison-text.ts';

interface SessionStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** True for line editing and keys; false if lines are read from a pipe. */
  readonly terminal: boolean;
}

const HELP = `Ask in your own words: how it failed, what changed, why, who, what to do.
/trace    how the last answer was made      /threads  conversations about this
/new      start a new conversation          /help     this
/quit     leave (also Ctrl-D); Ctrl-C stops an answer`;
const PROMPT = 'ask> ';
const RECALLED = 3;

/**
 * Runs a session of questions and answers in a terminal until Ctrl-D or /quit. Returns the last thread, if
 * any.
 */
export async function runSession(
  client: AskClient,
  threadId: string | undefined,
  streams: SessionStreams,
): Promise<string | undefined> {
  const lines = createInterface({ ...streams, prompt: PROMPT });
  lines.on('SIGINT', () => {
    if (!session.stop()) {
      streams.output.write('\nPress Ctrl-D to leave.\n');
      lines.prompt();
    }
  });
  // From here on, lines are buffered even before they are requested.
  const arriving = lines[Symbol.asyncIterator]();
  // A line that a stopped question did not wait for is the next one.
  let awaited: ReturnType<typeof arriving.next> | null = null;
  const readLine = async (signal?: AbortSignal) => {
    awaited ??= arriving.next();
    const next = signal === undefined ? await awaited : await settleOrAbort(awaited, signal);
    awaited = null;
    return next;
  };
  const person: Person = {
    ask: async (question, signal) => {
      streams.output.write(formatQuestion(question));
      const next = await readLine(signal);
      return next.done === true ? null : next.value;
    },
  };
  const session = new Session(
    client,
    threadId,
    (text) => void streams.output.write(text),
    streams.terminal ? person : undefined,
  );
  await session.begin();
  lines.prompt();
  for (let next = await readLine(); next.done !== true; next = await readLine()) {
    if (!(await session.take(next.value.trim()))) break;
    lines.prompt();
  }
  lines.close();
  return session.thread;
}

/**
 * The state of a conversation in a terminal: its thread, the steps of the last answer, and how to stop the
 * running one.
 */
class Session {
  thread: string | undefined;
  private steps: Step[] = [];
  private answering: AbortController | null = null;
  private readonly client: AskClient;
  private readonly write: (text: string) => void;

  private readonly person: Person | undefined;

  constructor(
    client: AskClient,
    thread: string | undefined,
    write: (text: string) => void,
    person: Person | undefined,
  ) {
    this.client = client;
    this.thread = thread;
    this.write = write;
    this.person = person;
  }

  async begin(): Promise<void> {
    if (this.thread === undefined)
      return this.write(`${dim(`About ${toVisibleLine(this.client.target)}. Type /help for commands.`)}\n`);
    const turns = await this.client.turns(this.thread);
    const count = formatCount(turns.length, 'question');
    this.write(`${formatRecap(turns.slice(-RECALLED))}\n`);
    this.write(`${dim(`Continuing ${this.thread} (${count} so far).`)}\n`);
  }

  /** Stops the running answer. Returns false if there is none. */
  stop(): boolean {
    this.answering?.abort();
    return this.answering !== null;
  }

  /** Handles one line. Returns false if the session must end. */
  async take(line: string): Promise<boolean> {
    if (line === '/quit' || line === '/exit') return false;
    if (line.startsWith('/')) await this.command(line);
    else if (line !== '') await this.ask(line);
    return true;
  }

  private async command(line: string): Promise<void> {
    if (line === '/trace')
      return this.write(this.steps.length === 0 ? 'No questions yet.\n' : `${traceText(this.steps)}\n`);
    if (line === '/threads') {
      const listed = await this.client.threads().then(
        (threads) => threads.map(formatThreadText).join('\n') || 'None yet.',
        (error: unknown) => `error: ${toVisibleLine(getErrorMessage(error))}`,
      );
      return this.write(`${listed}\n`);
    }
    if (line === '/new') this.thread = undefined;
    this.write(line === '/new' ? 'Your next question starts a new conversation.\n' : `${HELP}\n`);
  }

  private async ask(question: string): Promise<void> {
    this.steps = [];
    this.answering = new AbortController();
    const words = showWordByWord(this.write);
    // A comparison is shown side by side once it is whole.
    let isTable = false;
    const onStep = (step: Step) => {
      this.steps.push(step);
      if (step.node === 'understand') isTable = step.summary.startsWith('comparison');
      if (step.node === 'execute_tools')
        for (const line of formatCallLines(step)) this.write(`${dim(line)}\n`);
    };
    try {
      const turn = await this.client.ask(
        question,
        this.thread,
        { onStep, onText: (piece) => !isTable && words.onText(piece), person: this.person },
        this.answering.signal,
      );
      words.end();
      this.thread = turn.threadId;
      const table = isTable ? `${formatComparison(turn, process.stdout.columns || 100)}\n` : '';
      this.write(`${table}\n${answerFoot(turn)}`);
    } catch (error) {
      words.end();
      const stopped = error instanceof TriageError && error.code === 'cancelled';
      this.write(
        stopped
          ? '\nStopped. This question is not stored.\n'
          : `\nerror: ${toVisibleLine(getErrorMessage(error))}\n`,
      );
    } finally {
      this.answering = null;
    }
  }
}
