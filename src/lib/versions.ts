/**
 * Compares two versions by their numbers. The result is below 0 if the first is older. A missing number
 * counts as 0.
 */
export function compareVersions(first: string, second: string): number {
  const left = listNumbersIn(first);
  const right = listNumbersIn(second);
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Tells whether a version is certainly older, as exactly as the log names it: "20" is not older than "20.12".
 */
export function isOlder(version: string, needed: string): boolean {
  const exact = listNumbersIn(version).length;
  return compareVersions(version, listNumbersIn(needed).slice(0, exact).join('.')) < 0;
}

/** Shortens a version to the usual form: "20.0.0" to "20", "20.12.0" to "20.12". */
export function shortenVersion(version: string): string {
  return version.replace(/(?:\.0){1,6}$/, '');
}

function listNumbersIn(version: string): number[] {
  return (version.match(/\d{1,9}/g) ?? []).map(Number);
}
