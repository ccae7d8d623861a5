import type { Step } from '../domain/analysis.ts';
import { clip, toVisibleLine } from '../notifications/visible-text.ts';
import type { OutputStyle } from './terminal.ts';

export interface Progress {
  phase(text: string): void;
  /** Writes a line that stays, above the one that is redrawn. */
  line(text: string): void;
  /** Stops the display and clears it on a terminal. */
  stop(): void;
}

/** The stream for progress; standard error by default. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** The maximum time without output in milliseconds. CI systems end jobs that are silent for long. */
const SILENCE_MS = 30_000;
const FRAME_MS = 100;
const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/**
 * Shows the phases of long work on standard error: one redrawn line on a terminal, or else one line for each
 * phase, and never long silence.
 */
export function startProgress(
  style: Pick<OutputStyle, 'quiet' | 'plain'>,
  stream: ProgressStream = process.stderr,
): Progress {
  if (style.quiet) return { phase: () => undefined, line: () => undefined, stop: () => undefined };
  return stream.isTTY === true && !style.plain
    ? createRedrawnProgress(stream)
    : createLineProgress((line) => void stream.write(`${line}\n`));
}

function createLineProgress(say: (line: string) => void): Progress {
  let current = 'starting';
  let since = Date.now();
  const timer = setInterval(
    () => say(`still working: ${current}, ${Math.round((Date.now() - since) / 1000)} s`),
    SILENCE_MS,
  );
  timer.unref();
  return {
    phase(text) {
      current = text;
      since = Date.now();
      timer.refresh();
      say(text);
    },
    line: (text) => {
      timer.refresh();
      say(text);
    },
    stop: () => clearInterval(timer),
  };
}

function createRedrawnProgress(stream: ProgressStream): Progress {
  const startedAt = Date.now();
  let current = '';
  let frame = 0;
  const draw = () => {
    const seconds = `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
    const columns = (stream.columns || 80) - 1;
    const room = Math.max(0, columns - seconds.length - 4);
    const text = current.length > room ? `${current.slice(0, room - 1)}…` : current.padEnd(room);
    stream.write(`\r\x1b[2K${FRAMES[frame++ % FRAMES.length]} ${text}  ${seconds}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  timer.unref();
  return {
    phase(text) {
      current = text;
      draw();
    },
    line(text) {
      stream.write(`\r\x1b[2K${text}\n`);
      if (current !== '') draw();
    },
    stop() {
      if (current === '') return;
      current = '';
      clearInterval(timer);
      stream.write('\r\x1b[2K');
    },
  };
}

const MAX_CHARACTERS = 100;
const MAX_TARGET = 60;

/**
 * Formats the calls of a step, a line each: the tool, its target, why it was called, and what came of it.
 * Empty for a step without calls.
 */
export function formatCallLines({ outcomes = [] }: Pick<Step, 'outcomes'>): string[] {
  return outcomes.map(({ call, summary, cached }) => {
    const target = clip(toVisibleLine(describeTarget(call.args)), MAX_TARGET);
    const why = call.why === '' ? '' : ` · ${clip(toVisibleLine(call.why), MAX_CHARACTERS)}`;
    const reused = cached === true ? ' (cached)' : '';
    const result = clip(toVisibleLine(summary), MAX_CHARACTERS);
    return `${call.tool}${target === '' ? '' : ` ${target}`}${why} → ${result}${reused}`;
  });
}

/** Describes the arguments of a call by their values: "src/cart.ts 12 20". */
function describeTarget(args: Readonly<Record<string, unknown>>): string {
  return Object.values(args)
    .filter((value) => value !== null && value !== false)
    .map((value) => (typeof value === 'object' ? Object.values(value ?? {}).join(' ') : String(value)))
    .join(' ');
}

/**
 * Formats a finished node in a few words for standard error: "classify TEST_FAILURE 0.99 assertion". The
 * trace has the reasons.
 */
export function formatPhaseText(step: Step): string {
  const facts = toVisibleLine(describeFacts(step));
  return facts === '' ? step.node : `${step.node} ${clip(facts, MAX_CHARACTERS)}`;
}

function describeFacts({ node, summary, outcomes = [] }: Step): string {
  if (node === 'execute_tool' && outcomes.length > 0)
    return outcomes.map(({ call, summary: outcome }) => `${call.tool} ${outcome}`).join(' · ');
  // The answer follows on standard output.
  if (node === 'generate_answer') return '';
  return (summary.split(': ', 1)[0] ?? '').replace(/[()]/g, '');
}
