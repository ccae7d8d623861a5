import { styleText } from 'node:util';
import type { Step } from '../domain/analysis.ts';
import type { Citation, Thread, Turn } from '../domain/conversation.ts';
import type { TextPiece } from '../ports/analyst.ts';
import { clip, disarmRunnerCommands, visibleLine, visibleLines } from '../publish/visible-text.ts';
import type { Answered } from './ask-client.ts';

const MAX_LINE = 4_000;

/** An answer as `Key<tab>value` lines for pipes: Answer (a line each), Cites, Left out, Note, Usage, Thread. */
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
  return rows.map(([key, value]) => `${key}\t${disarmRunnerCommands(clip(visibleLine(value), MAX_LINE))}\n`).join('');
}

/** What follows the text on a terminal: where the citations lead, what does not hold, what it cost. */
export function answerFoot(turn: Answered): string {
  const lines = [
    ...turn.citations.map((citation) => dim(visibleLine(citationText(citation)))),
    ...leftOutLines(turn).map((line) => styleText('yellow', `disregard: ${clip(visibleLine(line), MAX_LINE)}`, { validateStream: false })),
    ...turn.notes.map((note) => dim(`note: ${visibleLine(note)}`)),
    dim(usageText(turn)),
  ];
  return `${lines.join('\n')}\n`;
}

/** "[E3] build.log:121-122 failed test". Raw text: escape it. */
function citationText({ id, source, lineStart, lineEnd, title }: Citation): string {
  const lines = lineStart === undefined ? '' : `:${lineStart}${lineEnd === undefined || lineEnd === lineStart ? '' : `-${lineEnd}`}`;
  return `[${id}] ${source}${lines} ${title}`;
}

function leftOutLines({ leftOut, statements }: Answered): string[] {
  const unproven = statements.filter(({ basis }) => basis === 'none').length;
  const word = unproven === 1 ? 'sentence is' : 'sentences are';
  return [
    ...leftOut.map(({ text, reason }) => `“${text}”: ${reason}`),
    ...(unproven === 0 ? [] : [`${unproven} ${word} not backed by evidence`]),
  ];
}

function usageText({ analyst, model, usage, milliseconds }: Answered): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const spent = tokens === 0 ? [] : [`${tokens.toLocaleString('en-US')} tokens`, `$${usage.costUsd.toFixed(4)}`];
  const calls = `${usage.toolCalls} tool ${usage.toolCalls === 1 ? 'call' : 'calls'}`;
  return [visibleLine(model ?? analyst), calls, ...spent, `${(milliseconds / 1000).toFixed(1)} s`].join(' · ');
}

/** `/trace`: the steps of an answer, a line each. */
export function traceText(steps: readonly Step[]): string {
  return steps
    .map(
      ({ node, milliseconds, by, summary }) =>
        `${node.padEnd(16)}${String(Math.round(milliseconds)).padStart(6)} ms  ${by ?? ''}  ${clip(visibleLine(summary), 200)}`,
    )
    .join('\n');
}

/** `/threads`: one a line. */
export function threadText({ id, turns, lastAskedAt, title }: Thread): string {
  return `${id}  ${lastAskedAt.slice(0, 16).replace('T', ' ')}  ${turns} ${turns === 1 ? 'question' : 'questions'}  ${visibleLine(title)}`;
}

/** Earlier turns, shown when a session is resumed. */
export function recapText(turns: readonly Turn[]): string {
  return turns.map(({ question, text }) => `${dim(`> ${visibleLine(question)}`)}\n${visibleLines(text).join('\n')}\n`).join('\n');
}

/** Shows an answer as it comes, a word at a time: no word is split where a terminal might obey its half. */
export function wordByWord(write: (text: string) => void): { readonly onText: (piece: TextPiece) => void; end(): void } {
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

export function dim(text: string): string {
  return styleText('dim', text, { validateStream: false });
}
