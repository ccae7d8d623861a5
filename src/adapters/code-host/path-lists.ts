/** Paths whose end is `suffix`, whole segments only; shortest first. */
export function filesEndingWith(paths: readonly string[], suffix: string, limit: number): string[] {
  const matches = paths.filter((path) => path === suffix || path.endsWith(`/${suffix}`));
  return matches.sort((left, right) => left.length - right.length || left.localeCompare(right)).slice(0, limit);
}

/** Paths below a folder (null: all), at most `limit`. */
export function filesBelow(
  list: { readonly paths: readonly string[]; readonly truncated: boolean },
  under: string | null,
  limit: number,
): { readonly paths: readonly string[]; readonly truncated: boolean } {
  const below = under === null ? list.paths : list.paths.filter((path) => path.startsWith(`${under}/`));
  return { paths: below.slice(0, limit), truncated: list.truncated || below.length > limit };
}
