/** Since which release a runtime has its members. */
export interface VersionTable {
  /** The source that it was derived from, with the release. */
  readonly source: string;
  readonly license: string;
  /** "20.0.0": the first release that has it; "-3.12": the first that has it no more. */
  readonly members: Readonly<Record<string, string>>;
}

/** Compares versions by their numbers. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
