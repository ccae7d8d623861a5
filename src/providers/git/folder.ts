import { constants } from 'node:fs';
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RE2JS } from 're2js';
import { TriageError } from '../../domain/errors.ts';
import { mapInParallel } from '../../lib/collections.ts';
import type { CodeHost, CodeLine, FileHits } from '../../ports/code-host.ts';
import {
  assertReadableSize,
  createHost,
  type FileList,
  linkError,
  listFilesEndingWith,
  MAX_FILE_BYTES,
  sliceLines,
  sortByWords,
} from '../code-questions.ts';

/** The files of a folder without a history; its "commit" is a constant. */
interface Place {
  readonly commit: string;
}

/** The word that stands for the commit of a folder. */
export const FOLDER_COMMIT = 'folder';

/** Folders that hold no source: histories, installed packages and caches. */
const SKIPPED = new Set(['.git', '.hg', '.svn', 'node_modules', '__pycache__', '.venv', '.tox', '.gradle']);
/** Reads, and does not wait for the other end of a pipe. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
const MAX_FILES = 200_000;
const MAX_DEPTH = 40;
/** Files read side by side in a search. */
const AT_ONCE = 16;
const MAX_LINE = 1_000;
/** Milliseconds of matching after which others get their turn. */
const SLICE_MS = 20;

/**
 * Reads the files of one folder, never writes, and never leaves it: a link is followed only to a file below
 * the folder. It has no history.
 */
export function createFolderHost(repository: string, folder: string): CodeHost {
  let listed: Promise<FileList> | undefined;
  const list = (signal: AbortSignal) => {
    listed ??= listBelow(folder, signal).catch((error: unknown) => {
      listed = undefined;
      throw error;
    });
    return listed;
  };
  const find = async (query: { repository: string; ref: string | null }) =>
    query.repository === repository ? { commit: FOLDER_COMMIT } : null;
  return createHost<Place>({
    driver: 'folder',
    where: 'in the folder',
    find,
    canRead: async (name) => name === repository,
    listRepositories: async () => [{ repository, defaultBranch: null, description: null }],
    listFiles: (_place, signal) => list(signal),
    readFile: async (_place, { path, ...range }) => {
      const text = await readText(folder, path);
      return text === null ? null : sliceLines(path, text, range);
    },
    search: async (_place, { text, limit, isPattern = false }, signal) => {
      const isIn = isPattern ? createLineTest(text) : (line: string) => line.includes(text);
      const found: CodeLine[] = [];
      await readTexts(folder, (await list(signal)).paths, signal, async (path, content) => {
        if (found.length >= limit || (!isPattern && !content.includes(text))) return;
        for await (const [index, line] of splitLines(content))
          if (isIn(line)) found.push({ path, line: index + 1, text: line.slice(0, MAX_LINE) });
      });
      // Files are read side by side, so they end in any order.
      const order = (left: CodeLine, right: CodeLine) =>
        left.path === right.path ? left.line - right.line : left.path < right.path ? -1 : 1;
      return found.sort(order).slice(0, limit);
    },
    searchFiles: async (_place, { words, limit }, signal) => {
      const wanted = words.map((word) => word.toLowerCase());
      const hits: FileHits[] = [];
      await readTexts(folder, (await list(signal)).paths, signal, async (path, content) => {
        const lower = content.toLowerCase();
        const counts = wanted.map((word) => countIn(lower, word));
        const occurrences = counts.reduce((sum, count) => sum + count, 0);
        if (occurrences > 0)
          hits.push({ path, occurrences, words: counts.filter((count) => count > 0).length });
      });
      return sortByWords(hits, limit);
    },
    findFiles: async (_place, { suffix, limit }, signal) =>
      listFilesEndingWith((await list(signal)).paths, suffix, limit),
    blame: async () => [],
    history: async () => [],
    lineHistory: async () => [],
    commitDiff: async () => null,
    compare: async () => null,
  });
}

/** Lists the files below a folder in order of their names. Links that lead out of it are left out. */
async function listBelow(folder: string, signal: AbortSignal): Promise<FileList> {
  const paths: string[] = [];
  const waiting: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal.throwIfAborted();
    const { path, depth } = next;
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name) && depth < MAX_DEPTH) waiting.push({ path: below, depth: depth + 1 });
      } else if (entry.isFile() || (entry.isSymbolicLink() && (await leadsInside(folder, below))))
        paths.push(below);
      if (paths.length >= MAX_FILES) return { paths: paths.sort(), truncated: true };
    }
  }
  return { paths: paths.sort(), truncated: false };
}

async function leadsInside(folder: string, path: string): Promise<boolean> {
  try {
    const [root, target] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    return target.startsWith(`${root}${sep}`);
  } catch {
    return false;
  }
}

/** Reads a file of the folder; null if there is none. Throws for a link that leads out of the folder. */
async function readText(folder: string, path: string): Promise<string | null> {
  const file = await open(join(folder, path), READ).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await leadsInside(folder, path))) throw linkError(path, 'a place outside of the folder');
    return await readOpenText(file, path);
  } finally {
    await file.close();
  }
}

async function readOpenText(file: FileHandle, path: string): Promise<string | null> {
  const info = await file.stat();
  if (!info.isFile()) return null;
  assertReadableSize(path, info.size);
  return (await file.readFile()).toString('utf8');
}

/** Calls `visit` with the text of each file that is text and not larger than a person writes. */
async function readTexts(
  folder: string,
  paths: readonly string[],
  signal: AbortSignal,
  visit: (path: string, text: string) => Promise<void>,
): Promise<void> {
  await mapInParallel(paths, AT_ONCE, async (path) => {
    signal.throwIfAborted();
    const file = await open(join(folder, path), READ).catch(() => null);
    if (file === null) return;
    try {
      const info = await file.stat();
      if (!info.isFile() || info.size > MAX_FILE_BYTES) return;
      const bytes = await file.readFile();
      if (!bytes.subarray(0, 8_192).includes(0)) await visit(path, bytes.toString('utf8'));
    } finally {
      await file.close();
    }
  });
}

/** Yields the lines of a text with their index, and lets others run in between. */
async function* splitLines(text: string): AsyncGenerator<[number, string]> {
  let since = performance.now();
  for (const [index, line] of text.split('\n').entries()) {
    yield [index, line];
    if (performance.now() - since < SLICE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
}

function createLineTest(pattern: string): (line: string) => boolean {
  try {
    const compiled = RE2JS.compile(pattern);
    return (line) => compiled.matcher(line.slice(0, MAX_LINE)).find();
  } catch (cause) {
    throw new TriageError('invalid-input', 'pattern: it is not a regular expression that RE2 knows.', {
      cause,
    });
  }
}

function countIn(text: string, word: string): number {
  let count = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) count += 1;
  return count;
}
