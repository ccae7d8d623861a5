import type { Comparison } from './comparison.ts';

/** What was not compared, or counted as wrong, a line each with the first `most` of its cases; empty where there is nothing of the kind. */
export function leftOutLines({ cases }: Comparison, most: number): string[] {
  const groups: readonly (readonly [string, readonly string[]])[] = [
    ['only on side A, left out', cases.onlyA],
    ['only on side B, left out', cases.onlyB],
    ['in the data set, answered by neither', cases.unanswered],
    ['answered, but not in the data set', cases.unlabelled],
    ['failed on side A, counted as wrong', cases.failed.a],
    ['failed on side B, counted as wrong', cases.failed.b],
    ['rows of the data set that could not be read', cases.unreadable],
  ];
  return groups.filter(([, ids]) => ids.length > 0).map(([title, ids]) => `${title}: ${ids.length}${namesOf(ids, most)}`);
}

/** ": a, b, c …", or nothing. */
export function namesOf(ids: readonly string[], most: number): string {
  if (ids.length === 0) return '';
  return `: ${ids.slice(0, most).join(', ')}${ids.length > most ? ' …' : ''}`;
}

/** With its sign and three decimals; what rounds to zero has none. */
export function signed(value: number): string {
  const text = Math.abs(value).toFixed(3);
  return `${Number(text) === 0 ? '' : value > 0 ? '+' : '−'}${text}`;
}
