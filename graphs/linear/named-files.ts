import type { TriageSubject } from '../../src/domain/subject.ts';
import type { NamedFile } from './state.ts';

/** As many as the loop names at most. */
const MAX_FILES = 10;
/** Words of excerpts looked at. */
const MAX_WORDS = 20_000;
const MAX_PATH = 300;
const BETWEEN_WORDS = /[\s"'`()<>[\]{},;=|]/;

/** Endings of files that people write; `.com` of a host and `.0` of a version are none. */
const ENDINGS: ReadonlySet<string> = new Set(
  (
    'c cc cpp cxx h hh hpp hxx m mm cs fs vb go rs java kt kts groovy scala clj py pyx rb php pl pm lua r jl hs ml ex exs erl dart swift zig ' +
    'js jsx mjs cjs ts tsx mts cts vue svelte css scss less html sh bash ps1 sql proto tf yml yaml toml json xml gradle cmake'
  ).split(' '),
);

/**
 * File paths that stand in the log, in the order in which a simple reader finds them: frames of our own code, files of diagnostics, then
 * paths in the excerpts. Each once, at most ten; no test's twin, no import, no ranking by what is likely.
 */
export function namedFiles(subject: TriageSubject): NamedFile[] {
  const frames = subject.exceptions.flatMap((thrown) => thrown.frames.filter(({ own }) => own));
  const diagnosed = subject.diagnostics.flatMap(({ severity, file, line }) =>
    severity === 'error' && file !== null ? [{ path: file, line }] : [],
  );
  const found = [...frames.map(({ file, line }) => ({ path: file, line })), ...diagnosed, ...pathsIn(subject)];
  const seen = new Set<string>();
  return found.filter(({ path }) => !seen.has(path) && seen.add(path)).slice(0, MAX_FILES);
}

function pathsIn(subject: TriageSubject): NamedFile[] {
  const heaviest = [...subject.excerpts].sort((left, right) => right.weight - left.weight);
  const words = heaviest.flatMap(({ text }) => text.split(BETWEEN_WORDS)).slice(0, MAX_WORDS);
  return words.flatMap((word) => fileOf(word) ?? []);
}

/** "src/cart.ts:12:5" → that file, line 12; null where the word is no file's name. */
function fileOf(word: string): NamedFile | null {
  if (word.length > MAX_PATH || word.includes('://')) return null;
  const [path = '', line = ''] = word.split(':');
  const dot = path.lastIndexOf('.');
  if (dot < 1 || path[dot - 1] === '/' || !ENDINGS.has(path.slice(dot + 1).toLowerCase())) return null;
  const number = Number(line);
  return { path, line: Number.isSafeInteger(number) && number > 0 ? number : null };
}
