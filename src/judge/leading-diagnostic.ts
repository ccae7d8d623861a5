import { getKindRow } from '../domain/category.ts';
import type { Diagnostic } from '../domain/failure.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import { isUninformative, isWrapper } from '../log/line-roles.ts';
import type { Facts } from './facts.ts';
import { isForeignPath } from './paths.ts';
import type { Match } from './rule.ts';

/** Rules of CONFIG_ERROR whose findings a tool reports with their places. */
const DIAGNOSED: ReadonlySet<string> = new Set(['compiler-options', 'workflow-file']);

/**
 * Finds the diagnostic that an answer is about: the first error in a file of the project, or else the one
 * that decided. Returns null if no tool reported errors in source code.
 */
export function findLeadingDiagnostic(facts: Facts, match: Match | null): Diagnostic | null {
  if (
    match === null ||
    !(getKindRow(match.rule.kind).group === 'source' || DIAGNOSED.has(match.rule.name)) ||
    match.rule.name === 'not-formatted'
  )
    return null;
  const errors = listErrors(facts);
  const same = errors.find((entry) => match.fact.text.includes(entry.message.slice(0, 200)));
  const ownError = errors.find((entry) => entry.file !== null && !isForeignPath(entry.file));
  if (match.rule.kind === 'version_conflict') return same ?? null;
  // The first error explains later ones more often than the other way around.
  const first = ownError ?? same ?? errors[0] ?? null;
  return first?.file === null && isWrapper(first.message) ? null : first;
}

/**
 * Lists distinct errors, without make's repetitions, bare codes and paths, and the closing lines of
 * compilers.
 */
export function listErrors({ subject }: Facts): Diagnostic[] {
  const errors = subject.diagnostics.filter(
    ({ severity, tool, message, file }) =>
      severity === 'error' &&
      tool !== 'make' &&
      message.length > 7 &&
      message !== file &&
      !isUninformative(message),
  );
  return takeFirstOfEach(errors, ({ file, line, message }) => `${file}:${line} ${message}`);
}
