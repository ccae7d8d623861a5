import { TriageError } from '../../domain/errors.ts';
import type { RepositoryName } from './client.ts';
import { githubError, httpFailure } from './error.ts';

/** What a failed call as the App means; what cannot heal by itself says what to do. */
export function appError(what: string, error: unknown, id: string, signal: AbortSignal): TriageError {
  if (signal.aborted) return new TriageError('cancelled', `Asking GitHub for ${what} was given up.`, { cause: error });
  const meaning = githubError(what, error, 'the contents');
  const status = httpFailure(error)?.status;
  if (meaning.code !== 'upstream-auth' || error instanceof TriageError) return meaning;
  const refused = `GitHub answered ${status} for ${what}:`;
  const says =
    status === 401
      ? `${refused} it does not take the key of the GitHub App ${id}. Check FAULTLINE_GITHUB_APP_ID; where the key was deleted there, make another for FAULTLINE_GITHUB_APP_KEY. This machine's clock must be right as well.`
      : `${refused} the GitHub App ${id} may not do that. Its installation may be suspended: an owner of the account can lift that in its settings, under GitHub Apps.`;
  return new TriageError('upstream-auth', says, { cause: error });
}

/** Nobody may read this repository for us: final, until somebody gives the App the repository. */
export function notInstalled({ owner, repo }: RepositoryName, id: string, cause?: unknown): TriageError {
  return new TriageError(
    'upstream-auth',
    `The GitHub App ${id} is not installed on ${owner}/${repo}. Install it for ${owner} and give it this repository (settings of the App, "Install App"), or set FAULTLINE_GITHUB_TOKEN for repositories without it.`,
    cause === undefined ? {} : { cause },
  );
}

export function suspended({ owner }: RepositoryName, id: string): TriageError {
  return new TriageError(
    'upstream-auth',
    `The installation of the GitHub App ${id} for ${owner} is suspended. An owner of ${owner} can lift that in its settings, under GitHub Apps.`,
  );
}
