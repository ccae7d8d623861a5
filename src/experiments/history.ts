import { TriageError } from '../domain/errors.ts';
import type { Checkout } from './checkout.ts';
import type { Repository } from './repository.ts';

export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly subject: string;
}

const MAX_COMMITS = 5_000;
const FORMAT = '--format=%H%x00%P%x00%an%x00%s';

/**
 * Lists the last good commit and the commits that followed on the branch up to the bad one, oldest first; a
 * merge counts as one commit. If the good commit is on another branch, the common ancestor takes its place.
 * Throws `invalid-input` if either commit does not exist or there are no commits between them.
 */
export async function readHistory(
  checkout: Checkout,
  good: string | undefined,
  bad: string,
): Promise<Commit[]> {
  const { git } = checkout;
  const last = await resolveCommit(checkout, bad);
  const named = good === undefined ? await findDefaultBase(checkout) : await resolveCommit(checkout, good);
  const first = named === null ? null : await git('merge-base', named, last).catch(() => null);
  const text =
    first === null || first === last
      ? ''
      : await git('log', '--first-parent', '--reverse', FORMAT, `${first}..${last}`);
  if (first === null || text === '') {
    const hint =
      'Name a commit at which the command passed with --good; in a shallow clone, first run: ' +
      'git fetch --unshallow';
    throw new TriageError('invalid-input', `There are no commits between the good and the bad one. ${hint}`);
  }
  const lines = [await git('log', FORMAT, '--no-walk', first), ...text.split('\n')];
  if (lines.length > MAX_COMMITS)
    throw new TriageError('invalid-input', `More than ${MAX_COMMITS} commits: name a later one with --good.`);
  return lines.map((line) => {
    const [id = '', parents = '', author = '', subject = ''] = line.split('\0');
    return { id, parents: parents === '' ? [] : parents.split(' '), author, subject };
  });
}

/** Resolves a name to a commit. Throws `invalid-input` if there is none. */
export async function resolveCommit({ git }: Repository, ref: string): Promise<string> {
  if (ref.startsWith('-')) throw new TriageError('invalid-input', `${ref} is not a commit, branch or tag.`);
  return await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`).catch(
    (cause: unknown) => {
      throw new TriageError(
        'invalid-input',
        `${ref} is not a commit, branch or tag of this repository. Fetch it, or name another.`,
        {
          cause,
        },
      );
    },
  );
}

const DEFAULT_BRANCHES = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];

/**
 * Returns the default base: the start of the branch on a branch other than the default one, the last commit
 * for uncommitted changes on the default branch, else the previous commit.
 */
export async function findDefaultBase(checkout: Checkout): Promise<string | null> {
  const head = await resolveCommit(checkout, 'HEAD');
  for (const branch of DEFAULT_BRANCHES) {
    const base = await mergeBase(checkout, branch);
    if (base === null) continue;
    if (base !== head) return base;
    break;
  }
  if (!(await checkout.currentState()).isCommitted) return head;
  return await resolveCommit(checkout, 'HEAD^').catch(() => null);
}

/** Finds the commit at which HEAD left the branch of a commit. Returns the commit itself if it did not. */
export async function findBeginning(repository: Repository, commit: string): Promise<string> {
  const common = await mergeBase(repository, commit);
  return common === null || common === (await resolveCommit(repository, 'HEAD')) ? commit : common;
}

/** The number of commits that a shallow clone fetches to find where two branches began. */
const DEPTH = 200;

/**
 * Finds the commit that HEAD was built on: the commit that `name` refers to if it is a parent of HEAD,
 * otherwise the last common ancestor. Fetches missing commits from `origin`, but history only into a shallow
 * clone. Returns null if there is no commit except HEAD itself.
 */
export async function findBaseCommit(repository: Repository, name: string): Promise<string | null> {
  const head = await resolveCommit(repository, 'HEAD');
  const isShallow = (await repository.git('rev-parse', '--is-shallow-repository')) === 'true';
  const options = ['--quiet', '--no-tags', '--no-recurse-submodules', '--upload-pack=git-upload-pack'];
  const download = (...what: readonly string[]) =>
    repository.gitOnline(['fetch', ...options, ...what]).catch(() => null);
  // In a clone with the whole history, a depth would cut the history off.
  const bring = (depth: number, ...names: readonly string[]) =>
    isShallow ? download(`--depth=${depth}`, 'origin', ...names) : download('origin', ...names);
  let commit = await resolveCommit(repository, name).catch(() => null);
  if (commit === null && !name.startsWith('-') && (await bring(1, name)) !== null)
    commit = await resolveCommit(repository, 'FETCH_HEAD');
  if (commit === null || commit === head) return null;
  if ((await readParents(repository)).includes(commit)) return commit;
  let common = await mergeBase(repository, commit);
  if (common === null && isShallow && (await bring(DEPTH, head, commit)) !== null)
    common = await mergeBase(repository, commit);
  return common === head ? null : common;
}

/** Reads the parents of HEAD, including those that a shallow clone does not have. */
export async function readParents({ git }: Repository): Promise<string[]> {
  const [headers = ''] = (await git('cat-file', '-p', 'HEAD')).split('\n\n');
  return headers
    .split('\n')
    .flatMap((line) => (line.startsWith('parent ') ? line.slice('parent '.length) : []));
}

async function mergeBase({ git }: Repository, commit: string): Promise<string | null> {
  return await git('merge-base', 'HEAD', commit).catch(() => null);
}
