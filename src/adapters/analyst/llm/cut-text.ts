const MAX_LINE = 600;

/** At most `limit` characters, and says how much is missing where something is. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const mark = `\n[… ${text.length - limit} more characters are not shown …]`;
  return text.slice(0, Math.max(0, limit - mark.length)) + mark;
}

/** One line of a log, its end cut where it is very long. */
export function cutLine(line: string, most: number = MAX_LINE): string {
  return line.length <= most ? line : `${line.slice(0, most)} [… ${line.length - most} more characters …]`;
}

/** Lines within `limit` characters: the first two thirds of the room from the top, the rest from the end, with a mark between. */
export function cutMiddle(lines: readonly string[], limit: number): string[] {
  const size = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (size <= limit) return [...lines];
  const top = takeWithin(lines, (limit * 2) / 3);
  const end = takeWithin(lines.slice(top.length).reverse(), limit / 3).reverse();
  const missing = lines.length - top.length - end.length;
  return missing === 0 ? [...lines] : [...top, `[… ${missing} lines are not shown …]`, ...end];
}

function takeWithin(lines: readonly string[], limit: number): string[] {
  const taken: string[] = [];
  let room = limit;
  for (const line of lines) {
    room -= line.length + 1;
    if (room < 0) break;
    taken.push(line);
  }
  return taken;
}
