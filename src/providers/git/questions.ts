import { type Git, type GitAnswer, isSuccess } from '../../git/command.ts';
import type { BlameLine, CodeLine, FileHits } from '../../ports/code-host.ts';
import {
  assertReadableSize,
  checkLineRange,
  createSubmoduleError,
  type FileList,
  type FileWindow,
  linkError,
  linkTarget,
  MAX_LINES,
  sliceLines,
  sortByWords,
} from '../code-questions.ts';
import { assertAnswered, countMatches, parseBlame, parseGrep } from './git-output.ts';

/** The context of one question: a verified commit of a clone, and git in that clone. */
export interface Place {
  readonly folder: string;
  readonly commit: string;
  git(args: readonly string[], signal: AbortSignal): Promise<GitAnswer>;
  /** Runs git in the same way with a smaller output limit; patches beyond it are left out. */
  patches(args: readonly string[], signal: AbortSignal): Promise<GitAnswer>;
}

/** Tells whether the folder is a git repository. Returns false after ten seconds without an answer. */
export async function isClone(git: Git, folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false;
  try {
    return isSuccess(await git(folder, ['rev-parse', '--git-dir'], AbortSignal.timeout(10_000)));
  } catch {
    return false;
  }
}

/**
 * Returns the branch that the clone was made from, or else the one that is checked out. Returns null for a
 * detached head without a remote.
 */
export async function findDefaultBranch(
  git: Git,
  folder: string,
  signal: AbortSignal,
): Promise<string | null> {
  for (const name of ['refs/remotes/origin/HEAD', 'HEAD']) {
    const answer = await git(folder, ['symbolic-ref', '--quiet', '--short', name], signal);
    const branch = answer.output.trim().replace(/^origin\//, '');
    if (isSuccess(answer) && branch !== '') return branch;
  }
  return null;
}

/** Returns the full id of the commit that a branch, tag or short id names. Returns null if there is none. */
export async function resolveCommit(
  git: Git,
  folder: string,
  ref: string,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await git(
    folder,
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`],
    signal,
  );
  const commit = answer.output.trim();
  return isSuccess(answer) && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
}

/** The number of commits whose list of files is cached. The list of a commit never changes. */
const KEPT_LISTS = 4;
/** The maximum number of links that are followed one after the other. */
const MAX_LINKS = 5;

type Range = { readonly lineStart?: number; readonly lineEnd?: number };

/** Reads lines of a committed file. A link is followed only within the commit; `path` is then its target. */
export async function readWindow(
  place: Place,
  query: { path: string } & Range,
  signal: AbortSignal,
): Promise<FileWindow | null> {
  let path = query.path;
  for (let hops = 0; hops <= MAX_LINKS; hops += 1) {
    const entry = await readEntry(place, path, signal);
    if (entry === null || entry.mode === '040000') {
      if (hops > 0) throw linkError(query.path, path);
      return null;
    }
    if (entry.mode === '160000') throw createSubmoduleError(path);
    if (entry.mode !== '120000')
      return sliceLines(path, await readBlob(place, { path, object: entry.object }, signal), query);
    const link = await readBlob(place, { path, object: entry.object }, signal);
    const target = linkTarget(path, link);
    if (target === null) throw linkError(path, link);
    path = target;
  }
  throw linkError(query.path, path);
}

/**
 * Blames the lines, ignoring changes of white space. If the file does not exist or the first line is past the
 * end, git fails and the result is empty.
 */
export async function blameLines(
  place: Place,
  query: { path: string; lineStart: number; lineEnd: number },
  signal: AbortSignal,
): Promise<BlameLine[]> {
  const { first, last } = checkLineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const args = [
    'blame',
    '--porcelain',
    '-w',
    '--no-textconv',
    '-L',
    `${first},${last}`,
    place.commit,
    '--',
    query.path,
  ];
  const answer = await place.git(args, signal);
  return isSuccess(answer) ? parseBlame(answer.output) : [];
}

/**
 * Creates a function that lists a commit's files (including links, without submodules) and caches the last
 * few lists.
 */
export function createFileLister(): (place: Place, signal: AbortSignal) => Promise<FileList> {
  const kept = new Map<string, FileList>();
  return async (place, signal) => {
    const key = `${place.folder}\0${place.commit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const answer = await place.git(['ls-tree', '-r', '-z', '--full-tree', place.commit], signal);
    assertAnswered(answer, 'list the files');
    const entries = answer.output.split('\0').slice(0, -1);
    const paths = entries
      .filter((entry) => !entry.startsWith('160000 '))
      .map((entry) => entry.slice(entry.indexOf('\t') + 1));
    const list = { paths, truncated: answer.cut };
    const oldest = kept.keys().next().value;
    if (kept.size >= KEPT_LISTS && oldest !== undefined) kept.delete(oldest);
    kept.set(key, list);
    return list;
  };
}

async function readEntry(place: Place, path: string, signal: AbortSignal) {
  const answer = await place.git(['ls-tree', '-z', '--full-tree', place.commit, '--', path], signal);
  const fields = isSuccess(answer) ? /^(\d{6}) [a-z]{1,10} ([0-9a-f]{40,64})\t/.exec(answer.output) : null;
  return fields === null ? null : { mode: fields[1] ?? '', object: fields[2] ?? '' };
}

async function readBlob(
  place: Place,
  { path, object }: { path: string; object: string },
  signal: AbortSignal,
): Promise<string> {
  const size = await place.git(['cat-file', '-s', object], signal);
  assertAnswered(size, `read ${path}; a partial clone may not hold it`);
  assertReadableSize(path, Number(size.output));
  const blob = await place.git(['cat-file', 'blob', object], signal);
  assertAnswered(blob, `read ${path}`);
  return blob.output;
}

const OPTIONS = ['-z', '-I', '--no-color', '--full-name', '--no-textconv', '--no-recurse-submodules'];

/**
 * Finds the lines that contain a text, case-sensitively, or that match a regular expression. git runs as a
 * process with a time limit, which also limits expensive expressions.
 */
export async function grepLines(
  place: Place,
  { text, limit, isPattern = false }: { text: string; limit: number; isPattern?: boolean },
  signal: AbortSignal,
): Promise<CodeLine[]> {
  const grep = ['grep', '-n', isPattern ? '-P' : '-F', ...OPTIONS, '-e', text, place.commit, '--'];
  const answer = await place.git(grep, signal);
  assertAnswered(answer, 'search the repository');
  return parseGrep(answer.output, place.commit, limit);
}

/**
 * Ranks files by the number of distinct words that they contain. `-o` prints every occurrence, whereas `-c`
 * would count lines and not distinguish the words.
 */
export async function grepFiles(
  place: Place,
  { words, limit }: { words: readonly string[]; limit: number },
  signal: AbortSignal,
): Promise<FileHits[]> {
  const patterns = words.flatMap((word) => ['-e', word]);
  const answer = await place.git(
    ['grep', '-F', '-o', '-i', ...OPTIONS, ...patterns, place.commit, '--'],
    signal,
  );
  assertAnswered(answer, 'search the repository');
  return sortByWords(countMatches(answer.output, place.commit, words), limit);
}
