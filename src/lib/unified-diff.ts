import { append } from './collections.ts';
/** The change of one file in a diff. */
export interface FileChange {
  readonly path: string;
  /** The file modes that the diff names, such as 100644. */
  readonly modes: readonly string[];
  /** The number of added lines; null for files that are not text. */
  readonly added: number | null;
  readonly deleted: number | null;
  /** The part of the diff that describes this file. */
  readonly diff: string;
}

/**
 * Reads a diff in the form of `git diff --no-renames`. Returns null if any line has another form, or if the
 * file names in it differ from each other. Therefore another program that reads the diff can find no file in
 * it that this function does not find.
 */
export function readDiff(text: string): FileChange[] | null {
  const lines = text.replace(/\n$/, '').split('\n');
  const changes: FileChange[] = [];
  for (let at = 0; at < lines.length; ) {
    const file = readFile(lines, at);
    if (file === null) return null;
    changes.push({ ...file.change, diff: lines.slice(at, file.next).join('\n') });
    at = file.next;
  }
  return changes;
}

/**
 * Decodes a path that git quotes because it is not plain ASCII, with its bytes in octal. Returns an unquoted
 * path unchanged.
 */
export function unquotePath(path: string): string {
  if (!path.startsWith('"')) return path;
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
  const bytes = path
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/g, (_all, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

interface ReadFile {
  readonly change: Omit<FileChange, 'diff'>;
  readonly next: number;
}

const MODE = /^(?:old mode|new mode|new file mode|deleted file mode) (\d{6})$/;
const INDEX = /^index [0-9a-f]+\.\.[0-9a-f]+(?: (\d{6}))?$/;

function readFile(lines: readonly string[], start: number): ReadFile | null {
  const path = findPath(lines[start]);
  if (path === null) return null;
  const modes: string[] = [];
  let at = start + 1;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, mode] = MODE.exec(line) ?? [];
    const index = INDEX.exec(line);
    if (mode === undefined && index === null) break;
    append(
      modes,
      [mode, index?.[1]].filter((part) => part !== undefined),
    );
  }
  const line = lines[at];
  if (line === undefined || line.startsWith('diff --git '))
    return { change: { path, modes, added: 0, deleted: 0 }, next: at };
  if (/^Binary files .* differ$/.test(line))
    return { change: { path, modes, added: null, deleted: null }, next: at + 1 };
  const names = [readSideName(line, '--- ', 'a/'), readSideName(lines[at + 1], '+++ ', 'b/')];
  if (
    names.some((name) => name !== path && name !== '/dev/null') ||
    names.every((name) => name === '/dev/null')
  )
    return null;
  const hunks = readHunks(lines, at + 2);
  return hunks === null
    ? null
    : { change: { path, modes, added: hunks.added, deleted: hunks.deleted }, next: hunks.next };
}

/**
 * Returns the path from the first line of a section, whose two names are equal unless the file was renamed;
 * null otherwise.
 */
function findPath(line: string | undefined): string | null {
  const names = line?.startsWith('diff --git ') === true ? line.slice('diff --git '.length) : '';
  const middle = (names.length - 1) / 2;
  const [before, after] = [names.slice(0, middle), names.slice(middle + 1)].map(unquotePath);
  if (names[middle] !== ' ' || before?.startsWith('a/') !== true || after?.startsWith('b/') !== true)
    return null;
  return before.slice(2) === after.slice(2) ? before.slice(2) : null;
}

/** Reads the file name of one side. Git ends a name that contains blanks with a tab. */
function readSideName(line: string | undefined, mark: string, prefix: string): string | null {
  if (line?.startsWith(mark) !== true) return null;
  const name = unquotePath(line.slice(mark.length).replace(/\t$/, ''));
  if (name === '/dev/null') return name;
  return name.startsWith(prefix) ? name.slice(prefix.length) : null;
}

const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@(?: .*)?$/;

/** Returns the hunks that have as many lines as their headers say. */
function readHunks(
  lines: readonly string[],
  start: number,
): { added: number; deleted: number; next: number } | null {
  let [added, deleted, at] = [0, 0, start];
  while (lines[at]?.startsWith('@@ ') === true) {
    const head = HUNK.exec(lines[at] ?? '');
    if (head === null) return null;
    let [before, after] = [Number(head[1] ?? 1), Number(head[2] ?? 1)];
    for (at += 1; before > 0 || after > 0; at += 1) {
      const mark = lines[at]?.[0];
      if (mark === '\\') continue;
      if (mark !== ' ' && mark !== '+' && mark !== '-') return null;
      before -= mark === '+' ? 0 : 1;
      after -= mark === '-' ? 0 : 1;
      added += mark === '+' ? 1 : 0;
      deleted += mark === '-' ? 1 : 0;
    }
    if (before < 0 || after < 0) return null;
    if (lines[at]?.startsWith('\\ ') === true) at += 1;
  }
  return at === start ? null : { added, deleted, next: at };
}
