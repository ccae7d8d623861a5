import type { Memory, Turn } from '../domain/conversation.ts';

/** Turns that are held whole. */
const WHOLE = 4;
/** Older turns that are held in a line each; before them only their number is told. */
const IN_A_LINE = 12;
const MAX_ANSWER = 2_000;
const MAX_QUESTION = 160;
const MAX_FIRST = 240;

type Said = Pick<Turn, 'question' | 'text'>;

/** What of a thread is held in mind, oldest first: bounded, and by rule, so that the same thread is remembered the same. */
export function remember(turns: readonly Said[]): Memory {
  const older = turns.slice(0, -WHOLE);
  const told = older
    .slice(-IN_A_LINE)
    .map(({ question, text }) => `${cut(question, MAX_QUESTION)} → ${cut(firstSentence(text), MAX_FIRST)}`);
  const left = older.length - told.length;
  return {
    older: left === 0 ? told : [`${left} questions before these`, ...told],
    recent: turns.slice(-WHOLE).map(({ question, text }) => ({ question, answer: cut(text, MAX_ANSWER) })),
  };
}

function firstSentence(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? '';
  const end = line.indexOf('. ');
  return (end < 0 ? line : line.slice(0, end + 1)).trim();
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
