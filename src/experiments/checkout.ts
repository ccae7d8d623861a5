import { copyFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shortenCommit } from '../domain/build.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { copyIndex, writeGitFolder, writeSettings } from './git-folder.ts';
import { askGit, openRepository, type Place, type Repository } from './repository.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/**
 * A checkout from which experiments start and to which they never write. The commits and worktrees of an
 * experiment are in a temporary folder, in a separate repository that borrows the objects of the checkout's
 * repository.
 */
export interface Checkout extends Repository {
  /** The temporary folder of the experiment. */
  readonly root: string;
  /** The path of the separate repository, which belongs to no worktree. */
  readonly store: string;
  /** Runs git in the separate repository on files of a worktree, with an index in `root`. */
  readonly inStore: (work: WorkTree, args: readonly string[], input?: string) => Promise<string>;
  /**
   * Returns HEAD, or a commit with the tracked files in their current state if some changes are not
   * committed.
   */
  currentState(): Promise<{ readonly commit: string; readonly isCommitted: boolean }>;
  /** Creates a local branch at a commit of the experiment that follows HEAD. */
  createBranch(name: string, commit: string): Promise<void>;
}

export interface WorkTree {
  readonly folder: string;
  /** The name of the index. */
  readonly index: string;
}

/**
 * Runs an experiment and leaves the checkout as it was. The notes of the result name changes that the
 * checkout underwent, and parts of the temporary folder that cannot be removed. `need` throws `invalid-input`
 * if the experiment is not made in a git checkout.
 */
export async function withCheckout<Result extends { readonly notes: readonly string[] }>(
  place: Place,
  experiment: (need: () => Checkout) => Promise<Result>,
): Promise<Result> {
  const repository = await openRepository(place).catch((error: unknown) => {
    if (error instanceof TriageError) return error;
    throw error;
  });
  if (repository instanceof TriageError) {
    return await experiment(() => {
      throw repository;
    });
  }
  const { checkout, close } = await openCheckout(repository);
  let result: Result;
  try {
    result = await experiment(() => checkout);
  } catch (error) {
    const notes = await close();
    if (notes.length === 0 || !(error instanceof TriageError)) throw error;
    throw new TriageError(error.code, [error.message, ...notes].join('\n'), { cause: error });
  }
  return { ...result, notes: [...result.notes, ...(await close())] };
}

/** Opens a checkout for an experiment. `close` returns notes. */
async function openCheckout(
  repository: Repository,
): Promise<{ readonly checkout: Checkout; close(): Promise<string[]> }> {
  const temporary = await createTemporaryFolder('faultline-base-');
  const checkout = await createStore(repository, temporary.path);
  const before = await readState(checkout);
  const close = async () => {
    const changes = await listChangesSince(checkout, before).catch((error: unknown) => [
      `it cannot be read (${getErrorMessage(error)})`,
    ]);
    const left = await temporary.remove();
    const what = `your checkout is not as it was: ${changes.join('; ')}`;
    return [
      ...(changes.length === 0
        ? []
        : [`ATTENTION: ${what}. Faultline does not write to it; the command or somebody else did.`]),
      ...(left === null ? [] : [left]),
    ];
  };
  return { checkout, close };
}

/** The author of commits that no one else sees. */
const AUTHOR = ['user.name=Faultline', 'user.email=faultline@localhost'];

/** Creates the repository of an experiment in its folder. */
export async function createStore(repository: Repository, root: string): Promise<Checkout> {
  const store = join(root, 'store');
  const { settings, format, shallow, attributes, sparse, how } = repository;
  const written = {
    objects: [repository.objects],
    format,
    settings: settings.files,
    head: 'ref: refs/heads/none',
    shallow,
    attributes,
    sparse,
  };
  await writeGitFolder(store, written);
  const inStore: Checkout['inStore'] = async ({ folder, index }, args, input) => {
    await writeSettings(store, written);
    const env = {
      GIT_DIR: store,
      GIT_WORK_TREE: folder,
      GIT_INDEX_FILE: join(root, index),
      GIT_ATTR_NOSYSTEM: undefined,
    };
    return await askGit(folder, { ...how, env, settings: AUTHOR }, args, input);
  };
  const checkout: Checkout = {
    ...repository,
    root,
    store,
    inStore,
    async currentState() {
      const { commit, tree } = await readState(checkout);
      if (commit === null) throw new TriageError('invalid-input', 'There is no commit yet.');
      if (tree === (await repository.git('rev-parse', `${commit}^{tree}`)))
        return { commit, isCommitted: true };
      const made = await inStore(readStateTree(checkout), [
        'commit-tree',
        tree,
        '-p',
        commit,
        '-m',
        'Changes that are not committed',
      ]);
      return { commit: made, isCommitted: false };
    },
    async createBranch(name, commit) {
      const [ref, file] = ['refs/faultline/fix', join(root, 'fix.bundle')];
      await inStore(readStateTree(checkout), ['update-ref', ref, commit]);
      await inStore(readStateTree(checkout), ['bundle', 'create', '--quiet', file, ref, `^${commit}^`]);
      await repository.git('bundle', 'unbundle', file);
      await repository.git('branch', '--no-track', name, commit);
    },
  };
  return checkout;
}

interface State {
  /** The branch that is checked out, or `no branch`. */
  readonly branch: string;
  readonly commit: string | null;
  /** The entries of the index. */
  readonly index: string;
  /** The tree of the tracked files in their current state. */
  readonly tree: string;
}

function readStateTree({ top }: Repository): WorkTree {
  return { folder: top, index: 'state-index' };
}

/** Reads the state from a copy of the index, so that the index itself is neither locked nor refreshed. */
async function readState(checkout: Checkout): Promise<State> {
  const { git, index, root, store, inStore } = checkout;
  const work = readStateTree(checkout);
  await copyIndex(index, join(root, work.index)).catch(() => undefined);
  const shared = (await readdir(dirname(index))).filter((name) => name.startsWith('sharedindex.'));
  for (const name of shared) await copyFile(join(dirname(index), name), join(store, name));
  const entries = await inStore(work, ['ls-files', '--stage', '-z']);
  const changed = await inStore(work, ['diff-files', '--name-only', '-z', '--ignore-submodules=dirty']);
  if (changed !== '')
    await inStore(work, ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], changed);
  return {
    branch: await git('symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => 'no branch'),
    commit: await git('rev-parse', '--verify', '--quiet', 'HEAD').catch(() => null),
    index: entries,
    tree: await inStore(work, ['write-tree', '--missing-ok']),
  };
}

const MAX_NAMED = 5;

async function listChangesSince(checkout: Checkout, before: State): Promise<string[]> {
  const after = await readState(checkout);
  const changes: string[] = [];
  const at = ({ branch, commit }: State) =>
    `${branch} at ${commit === null ? 'no commit' : shortenCommit(commit)}`;
  if (at(before) !== at(after)) changes.push(`it was on ${at(before)} and is on ${at(after)}`);
  if (before.index !== after.index) changes.push('other changes are staged');
  if (before.tree !== after.tree) {
    const listed = await checkout.inStore(readStateTree(checkout), [
      'diff-tree',
      '-r',
      '--name-only',
      '-z',
      before.tree,
      after.tree,
    ]);
    const names = listed.split('\0').filter((name) => name !== '');
    const rest = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
    changes.push(`tracked files differ: ${names.slice(0, MAX_NAMED).join(', ')}${rest}`);
  }
  return changes;
}
