import { TriageError, type TriageErrorCode } from '../domain/errors.ts';
import type { CodeHost, CommitInfo, FileHits } from '../ports/code-host.ts';

/**
 * The maximum number of lines of a file, of blame or of a line history in one answer, as the port promises.
 */
export const MAX_LINES = 200;
/** The maximum size of a file in bytes. A larger file is no source code that a person wrote. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;
export const MAX_COMMITS = 100;
/** Commits and files of a comparison: what GitHub gives on its first page, kept for all hosts. */
export const MAX_COMPARED_COMMITS = 250;
export const MAX_CHANGED_FILES = 300;
/** The maximum number of characters of one file's patch, as the port promises. */
export const MAX_PATCH = 20_000;
/** The maximum number of words of one search over files. */
const MAX_WORDS = 16;

type Answer<Name extends keyof CodeHost> = CodeHost[Name] extends (...asked: never) => infer Given
  ? Given
  : never;

/** The answers of a host about a commit that was found. The arguments are already checked. */
type CommitAnswers<Place> = {
  readonly [Name in
    | 'readFile'
    | 'search'
    | 'searchFiles'
    | 'findFiles'
    | 'blame'
    | 'history'
    | 'lineHistory']: (place: Place, ...asked: Parameters<CodeHost[Name]>) => Answer<Name>;
};

export interface CommitHost<Place>
  extends CommitAnswers<Place>,
    Pick<CodeHost, 'driver' | 'canRead' | 'listRepositories' | 'compare'> {
  /** The host's name in the message that a commit is missing: "on GitHub". */
  readonly where: string;
  /** Returns null if the repository or the commit is missing, or if the repository is empty. */
  find(query: { repository: string; ref: string | null }, signal: AbortSignal): Promise<Place | null>;
  /** Lists all files of the commit. */
  listFiles(place: Place, signal: AbortSignal): Promise<FileList>;
  commitDiff(place: Place, signal: AbortSignal): Answer<'commitDiff'>;
}

/**
 * Creates a code host from the answers about a single commit. It checks each question and finds its commit; a
 * missing commit has an empty answer.
 */
export function createHost<Place extends { readonly commit: string }>(host: CommitHost<Place>): CodeHost {
  const { driver, where, find, canRead, listRepositories } = host;
  const about =
    <Query extends At, Given>(
      none: () => Given,
      answer: (place: Place, query: Query, signal: AbortSignal) => Promise<Given>,
    ) =>
    async (query: Query, signal: AbortSignal): Promise<Given> => {
      const checked = checkQuery(query);
      const place = await find(query, signal);
      return place === null ? none() : answer(place, checked, signal);
    };
  const nothing = () => [];
  return {
    driver,
    canRead,
    listRepositories,
    async resolve(query, signal) {
      const place = await find(query, signal);
      if (place !== null) return { ref: place.commit, note: null };
      const head = query.ref === null ? null : await find({ ...query, ref: null }, signal);
      if (head === null) return { ref: null, note: null };
      return {
        ref: head.commit,
        note: `as of ${head.commit.slice(0, 10)}: ${query.ref?.slice(0, 10)} is not ${where}`,
      };
    },
    readFile: about(() => null, host.readFile),
    search: about(nothing, host.search),
    searchFiles: about(nothing, host.searchFiles),
    findFiles: about(nothing, host.findFiles),
    listFiles: about(
      () => ({ paths: [], truncated: false }),
      async (place, { under, limit }, signal) =>
        getFilesBelow(await host.listFiles(place, signal), under, limit),
    ),
    blame: about(nothing, host.blame),
    history: about(nothing, host.history),
    lineHistory: about(nothing, host.lineHistory),
    async commitDiff({ repository, commit }, signal) {
      const place = await find({ repository, ref: commit }, signal);
      return place === null ? null : host.commitDiff(place, signal);
    },
    compare: async ({ repository, base, head }, signal) =>
      host.compare({ repository, base: checkRef(base), head: checkRef(head) }, signal),
  };
}

