import { createAppAuth } from '@octokit/auth-app';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';
import type { Logger } from '../../ports/telemetry.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { askWhetherChanged, createKeptAnswers, type KeptAnswers } from './unchanged.ts';

export interface GithubClientOptions {
  /** Of the REST API: `https://api.github.com`, or `https://host/api/v3`. */
  readonly baseUrl: string;
  readonly logger: Logger;
  /** Unit of the waits between tries, in milliseconds; a second unless a test is in a hurry. */
  readonly retryUnitMs?: number;
  /** Calls that write follow each other at once, and limits of the rate are not waited for: for tests in a hurry. */
  readonly unpaced?: boolean;
  /** Largest reply, in bytes; downloads have limits of their own. */
  readonly maxReplyBytes?: number;
}

/** A repository, as the API addresses it. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/** A GitHub App, as which calls can be signed. */
export interface GithubAppKey {
  /** Its number, or its client id. */
  readonly id: string;
  /** In PEM. */
  readonly privateKey: string;
}

/** Whose client it is; kept answers are its own. */
export interface Identity {
  readonly who: string;
  /** With whom it shares a rate limit; absent: with those of its name. */
  readonly limit?: string;
  /** Sent with every call, unless the App signs. */
  readonly token?: string | null;
  /** Signs as the App itself, which may do no more than look after its installations. */
  readonly app?: GithubAppKey;
  /** Where answers are kept; absent: in memory of the client's own. */
  readonly answers?: KeptAnswers;
}

/** GitHub's own trees are cut at 7 MB of names; with their addresses they come to several times that. */
const MAX_REPLY_BYTES = 48 * 1024 * 1024;
/** A rate limit that ends sooner is waited for; a longer one goes back to the queue. */
const LONGEST_WAIT_SECONDS = 20;
const RETRIES = 2;

const PatientOctokit = Octokit.plugin(retry, throttling);
export type GithubClient = InstanceType<typeof PatientOctokit>;

/**
 * A client of GitHub's REST API that tries again after server errors, waits for short rate limits, asks only for what changed,
 * and takes what it is signed with to no other host. `sign` is called with every request before it is sent.
 */
export function createGithubClient(options: GithubClientOptions, identity: Identity, sign?: (client: Octokit) => void): GithubClient {
  const { baseUrl, logger, retryUnitMs = 1000, unpaced = false, maxReplyBytes = MAX_REPLY_BYTES } = options;
  const wait = (retryAfter: number, _options: object, _octokit: object, retryCount: number) => {
    logger.warn({ retryAfterSeconds: retryAfter, retryCount }, 'GitHub limits the rate');
    return retryAfter <= LONGEST_WAIT_SECONDS && retryCount < RETRIES;
  };
  const say = (level: 'debug' | 'warn') => (message: string) => logger[level]({ message }, 'GitHub client');
  const client = new PatientOctokit({
    baseUrl: baseUrl.replace(/\/$/, ''),
    userAgent: 'faultline',
    request: { fetch: createGuardedFetch(maxReplyBytes) },
    ...authentication(identity),
    log: { debug: say('debug'), info: say('debug'), warn: say('warn'), error: say('warn') },
    retry: { retries: RETRIES, retryAfterBaseValue: retryUnitMs },
    throttle: {
      enabled: !unpaced,
      id: identity.limit ?? identity.who,
      onRateLimit: wait,
      onSecondaryRateLimit: wait,
      retryAfterBaseValue: retryUnitMs,
    },
  });
  sign?.(client);
  askWhetherChanged(client, identity.answers ?? createKeptAnswers(), identity.who);
  return client;
}

function authentication({ token = null, app }: Identity) {
  if (app === undefined) return token === null ? {} : { auth: token };
  // GitHub long wanted the number as a number; a client id is none.
  const appId = /^\d+$/.test(app.id) ? Number(app.id) : app.id;
  return { authStrategy: createAppAuth, auth: { appId, privateKey: app.privateKey } };
}
