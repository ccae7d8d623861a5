import type { Section } from '../domain/failure.ts';
import { hasFindings } from './extract/extraction.ts';
import type { ReadLog } from './read-log.ts';

const WHY: Readonly<Record<NonNullable<Section['follows']>, string>> = {
  stopped: 'was stopped after another failure',
  'other-jobs': 'only reports how other jobs ended',
  'no-files': 'found no files, since a step before it failed',
};

/**
 * Marks in the logs of one build the jobs that failed only because another one had: they were stopped, or
 * look at how others ended. Where every job is one of these, none is marked.
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

/** Tells whether all that failed in a log follows from another one. */
export function isFollower({ structure, found }: ReadLog): boolean {
  return (
    structure.failedSections.length > 0 &&
    structure.failedSections.every((failedSection) => failedSection.consequence) &&
    found.failingTests.length === 0
  );
}

/** Says of the steps that follow from another failure what they are. */
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
