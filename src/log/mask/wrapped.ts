import type { Span } from './span.ts';
import { findModelKeys, findTokens } from './tokens.ts';

/** Longest end of a line, and start of the next, that may be two parts of one token. */
const MAX_PART = 300;
const LAST_RUN = /(?<![\w.-])[A-Za-z][\w.-]{2,299}$/;
const FIRST_RUN = /^((?:\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?\s?|\s){0,8})([\w.-]{4,300})/;

/**
 * A token that a terminal or a log driver broke: it begins at the end of this line and ends at the start of the next. Spans
 * of the first and of the second line. A token that is whole on its own line takes nothing from the next, unless the next
 * holds nothing but more of the same kind.
 */
export function findWrapped(line: string, next: string): { readonly here: readonly Span[]; readonly there: readonly Span[] } {
  const none = { here: [], there: [] };
  const end = line.endsWith('\r') ? line.length - 1 : line.length;
  const last = LAST_RUN.exec(line.slice(Math.max(0, end - MAX_PART), end))?.[0];
  if (last === undefined) return none;
  const [, indent = '', first = ''] = FIRST_RUN.exec(next) ?? [];
  if (first === '') return none;
  const here = { from: end - last.length, to: end };
  const there = { from: indent.length, to: indent.length + first.length };
  const whole = findBoth(last).find(({ to }) => to === last.length);
  const missing = whole === undefined ? 0 : fullLength(last.slice(whole.from)) - (whole.to - whole.from);
  if (whole !== undefined && (missing <= 0 || first.length < missing))
    return isRest(first, next.slice(there.to)) ? { here: [here], there: [there] } : none;
  const across = findBoth(last + first).find(({ from, to }) => from < last.length && to > last.length);
  if (across === undefined) return none;
  return {
    here: [{ from: here.from + across.from, to: end }],
    there: [{ from: there.from, to: there.from + across.to - last.length }],
  };
}

function findBoth(text: string): Span[] {
  return [...findTokens(text), ...findModelKeys(text)];
}

/** How long a token is with its maker; 0 where that is not fixed. */
function fullLength(token: string): number {
  if (/^gh[pousr]_/.test(token) || token.startsWith('npm_')) return 40;
  if (token.startsWith('github_pat_')) return 93;
  return token.startsWith('glpat-') ? 26 : 0;
}

/** Nothing follows, and it is no word. */
function isRest(first: string, after: string): boolean {
  if (after.trim() !== '' || /[.-]/.test(first) || !/[A-Za-z]/.test(first)) return false;
  return /\d/.test(first) ? first.length >= 6 : first.length >= 16 && /[a-z][A-Z]/.test(first);
}