/** The parts of a question that are checked first: its commit, and its texts. */
interface At {
  readonly repository: string;
  readonly ref: string | null;
  readonly path?: string;
  readonly suffix?: string;
  readonly under?: string;
  readonly text?: string;
  readonly words?: readonly string[];
}

function checkQuery<Query extends At>(query: Query): Query {
  const { path, suffix, under, text, words } = query;
  return {
    ...query,
    ...(path !== undefined && { path: toRepositoryPath(path) }),
    ...(suffix !== undefined && { suffix: toRepositoryPath(suffix) }),
    ...(under !== undefined && { under: toRepositoryPath(under) }),
    ...(text !== undefined && { text: searchText(text) }),
    ...(words !== undefined && { words: searchWords(words) }),
  };
}

/**
 * Returns a path within the repository, without `.` segments. Throws `invalid-input` if it leaves the
 * repository, is absolute, or contains
 * control characters.
 */
function toRepositoryPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  const bad =
    path.startsWith('/') ||
    /^[A-Za-z]:[\\/]/.test(path) ||
    segments.includes('..') ||
    /[\u0000-\u001f\u007f]/.test(path);
  if (bad || segments.length === 0 || path.length > 4_096) {
    throw new TriageError(
      'invalid-input',
      `path: ${JSON.stringify(path.slice(0, 200))} is not a path within the repository.`,
    );
  }
  return segments.join('/');
}

/**
 * Returns a commit id, branch or tag name. Throws `invalid-input` for anything that git would parse as an
 * option, a range, a path
 * or an expression.
 */
export function checkRef(ref: string): string {
  const plain =
    /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,250}$/.test(ref) && !ref.includes('..') && !ref.endsWith('.lock');
  if (!plain)
    throw new TriageError(
      'invalid-input',
      `ref: ${JSON.stringify(ref.slice(0, 100))} is not a commit, branch or tag.`,
    );
  return ref;
}

/** Returns the one line of text to search for. Throws `invalid-input` for no line or several lines. */
function searchText(text: string): string {
  if (text === '' || text.length > 500 || /[\n\r\0]/.test(text)) {
    throw new TriageError('invalid-input', 'text: one line of 1 to 500 characters can be searched for.');
  }
  return text;
}

/**
 * Returns the distinct words to search for, ignoring case. Throws `invalid-input` for none, for too many, and
 * for anything that is not a valid search text.
 */
function searchWords(words: readonly string[]): string[] {
  if (words.length === 0 || words.length > MAX_WORDS) {
    throw new TriageError(
      'invalid-input',
      `words: 1 to ${MAX_WORDS} words can be searched for, not ${words.length}.`,
    );
  }
  return [...new Map(words.map((word) => [word.toLowerCase(), searchText(word)])).values()];
}

/** Returns a 1-based range of at most `most` lines. */
export function checkLineRange(
  from: number | undefined,
  to: number | undefined,
  most: number,
): { first: number; last: number } {
  const first = Math.max(1, Math.trunc(from ?? 1));
  const last = Math.min(Math.trunc(to ?? first + most - 1), first + most - 1);
  return { first, last: Math.max(first, last) };
}

export type FileWindow = NonNullable<Awaited<ReturnType<CodeHost['readFile']>>>;
export type FileList = Awaited<ReturnType<CodeHost['listFiles']>>;
export type CommitDiff = NonNullable<Awaited<ReturnType<CodeHost['commitDiff']>>>;

const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1\n';

/**
 * Returns the requested lines of a file. Throws `unsupported-type` if the repository does not contain it as
 * text.
 */
export function sliceLines(
  path: string,
  text: string,
  range: { lineStart?: number; lineEnd?: number },
): FileWindow {
  assertText(path, text);
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  const { first, last } = checkLineRange(range.lineStart, range.lineEnd, MAX_LINES);
  return { path, lineStart: first, lines: all.slice(first - 1, last), totalLines: all.length };
}

