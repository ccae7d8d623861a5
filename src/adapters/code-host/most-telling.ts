import type { FileHits } from '../../ports/code-host.ts';

/** Most different words first, then most occurrences, then by name. */
export function mostTelling(files: readonly FileHits[], limit: number): FileHits[] {
  const order = (left: FileHits, right: FileHits) =>
    right.words - left.words || right.occurrences - left.occurrences || (left.path < right.path ? -1 : 1);
  return [...files].sort(order).slice(0, limit);
}
