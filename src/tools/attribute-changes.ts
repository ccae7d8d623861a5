import { isRetryable } from '../domain/errors.ts';
import { sumNumbers } from '../lib/collections.ts';
import { formatChange, type LineChange, readChanges } from '../lib/patch-changes.ts';
import type { ChangedFile, CodeHost, CommitInfo, Comparison } from '../ports/code-host.ts';
import { type LeftUse, takesAway } from './left-uses.ts';

/** Commits whose own patches are read, the newest of those that share a file with others. */
const MAX_DIFFS = 10;

/** The files of each commit, by its id. */
export type CommitDiffs = ReadonlyMap<string, readonly ChangedFile[]>;

/**
 * Reads what each commit changed by itself, for files that several commits changed. Commits that cannot be
 * read are left out; throws only if the run ended or the error is retryable.
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

/** The part of a file's change that one commit made. Null if it is not known which. */
export interface Attributed {
  readonly file: ChangedFile;
  readonly by: CommitInfo | null;
}

/** A commit with what its own patch changed in a file. */
interface OwnChanges {
  readonly by: CommitInfo;
  readonly changes: readonly LineChange[];
  readonly lines: ReadonlySet<string>;
}

/**
 * Splits the change of a file by the commits that made it. A stretch from which a name was taken that is
 * still used belongs to the commit that took it. Other lines belong to the newest commit whose own patch has
 * them, and lines that no patch has to the newest one. The commit is null if the host does not list the files
 * of commits.
 */
export function attributeChanges(
  file: ChangedFile,
  commits: readonly CommitInfo[],
  diffs: CommitDiffs,
  uses: readonly LeftUse[],
): Attributed[] {
  const touching = commits.length === 1 ? commits : commits.filter((commit) => touches(commit, file));
  const [newest = null] = touching;
  if (newest === null || touching.length < 2 || file.patch === null) return [{ file, by: newest }];
  const own = touching.map((by): OwnChanges => {
    const changes = readOwnChanges(file, diffs.get(by.commit));
    const lines = changes.flatMap(({ removed, added }) => [mark(removed, '-'), mark(added, '+')].flat());
    return { by, changes, lines: new Set(lines) };
  });
  const parts = readChanges(file.patch).flatMap((change) => {
    const lost = uses.find(({ name }) => takesAway([change], name));
    const taker = lost === undefined ? undefined : own.find(({ changes }) => takesAway(changes, lost.name));
    return taker === undefined ? splitChange(change, own, newest) : [{ change, by: taker.by }];
  });
  return [...Map.groupBy(parts, ({ by }) => by)].map(([by, made]) => {
    const changes = made.map(({ change }) => change);
    const additions = sumNumbers(changes.map(({ added }) => added.length));
    const deletions = sumNumbers(changes.map(({ removed }) => removed.length));
    return { file: { ...file, additions, deletions, patch: changes.map(formatChange).join('\n') }, by };
  });
}

/** Splits a stretch into the lines of each commit. */
function splitChange(change: LineChange, own: readonly OwnChanges[], newest: CommitInfo) {
  const removers = findOwners(change.removed, '-', own, newest);
  const adders = findOwners(change.added, '+', own, newest);
  return [...new Set([...removers, ...adders])].map((by) => {
    const removed = change.removed.filter((_, at) => removers[at] === by);
    const added = change.added.filter((_, at) => adders[at] === by);
    const newLine = change.newLine + Math.max(0, adders.indexOf(by));
    return { change: { ...change, removed, added, newLine }, by };
  });
}

/** Finds the commit of each line. An empty line, which any patch may have, belongs to the line before it. */
function findOwners(
  lines: readonly string[],
  sign: '+' | '-',
  own: readonly OwnChanges[],
  newest: CommitInfo,
): CommitInfo[] {
  const owners: CommitInfo[] = [];
  for (const [at, line] of lines.entries()) {
    const written = line.trim() === '' ? lines.slice(at).find((next) => next.trim() !== '') : line;
    const owner = own.find((one) => one.lines.has(`${sign}${written ?? ''}`))?.by ?? newest;
    owners.push(line.trim() === '' ? (owners.at(-1) ?? owner) : owner);
  }
  return owners;
}

function mark(lines: readonly string[], sign: '+' | '-'): string[] {
  return lines.map((line) => `${sign}${line}`);
}

function readOwnChanges(file: ChangedFile, files: readonly ChangedFile[] = []): LineChange[] {
  const { path, previousPath } = file;
  return readChanges(files.find((one) => one.path === path || one.path === previousPath)?.patch ?? '');
}

function touches({ files }: CommitInfo, { path, previousPath }: ChangedFile): boolean {
  return files.includes(path) || (previousPath !== null && files.includes(previousPath));
}
