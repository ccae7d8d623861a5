import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { TriageError } from '../domain/errors.ts';
import { type Checkout, createStore, type WorkTree } from './checkout.ts';
import { fetchMissing, writeFiltered } from './filtered-files.ts';
import { copyIndex, writeGitFolder } from './git-folder.ts';
import { findBeginning, findDefaultBase, resolveCommit } from './history.ts';
import { type AskGit, openRepository } from './repository.ts';
import { removeFolder } from './temporary-folder.ts';

/**
 * The folders of installed dependencies with the files that pin them. If these files are equal, the folder is
 * shared. If there are none, the manifest decides.
 */
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

/**
 * The files of a commit in the temporary folder of an experiment. They have a `.git` of their own, in which
 * commands may change anything.
 */
export interface Worktree {
  readonly commit: string;
  /** The top folder of the worktree. */
  readonly folder: string;
  /** The folder of the worktree that corresponds to the checkout's `cwd`. */
  readonly cwd: string;
  /** The dependencies that differ from the checkout's and were not shared. */
  readonly unshared: readonly string[];
  /** Runs git on the files of the worktree, with the repository of the experiment instead of that `.git`. */
  readonly git: AskGit;
  /**
   * Checks out another commit in the same folder, and removes everything that was built or installed there.
   * Returns the dependencies that differ.
   */
  moveTo(commit: string): Promise<readonly string[]>;
}

/**
 * Returns the commit of the base: where HEAD branched off from `ref`, else where it branched off from the
 * default branch, else the previous commit. Later commits of `ref` do not belong to this change. Throws
 * `invalid-input` if there is no such commit.
 */
export async function findBase(checkout: Checkout, ref: string | undefined): Promise<string> {
  const commit =
    ref === undefined
      ? await findDefaultBase(checkout)
      : await findBeginning(checkout, await resolveCommit(checkout, ref));
  if (commit === null)
    throw new TriageError(
      'invalid-input',
      `There is no commit to compare with: name one with --base, or compare with nothing by --no-base.`,
    );
  return commit;
}

/**
 * Checks out a commit. Throws `invalid-input` if its files cannot be written in the same form as those of the
 * checkout.
 */
export async function openWorktree(checkout: Checkout, commit: string): Promise<Worktree> {
  const { top, root } = checkout;
  // Some tools use the name of its folder as the name of a project.
  const work = { folder: join(root, 'work', basename(top)), index: 'work-index' };
  const moveTo = async (next: string) => {
    await checkOut(checkout, work, next);
    return await shareDependencies(top, work.folder);
  };
  return {
    commit,
    folder: work.folder,
    cwd: join(work.folder, relative(top, checkout.cwd)),
    unshared: await moveTo(commit),
    moveTo,
    git: (...args) => checkout.inStore(work, args),
  };
}

async function checkOut(checkout: Checkout, work: WorkTree, commit: string): Promise<void> {
  const { folder } = work;
  await mkdir(folder, { recursive: true });
  await fetchMissing(checkout, commit);
  await removeFolder(join(folder, '.git'));
  // Files were overwritten after git had written them, so the index is outdated.
  if (checkout.settings.smudges.size > 0) await rm(join(checkout.root, work.index), { force: true });
  const lay = async () => {
    await checkout.inStore(work, ['checkout', '--quiet', '--detach', '--force', commit]);
    await checkout.inStore(work, ['clean', '-ffdxq']);
  };
  await lay().catch(async () => {
    // Something there is read-only, or is not what git expects.
    const left = await removeFolder(folder);
    if (left !== null) throw new TriageError('invalid-input', left);
    await mkdir(folder);
    await rm(join(checkout.root, work.index), { force: true });
    await lay();
  });
  await writeFiltered(checkout, work);
  await checkOutSubmodules(checkout, work);
  await writeOwnGit(checkout, work, commit);
}

/**
 * Writes the `.git` folder that commands see: the commit, branches, tags, and remotes. Changes that commands
 * make there do not change the checkout's repository.
 */
async function writeOwnGit(checkout: Checkout, { folder, index }: WorkTree, commit: string): Promise<void> {
  const { store, git, settings, format, shallow, attributes, sparse } = checkout;
  const refs = await git(
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    'refs/heads',
    'refs/remotes',
    'refs/tags',
    'refs/notes',
  );
  const gitFile = join(folder, '.git');
  await writeGitFolder(gitFile, {
    objects: [join(store, 'objects')],
    format,
    settings: [...settings.files, ...settings.shown],
    head: commit,
    refs: `${refs}\n`,
    shallow,
    attributes,
    sparse,
  });
  await copyIndex(join(checkout.root, index), join(gitFile, 'index'));
}

/**
 * Checks out the submodules that the checkout has. Throws `invalid-input` if a submodule lacks its commit.
 */
async function checkOutSubmodules(checkout: Checkout, work: WorkTree): Promise<void> {
  const listed = await checkout.inStore(work, ['ls-files', '--stage', '-z']);
  for (const [, commit = '', path = ''] of listed.matchAll(/(?:^|\0)160000 ([0-9a-f]+) \d\t([^\0]+)/g)) {
    const [here, there] = [join(checkout.top, path), join(work.folder, path)];
    await removeFolder(there);
    await mkdir(there, { recursive: true });
    if (!existsSync(join(here, '.git'))) continue;
    const repository = await openRepository({ ...checkout.place, cwd: here });
    await repository.git('cat-file', '-e', `${commit}^{commit}`).catch((cause: unknown) => {
      const how = `git -C ${path} fetch --all`;
      throw new TriageError(
        'invalid-input',
        `The submodule ${path} lacks commit ${commit}: run ${how}, or leave the base out.`,
        { cause },
      );
    });
    const inner = await createStore(repository, join(checkout.root, 'modules', path));
    await checkOut(inner, { folder: there, index: 'work-index' }, commit);
  }
}

async function shareDependencies(top: string, folder: string): Promise<string[]> {
  const unshared: string[] = [];
  for (const { folder: name, locks, manifest } of DEPENDENCIES) {
    // A broken link exists as well.
    if (!existsSync(join(top, name)) || (await lstat(join(folder, name)).catch(() => null)) !== null)
      continue;
    const pins = locks.some((lock) => existsSync(join(top, lock))) ? locks : [manifest];
    if (await areAllEqual(top, folder, pins)) await symlink(join(top, name), join(folder, name), 'dir');
    else unshared.push(name);
  }
  return unshared;
}

async function areAllEqual(top: string, folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const [ours, theirs] = await Promise.all(
      [top, folder].map((root) => readFile(join(root, name), 'utf8').catch(() => null)),
    );
    if (ours !== theirs) return false;
  }
  return true;
}
