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

export interface BaseWorktree {
  readonly commit: string;
  /** The folder of the worktree that corresponds to `cwd`. */
  readonly cwd: string;
  /** Dependencies that differ there and were not shared. */
  readonly unshared: readonly string[];
  remove(): Promise<void>;
}

/**
 * Checks the base out beside the checkout, in a temporary folder: `ref`, else where the branch left the default branch, else the commit before.
 * Runs no hooks. Throws `invalid-input` where `cwd` is in no git checkout or there is no such commit.
 */
export async function openBase(cwd: string, ref: string | undefined): Promise<BaseWorktree> {
  const top = await git(cwd, 'rev-parse', '--show-toplevel');
  const commit = ref === undefined ? await defaultBase(top) : await commitOf(top, ref);
  if (commit === null) throw new TriageError('invalid-input', `There is no commit to compare with: name one with --base.`);
  const folder = await mkdtemp(join(tmpdir(), 'faultline-base-'));
  const remove = async () => {
    await git(top, 'worktree', 'remove', '--force', folder).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    await git(top, 'worktree', 'prune').catch(() => undefined);
  };
  try {
    await git(top, 'worktree', 'add', '--quiet', '--detach', '--force', folder, commit);
    return { commit, cwd: resolve(folder, relative(top, resolve(cwd))), unshared: await shareDependencies(top, folder), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function commitOf(top: string, ref: string): Promise<string> {
  if (ref.startsWith('-')) throw new TriageError('invalid-input', `${ref} is not a commit, branch or tag.`);
  return await git(top, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`).catch((cause: unknown) => {
    throw new TriageError(
      'invalid-input',
      `${ref} is not a commit, branch or tag of this repository. Fetch it, or name another with --base.`,
      {
        cause,
      },
    );
  });
}

const DEFAULT_BRANCHES = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];

/** Changes that are not committed are compared with the last commit, a branch with where it began, the default branch with the commit before. */
async function defaultBase(top: string): Promise<string | null> {
  const head = await commitOf(top, 'HEAD');
  for (const branch of DEFAULT_BRANCHES) {
    const base = await git(top, 'merge-base', 'HEAD', branch).catch(() => null);
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

/** Throws `invalid-input` with git's own sentence. */
async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', ['-c', 'core.hooksPath=/dev/null', ...args], { cwd, timeout: GIT_MS, maxBuffer: 16 * 1024 * 1024 });
    return stdout.trim();
  } catch (cause) {
    const said = typeof cause === 'object' && cause !== null && 'stderr' in cause ? String(cause.stderr).trim() : '';
    throw new TriageError('invalid-input', `git ${args[0]} in ${cwd}: ${said === '' ? messageOf(cause) : said.slice(0, 500)}`, { cause });
  }
}
