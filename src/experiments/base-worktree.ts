import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, TriageError } from '../domain/errors.ts';

const GIT_MS = 120_000;
const run = promisify(execFile);

/** Installed dependencies, and the files that pin them: where these are equal the folder is shared. Without any of them the manifest decides. */
const DEPENDENCIES = [
  {
    folder: 'node_modules',
    locks: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'],
    manifest: 'package.json',
  },
  ...['.venv', 'venv'].map((folder) => ({
    folder,
    locks: ['uv.lock', 'poetry.lock', 'Pipfile.lock', 'requirements.txt'],
    manifest: 'pyproject.toml',
  })),
  { folder: 'vendor', locks: ['Gemfile.lock', 'composer.lock'], manifest: 'composer.json' },
] as const;

export interface Worktree {
  readonly commit: string;
  /** Its top folder. */
  readonly folder: string;
  /** The folder of the worktree that corresponds to `cwd`. */
  readonly cwd: string;
  /** Dependencies that differ there and were not shared. */
  readonly unshared: readonly string[];
  /** Checks another commit out in the same folder, without what was built or installed there, and answers with dependencies that differ. */
  moveTo(commit: string): Promise<readonly string[]>;
  remove(): Promise<void>;
}

/**
 * Checks the base out beside the checkout, in a temporary folder: where HEAD left `ref`, else where it left the default branch, else the commit
 * before. What `ref` gained since is no difference of this change.
 * Runs no hooks. Throws `invalid-input` where `cwd` is in no git checkout or there is no such commit.
 */
export async function openBase(cwd: string, ref: string | undefined): Promise<Worktree> {
  const commit = ref === undefined ? await defaultBase(cwd) : await beginning(cwd, await commitOf(cwd, ref));
  if (commit === null) throw new TriageError('invalid-input', `There is no commit to compare with: name one with --base.`);
  return await openWorktree(cwd, commit);
}

