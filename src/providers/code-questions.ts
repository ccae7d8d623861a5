import { TriageError } from '../domain/errors.ts';
import type { FileHits } from '../ports/code-host.ts';

/** Lines of a file, of blame or of a line history in one answer: what the port promises. */
export const MAX_LINES = 200;
/** A file that is larger is no source code that a person wrote. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;
export const MAX_COMMITS = 100;
/** Commits and files of a comparison: what GitHub gives on its first page, kept for all hosts. */
export const MAX_COMPARED_COMMITS = 250;
export const MAX_CHANGED_FILES = 300;
/** Characters of one file's patch: what the port promises. */
export const MAX_PATCH = 20_000;
/** Words of one search over files. */
const MAX_WORDS = 16;

/**
 * A path within the repository, without `.` segments. Throws `invalid-input` for one that leaves it, is absolute, or holds
 * control characters.
 */
export function repositoryPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  const bad = path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || segments.includes('..') || /[\u0000-\u001f\u007f]/.test(path);
  if (bad || segments.length === 0 || path.length > 4_096) {
    throw new TriageError('invalid-input', `path: ${JSON.stringify(path.slice(0, 200))} is not a path within the repository.`);
  }
  return segments.join('/');
}

/**
 * A commit id or a branch or tag name. Throws `invalid-input` for anything that git would read as an option, a range, a path
 * or an expression.
 */
export function plainRef(ref: string): string {
  const plain = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,250}$/.test(ref) && !ref.includes('..') && !ref.endsWith('.lock');
  if (!plain) throw new TriageError('invalid-input', `ref: ${JSON.stringify(ref.slice(0, 100))} is not a commit, branch or tag.`);
  return ref;
}

/** One line of text to look for. Throws `invalid-input` for none or several. */
export function searchText(text: string): string {
  if (text === '' || text.length > 500 || /[\n\r\0]/.test(text)) {
    throw new TriageError('invalid-input', 'text: one line of 1 to 500 characters can be searched for.');
  }
  return text;
}

/** The different words to look for, in any case. Throws `invalid-input` for none, for too many, and for what is no word. */
export function searchWords(words: readonly string[]): string[] {
  if (words.length === 0 || words.length > MAX_WORDS) {
    throw new TriageError('invalid-input', `words: 1 to ${MAX_WORDS} words can be searched for, not ${words.length}.`);
  }
  return [...new Map(words.map((word) => [word.toLowerCase(), searchText(word)])).values()];
}

/** A 1-based range of at most `most` lines. */
export function lineRange(from: number | undefined, to: number | undefined, most: number): { first: number; last: number } {
  const first = Math.max(1, Math.trunc(from ?? 1));
  const last = Math.min(Math.trunc(to ?? first + most - 1), first + most - 1);
  return { first, last: Math.max(first, last) };
}

export interface FileWindow {
  readonly path: string;
  readonly lineStart: number;
  readonly lines: readonly string[];
  readonly totalLines: number;
}

const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1\n';

/** The asked lines of a file's text. Throws `unsupported-type` for what is no text in the repository. */
export function windowOf(path: string, text: string, range: { lineStart?: number; lineEnd?: number }): FileWindow {
  assertText(path, text);
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  const { first, last } = lineRange(range.lineStart, range.lineEnd, MAX_LINES);
  return { path, lineStart: first, lines: all.slice(first - 1, last), totalLines: all.length };
}

/** Throws `too-large` for a file nobody reads by lines. */
export function assertReadableSize(path: string, bytes: number): void {
  if (bytes > MAX_FILE_BYTES) throw new TriageError('too-large', `${path} is larger than 5 MB.`);
}

export function submoduleError(path: string): TriageError {
  return new TriageError('unsupported-type', `${path} is a submodule: its files are in another repository.`);
}

export function linkError(path: string, target: string): TriageError {
  const shown = JSON.stringify(target.slice(0, 200));
  return new TriageError('unsupported-type', `${path} is a symbolic link to ${shown}, which is not a file in this commit.`);
}

/** Where a link within the repository leads, or null where it leaves it. */
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
    throw new TriageError('unsupported-type', `${path} is kept in Git LFS (${bytes} bytes); the repository holds only a pointer to it.`);
  }
}

/** Paths whose end is `suffix`, whole segments only; shortest first. */
export function filesEndingWith(paths: readonly string[], suffix: string, limit: number): string[] {
  const matches = paths.filter((path) => path === suffix || path.endsWith(`/${suffix}`));
  return matches.sort((left, right) => left.length - right.length || left.localeCompare(right)).slice(0, limit);
}

/** Paths below a folder (null: all), at most `limit`. */
export function filesBelow(
  list: { readonly paths: readonly string[]; readonly truncated: boolean },
  under: string | null,
  limit: number,
): { readonly paths: readonly string[]; readonly truncated: boolean } {
  const below = under === null ? list.paths : list.paths.filter((path) => path.startsWith(`${under}/`));
  return { paths: below.slice(0, limit), truncated: list.truncated || below.length > limit };
}

/** Most different words first, then most occurrences, then by name. */
export function mostTelling(files: readonly FileHits[], limit: number): FileHits[] {
  const order = (left: FileHits, right: FileHits) =>
    right.words - left.words || right.occurrences - left.occurrences || (left.path < right.path ? -1 : 1);
  return [...files].sort(order).slice(0, limit);
}

/** How GitHub, Bitbucket and Azure DevOps title a merge, and how GitHub titles a squashed pull request. */
const MERGE = /^(?:Merge pull request #|Merged in [^\n]{1,200} \(pull request #|Merged PR )(\d{1,9})\b/;
const SQUASH = /\(#(\d{1,9})\)$/;

/** The pull request that a commit's own subject names, or null. A revert's quoted title does not count. */
export function pullRequestOf(subject: string): number | null {
  const named = MERGE.exec(subject) ?? SQUASH.exec(subject.trimEnd());
  return named === null ? null : Number(named[1]);
}
