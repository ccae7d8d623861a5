import { TriageError } from '../../domain/errors.ts';
import { mapInParallel } from '../../lib/collections.ts';
import type { BuiltCode } from '../repository.ts';

/** The maximum number of lines that a code host returns for one request. */
const MAX_LINES = 200;
/** The number of lines before and after a hit that are read with it. */
const AROUND = 40;
/** The maximum number of parts of one file. */
const MAX_PARTS = 4;
/** The maximum number of words whose lines are looked for, and of lines of each. */
const MAX_WORDS = 6;
const MAX_HITS = 2_000;
const AT_ONCE = 4;

/** Consecutive lines of a file; 1-based. */
export interface FilePart {
  readonly path: string;
  readonly lineStart: number;
  readonly lines: readonly string[];
}

/** Finds the lines that hold the first of these words, by path. The most informative words come first. */
export async function findHitLines(
  { host, at, signal }: BuiltCode,
  words: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const hits = await mapInParallel(words.slice(0, MAX_WORDS), AT_ONCE, (text) =>
    host.search({ ...at, text, limit: MAX_HITS }, signal),
  );
  const byPath = Map.groupBy(hits.flat(), ({ path }) => path);
  return new Map([...byPath].map(([path, lines]) => [path, lines.map(({ line }) => line)]));
}

/**
 * Reads the parts of a file around its hits, at most four; its beginning if no hit is known.
 * Returns none if the file is too large, binary or missing, so that one bad file does not fail a search.
 */
export async function readAroundHits(
  code: BuiltCode,
  path: string,
  hits: readonly number[],
): Promise<FilePart[]> {
  const windows = hits.length === 0 ? [{ first: 1, last: MAX_LINES }] : chooseWindows(hits);
  const parts: FilePart[] = [];
  for (const { first, last } of windows) {
    const file = await readWindow(code, { path, lineStart: first, lineEnd: last });
    if (file === null) break;
    parts.push({ path, lineStart: first, lines: file.lines });
  }
  return parts;
}

interface Window {
  first: number;
  last: number;
  hits: number;
}

function chooseWindows(hits: readonly number[]): Window[] {
  const windows: Window[] = [];
  for (const line of [...new Set(hits)].sort((left, right) => left - right)) {
    const open = windows.at(-1);
    const [first, last] = [Math.max(1, line - AROUND), line + AROUND];
    if (open !== undefined && first <= open.last && last - open.first < MAX_LINES) {
      open.last = last;
      open.hits += 1;
    } else windows.push({ first: Math.max(first, (open?.last ?? 0) + 1), last, hits: 1 });
  }
  return windows
    .sort((left, right) => right.hits - left.hits)
    .slice(0, MAX_PARTS)
    .sort((left, right) => left.first - right.first);
}

async function readWindow(
  { host, at, signal }: BuiltCode,
  window: { readonly path: string; readonly lineStart: number; readonly lineEnd: number },
) {
  try {
    return await host.readFile({ ...at, ...window }, signal);
  } catch (error) {
    const isUnreadable =
      error instanceof TriageError && ['too-large', 'unsupported-type', 'not-found'].includes(error.code);
    if (isUnreadable) return null;
    throw error;
  }
}
