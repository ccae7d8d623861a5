import type { Category } from '../../domain/category.ts';
import { hashText } from './choose.ts';

export type SplitBy = 'time' | 'project' | 'random';
export type Side = 'train' | 'test';

/** The data of a row that a split uses. They are few, so that a hundred thousand rows fit in memory. */
export interface SplitRow {
  readonly line: number;
  readonly id: string;
  readonly project: string;
  readonly category: Category | null;
  /** The time in milliseconds since 1970; null if unknown. */
  readonly happenedAt: number | null;
}

export interface SplitOptions {
  readonly by: SplitBy;
  /** The share of cases on the test side, 0..1. */
  readonly share: number;
  /** The seed of a random split. */
  readonly seed: string;
}

/**
 * Assigns rows, by their line numbers, to sides. Rows without a side are left out. By time, everything on the
 * test side happened after everything on the training side. By project, no project is on both sides.
 * Randomly, by hash of the id, only on request. The result does not depend on the order of the rows.
 */
export function assignSides(rows: readonly SplitRow[], options: SplitOptions): Map<number, Side> {
  if (options.by === 'time') return splitByTime(rows, options.share);
  if (options.by === 'project') return splitByProject(rows, options.share);
  return new Map(
    rows.map(({ line, id }) => [line, computeFraction(options.seed, id) < options.share ? 'test' : 'train']),
  );
}

/**
 * Splits by time. Rows with the same time are on one side. If the test side would include the oldest rows,
 * these are moved to the training side.
 */
function splitByTime(rows: readonly SplitRow[], share: number): Map<number, Side> {
  const times = rows
    .flatMap(({ happenedAt }) => (happenedAt === null ? [] : [happenedAt]))
    .sort((left, right) => left - right);
  const wanted =
    times[Math.min(times.length - 1, Math.round(times.length * (1 - share)))] ?? Number.POSITIVE_INFINITY;
  const from = wanted === times[0] ? (times.find((time) => time > wanted) ?? wanted) : wanted;
  const dated = rows.flatMap(({ line, happenedAt }) => (happenedAt === null ? [] : [{ line, happenedAt }]));
  return new Map(dated.map(({ line, happenedAt }) => [line, happenedAt >= from ? 'test' : 'train']));
}

/**
 * Splits by project. Projects are assigned to the test side in the order of their hashes, as long as there is
 * room for all of their cases.
 */
function splitByProject(rows: readonly SplitRow[], share: number): Map<number, Side> {
  const sizes = new Map<string, number>();
  for (const row of rows) sizes.set(toProjectKey(row), (sizes.get(toProjectKey(row)) ?? 0) + 1);
  const inOrder = [...sizes].sort(([left], [right]) =>
    hashText('split', left) < hashText('split', right) ? -1 : 1,
  );
  const wanted = Math.max(1, Math.round(rows.length * share));
  const tested = new Set<string>();
  let taken = 0;
  for (const [project, size] of inOrder) {
    if (taken + size > wanted) continue;
    tested.add(project);
    taken += size;
  }
  // If every project is larger than the share, the smallest one is tested.
  const smallest = [...inOrder].sort(([, left], [, right]) => left - right)[0];
  if (tested.size === 0 && smallest !== undefined && sizes.size > 1) tested.add(smallest[0]);
  return new Map(rows.map((row) => [row.line, tested.has(toProjectKey(row)) ? 'test' : 'train']));
}

/**
 * Returns the key of a project. Code hosts ignore case, so "Acme/Shop" must not be in the training side while
 * "acme/shop" is tested.
 */
function toProjectKey({ project }: SplitRow): string {
  return project.toLowerCase();
}

function computeFraction(seed: string, id: string): number {
  return Number.parseInt(hashText(seed, id).slice(0, 12), 16) / 0x1000000000000;
}
