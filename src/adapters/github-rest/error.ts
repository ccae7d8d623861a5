import { messageOf, TriageError } from '../../domain/errors.ts';
import { REFUSAL_HEADER } from './guarded-fetch.ts';

/** A call that GitHub answered, and not with what was asked for. */
export interface HttpFailure {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** What a failed call means for a triage; `what` names it for people, `right` what must be allowed to be read. TriageErrors pass as they are. */
export function githubError(what: string, error: unknown, right: 'Actions' | 'the contents'): TriageError {
  if (error instanceof TriageError) return error;
  const failure = httpFailure(error);
  if (failure === null) {
    return new TriageError('upstream-failed', `GitHub could not be reached for ${what}: ${messageOf(error)}.`, {
      retryable: true,
      cause: error,
    });
  }
  const { status, headers } = failure;
  const refused = headers[REFUSAL_HEADER];
  if (typeof refused === 'string') {
    return new TriageError(refused === 'too-large' ? 'too-large' : 'upstream-failed', `GitHub's response for ${what}: ${failure.message}.`);
  }
  if (status === 429 || (status === 403 && isRateLimit(failure))) {
    return new TriageError('upstream-failed', `The GitHub rate limit is reached; ${what} must wait.`, {
      retryable: true,
      retryAfterMs: retryAfterMs(failure),
      cause: error,
    });
  }
  if (status === 401 || status === 403) {
    return new TriageError(
      'upstream-auth',
      `GitHub returned ${status} for ${what}. FAULTLINE_GITHUB_TOKEN, or the GitHub App, needs permission to read ${right} of this repository.`,
      { cause: error },
    );
  }
  if (status === 404) {
    const scope = right === 'Actions' ? 'actions: read' : 'contents: read';
    const why = `it no longer exists, or the token or App has no access (is ${scope} granted?)`;
    return new TriageError('not-found', `GitHub returned 404 for ${what}: ${why}.`, { cause: error });
  }
  if (status === 410) return new TriageError('not-found', `GitHub returned 410 for ${what}: it has expired.`, { cause: error });
  const retryable = status >= 500;
  return new TriageError('upstream-failed', `GitHub returned ${status} for ${what}.`, { retryable, cause: error });
}

/** The answer behind a failed call; null where none came. */
export function httpFailure(error: unknown): HttpFailure | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null;
  // A connection that broke has status 500 and no response.
  if (!('response' in error) || typeof error.response !== 'object' || error.response === null) return null;
  const headers = 'headers' in error.response && typeof error.response.headers === 'object' ? error.response.headers : null;
  return { status: error.status, message: error.message, headers: { ...headers } };
}

function isRateLimit({ headers, message }: HttpFailure): boolean {
  return headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(message);
}

function retryAfterMs({ headers }: HttpFailure): number {
  const seconds = Number(headers['retry-after']);
  if (Number.isFinite(seconds) && seconds > 0) return seconds * 1000;
  const reset = Number(headers['x-ratelimit-reset']) * 1000 - Date.now();
  return Number.isFinite(reset) && reset > 0 ? reset : 60_000;
}
