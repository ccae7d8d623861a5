/** Alternatives beyond this number are one. */
const MAX_BRANCHES = 12;

/**
 * Splits a regular expression at its outermost alternations: `a|b(c|d)` into `a` and `b(c|d)`. Flags at its
 * beginning hold for each part. Returns the whole if it has one part or is not closed.
 */
export function splitAlternation(pattern: string): string[] {
  const flags = /^\(\?[a-zA-Z]{1,8}\)/.exec(pattern)?.[0] ?? '';
  const parts: string[] = [''];
  let [depth, isClass, isQuoted] = [0, false, false];
  for (let i = flags.length; i < pattern.length; i++) {
    let sign = pattern[i] ?? '';
    if (sign === '\\') {
      sign = pattern.slice(i, i + 2);
      i++;
      if (sign === '\\Q') isQuoted = true;
      if (sign === '\\E') isQuoted = false;
    } else if (!isQuoted) {
      if (isClass) isClass = sign !== ']';
      else if (sign === '[') isClass = true;
      else if (sign === '(') depth++;
      else if (sign === ')') depth--;
      else if (sign === '|' && depth === 0) {
        parts.push('');
        continue;
      }
    }
    parts[parts.length - 1] += sign;
  }
  const isClosed = depth === 0 && !isClass && !isQuoted;
  if (!isClosed || parts.length > MAX_BRANCHES || parts.includes('')) return [pattern];
  return parts.map((part) => flags + part);
}
