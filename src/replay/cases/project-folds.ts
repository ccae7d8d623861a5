import { append } from '../../lib/lists.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { DatasetRow } from './row.ts';

/**
 * Splits cases into at most so many parts of about one size, all cases of a project in one part. The largest projects are dealt
 * first, each to the smallest part, so that the same cases always make the same parts.
 */
export function projectFolds<T extends { readonly one: ReplayedCase }>(cases: readonly T[], most: number): T[][] {
  return foldsBy(cases, ({ one }) => (one.row === null ? one.result.id : projectOf(one.row)), most);
}

/** The same for whatever has a project. */
export function foldsBy<T>(cases: readonly T[], projectOf: (entry: T) => string, most: number): T[][] {
  const projects = new Map<string, T[]>();
  for (const entry of cases) {
    const project = projectOf(entry);
    const members = projects.get(project);
    if (members === undefined) projects.set(project, [entry]);
    else members.push(entry);
  }
  const bySize = [...projects].sort(([left, ones], [right, others]) => others.length - ones.length || (left < right ? -1 : 1));
  const folds: T[][] = Array.from({ length: Math.min(most, bySize.length) }, () => []);
  for (const [, members] of bySize) {
    const smallest = folds.reduce((best, fold) => (fold.length < best.length ? fold : best));
    append(smallest, members);
  }
  return folds;
}

/** The project that a row names; else the repository its source is of; else the first part of its id ("ldtax/97"), else the row itself. */
export function projectOf(row: DatasetRow): string {
  if (row.project != null && row.project !== '') return row.project;
  const repository = /^https?:\/\/[\w.-]+\/([^/\s]+\/[^/\s]+)/.exec(row.source ?? '')?.[1];
  if (repository !== undefined) return repository;
  return row.id.includes('/') ? (row.id.split('/')[0] ?? row.id) : row.id;
}
