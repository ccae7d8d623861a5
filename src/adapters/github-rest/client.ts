import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';
import type { Logger } from '../../ports/logger.ts';
import { askWhetherChanged } from './unchanged.ts';

export interface GithubClientOptions {
  readonly baseUrl: string;
  readonly token: string | null;
  readonly logger: Logger;
  /** Unit of the waits between tries, in milliseconds; a second unless a test is in a hurry. */
  readonly retryUnitMs?: number;
  /** In place of the platform's: bounds what is read and where a call may be sent on to. */
  readonly fetch?: typeof fetch;
}

/** A rate limit that ends sooner is waited for; a longer one goes back to the queue. */
const LONGEST_WAIT_SECONDS = 20;
const RETRIES = 2;

const PatientOctokit = Octokit.plugin(retry, throttling);
export type GithubClient = InstanceType<typeof PatientOctokit>;

/** A client of GitHub's REST API that tries again after server errors, waits for short rate limits, and asks only for what changed. */
export function createGithubClient({ baseUrl, token, logger, retryUnitMs = 1000, fetch }: GithubClientOptions): GithubClient {
  const wait = (retryAfter: number, _options: object, _octokit: object, retryCount: number) => {
    logger.warn({ retryAfterSeconds: retryAfter, retryCount }, 'GitHub limits the rate');
    return retryAfter <= LONGEST_WAIT_SECONDS && retryCount < RETRIES;
  };
  const say = (level: 'debug' | 'warn') => (message: string) => logger[level]({ message }, 'GitHub client');
  const client = new PatientOctokit({
    baseUrl: baseUrl.replace(/\/$/, ''),
    userAgent: 'faultline',
    ...(fetch === undefined ? {} : { request: { fetch } }),
    ...(token === null ? {} : { auth: token }),
    log: { debug: say('debug'), info: say('debug'), warn: say('warn'), error: say('warn') },
    retry: { retries: RETRIES, retryAfterBaseValue: retryUnitMs },
    throttle: { onRateLimit: wait, onSecondaryRateLimit: wait, retryAfterBaseValue: retryUnitMs },
  });
  askWhetherChanged(client);
  return client;
}
