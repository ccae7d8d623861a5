import type { ChangedFile } from '../ports/code-host.ts';
import { MAX_PATCH } from './code-questions.ts';

/** The files of a unified diff as git writes it, each with its hunks, cut at what the port promises. */
export function filesOfDiff(text: string): ChangedFile[] {
  return `\n${text}`
    .split('\ndiff --git ')
    .slice(1)
    .map(fileOf)
    .filter((file) => file !== null);
}

/** The counts of a patch's changed lines. */
export function countLines(patch: string): { readonly additions: number; readonly deletions: number } {
  const lines = patch.split('\n');
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  return { additions: count('+'), deletions: count('-') };
}

function fileOf(section: string): ChangedFile | null {
  const start = section.indexOf('\n@@ ');
  const head = (start === -1 ? section : section.slice(0, start)).split('\n');
  const hunks = start === -1 ? '' : section.slice(start + 1).replace(/\n$/, '');
  const after = (mark: string) => head.find((line) => line.startsWith(mark))?.slice(mark.length);
  const [renamedFrom, renamedTo] = [after('rename from '), after('rename to ')];
  const [before, now] = [sideOf(after('--- ')), sideOf(after('+++ '))];
  // A binary file, an empty one or a change of mode alone: both names stand in the first line, and are alike.
  const path = plain(renamedTo) ?? now ?? before ?? namedTwice(head[0] ?? '');
  if (path === null) return null;
  const isNew = head.some((line) => line.startsWith('new file mode '));
  const isGone = head.some((line) => line.startsWith('deleted file mode '));
  const previousPath = plain(renamedFrom);
  return {
    path,
    previousPath,
    status: previousPath !== null ? 'renamed' : isNew ? 'added' : isGone ? 'removed' : 'modified',
    ...countLines(hunks),
    patch: hunks === '' ? null : hunks.slice(0, MAX_PATCH),
  };
}

/** `a/src/cart.ts` without its letter; null for `/dev/null`. */
function sideOf(side: string | undefined): string | null {
  const path = plain(side?.replace(/\t$/, ''));
  return path === null || path === '/dev/null' ? null : path.replace(/^[ab]\//, '');
}

function namedTwice(line: string): string | null {
  const unquoted = line.startsWith('"') ? plain(line.slice(0, line.indexOf('" ') + 1)) : line.slice(0, (line.length - 1) / 2);
  return unquoted === null || unquoted === '' ? null : unquoted.replace(/^a\//, '');
}

/** A path as it is: git quotes one that is not plain ASCII, with its bytes in octal. */
function plain(path: string | undefined): string | null {
  if (path === undefined) return null;
  if (!path.startsWith('"')) return path;
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
  const bytes = path
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/g, (_all, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
