import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { type Allowed, type Change, MAX_FILES, refuseChanges, refuseFix } from '../domain/fix-refusals.ts';
import type { Worktree } from './base-worktree.ts';
import type { AskGit } from './repository.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

export const MAX_DIFF_BYTES = 1024 * 1024;
const MAX_SHOWN = 20_000;

/** The options that make the diff look the same with any settings of the repository. */
const AS_READ = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--src-prefix=a/',
  '--dst-prefix=b/',
] as const;
/**
 * The number of lines around a change: the usual number, and all lines of the file, in which the sections of
 * settings are visible.
 */
const [USUAL_CONTEXT, WHOLE_FILE] = ['--unified=3', '--unified=1000000'] as const;

/** A change, as a commit on top of the state that is to be fixed. */
export interface Fix {
  readonly commit: string;
  readonly files: readonly string[];
  readonly added: number;
  readonly deleted: number;
  /** Null if it is too long to show. */
  readonly diff: string | null;
}

/**
 * Returns the first diff in a text, such as the fix of an answer or a file from `git diff`. Returns null if
 * there is none.
 */
export function findDiff(text: string): string | null {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const isStart = (line: string, at: number) =>
    line.startsWith('diff --git ') || (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') === true);
  const start = lines.findIndex(isStart);
  if (start === -1) return null;
  const fence = lines.findIndex((line, at) => at > start && line.startsWith('```'));
  return `${lines
    .slice(start, fence === -1 ? undefined : fence)
    .join('\n')
    .trimEnd()}\n`;
}

/**
 * Creates a commit from a diff, or, if it is null, from the changes in the worktree's tracked files. The diff
 * is applied to the index first, so that a refused diff writes nothing. Throws `invalid-input` with the
 * reason if it does not apply, is too large, or touches files that it must not.
 */
export async function commitChange(
  worktree: Worktree,
  diff: string | null,
  source: string,
  allowed: Allowed,
): Promise<Fix> {
  const { git, commit: parent } = worktree;
  if (diff === null) await git('add', '--update');
  else await applyToIndex(git, diff);
  const changes = await listStagedChanges(git);
  const [refusal] = refuseChanges(changes, allowed);
  if (refusal !== undefined) throw new TriageError('invalid-input', refusal);
  const tree = await git('write-tree');
  const commit = await git('commit-tree', tree, '-p', parent, '-m', `Apply ${source}`);
  const sum = (of: 'added' | 'deleted') => changes.reduce((total, change) => total + (change[of] ?? 0), 0);
  return {
    commit,
    files: changes.map(({ path }) => path),
    added: sum('added'),
    deleted: sum('deleted'),
    diff: await diffToShow(git, parent, commit, allowed),
  };
}

/**
 * Returns the shortest form of the diff that is enough to decide later whether it is allowed. Returns null if
 * that form is too long.
 */
async function diffToShow(git: AskGit, from: string, to: string, allowed: Allowed): Promise<string | null> {
  for (const context of [USUAL_CONTEXT, WHOLE_FILE]) {
    const diff = await diffBetween(git, from, to, context);
    if (diff.length <= MAX_SHOWN && refuseFix(diff, allowed).length === 0) return diff;
  }
  return null;
}

/**
 * Returns the diff between two commits. Git writes it to a file, so that it is exact to the last blank,
 * because a person may commit it.
 */
async function diffBetween(git: AskGit, from: string, to: string, context: string): Promise<string> {
  return await withTemporaryFolder('faultline-diff-', async (outside) => {
    const file = join(outside, 'shown.diff');
    await git('diff', ...AS_READ, context, `--output=${file}`, from, to);
    return await readFile(file, 'utf8');
  });
}

async function applyToIndex(git: AskGit, diff: string): Promise<void> {
  await withTemporaryFolder('faultline-diff-', async (outside) => {
    const file = join(outside, 'fix.diff');
    await writeFile(file, diff);
    const apply = (...more: readonly string[]) =>
      git('apply', '--cached', '--whitespace=nowarn', ...more, file);
    // The line counts of a diff that was written by hand are often wrong.
    await apply().catch(() => apply('--recount'));
  }).catch((cause: unknown) => {
    throw new TriageError(
      'invalid-input',
      `it does not apply: ${getErrorMessage(cause).split(': error: ').at(-1)?.split('\n')[0] ?? ''}`,
      {
        cause,
      },
    );
  });
}

async function listStagedChanges(git: AskGit): Promise<Change[]> {
  const list = async (...how: readonly string[]) =>
    (await git('diff', '--cached', '--no-renames', '--no-ext-diff', '-z', ...how, 'HEAD'))
      .split('\0')
      .filter((text) => text !== '');
  const [raw, counts] = [await list('--raw'), await list('--numstat')];
  const lines = new Map(
    counts.map((text) => {
      const [added = '-', deleted = '-', ...path] = text.split('\t');
      return [path.join('\t'), { added, deleted }];
    }),
  );
  const parseCount = (text: string | undefined) => (text === undefined || text === '-' ? null : Number(text));
  const changes: Change[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [head = '', path = ''] = raw.slice(at, at + 2);
    const count = lines.get(path);
    // If there are too many files, they are refused whatever they contain.
    const diff =
      raw.length / 2 > MAX_FILES
        ? ''
        : await git('diff', '--cached', ...AS_READ, WHOLE_FILE, 'HEAD', '--', path);
    const modes = head.slice(1).split(' ').slice(0, 2);
    changes.push({ path, modes, added: parseCount(count?.added), deleted: parseCount(count?.deleted), diff });
  }
  return changes;
}
