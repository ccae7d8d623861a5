const MAX_LINE = 600;
/** Words with which the decisive part of a long line begins or ends. */
const DECISIVE = new RegExp(
  String.raw`\b(?:errors?|fail(?:ed|ure|s)?|fatal|exception|cannot|can't|could not|unable|denied|refused|` +
    'not found|no such|unexpected|expected|received|invalid|missing|undefined|unsupported|timed? ?out|' +
    String.raw`exceeded|non-zero)\b`,
  'gi',
);

/**
 * Cuts a very long line of a log: keeps its beginning, its end, and between them the text around the last
 * word that indicates a failure.
 */
export function cutLine(line: string, most: number = MAX_LINE): string {
  if (line.length <= most) return line;
  const end = Math.floor(most / 4);
  const decisive = findDecisive(line, most - end, line.length - end);
  if (decisive === null)
    return join(line, [
      [0, most - end],
      [line.length - end, line.length],
    ]);
  const part = Math.floor(most / 3);
  const from = Math.max(part, Math.min(decisive - Math.floor(part / 3), line.length - end - part));
  return join(line, [
    [0, part],
    [from, from + part],
    [line.length - end, line.length],
  ]);
}

/** Returns the position of the last decisive word between `from` and `to`, or null. */
function findDecisive(line: string, from: number, to: number): number | null {
  const hidden = line.slice(from, to);
  const last = Array.from(hidden.matchAll(DECISIVE)).at(-1);
  return last === undefined ? null : from + last.index;
}

function join(line: string, parts: readonly (readonly [from: number, to: number])[]): string {
  let at = 0;
  let text = '';
  for (const [from, to] of parts) {
    if (from > at) text += ` [… ${from - at} characters …] `;
    text += line.slice(from, to);
    at = to;
  }
  return text.toWellFormed();
}