/** Throws `too-large` for a file that is too large to be read by lines. */
export function assertReadableSize(path: string, bytes: number): void {
  if (bytes > MAX_FILE_BYTES) throw new TriageError('too-large', `${path} is larger than 5 MB.`);
}

export function createSubmoduleError(path: string): TriageError {
  return new TriageError('unsupported-type', `${path} is a submodule: its files are in another repository.`);
}

export function linkError(path: string, target: string): TriageError {
  const quotedTarget = JSON.stringify(target.slice(0, 200));
  return new TriageError(
    'unsupported-type',
    `${path} is a symbolic link to ${quotedTarget}, which is not a file in this commit.`,
  );
}

/** Returns the target of a link within the repository, or null if it leads outside. */
export function linkTarget(path: string, target: string): string | null {
  if (target.startsWith('/') || target.includes('\0')) return null;
  const segments = path.split('/').slice(0, -1);
  for (const segment of target.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return null;
  }
  return segments.length === 0 ? null : segments.join('/');
}

function assertText(path: string, text: string): void {
  if (text.includes('\0')) throw new TriageError('unsupported-type', `${path} is not a text file.`);
  if (text.startsWith(LFS_POINTER)) {
    const bytes = /\nsize (\d{1,15})/.exec(text)?.[1] ?? 'unknown';
    throw new TriageError(
      'unsupported-type',
      `${path} is kept in Git LFS (${bytes} bytes); the repository holds only a pointer to it.`,
    );
  }
}

/** Lists the paths that end with `suffix`, whole segments only; shortest first. */
export function listFilesEndingWith(paths: readonly string[], suffix: string, limit: number): string[] {
  const matches = paths.filter((path) => path === suffix || path.endsWith(`/${suffix}`));
  return matches
    .sort((left, right) => left.length - right.length || left.localeCompare(right))
    .slice(0, limit);
}

/** Lists the paths below a folder (if absent: all), at most `limit`. */
function getFilesBelow(list: FileList, under: string | undefined, limit: number): FileList {
  const below = under === undefined ? list.paths : list.paths.filter((path) => path.startsWith(`${under}/`));
  return { paths: below.slice(0, limit), truncated: list.truncated || below.length > limit };
}

/** Returns the files with the most distinct words first, then the most occurrences, then by name. */
export function sortByWords(files: readonly FileHits[], limit: number): FileHits[] {
  const order = (left: FileHits, right: FileHits) =>
    right.words - left.words || right.occurrences - left.occurrences || (left.path < right.path ? -1 : 1);
  return [...files].sort(order).slice(0, limit);
}

/** Titles of merges on GitHub, Bitbucket and Azure DevOps, and of squashed pull requests on GitHub. */
const MERGE = /^(?:Merge pull request #|Merged in [^\n]{1,200} \(pull request #|Merged PR )(\d{1,9})\b/;
const SQUASH = /\(#(\d{1,9})\)$/;

/**
 * Returns the pull request that the commit's own subject names, or null. The quoted title in a revert does
 * not count.
 */
export function parsePullRequest(subject: string): number | null {
  const named = MERGE.exec(subject) ?? SQUASH.exec(subject.trimEnd());
  return named === null ? null : Number(named[1]);
}

/** Returns a commit as a host lists it, without its files. The subject is the first line of the message. */
export function commitInfo(
  commit: string,
  message: string | null | undefined,
  author: Pick<CommitInfo, 'author' | 'at'>,
): CommitInfo {
  const subject = message?.split('\n')[0] ?? '';
  return { commit, ...author, subject, files: [], pullRequest: parsePullRequest(subject) };
}

/** Returns null instead of throwing `not-found` or the error code in `also`. */
export async function findOrNull<Value>(
  asked: Promise<Value>,
  also?: TriageErrorCode,
): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof TriageError && (error.code === 'not-found' || error.code === also)) return null;
    throw error;
  }
}
