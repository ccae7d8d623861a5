import type { StackFrame } from '../../../domain/failure.ts';
import type { TriageSubject } from '../../../domain/subject.ts';
import { isForeignPath, isTestPath, projectPath, twinOf } from './paths.ts';

/** A file of the project that the failure names, with its line where known. */
export interface Place {
  readonly path: string;
  readonly line: number | null;
  readonly from: 'diagnostic' | 'frame' | 'test';
  /** 0..1. */
  readonly score: number;
  readonly reason: string;
}

/** Files the failure names, most suspicious first; one entry a file. */
export function placesOf(subject: TriageSubject): readonly Place[] {
  const named = [...diagnosedPlaces(subject), ...framePlaces(subject)];
  const base = (path: string) => path.split(/[\\/]/).at(-1);
  // A twin without its folder adds nothing where the log names a file of that name.
  const tests = testPlaces(subject).filter(
    ({ path }) => path.includes('/') || !named.some((one) => one.path !== path && base(one.path) === path),
  );
  const found = [...named, ...tests];
  const best = new Map<string, Place>();
  for (const place of found) {
    const known = best.get(place.path);
    if (known === undefined || place.score > known.score) best.set(place.path, place);
  }
  return [...best.values()].sort((left, right) => right.score - left.score);
}

function diagnosedPlaces(subject: TriageSubject): Place[] {
  const errors = subject.diagnostics.filter((entry) => entry.severity === 'error' && entry.tool !== 'make').slice(0, 20);
  return errors.flatMap((entry, rank) => {
    if (entry.file === null || isForeignPath(entry.file)) return [];
    const reason = `${entry.tool} names it`;
    return [{ path: projectPath(entry.file), line: entry.line, from: 'diagnostic' as const, score: fade(0.9, rank), reason }];
  });
}

function framePlaces(subject: TriageSubject): Place[] {
  const traces: readonly (readonly StackFrame[])[] = [
    ...subject.exceptions.map((entry) => entry.frames),
    ...subject.failures.map((failure) => failure.frames),
  ];
  return traces.slice(0, 20).flatMap((frames, trace) => {
    const own = frames.filter((frame) => frame.own && !isForeignPath(frame.file));
    return own.slice(0, 8).map((frame, depth) => {
      const test = isTestPath(frame.file);
      const score = fade(test ? 0.55 : 0.85, trace + depth);
      const reason = test ? 'the failing test is in it' : depth === 0 ? 'the deepest own frame is in it' : 'an own frame is in it';
      return { path: projectPath(frame.file), line: frame.line, from: 'frame' as const, score, reason };
    });
  });
}

function testPlaces(subject: TriageSubject): Place[] {
  return subject.failingTests.slice(0, 20).flatMap((test, rank) => {
    if (test.file === null) return [];
    const file = projectPath(test.file);
    const itself = { path: file, line: test.line, from: 'test' as const, score: fade(0.5, rank), reason: 'the failing test is in it' };
    const twin = twinOf(file);
    return twin === null
      ? [itself]
      : [itself, { path: twin, line: null, from: 'test' as const, score: fade(0.6, rank), reason: `${test.name} tests it by name` }];
  });
}

function fade(score: number, rank: number): number {
  return Math.round(score * 0.92 ** rank * 100) / 100;
}
