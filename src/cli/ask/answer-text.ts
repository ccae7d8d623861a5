import { styleText } from 'node:util';
import type { Step } from '../../domain/analysis.ts';
import type { Citation, Thread, Turn } from '../../domain/conversation.ts';
import { formatCount } from '../../lib/text.ts';
import { formatDollars } from '../../notifications/answer-view.ts';
import { describeWork } from '../../notifications/describe-work.ts';
import {
  clip,
  disarmRunnerCommands,
  toVisibleLine,
  toVisibleLines,
} from '../../notifications/visible-text.ts';
import type { TextPiece } from '../../ports/analyst.ts';
import type { Answered } from './ask-clients.ts';

const MAX_LINE = 4_000;

/**
 * Formats an answer as `Key<tab>value` lines for pipes, with the keys Shape, Title, Answer (one per line of
 * text), Cites, Dropped, Note, Usage, and Thread.
 */
export function formatPlainAnswer(turn: Answered, kept: boolean): string {
  const rows: (readonly [string, string])[] = [
    ['Shape', turn.shape],
    ...(turn.title === undefined ? [] : [['Title', turn.title] as const]),
    ...toVisibleLines(turn.text)
      .filter((line) => line !== '')
      .map((line) => ['Answer', line] as const),
    ...turn.citations.map((citation) => ['Cites', formatCitation(citation)] as const),
    ...listLeftOutLines(turn).map((line) => ['Dropped', line] as const),
    ...turn.notes.map((note) => ['Note', note] as const),
    ['Usage', formatUsage(turn)],
    ...(kept ? [['Thread', turn.threadId] as const] : []),
  ];
  return rows
    .map(([key, value]) => `${key}\t${disarmRunnerCommands(clip(toVisibleLine(value), MAX_LINE))}\n`)
    .join('');
}

/** Formats the end of an answer on a terminal: the citations, the statements to disregard, and the cost. */
export function answerFoot(turn: Answered): string {
  const lines = [
    ...turn.citations.map((citation) => dim(toVisibleLine(formatCitation(citation)))),
    ...listLeftOutLines(turn).map((line) =>
      styleText('yellow', `disregard: ${clip(toVisibleLine(line), MAX_LINE)}`, { validateStream: false }),
    ),
    ...turn.notes.map((note) => dim(`note: ${toVisibleLine(note)}`)),
    dim(formatUsage(turn)),
  ];
  return `${lines.join('\n')}\n`;
}

/** Formats a citation: "[E3] build.log:121-122 failed test". Returns raw text that the caller must escape. */
function formatCitation({ id, source, lineStart, lineEnd, title }: Citation): string {
  const lines =
    lineStart === undefined
      ? ''
      : `:${lineStart}${lineEnd === undefined || lineEnd === lineStart ? '' : `-${lineEnd}`}`;
  return `[${id}] ${source}${lines} ${title}`;
}

function listLeftOutLines({ leftOut, statements }: Answered): string[] {
  const unproven = statements.filter(({ basis }) => basis === 'none').length;
  return [
    ...leftOut.map(({ text, reason }) => `“${text}”: ${reason}`),
    ...(unproven === 0
      ? []
      : [`${formatCount(unproven, 'sentence is', 'sentences are')} not backed by evidence`]),
  ];
}

function formatUsage(turn: Answered & { readonly steps?: readonly Step[] }): string {
  const { analyst, model, usage, milliseconds } = turn;
  const tokens = usage.inputTokens + usage.outputTokens;
  const spent =
    tokens === 0 ? [] : [`${tokens.toLocaleString('en-US')} tokens`, formatDollars(usage.costUsd)];
  return [
    toVisibleLine(model ?? analyst),
    ...describeWork(turn),
    ...spent,
    `${(milliseconds / 1000).toFixed(1)} s`,
  ].join(' · ');
}

/** Formats the steps of an answer for `/trace`, one per line. */
export function traceText(steps: readonly Step[]): string {
  return steps
    .map(
      ({ node, milliseconds, by, summary }) =>
        `${node.padEnd(16)}${String(Math.round(milliseconds)).padStart(6)} ` +
        `ms  ${by ?? ''}  ${clip(toVisibleLine(summary), 200)}`,
    )
    .join('\n');
}

export function formatThreadText({ id, turns, lastAskedAt, title }: Thread): string {
  const asked = lastAskedAt.slice(0, 16).replace('T', ' ');
  return `${toVisibleLine(id)}  ${asked}  ${formatCount(turns, 'question')}  ${toVisibleLine(title)}`;
}

/** Formats earlier turns, which are shown when a session is resumed. */
export function formatRecap(turns: readonly Turn[]): string {
  return turns
    .map(
      ({ question, text }) => `${dim(`> ${toVisibleLine(question)}`)}\n${toVisibleLines(text).join('\n')}\n`,
    )
    .join('\n');
}

/**
 * Shows an answer word by word as it arrives. Words are never split, because a terminal might interpret half
 * of an escape sequence.
 */
export function showWordByWord(write: (text: string) => void): {
  readonly onText: (piece: TextPiece) => void;
  end(): void;
} {
  let buffered = '';
  const show = (text: string) =>
    write(
      text
        .split(/(\s)/)
        .map((part) => (part === '\n' ? part : /^\s$/.test(part) ? ' ' : toVisibleLine(part)))
        .join(''),
    );
  const flush = () => {
    show(buffered);
    buffered = '';
  };
  return {
    onText: ({ text, restart }) => {
      if (restart === true) {
        flush();
        write('\n[the answer stopped there; disregard the text above. New answer:]\n');
      }
      buffered += text;
      const end = Math.max(buffered.lastIndexOf(' '), buffered.lastIndexOf('\n')) + 1;
      if (end === 0) return;
      show(buffered.slice(0, end));
      buffered = buffered.slice(end);
    },
    end: flush,
  };
}

export function dim(text: string): string {
  return styleText('dim', text, { validateStream: false });
}
