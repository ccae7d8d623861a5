import { unquotePath } from '../lib/unified-diff.ts';
import type { ChangedFile, CommitInfo } from '../ports/code-host.ts';
import { checkLineRange, type FileWindow, MAX_COMMITS, MAX_LINES, MAX_PATCH } from './code-questions.ts';
import type { BlamedRange, LinesOf, Place, RemoteChanges } from './remote-code.ts';

/**
 * Splits a unified diff in git's format into files, each with its hunks, cut at the length that the port
 * promises.
 */
export function splitFilesOfDiff(text: string): ChangedFile[] {
  return `\n${text}`
    .split('\ndiff --git ')
    .slice(1)
    .map(parseFile)
    .filter((file) => file !== null);
}

/** Counts the added and deleted lines of a patch. */
export function countLines(patch: string): { readonly additions: number; readonly deletions: number } {
  const lines = patch.split('\n');
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  return { additions: count('+'), deletions: count('-') };
}

function parseFile(section: string): ChangedFile | null {
  const start = section.indexOf('\n@@ ');
  const head = (start === -1 ? section : section.slice(0, start)).split('\n');
  const hunks = start === -1 ? '' : section.slice(start + 1).replace(/\n$/, '');
  const after = (mark: string) => head.find((line) => line.startsWith(mark))?.slice(mark.length);
  const [renamedFrom, renamedTo] = [after('rename from '), after('rename to ')];
  const [before, now] = [parseSide(after('--- ')), parseSide(after('+++ '))];
  // For a binary or empty file, or a mere change of mode, both names are on the first line and equal.
  const path = findPlain(renamedTo) ?? now ?? before ?? findNamedTwice(head[0] ?? '');
  if (path === null) return null;
  const isNew = head.some((line) => line.startsWith('new file mode '));
  const isGone = head.some((line) => line.startsWith('deleted file mode '));
  const previousPath = findPlain(renamedFrom);
  return {
    path,
    previousPath,
    status: previousPath !== null ? 'renamed' : isNew ? 'added' : isGone ? 'removed' : 'modified',
    ...countLines(hunks),
    patch: hunks === '' ? null : hunks.slice(0, MAX_PATCH),
  };
}

