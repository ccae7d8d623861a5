import type { LineChange } from '../lib/patch-changes.ts';

/** A line without code: only a comment, brackets, or an end. */
const NO_CODE_LINE = /^\s*(?:(?:\/\/|#|\*|\/\*|--|;|"""|'''|<!--).*|[{}()[\];,]*|end)\s*$/;
const MAX_LINE = 500;

/** Checks whether a line contains code, not only a comment or brackets. */
export function hasCode(line: string): boolean {
  return !NO_CODE_LINE.test(line.slice(0, MAX_LINE));
}

/** Checks whether a change removes or replaces code. Added lines alone rarely break working code. */
export function altersCode({ removed, added }: LineChange): boolean {
  const kept = new Set(added.map((line) => line.trim()));
  return removed.some((line) => hasCode(line) && !kept.has(line.trim()));
}

/** Checks whether a change removes more lines of code than it adds. */
export function removesCode({ removed, added }: LineChange): boolean {
  return removed.filter(hasCode).length > added.filter(hasCode).length;
}
