import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Logger } from '../../ports/logger.ts';

export interface GithubClientOptions {
  readonly baseUrl: string;
  readonly token: string | null;
  readonly logger: Logger;
  /** Unit of the waits between tries, in milliseconds; a second unless a test is in a hurry. */
  readonly retryUnitMs?: number;
}

/** A run of Actions, as the API addresses it. */
export interface GithubRun {
  readonly owner: string;
  readonly repo: string;
  readonly run_id: number;
  readonly attempt_number: number;
}

/** A rate limit that ends sooner is waited for; a longer one goes back to the queue. */
const LONGEST_WAIT_SECONDS = 20;
const RETRIES = 2;

const PatientOctokit = Octokit.plugin(retry, throttling);
export type GithubClient = InstanceType<typeof PatientOctokit>;

/** A client of GitHub's REST API that tries again after server errors and waits for short rate limits. */
export function createGithubClient({ baseUrl, token, logger, retryUnitMs = 1000 }: GithubClientOptions): GithubClient {
  const wait = (retryAfter: number, _options: object, _octokit: object, retryCount: number) => {
    logger.warn({ retryAfterSeconds: retryAfter, retryCount }, 'GitHub limits the rate');
    return retryAfter <= LONGEST_WAIT_SECONDS && retryCount < RETRIES;
  };
  const say = (level: 'debug' | 'warn') => (message: string) => logger[level]({ message }, 'GitHub client');
  return new PatientOctokit({
    baseUrl: baseUrl.replace(/\/$/, ''),
    userAgent: 'faultline',
    ...(token === null ? {} : { auth: token }),
    log: { debug: say('debug'), info: say('debug'), warn: say('warn'), error: say('warn') },
    retry: { retries: RETRIES, retryAfterBaseValue: retryUnitMs },
    throttle: { onRateLimit: wait, onSecondaryRateLimit: wait, retryAfterBaseValue: retryUnitMs },
  });
}

interface HttpFailure {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** What a failed call means for a triage; `what` names it for people. TriageErrors pass as they are. */
export function githubError(what: string, error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  const failure = httpFailure(error);
  if (failure === null) {
    return new TriageError('upstream-failed', `GitHub could not be reached for ${what}: ${messageOf(error)}.`, {
      retryable: true,
      cause: error,
    });
  }
  const { status } = failure;
  if (status === 429 || (status === 403 && isRateLimit(failure))) {
    return new TriageError('upstream-failed', `GitHub limits the rate of calls; ${what} must wait.`, {
      retryable: true,
      retryAfterMs: retryAfterMs(failure),
      cause: error,
    });
  }
  if (status === 401 || status === 403) {
    return new TriageError(
      'upstream-auth',
      `GitHub answered ${status} for ${what}. FAULTLINE_GITHUB_TOKEN needs the right to read Actions of this repository.`,
      { cause: error },
    );
  }
  if (status === 404)
    return new TriageError('not-found', `GitHub answered 404 for ${what}: it is gone, or the token may not see it.`, { cause: error });
  if (status === 410) return new TriageError('not-found', `GitHub answered 410 for ${what}: it has expired.`, { cause: error });
  const retryable = status >= 500;
  return new TriageError('upstream-failed', `GitHub answered ${status} for ${what}.`, { retryable, cause: error });
}

function httpFailure(error: unknown): HttpFailure | null {
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