/** Checks a commit out beside the checkout, as `openBase` does. */
export async function openWorktree(cwd: string, commit: string): Promise<Worktree> {
  const top = await git(cwd, 'rev-parse', '--show-toplevel');
  const folder = await mkdtemp(join(tmpdir(), 'faultline-base-'));
  const remove = async () => {
    await git(top, 'worktree', 'remove', '--force', folder).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    await git(top, 'worktree', 'prune').catch(() => undefined);
  };
  try {
    await git(top, 'worktree', 'add', '--quiet', '--detach', '--force', folder, commit);
    const moveTo = async (next: string) => {
      await git(folder, 'checkout', '--quiet', '--detach', '--force', next);
      await git(folder, 'clean', '-ffdxq');
      return await shareDependencies(top, folder);
    };
    const within = resolve(folder, relative(top, resolve(cwd)));
    return { commit, folder, cwd: within, unshared: await shareDependencies(top, folder), moveTo, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** HEAD, or a commit that holds the tracked files as they are where some are not committed. Changes nothing in the checkout. */
export async function currentState(cwd: string): Promise<{ readonly commit: string; readonly isCommitted: boolean }> {
  // Git notices first which files were only copied or touched: `stash create` fails where these are all.
  const isClean = (await git(cwd, 'status', '--porcelain', '--untracked-files=no', '--ignore-submodules=dirty')) === '';
  const changed = isClean ? '' : await git(cwd, 'stash', 'create');
  return { commit: changed === '' ? await commitOf(cwd, 'HEAD') : changed, isCommitted: changed === '' };
}

/** Of commits that nobody else sees. */
const AUTHOR = ['-c', 'user.name=Faultline', '-c', 'user.email=faultline@localhost', '-c', 'commit.gpgsign=false'] as const;

async function beginning(cwd: string, commit: string): Promise<string> {
  const common = await mergeBase(cwd, commit);
  return common === null || common === (await commitOf(cwd, 'HEAD')) ? commit : common;
}

/** Commits of history that a shallow clone fetches to find where two branches began. */
const DEPTH = 200;

/**
 * The commit that HEAD was built on: the one that `name` represents where it is a parent of HEAD, else the last one that both have. Fetches
 * what the checkout lacks from `origin`, and history only into a shallow clone. Null where there is none but HEAD itself.
 */
export async function builtOn(cwd: string, name: string): Promise<string | null> {
  const head = await commitOf(cwd, 'HEAD');
  const isShallow = (await git(cwd, 'rev-parse', '--is-shallow-repository')) === 'true';
  const download = (...what: readonly string[]) => git(cwd, 'fetch', '--quiet', '--no-tags', ...what).catch(() => null);
  // In a clone that has its history, a depth would cut it off.
  const bring = (depth: number, ...names: readonly string[]) =>
    isShallow ? download(`--depth=${depth}`, 'origin', ...names) : download('origin', ...names);
  let commit = await commitOf(cwd, name).catch(() => null);
  if (commit === null && !name.startsWith('-') && (await bring(1, name)) !== null) commit = await commitOf(cwd, 'FETCH_HEAD');
  if (commit === null || commit === head) return null;
  if ((await parentsOf(cwd)).includes(commit)) return commit;
  let common = await mergeBase(cwd, commit);
  if (common === null && isShallow && (await bring(DEPTH, head, commit)) !== null) common = await mergeBase(cwd, commit);
  return common === head ? null : common;
}

/** Parents of HEAD, also those that a shallow clone does not have. */
export async function parentsOf(cwd: string): Promise<string[]> {
  const [headers = ''] = (await git(cwd, 'cat-file', '-p', 'HEAD')).split('\n\n');
  return headers.split('\n').flatMap((line) => (line.startsWith('parent ') ? line.slice('parent '.length) : []));
}

async function mergeBase(cwd: string, commit: string): Promise<string | null> {
  return await git(cwd, 'merge-base', 'HEAD', commit).catch(() => null);
}

export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly subject: string;
}

const MAX_COMMITS = 5_000;
const FORMAT = '--format=%H%x00%P%x00%an%x00%s';

/**
 * The last good commit and those that followed on the branch up to the bad one, merges as one, oldest first. Where the good one is on another branch, the commit
 * where both began represents it. Throws `invalid-input` where either does not exist or nothing lies between them.
 */
export async function history(cwd: string, good: string | undefined, bad: string): Promise<Commit[]> {
  const last = await commitOf(cwd, bad);
  const named = good === undefined ? await defaultBase(cwd) : await commitOf(cwd, good);
  const first = named === null ? null : await git(cwd, 'merge-base', named, last).catch(() => null);
  const text = first === null || first === last ? '' : await git(cwd, 'log', '--first-parent', '--reverse', FORMAT, `${first}..${last}`);
  if (first === null || text === '') {
    const hint = 'Name a commit at which the command passed with --good; in a shallow clone, first run: git fetch --unshallow';
    throw new TriageError('invalid-input', `There are no commits between the good and the bad one. ${hint}`);
  }
  const lines = [await git(cwd, 'log', FORMAT, '--no-walk', first), ...text.split('\n')];
  if (lines.length > MAX_COMMITS) throw new TriageError('invalid-input', `More than ${MAX_COMMITS} commits: name a later one with --good.`);
  return lines.map((line) => {
    const [id = '', parents = '', author = '', subject = ''] = line.split('\0');
    return { id, parents: parents === '' ? [] : parents.split(' '), author, subject };
  });
}

async function commitOf(top: string, ref: string): Promise<string> {
  if (ref.startsWith('-')) throw new TriageError('invalid-input', `${ref} is not a commit, branch or tag.`);
  return await git(top, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`).catch((cause: unknown) => {
    throw new TriageError('invalid-input', `${ref} is not a commit, branch or tag of this repository. Fetch it, or name another.`, {
      cause,
    });
  });
}

const DEFAULT_BRANCHES = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];

/** Changes that are not committed are compared with the last commit, a branch with where it began, the default branch with the commit before. */
async function defaultBase(top: string): Promise<string | null> {
  const head = await commitOf(top, 'HEAD');
  for (const branch of DEFAULT_BRANCHES) {
    const base = await mergeBase(top, branch);
    if (base === null) continue;
    if (base !== head) return base;
    break;
  }
  if ((await git(top, 'status', '--porcelain', '--untracked-files=no')) !== '') return head;
  return await commitOf(top, 'HEAD^').catch(() => null);
}

async function shareDependencies(top: string, folder: string): Promise<string[]> {
  const unshared: string[] = [];
  for (const { folder: name, locks, manifest } of DEPENDENCIES) {
    if (!existsSync(join(top, name)) || existsSync(join(folder, name))) continue;
    const pins = locks.some((lock) => existsSync(join(top, lock))) ? locks : [manifest];
    if (await allEqual(top, folder, pins)) await symlink(join(top, name), join(folder, name), 'dir');
    else unshared.push(name);
  }
  return unshared;
}

async function allEqual(top: string, folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const [ours, theirs] = await Promise.all([top, folder].map((one) => readFile(join(one, name), 'utf8').catch(() => null)));
    if (ours !== theirs) return false;
  }
  return true;
}

/** Runs no hooks. Throws `invalid-input` with git's own sentence. */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', ['-c', 'core.hooksPath=/dev/null', ...AUTHOR, ...args], {
      cwd,
      timeout: GIT_MS,
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout.trim();
  } catch (cause) {
    const said = typeof cause === 'object' && cause !== null && 'stderr' in cause ? String(cause.stderr).trim() : '';
    throw new TriageError('invalid-input', `git ${args[0]} in ${cwd}: ${said === '' ? messageOf(cause) : said.slice(0, 500)}`, { cause });
  }
}
