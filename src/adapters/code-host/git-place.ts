import { plainRef } from './git-arguments.ts';
import { type Git, succeeded } from './git-command.ts';

/** What one question needs: the clone and the commit, already checked. */
export interface Place {
  readonly folder: string;
  readonly commit: string;
}

export type Ask = (place: Place, args: readonly string[], signal: AbortSignal) => ReturnType<Git>;

/** Finds the clone and the commit of a question; null where either is missing. */
export type FindPlace = (query: { repository: string; ref: string | null }, signal: AbortSignal) => Promise<Place | null>;

export function createPlaceFinder(git: Git, folderOf: (repository: string) => string | undefined): FindPlace {
  return async (query, signal) => {
    const ref = query.ref === null ? 'HEAD' : plainRef(query.ref);
    const folder = folderOf(query.repository);
    const commit = folder === undefined ? null : await commitOf(git, folder, ref, signal);
    return folder === undefined || commit === null ? null : { folder, commit };
  };
}

export async function isClone(git: Git, folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false;
  try {
    return succeeded(await git(folder, ['rev-parse', '--git-dir'], AbortSignal.timeout(10_000)));
  } catch {
    return false;
  }
}

/** The branch a clone was made from, else the one that is checked out; null for a detached head without a remote. */
export async function defaultBranchOf(git: Git, folder: string, signal: AbortSignal): Promise<string | null> {
  for (const name of ['refs/remotes/origin/HEAD', 'HEAD']) {
    const answer = await git(folder, ['symbolic-ref', '--quiet', '--short', name], signal);
    const branch = answer.output.trim().replace(/^origin\//, '');
    if (succeeded(answer) && branch !== '') return branch;
  }
  return null;
}

async function commitOf(git: Git, folder: string, ref: string, signal: AbortSignal): Promise<string | null> {
  const answer = await git(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], signal);
  const commit = answer.output.trim();
  return succeeded(answer) && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
}
