import { createGit, type Git, type GitOptions } from '../../git/command.ts';
import type { CodeHost, RepositoryInfo } from '../../ports/code-host.ts';
import { checkRef, createHost, listFilesEndingWith, MAX_COMMITS } from '../code-questions.ts';
import { createTogether } from '../memory.ts';
import { readCommitDiff, readComparison, readHistory, readLineHistory } from './history.ts';
import {
  blameLines,
  createFileLister,
  findDefaultBranch,
  grepFiles,
  grepLines,
  isClone,
  type Place,
  readWindow,
  resolveCommit,
} from './questions.ts';

export interface LocalGitOptions extends Pick<GitOptions, 'path' | 'timeoutMs' | 'maxOutputBytes'> {
  /** The folder of each clone, bare or not, by `owner/name`. */
  readonly clones: Readonly<Record<string, string>>;
}

/** The signal for checking whether a clone is readable. It never aborts, because git has a time limit. */
const NEVER = new AbortController().signal;
/** The maximum size of the patches of one change in bytes. It has room for 300 files of the maximum size. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;

/**
 * Reads clones on this machine with git: only committed content, never the work tree, never the network.
 * External texts are passed to git only after `--` or `-e`, or as a checked commit id.
 */
export function createLocalGitHost(options: LocalGitOptions): CodeHost {
  const git = createGit(options);
  const gitForPatches = createGit({
    ...options,
    maxOutputBytes: Math.min(options.maxOutputBytes ?? MAX_PATCH_BYTES, MAX_PATCH_BYTES),
  });
  const getFolder = (repository: string) =>
    Object.hasOwn(options.clones, repository) ? options.clones[repository] : undefined;
  const listFiles = createFileLister();
  const canRead = createTogether<boolean>();
  const find = async (
    { repository, ref }: { repository: string; ref: string | null },
    signal: AbortSignal,
  ): Promise<Place | null> => {
    const wanted = ref === null ? 'HEAD' : checkRef(ref);
    const folder = getFolder(repository);
    const commit = folder === undefined ? null : await resolveCommit(git, folder, wanted, signal);
    if (folder === undefined || commit === null) return null;
    return {
      folder,
      commit,
      git: (...asked) => git(folder, ...asked),
      patches: (...asked) => gitForPatches(folder, ...asked),
    };
  };
  return createHost<Place>({
    driver: 'local-git',
    where: 'in the clone',
    find,
    // All tools of a triage check this at the same time.
    canRead: (repository) => canRead(repository, NEVER, () => isClone(git, getFolder(repository))),
    listRepositories: ({ limit }, signal) => listClones(git, options.clones, limit, signal),
    readFile: readWindow,
    search: grepLines,
    searchFiles: grepFiles,
    findFiles: async (place, { suffix, limit }, signal) =>
      listFilesEndingWith((await listFiles(place, signal)).paths, suffix, limit),
    listFiles,
    blame: blameLines,
    history: (place, { path, limit }, signal) =>
      readHistory(place, { path, limit: Math.min(limit, MAX_COMMITS) }, signal),
    lineHistory: readLineHistory,
    commitDiff: readCommitDiff,
    compare: async ({ repository, base, head }, signal) => {
      const [from, place] = await Promise.all([base, head].map((ref) => find({ repository, ref }, signal)));
      return from == null || place == null ? null : readComparison(place, from.commit, signal);
    },
  });
}

async function listClones(
  git: Git,
  clones: LocalGitOptions['clones'],
  limit: number,
  signal: AbortSignal,
): Promise<RepositoryInfo[]> {
  const found: RepositoryInfo[] = [];
  for (const [repository, folder] of Object.entries(clones).sort(([left], [right]) =>
    left < right ? -1 : 1,
  )) {
    signal.throwIfAborted();
    if (found.length >= limit) break;
    if (!(await isClone(git, folder))) continue;
    found.push({
      repository,
      defaultBranch: await findDefaultBranch(git, folder, signal),
      description: null,
    });
  }
  return found;
}
