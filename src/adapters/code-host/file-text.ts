import { TriageError } from '../../domain/errors.ts';
import { lineRange } from './git-arguments.ts';
import { MAX_FILE_BYTES, MAX_LINES } from './limits.ts';

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
