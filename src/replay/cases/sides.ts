import type { Category } from '../../domain/category.ts';
import { hashOf } from './choose.ts';

export type SplitBy = 'time' | 'project' | 'random';
export type Side = 'train' | 'test';

/** What a split goes by: little of each row, so that a hundred thousand fit. */
export interface SplitRow {
  readonly line: number;
  readonly id: string;
  readonly project: string;
  readonly category: Category | null;
  /** Milliseconds since 1970; null where the row does not say. */
  readonly happenedAt: number | null;
}

export interface SplitOptions {
  readonly by: SplitBy;
  /** Of the cases that are to be tested with, 0..1. */
  readonly share: number;
  /** For a random split alone. */
  readonly seed: string;
}

/**
 * On which side each row is, by its line; rows that have no side are left out. By time, what is tested happened after all that is
 * learned from. By project, no project is on both sides. By hash of the id, which is what random means here, only where asked for. The
 * same rows are split the same way in whatever order they stand.
 */
export function sidesOf(rows: readonly SplitRow[], options: SplitOptions): Map<number, Side> {
  if (options.by === 'time') return byTime(rows, options.share);
  if (options.by === 'project') return byProject(rows, options.share);
  return new Map(rows.map(({ line, id }) => [line, fraction(options.seed, id) < options.share ? 'test' : 'train']));
}

/** What happened at the same moment is on one side: where that is all that is oldest too, it is learned from. */
function byTime(rows: readonly SplitRow[], share: number): Map<number, Side> {
  const times = rows.flatMap(({ happenedAt }) => (happenedAt === null ? [] : [happenedAt])).sort((left, right) => left - right);
  const wanted = times[Math.min(times.length - 1, Math.round(times.length * (1 - share)))] ?? Number.POSITIVE_INFINITY;
  const from = wanted === times[0] ? (times.find((time) => time > wanted) ?? wanted) : wanted;
  const dated = rows.flatMap(({ line, happenedAt }) => (happenedAt === null ? [] : [{ line, happenedAt }]));
  return new Map(dated.map(({ line, happenedAt }) => [line, happenedAt >= from ? 'test' : 'train']));
}

/** Projects are taken for testing in the order of their hashes, as long as there is room for all of one. */
function byProject(rows: readonly SplitRow[], share: number): Map<number, Side> {
  const sizes = new Map<string, number>();
  for (const row of rows) sizes.set(sameProject(row), (sizes.get(sameProject(row)) ?? 0) + 1);
  const inOrder = [...sizes].sort(([left], [right]) => (hashOf('split', left) < hashOf('split', right) ? -1 : 1));
  const wanted = Math.max(1, Math.round(rows.length * share));
  const tested = new Set<string>();
  let taken = 0;
  for (const [project, size] of inOrder) {
    if (taken + size > wanted) continue;
    tested.add(project);
    taken += size;
  }
  // Where every project is larger than the share, the smallest stands for it.
  const smallest = [...inOrder].sort(([, left], [, right]) => left - right)[0];
  if (tested.size === 0 && smallest !== undefined && sizes.size > 1) tested.add(smallest[0]);
  return new Map(rows.map((row) => [row.line, tested.has(sameProject(row)) ? 'test' : 'train']));
}

/** Code hosts take upper and lower case for one: "Acme/Shop" must not be learned from where "acme/shop" is tested. */
function sameProject({ project }: SplitRow): string {
  return project.toLowerCase();
}

function fraction(seed: string, id: string): number {
  return Number.parseInt(hashOf(seed, id).slice(0, 12), 16) / 0x1000000000000;
}
