import type { TriageSubject } from '../../src/domain/triage.ts';
import { namedPaths } from '../../src/lib/text.ts';
import type { NamedFile } from './state.ts';

/** As many as the loop names at most. */
const MAX_FILES = 10;

/**
 * File paths that stand in the log, in the order in which a simple reader finds them: frames of our own code, files of diagnostics, then
 * paths in the excerpts. Each once, at most ten; no test's twin, no import, no ranking by what is likely.
 */
export function namedFiles(subject: TriageSubject): NamedFile[] {
  const frames = subject.exceptions.flatMap((thrown) => thrown.frames.filter(({ own }) => own));
  const diagnosed = subject.diagnostics.flatMap(({ severity, file, line }) =>
    severity === 'error' && file !== null ? [{ path: file, line }] : [],
  );
  const heaviest = [...subject.excerpts].sort((left, right) => right.weight - left.weight);
  const found = [...frames.map(({ file, line }) => ({ path: file, line })), ...diagnosed, ...namedPaths(heaviest.map(({ text }) => text))];
  const seen = new Set<string>();
  return found.filter(({ path }) => !seen.has(path) && seen.add(path)).slice(0, MAX_FILES);
}
