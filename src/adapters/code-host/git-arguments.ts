import { TriageError } from '../../domain/errors.ts';
import { MAX_WORDS } from './limits.ts';

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
