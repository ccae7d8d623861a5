/** Patterns of LIKE for repositories such as `owner/name` and `owner/*`, or null where all are meant: a value of its own in SQL. */
export function scopeValue(repositories: readonly string[] | null | undefined): string[] | null {
  if (repositories === null || repositories === undefined) return null;
  return repositories.map((one) => (one.endsWith('/*') ? `${literal(one.slice(0, -1))}%` : literal(one)));
}

function literal(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
