import { TriageError } from '../../domain/errors.ts';
import type { RepositoryName } from './client.ts';
import { githubError, httpFailure } from './error.ts';

/** What a failed call as the App means; what cannot heal by itself says what to do. */
export function appError(what: string, error: unknown, id: string, signal: AbortSignal): TriageError {
  if (signal.aborted) return new TriageError('cancelled', `The GitHub request for ${what} was stopped.`, { cause: error });
  const meaning = githubError(what, error, 'the contents');
  const status = httpFailure(error)?.status;
  if (meaning.code !== 'upstream-auth' || error instanceof TriageError) return meaning;
  const refused = `GitHub returned ${status} for ${what}:`;
  const says =
    status === 401
      ? `${refused} it does not accept the key of the GitHub App ${id}. Check FAULTLINE_GITHUB_APP_ID. If the key was deleted on GitHub, create a new one for FAULTLINE_GITHUB_APP_KEY. Also check this machine's clock.`
      : `${refused} the GitHub App ${id} does not have permission. Its installation may be suspended: an account owner can unsuspend it in the settings, under GitHub Apps.`;
  return new TriageError('upstream-auth', says, { cause: error });
}

/** Nobody may read this repository for us: final, until somebody gives the App the repository. */
export function notInstalled({ owner, repo }: RepositoryName, id: string, cause?: unknown): TriageError {
  return new TriageError(
    'upstream-auth',
    `The GitHub App ${id} is not installed on ${owner}/${repo}. Install it for ${owner} with access to this repository (App settings, "Install App"), or set FAULTLINE_GITHUB_TOKEN for repositories without it.`,
    cause === undefined ? {} : { cause },
  );
}

export function suspended({ owner }: RepositoryName, id: string): TriageError {
  return new TriageError(
    'upstream-auth',
    `The installation of the GitHub App ${id} for ${owner} is suspended. An owner of ${owner} can unsuspend it in the settings, under GitHub Apps.`,
  );
}
