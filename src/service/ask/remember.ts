import type { Memory, Turn } from '../../domain/conversation.ts';
import { WHOLE } from './choose-cause.ts';

/**
 * The number of older turns that are remembered in one line each. Of the turns before them, only the number
 * is kept.
 */
const IN_A_LINE = 12;
const MAX_ANSWER = 2_000;
const MAX_REMEMBERED = 160;
const MAX_FIRST = 240;

type Said = Pick<Turn, 'question' | 'text'>;

/**
 * Builds the memory of a thread, oldest first. It is bounded and deterministic, so that the same thread
 * always gives the same memory.
 */
export function remember(turns: readonly Said[]): Memory {
  const older = turns.slice(0, -WHOLE);
  const lines = older
    .slice(-IN_A_LINE)
    .map(
      ({ question, text }) =>
        `${cut(question, MAX_REMEMBERED)} → ${cut(formatFirstSentence(text), MAX_FIRST)}`,
    );
  const left = older.length - lines.length;
  return {
    older: left === 0 ? lines : [`${left} questions before these`, ...lines],
    recent: turns.slice(-WHOLE).map(({ question, text }) => ({ question, answer: cut(text, MAX_ANSWER) })),
  };
}

function formatFirstSentence(text: string): string {
  const line = text.split('\n').find((line) => line.trim() !== '') ?? '';
  const end = line.indexOf('. ');
  return (end < 0 ? line : line.slice(0, end + 1)).trim();
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
