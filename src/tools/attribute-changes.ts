import { isRetryable } from '../domain/errors.ts';
import { sumNumbers } from '../lib/collections.ts';
import {
  findChangedRange,
  formatChange,
  type LineChange,
  readAlterations,
  readChanges,
} from '../lib/patch-changes.ts';
import type { ChangedFile, CodeHost, CommitInfo, Comparison } from '../ports/code-host.ts';
import { type LeftUse, takesAway } from './left-uses.ts';

/**
 * The maximum number of commits whose own patches are read: the newest of those that share a file with
 * others.
 */
const MAX_DIFFS = 10;

/** The files of each commit, by its id. */
export type CommitDiffs = ReadonlyMap<string, readonly ChangedFile[]>;

/**
 * Reads what each commit changed by itself, for files that several commits changed. Unreadable commits are
 * left out. Throws only if the run ended or the error is retryable.
 */
export async function readDiffs(
  codeHost: CodeHost,
  repository: string,
  { commits, files }: Pick<Comparison, 'commits' | 'files'>,
  signal: AbortSignal,
): Promise<CommitDiffs> {
  const touching = files.map((file) => commits.filter((commit) => touches(commit, file)));
  const shared = new Set(touching.filter(({ length }) => length > 1).flat());
  const wanted = commits.filter((commit) => shared.has(commit)).slice(0, MAX_DIFFS);
  const read = await Promise.all(
    wanted.map(async ({ commit }) => {
      try {
        return [[commit, (await codeHost.commitDiff({ repository, commit }, signal))?.files ?? []] as const];
      } catch (error) {
        if (signal.aborted || isRetryable(error)) throw error;
        return [];
      }
    }),
  );
  return new Map(read.flat());
}

/** The part of a file's change that one commit made. The commit is null if unknown. */
export interface Attributed {
  readonly file: ChangedFile;
  readonly by: CommitInfo | null;
}

/** The changes of one commit in a file, at the line numbers of the newest state. */
interface OwnChanges {
  readonly by: CommitInfo;
  readonly changes: readonly LineChange[];
}

/**
 * Splits the change of a file by the commits that made it. Each gets the parts of its own patch that are in
 * the whole change and are not only formatting. A part that removes a name that is still used belongs to the
 * commit that removed the name. A part that no patch contains belongs to the newest commit that changed more
 * than formatting or whose patch is unknown, or else to the newest one. The commit is null if the host does
 * not list the files of commits.
 */
export function attributeChanges(
  file: ChangedFile,
  commits: readonly CommitInfo[],
  diffs: CommitDiffs,
  uses: readonly LeftUse[],
): Attributed[] {
  const touching = commits.length === 1 ? commits : commits.filter((commit) => touches(commit, file));
  const [newest = null] = touching;
  const whole = readAlterations(file.patch ?? '', file.path);
  if (newest === null || touching.length < 2 || whole.length === 0) return [{ file, by: newest }];
  const ownChanges = readOwnChanges(file, touching, diffs);
  const last =
    ownChanges.find(({ by, changes }) => changes.length > 0 || !diffs.has(by.commit))?.by ?? newest;
  const parts = whole.flatMap((change) => {
    const lost = uses.find(({ name }) => takesAway([change], name));
    const taker =
      lost === undefined ? undefined : ownChanges.find(({ changes }) => takesAway(changes, lost.name));
    if (taker !== undefined) return [{ change, by: taker.by }];
    const made = ownChanges.flatMap(({ by, changes }) =>
      changes
        .filter((lineChange) => isPart(lineChange, change))
        .map((lineChange) => ({ change: lineChange, by })),
    );
    return made.length > 0 ? made : [{ change, by: last }];
  });
  return [...Map.groupBy(parts, ({ by }) => by)].map(([by, made]) => {
    const changes = [...new Set(made.map(({ change }) => change))];
    const additions = sumNumbers(changes.map(({ added }) => added.length));
    const deletions = sumNumbers(changes.map(({ removed }) => removed.length));
    return { file: { ...file, additions, deletions, patch: changes.map(formatChange).join('\n') }, by };
  });
}

/** Reads what each commit changed, newest first, at the line numbers after all newer changes. */
function readOwnChanges(
  { path, previousPath }: ChangedFile,
  commits: readonly CommitInfo[],
  diffs: CommitDiffs,
): OwnChanges[] {
  const newer: (readonly LineChange[])[] = [];
  return commits.map((by) => {
    const files = diffs.get(by.commit) ?? [];
    const patch = files.find((file) => file.path === path || file.path === previousPath)?.patch ?? '';
    const move = (line: number) => newer.reduceRight(moveLine, line);
    const changes = readAlterations(patch, path).map((alteration) => ({
      ...alteration,
      newLine: move(alteration.newLine),
    }));
    newer.push(readChanges(patch));
    return { by, changes };
  });
}

/**
 * Returns the number of a line after changes. A line inside a change keeps its distance from the change's
 * beginning.
 */
function moveLine(line: number, changes: readonly LineChange[]): number {
  let moved = line;
  for (const { oldLine, newLine, removed, added } of changes) {
    if (oldLine > line) break;
    if (line < oldLine + removed.length) return newLine + Math.min(line - oldLine, added.length);
    moved += added.length - removed.length;
  }
  return moved;
}

/** Checks whether a commit's change is part of the whole change, by its position or by a line of code. */
function isPart(lineChange: LineChange, whole: LineChange): boolean {
  const [start, end] = findChangedRange(lineChange);
  const [first, last] = findChangedRange(whole);
  const isIn = (lines: readonly string[], all: readonly string[]) =>
    lines.some((line) => /\w{2}/.test(line) && all.includes(line));
  return (
    (start <= last && first <= end) ||
    isIn(lineChange.removed, whole.removed) ||
    isIn(lineChange.added, whole.added)
  );
}

function touches({ files }: CommitInfo, { path, previousPath }: ChangedFile): boolean {
  return files.includes(path) || (previousPath !== null && files.includes(previousPath));
}
