import { bootstrapWeights, type Interval, type Weights } from '../../lib/statistics.ts';
import type { PairedCase } from './paired-cases.ts';

/** What is drawn together, and how many of them there are. */
export interface Resampling {
  readonly by: 'project' | 'case';
  readonly units: number;
}

/** Below so many projects, drawing projects says too little about how much they differ: cases are drawn instead. */
const LEAST_PROJECTS = 10;

/**
 * 95 % intervals of statistics of pairs, which are drawn with replacement: both sides of a case together, and the cases of a project
 * together where there are enough projects. A statistic is given how often each pair was drawn. Null where it did not vary.
 */
export function resamplePairs(
  pairs: readonly PairedCase[],
  statistics: (weights: Weights) => readonly number[],
): { readonly plan: Resampling; readonly intervals: readonly (Interval | null)[] } {
  const byProject = groupsOf(pairs.map(({ project }) => project));
  const units = byProject.length >= LEAST_PROJECTS ? byProject : groupsOf(pairs.map(({ id }) => id));
  const weights: Weights = new Uint32Array(pairs.length);
  const intervals = bootstrapWeights(units.length, pairs.length, (drawn) => {
    for (const [unit, members] of units.entries()) for (const member of members) weights[member] = drawn[unit] ?? 0;
    return statistics(weights);
  });
  return { plan: { by: units === byProject && units.length < pairs.length ? 'project' : 'case', units: units.length }, intervals };
}

/** The indexes of each group, by the groups' names, so that the order of the cases changes nothing. */
function groupsOf(names: readonly string[]): number[][] {
  const groups = Map.groupBy(names.keys(), (index) => names[index] ?? '');
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, members]) => members);
}
