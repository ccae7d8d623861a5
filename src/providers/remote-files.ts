import { TriageError } from '../domain/errors.ts';
import { mapInParallel } from '../lib/collections.ts';
import type { BlameLine, CodeLine, FileHits } from '../ports/code-host.ts';
import {
  assertReadableSize,
  checkLineRange,
  createSubmoduleError,
  type FileList,
  type FileWindow,
  findOrNull,
  linkError,
  linkTarget,
  listFilesEndingWith,
  MAX_LINES,
  sliceLines,
  sortByWords,
} from './code-questions.ts';
import { createBoundedCache, createTogether } from './memory.ts';
import { blameByHistory } from './patches.ts';
import type { Place, RemoteChanges, RemoteCode, TreeEntry } from './remote-code.ts';

/** The files of a commit. */
interface CommitTree extends FileList {
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

const LINK = '120000';
const SUBMODULE = '160000';
const MAX_LINKS = 5;
/** The maximum number of cached tree entries: about 100 MB. */
const KEPT_ENTRIES = 400_000;
const KEPT_CHARACTERS = 32 * 1024 * 1024;
/** The maximum number of files read for one search. Each file that was not read before costs a call. */
const MAX_READ = 60;
/** The size limit of a searched file, in bytes. GitHub's code search also skips larger files. */
const MAX_SEARCHED_BYTES = 384 * 1024;
/** The maximum number of code searches for one search. Code search allows ten requests a minute. */
const MAX_QUERIES = 2;
const AT_ONCE = 6;
const MAX_LINE = 1_000;
/** Names of files without text worth searching. */
const NO_TEXT = new RegExp(
  String.raw`\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|jar|war|class|so|dll|` +
    'exe|woff2?|ttf|eot|mp[34]|mov|bin|wasm|pyc)$',
  'i',
);

/**
 * Creates access to the files of commits. Trees and blobs with a given id never change, so the latest ones
 * are cached.
 */
export function createRemoteFiles(code: RemoteCode, changes: RemoteChanges) {
  const kept = createKept(code);
  return {
    listFiles: kept.tree,
    readFile: (place: Place, query: FileQuery, signal: AbortSignal) =>
      readFile(code, kept, place, query, signal),
    findFiles: async (
      place: Place,
      { suffix, limit }: { suffix: string; limit: number },
      signal: AbortSignal,
    ) => {
      const { paths, truncated } = await kept.tree(place, signal);
      const found = listFilesEndingWith(paths, suffix, limit);
      if (found.length > 0 || !truncated) return found;
      // The list was truncated, but a complete path can be requested.
      return (await findOrNull(code.entry(place, suffix, signal))) === null ? [] : [suffix];
    },
    /**
     * Finds lines of the requested commit that contain a text, case-sensitively. A small repository is read
     * completely. In a larger one, the host's code search, if it has one, and paths that contain part of the
     * text select the files. At most 60 files are read, so a line may be missed, but none is quoted from
     * another commit.
     */
    search: async (
      place: Place,
      { text, limit, isPattern = false }: { text: string; limit: number; isPattern?: boolean },
      signal: AbortSignal,
    ) => {
      if (isPattern)
        throw new TriageError(
          'invalid-input',
          `pattern: ${code.label} finds literal text only; search for text or words instead.`,
        );
      const found: CodeLine[] = [];
      for (const { path, text: file } of await findCandidates(code, kept, place, [text], signal)) {
        if (!file.includes(text)) continue;
        for (const [index, line] of file.split('\n').entries()) {
          if (line.includes(text)) found.push({ path, line: index + 1, text: line.slice(0, MAX_LINE) });
          if (found.length === limit) return found;
        }
      }
      return found;
    },
    /** Finds the files that best match the given words, in the same way as `search` finds lines. */
    searchFiles: async (
      place: Place,
      { words, limit }: { words: readonly string[]; limit: number },
      signal: AbortSignal,
    ) => {
      const hits = (await findCandidates(code, kept, place, words, signal)).map(({ path, text }) =>
        countHits(path, text.toLowerCase(), words),
      );
      return sortByWords(
        hits.filter((file) => file.words > 0),
        limit,
      );
    },
    blame: async (
      place: Place,
      query: { path: string; lineStart: number; lineEnd: number },
      signal: AbortSignal,
    ) => {
      const { first, last } = checkLineRange(query.lineStart, query.lineEnd, MAX_LINES);
      const file = await readFile(
        code,
        kept,
        place,
        { path: query.path, lineStart: first, lineEnd: last },
        signal,
      );
      if (file === null || file.lines.length === 0) return [];
      const asked = { path: file.path, first, last: first + file.lines.length - 1 };
      const ranges = await (code.blame === null
        ? blameByHistory(changes, place, asked, signal)
        : findOrNull(code.blame(place, asked, signal)));
      return file.lines.flatMap((text, index): BlameLine[] => {
        const line = first + index;
        const range = ranges?.find((blamedRange) => blamedRange.first <= line && line <= blamedRange.last);
        if (range === undefined) return [];
        const { commit, author, at, subject } = range;
        return [{ line, commit, author, at, subject, text: text.slice(0, MAX_LINE) }];
      });
    },
  };
}

type FileQuery = { path: string; lineStart?: number; lineEnd?: number };

interface Kept {
  tree(place: Place, signal: AbortSignal): Promise<CommitTree>;
  blob(place: Place, entry: TreeEntry, signal: AbortSignal): Promise<string>;
}

function createKept(code: RemoteCode): Kept {
  const trees = createBoundedCache<CommitTree>(KEPT_ENTRIES, (tree) => tree.entries.size + 1);
  const together = createTogether<CommitTree>();
  const blobs = createBoundedCache<string>(KEPT_CHARACTERS, (text) => text.length + 1);
  const toKey = ({ owner, repo }: Place, id: string) => `${owner}/${repo} ${id}`;

  async function readTree(place: Place, signal: AbortSignal): Promise<CommitTree> {
    const key = toKey(place, place.commit);
    const known = trees.get(key);
    if (known !== undefined) return known;
    return together(key, signal, async () => {
      const { entries, truncated } = await code.tree(place, signal);
      const files = entries.filter((entry) => entry.type !== 'tree');
      const paths = files.filter((entry) => entry.mode !== SUBMODULE).map((entry) => entry.path);
      const listed = { entries: new Map(files.map((entry) => [entry.path, entry])), paths, truncated };
      trees.set(key, listed);
      return listed;
    });
  }

  async function readBlob(place: Place, entry: TreeEntry, signal: AbortSignal): Promise<string> {
    const key = toKey(place, entry.sha);
    const known = blobs.get(key);
    if (known !== undefined) return known;
    const text = await code.blob(place, entry, signal);
    blobs.set(key, text);
    return text;
  }
  return { tree: readTree, blob: readBlob };
}

/** Reads a file. A link is followed within the commit only. */
async function readFile(
  code: RemoteCode,
  kept: Kept,
  place: Place,
  query: FileQuery,
  signal: AbortSignal,
): Promise<FileWindow | null> {
  const { entries, truncated } = await kept.tree(place, signal);
  let path = query.path;
  for (let hops = 0; hops <= MAX_LINKS; hops += 1) {
    const entry = entries.get(path) ?? (truncated ? await findOrNull(code.entry(place, path, signal)) : null);
    if (entry === null && hops > 0) throw linkError(query.path, path);
    if (entry === null) return null;
    if (entry.mode === SUBMODULE) throw createSubmoduleError(path);
    assertReadableSize(path, entry.size ?? 0);
    const text = await kept.blob(place, { ...entry, path }, signal);
    if (entry.mode !== LINK) return sliceLines(path, text, query);
    const target = linkTarget(path, text);
    if (target === null) throw linkError(path, text);
    path = target;
  }
  throw linkError(query.path, path);
}

/** Returns the texts of the files that may contain any of the words, in the order of their paths. */
async function findCandidates(
  code: RemoteCode,
  kept: Kept,
  place: Place,
  words: readonly string[],
  signal: AbortSignal,
) {
  const files = [...(await kept.tree(place, signal)).entries.values()].filter(isSearched);
  const wanted = files.length <= MAX_READ ? files : await selectNamedFiles(code, place, files, words, signal);
  const texts = await mapInParallel(wanted, AT_ONCE, async (entry) => {
    const text = await kept.blob(place, entry, signal);
    return { path: entry.path, text: text.includes('\0') ? '' : text };
  });
  return texts.sort((left, right) => (left.path < right.path ? -1 : 1));
}

function countHits(path: string, text: string, words: readonly string[]): FileHits {
  const counts = words.map((word) => text.split(word.toLowerCase()).length - 1);
  return {
    path,
    occurrences: counts.reduce((sum, count) => sum + count, 0),
    words: counts.filter((count) => count > 0).length,
  };
}

function isSearched({ type, mode, size, path }: TreeEntry): boolean {
  return type === 'blob' && mode !== LINK && (size ?? 0) <= MAX_SEARCHED_BYTES && !NO_TEXT.test(path);
}

/**
 * Selects the files that code search finds for the longest words, then those whose path contains one of the
 * words.
 */
async function selectNamedFiles(
  code: RemoteCode,
  place: Place,
  files: readonly TreeEntry[],
  words: readonly string[],
  signal: AbortSignal,
): Promise<TreeEntry[]> {
  const longestFirst = [...words].sort((left, right) => right.length - left.length);
  const lists = await Promise.all(
    longestFirst.slice(0, MAX_QUERIES).map((word) => code.searchPaths(place, word, MAX_READ, signal)),
  );
  const named = new Set(lists.flat());
  const parts = longestFirst.flatMap((word) => word.toLowerCase().match(/[a-z0-9_]{3,60}/g) ?? []);
  const matches = (path: string) => parts.filter((part) => path.toLowerCase().includes(part)).length;
  const ranked = files
    .map((file) => ({ file, score: (named.has(file.path) ? 1_000 : 0) + matches(file.path) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score);
  return ranked.slice(0, MAX_READ).map(({ file }) => file);
}
