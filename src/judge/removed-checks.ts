import { sumNumbers } from '../lib/collections.ts';
import type { LineChange } from '../lib/patch-changes.ts';
import { hasCode } from './line-changes.ts';

/** A line that a change removed, with the check, condition or default in it. */
export interface RemovedCheck {
  readonly what: 'check' | 'condition' | 'default';
  readonly line: string;
}

/**
 * Patterns of a line that makes others conditional, of a part of a condition, and of a default value, in
 * common languages.
 */
const PATTERNS: readonly (readonly [RemovedCheck['what'], RegExp])[] = [
  ['check', /^\s*(?:\}\s*)?(?:if|elif|elsif|else if|unless|guard|assert|require|try|except|rescue)\b/g],
  ['check', /\b(?:return|raise|next|continue|break|throw)\b.{0,200}\s(?:if|unless)\s/g],
  [
    'default',
    /\?\?|\|\|=|\?:|\b(?:getOrDefault|unwrap_or|orElse|setdefault)|\b(?:get|fetch)\([^(),]{1,80},/g,
  ],
  ['check', /\?\.|&\./g],
  ['condition', /&&|\|\||\s(?:and|or)\s/g],
];
const MAX_LINE = 500;

/** Finds a line with a check, condition or default that a change removed and did not add in another form. */
export function findRemovedCheck({ removed, added }: LineChange): RemovedCheck | null {
  for (const [what, pattern] of PATTERNS) {
    const count = (text: string) => text.slice(0, MAX_LINE).match(pattern)?.length ?? 0;
    const total = (lines: readonly string[]) => sumNumbers(lines.filter(hasCode).map(count));
    if (total(removed) <= total(added)) continue;
    const kept = new Set(added.map((line) => line.trim()));
    const line = removed.find((text) => hasCode(text) && count(text) > 0 && !kept.has(text.trim()));
    if (line !== undefined) return { what, line };
  }
  return null;
}

/** Words of a check for a missing value. */
const OF_MISSING =
  /\b(?:null|undefined|none|nil|empty|isset|typeof|len|length|size|count|defined|has|not|unless)\b|!\w|[?&]\./i;

/** Checks whether a change removed a check for a missing value. */
export function removesCheckForMissing(change: LineChange): boolean {
  const removed = findRemovedCheck(change);
  return removed?.what === 'check' && OF_MISSING.test(removed.line);
}
