const MAX_LINE = 600;

/** At most `limit` characters, and says how much is missing where something is. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const mark = `\n[… ${text.length - limit} more characters are not shown …]`;
  return text.slice(0, Math.max(0, limit - mark.length)) + mark;
}

/** One line of a log; of a very long one its beginning and its end. */
export function cutLine(line: string, most: number = MAX_LINE): string {
  if (line.length <= most) return line;
  const end = Math.floor(most / 4);
  return `${line.slice(0, most - end)} [… ${line.length - most} characters …] ${line.slice(-end)}`;
}
