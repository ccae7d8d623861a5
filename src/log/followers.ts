import type { Section } from '../domain/failure.ts';
import { hasFindings } from './extract/extraction.ts';
import type { ReadLog } from './read-log.ts';

const WHY: Readonly<Record<NonNullable<Section['follows']>, string>> = {
  stopped: 'was stopped after another failure',
  'other-jobs': 'only reports how other jobs ended',
  'no-files': 'found no files, since a step before it failed',
};

/**
 * Marks the jobs of one build that failed only because another job failed: they were stopped, or check the
 * results of others. If all jobs are such, none is marked.
 */
export function markFollowers(logs: readonly ReadLog[]): ReadLog[] {
  if (!logs.some(isOwnFailure)) return [...logs];
  return logs.map((read) => {
    const { failedSections } = read.structure;
    if (failedSections.length === 0 || isOwnFailure(read)) return read;
    return {
      ...read,
      structure: {
        ...read.structure,
        failedSections: failedSections.map((failedSection) => ({ ...failedSection, consequence: true })),
      },
    };
  });
}

/** Tells whether everything that failed in a log is a consequence of another job's failure. */
export function isFollower({ structure, found }: ReadLog): boolean {
  return (
    structure.failedSections.length > 0 &&
    structure.failedSections.every((failedSection) => failedSection.consequence) &&
    found.failingTests.length === 0
  );
}

/** Describes the steps that failed as a consequence of another failure. */
export function describeFollowers(logs: readonly ReadLog[]): string[] {
  return logs.flatMap(({ structure }) =>
    structure.failedSections.flatMap(({ source, name, consequence, follows }) =>
      consequence === true && follows !== undefined
        ? `The step “${name}” of ${source} ${WHY[follows]}.`.slice(0, 500)
        : [],
    ),
  );
}

function isOwnFailure({ structure, found }: ReadLog): boolean {
  const { failedSections, exits } = structure;
  if (found.failingTests.length > 0) return true;
  if (failedSections.length === 0) return exits.length > 0 && hasFindings(found);
  const saysMore = found.diagnostics.length + found.exceptions.length > 0;
  return failedSections.some(
    ({ consequence, follows }) =>
      consequence !== true && follows !== 'stopped' && (follows !== 'other-jobs' || saysMore),
  );
}