/** Removes the prefix from a path such as `a/src/cart.ts`; null for `/dev/null`. */
function parseSide(side: string | undefined): string | null {
  const path = findPlain(side?.replace(/\t$/, ''));
  return path === null || path === '/dev/null' ? null : path.replace(/^[ab]\//, '');
}

function findNamedTwice(line: string): string | null {
  const unquoted = line.startsWith('"')
    ? unquotePath(line.slice(0, line.indexOf('" ') + 1))
    : line.slice(0, (line.length - 1) / 2);
  return unquoted === null || unquoted === '' ? null : unquoted.replace(/^a\//, '');
}

function findPlain(path: string | undefined): string | null {
  return path === undefined ? null : unquotePath(path);
}

/** The maximum number of commits that are read. Each is a call unless it is cached. */
const MAX_LOOKED_AT = 30;
const MAX_RENAMES = 3;

type ReadFile = (
  place: Place,
  query: { path: string; lineStart: number; lineEnd: number },
  signal: AbortSignal,
) => Promise<FileWindow | null>;

interface Trail {
  readonly path: string;
  readonly lines: LineRange;
  /** The commit that gave the file its later name. From this commit on, this path belongs to another file. */
  readonly before: string | null;
}

/**
 * Finds the commits that changed some lines, by following the lines back through the patches of the file's
 * last 30 commits, across renames. No host provides this. The search ends early at a missing or truncated
 * patch, because the earlier positions of the lines are then unknown.
 */
export async function readLineHistory(
  { readFile, changes }: { readFile: ReadFile; changes: RemoteChanges },
  place: Place,
  query: { path: string; lineStart: number; lineEnd: number; limit: number },
  signal: AbortSignal,
): Promise<CommitInfo[]> {
  const { first, last } = checkLineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const file = await readFile(place, { path: query.path, lineStart: first, lineEnd: first }, signal);
  if (file === null || first > file.totalLines) return [];
  const limit = Math.min(query.limit, MAX_COMMITS);
  const found: CommitInfo[] = [];
  const lines = { first, last: Math.min(last, file.totalLines) };
  let trail: Trail | null = { path: file.path, lines, before: null };
  for (let renames = 0; trail !== null && renames <= MAX_RENAMES; renames += 1) {
    trail = await follow(changes, place, trail, { found, limit }, signal);
  }
  return found;
}

/** Follows the lines under one name. The search continues if the file had another name before. */
async function follow(
  changes: RemoteChanges,
  place: Place,
  { path, lines: start, before }: Trail,
  { found, limit }: { found: CommitInfo[]; limit: number },
  signal: AbortSignal,
): Promise<Trail | null> {
  let lines = start;
  const commits = (await changes.list(place, { path, limit: MAX_LOOKED_AT }, signal)).map(
    ({ commit }) => commit,
  );
  for (const commit of commits.slice(before === null ? 0 : commits.indexOf(before) + 1)) {
    if (found.length >= limit) return null;
    const diff = await changes.commit({ ...place, commit }, signal);
    const change = diff.files.find((file) => file.path === path);
    // A merge that kept the file of its first parent does not list it; a huge commit may have omitted it.
    if (change === undefined && diff.truncated) return null;
    if (change === undefined) continue;
    const traced = trace(change, lines);
    if (traced === null) return null;
    if (traced.touched) found.push(diff.commit);
    if (traced.before === null) return null;
    lines = traced.before;
    if (change.previousPath !== null) return { path: change.previousPath, lines, before: commit };
  }
  return null;
}

/**
 * Finds the last commit of each line, by following each line back in the same way. Lines that 30 commits did
 * not touch are left out. For hosts without a
 * blame API.
 */
export async function blameByHistory(
  changes: RemoteChanges,
  place: Place,
  query: LinesOf,
  signal: AbortSignal,
): Promise<BlamedRange[]> {
  const found: BlamedRange[] = [];
  let open = Array.from({ length: query.last - query.first + 1 }, (_, index) => ({
    line: query.first + index,
    stood: query.first + index,
  }));
  const trail: { path: string; before: string | null }[] = [{ path: query.path, before: null }];
  for (const { path, before } of trail) {
    const commits = (await changes.list(place, { path, limit: MAX_LOOKED_AT }, signal)).map(
      ({ commit }) => commit,
    );
    for (const commit of commits.slice(before === null ? 0 : commits.indexOf(before) + 1)) {
      const diff = await changes.commit({ ...place, commit }, signal);
      const change = diff.files.find((file) => file.path === path);
      if (change === undefined && diff.truncated) return found;
      if (change === undefined) continue;
      const traced = open.map((line) => ({
        ...line,
        back: trace(change, { first: line.stood, last: line.stood }),
      }));
      if (traced.some(({ back }) => back === null)) return found;
      const { author, at, subject } = diff.commit;
      for (const { line, back } of traced)
        if (back?.touched === true || back?.before === null)
          found.push({ first: line, last: line, commit, author, at, subject });
      open = traced.flatMap(({ line, back }) =>
        back?.touched !== false || back.before === null ? [] : [{ line, stood: back.before.first }],
      );
      if (open.length === 0) return found;
      if (change.previousPath === null) continue;
      if (trail.length <= MAX_RENAMES) trail.push({ path: change.previousPath, before: commit });
      break;
    }
  }
  return found;
}

function trace(change: ChangedFile, lines: LineRange): ReturnType<typeof traceBack> | null {
  if (change.status === 'added') return { touched: true, before: null };
  if (change.patch === null) return change.status === 'renamed' ? { touched: false, before: lines } : null;
  return change.patch.length >= MAX_PATCH ? null : traceBack(change.patch, lines);
}

/** Lines of a file, 1-based and inclusive. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Neighboring lines that a patch removed and added. A start is the place of the lines, or the place where
 * they would be.
 */
interface ChangedGroup {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/**
 * Traces lines back through a patch, as `git log -L` does: whether the patch touched them, and their earlier
 * place. `before` is null if they did not exist before.
 */
export function traceBack(
  patch: string,
  range: LineRange,
): { readonly touched: boolean; readonly before: LineRange | null } {
  const groups = parseGroups(patch);
  const touched = groups.some((group) => touches(group, range));
  const first = toOldLine(groups, range.first, ({ oldStart }) => oldStart);
  const last = toOldLine(groups, range.last, ({ oldStart, oldCount }) => oldStart + oldCount - 1);
  return { touched, before: last < first ? null : { first, last } };
}

/**
 * Checks whether a group touches the range. Deleted lines count only between two lines of the range; at its
 * edge they belonged to the neighbors.
 */
function touches({ newStart, newCount }: ChangedGroup, { first, last }: LineRange): boolean {
  return newCount === 0
    ? first < newStart && newStart <= last
    : newStart <= last && newStart + newCount > first;
}

/**
 * Returns the earlier number of a line: within a group the result of `inside`, elsewhere the number without
 * the lines that the groups above added.
 */
function toOldLine(
  groups: readonly ChangedGroup[],
  line: number,
  inside: (group: ChangedGroup) => number,
): number {
  let added = 0;
  for (const group of groups) {
    if (group.newStart > line) break;
    if (line < group.newStart + group.newCount) return inside(group);
    added += group.newCount - group.oldCount;
  }
  return line - added;
}

/** Lists the changed groups of a unified diff, from top to bottom. */
function parseGroups(patch: string): ChangedGroup[] {
  const groups: ChangedGroup[] = [];
  let oldLine = 0;
  let newLine = 0;
  let open: { oldStart: number; oldCount: number; newStart: number; newCount: number } | null = null;
  const close = () => {
    if (open !== null) groups.push(open);
    open = null;
  };
  for (const line of patch.split('\n')) {
    const header = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line);
    if (header !== null) {
      close();
      // The header of a side without lines names the line before it.
      oldLine = Number(header[1]) + (header[2] === '0' ? 1 : 0);
      newLine = Number(header[3]) + (header[4] === '0' ? 1 : 0);
    } else if (line.startsWith('-')) {
      open ??= { oldStart: oldLine, oldCount: 0, newStart: newLine, newCount: 0 };
      open.oldCount += 1;
      oldLine += 1;
    } else if (line.startsWith('+')) {
      open ??= { oldStart: oldLine, oldCount: 0, newStart: newLine, newCount: 0 };
      open.newCount += 1;
      newLine += 1;
    } else if (line.startsWith(' ') || line === '') {
      close();
      oldLine += 1;
      newLine += 1;
    }
  }
  close();
  return groups;
}
