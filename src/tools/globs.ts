import { RE2JS } from 're2js';
import { TriageError } from '../domain/errors.ts';
import { toGlobPattern } from '../lib/glob.ts';

/** Creates a test for paths that match one of the globs, in linear time; without globs every path does. */
export function createPathTest(globs: readonly string[]): (path: string) => boolean {
  if (globs.length === 0) return () => true;
  const patterns = globs.map((glob) => RE2JS.compile(toGlobPattern(glob)));
  return (path) => patterns.some((pattern) => pattern.matcher(path).find());
}

/** Throws `invalid-input` for a text that is no regular expression in RE2's syntax, with what is wrong. */
export function checkPattern(text: string): void {
  try {
    RE2JS.compile(text);
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    throw new TriageError('invalid-input', `text: it is no regular expression in RE2 syntax${why}`, {
      cause,
    });
  }
}
