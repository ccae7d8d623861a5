import type { Statement } from '../domain/conversation.ts';

/** A statement before its position in the text is known. */
export type Draft = Omit<Statement, 'lead'>;

/** Creates a statement that cites evidence by its numbers, or the record if there is none. */
export function cite(text: string, evidence: readonly string[], quotes: Draft['quotes'] = []): Draft {
  const ids = [...new Set(evidence)];
  if (ids.length === 0) return record(text);
  return { text: `${text} ${ids.map((id) => `[${id}]`).join('')}`, evidence: ids, quotes, basis: 'evidence' };
}

export function record(text: string): Draft {
  return { text, evidence: [], quotes: [], basis: 'record' };
}
