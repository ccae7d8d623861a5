import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, TriageError } from '../domain/errors.ts';
import { type Allowed, type Change, refuseChanges } from '../domain/fix-refusals.ts';
import { git, type Worktree } from './base-worktree.ts';

export const MAX_DIFF_BYTES = 1024 * 1024;
const MAX_SHOWN = 20_000;

/** So that the diff reads alike whatever the settings of the repository are. */
const AS_READ = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--src-prefix=a/', '--dst-prefix=b/'] as const;

/** A change as a commit on top of the state that is to be fixed. */
export interface Fix {
  readonly commit: string;
  readonly files: readonly string[];
  readonly added: number;
  readonly deleted: number;
  /** Null where it is too long to show. */
  readonly diff: string | null;
}

/** The first diff in a text, such as an answer's fix or a file of `git diff`; null where there is none. */
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
 * Makes a commit of a diff, or (null) of what was changed in the worktree's tracked files. The diff reaches the index first, so that nothing
 * is written for one that is refused. Throws `invalid-input` with the reason where it does not apply, is too large, or touches what it must not.
 */
export async function commitChange(worktree: Worktree, diff: string | null, source: string, allowed: Allowed): Promise<Fix> {
  const { folder, commit: parent } = worktree;
  if (diff === null) await git(folder, 'add', '--update');
  else await applyToIndex(folder, diff);
  const changes = await stagedChanges(folder);
  const [refusal] = refuseChanges(changes, allowed);
  if (refusal !== undefined) throw new TriageError('invalid-input', refusal);
  const tree = await git(folder, 'write-tree');
  const commit = await git(folder, 'commit-tree', tree, '-p', parent, '-m', `Apply ${source}`);
  const shown = await diffBetween(folder, parent, commit);
  const sum = (of: 'added' | 'deleted') => changes.reduce((total, change) => total + (change[of] ?? 0), 0);
  return {
    commit,
    files: changes.map(({ path }) => path),
    ...{ added: sum('added'), deleted: sum('deleted'), diff: shown.length > MAX_SHOWN ? null : shown },
  };
}

/** By a file: to its last blank, it is what somebody may commit. */
async function diffBetween(folder: string, from: string, to: string): Promise<string> {
  return await inTemporaryFolder(async (outside) => {
    const file = join(outside, 'shown.diff');
    await git(folder, 'diff', ...AS_READ, `--output=${file}`, from, to);
    return await readFile(file, 'utf8');
  });
}

async function applyToIndex(folder: string, diff: string): Promise<void> {
  await inTemporaryFolder(async (outside) => {
    const file = join(outside, 'fix.diff');
    await writeFile(file, diff);
    const apply = (...more: readonly string[]) => git(folder, 'apply', '--cached', '--whitespace=nowarn', ...more, file);
    // Whoever writes a diff by hand counts its lines wrong.
    await apply().catch(() => apply('--recount'));
  }).catch((cause: unknown) => {
    throw new TriageError('invalid-input', `it does not apply: ${messageOf(cause).split(': error: ').at(-1)?.split('\n')[0] ?? ''}`, {
      cause,
    });
  });
}

async function inTemporaryFolder<Value>(work: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-diff-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function stagedChanges(folder: string): Promise<Change[]> {
  const list = async (...how: readonly string[]) =>
    (await git(folder, 'diff', '--cached', '--no-renames', '--no-ext-diff', '-z', ...how, 'HEAD'))
      .split('\0')
      .filter((text) => text !== '');
  const [raw, counts] = [await list('--raw'), await list('--numstat')];
  const lines = new Map(
    counts.map((text) => {
      const [added = '-', deleted = '-', ...path] = text.split('\t');
      return [path.join('\t'), { added, deleted }];
    }),
  );
  const numberOf = (text: string | undefined) => (text === undefined || text === '-' ? null : Number(text));
  return raw.flatMap((head, at) => {
    const path = raw[at + 1];
    if (at % 2 === 1 || path === undefined) return [];
    const count = lines.get(path);
    return [{ path, modes: head.slice(1).split(' ').slice(0, 2), added: numberOf(count?.added), deleted: numberOf(count?.deleted) }];
  });
}
