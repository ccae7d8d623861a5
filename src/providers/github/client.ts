import { createAppAuth } from '@octokit/auth-app';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { readBytes } from '../../lib/http-body.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { type BoundedCache, createBoundedCache } from '../memory.ts';
import { rateLimitMs, readBody } from '../rest-client.ts';

export interface GithubClientOptions {
  /** The URL of the REST API: `https://api.github.com`, or `https://host/api/v3`. */
  readonly baseUrl: string;
  readonly logger: Logger;
  /** The unit of delays between attempts, in milliseconds. A second by default; tests use less. */
  readonly retryUnitMs?: number;
  /** True to send writing calls without a pause and not to wait for rate limits, for tests. */
  readonly unpaced?: boolean;
  /** The maximum size of a response in bytes. Downloads have other limits. */
  readonly maxReplyBytes?: number;
}

/** A repository, as the API addresses it. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/** A GitHub App that can sign calls. */
export interface GithubAppKey {
  /** Its id, or its client id. */
  readonly id: string;
  /** The private key in PEM format. */
  readonly privateKey: string;
}

/** The owner of the client. Cached responses are kept apart by owner. */
export interface Identity {
  readonly who: string;
  /** The group that shares a rate limit; by default, all clients with the same name. */
  readonly limit?: string;
  /** The token of every call, unless the App signs. */
  readonly token?: string | null;
  /** The App, which signs calls itself. Such calls may only manage its installations. */
  readonly app?: GithubAppKey;
  /** The cache of responses; by default, one in the memory of the client. */
  readonly answers?: KeptAnswers;
}

/**
 * The default maximum size. GitHub truncates trees at 7 MB of names; with URLs, a response is several times
 * as large.
 */
const MAX_REPLY_BYTES = 48 * 1024 * 1024;
/** The longest rate limit that is waited for, in seconds. Work with a longer one goes back to the queue. */
const MAX_WAIT_SECONDS = 20;
const RETRIES = 2;

const PatientOctokit = Octokit.plugin(retry, throttling);
export type GithubClient = InstanceType<typeof PatientOctokit>;

/**
 * Creates a client of GitHub's REST API. It retries after server errors, waits for short rate limits, makes
 * conditional requests,
 * and never sends its credentials to another host. `sign` is called with every request before it is sent.
 */
export function createGithubClient(
  options: GithubClientOptions,
  identity: Identity,
  sign?: (client: Octokit) => void,
): GithubClient {
  const { baseUrl, logger, retryUnitMs = 1000, unpaced = false, maxReplyBytes = MAX_REPLY_BYTES } = options;
  const wait = (retryAfter: number, _options: object, _octokit: object, retryCount: number) => {
    logger.warn({ retryAfterSeconds: retryAfter, retryCount }, 'GitHub limits the rate');
    return retryAfter <= MAX_WAIT_SECONDS && retryCount < RETRIES;
  };
  const say = (level: 'debug' | 'warn') => (message: string) => logger[level]({ message }, 'GitHub client');
  const client = new PatientOctokit({
    baseUrl: baseUrl.replace(/\/$/, ''),
    userAgent: 'faultline',
    request: { fetch: createGuardedFetch(maxReplyBytes) },
    ...createAuthentication(identity),
    log: { debug: say('debug'), info: say('debug'), warn: say('warn'), error: say('warn') },
    retry: { retries: RETRIES, retryAfterBaseValue: retryUnitMs },
    throttle: {
      enabled: !unpaced,
      // The plugin's queues are shared by the whole process, but rate limits are those of a server.
      id: `${baseUrl} ${identity.limit ?? identity.who}`,
      onRateLimit: wait,
      onSecondaryRateLimit: wait,
      retryAfterBaseValue: retryUnitMs,
    },
  });
  sign?.(client);
  askWhetherChanged(client, identity.answers ?? createKeptAnswers(), identity.who);
  return client;
}

function createAuthentication({ token = null, app }: Identity) {
  if (app === undefined) return token === null ? {} : { auth: token };
  // GitHub used to require the id as a number. A client id is not a number.
  const appId = /^\d+$/.test(app.id) ? Number(app.id) : app.id;
  return { authStrategy: createAppAuth, auth: { appId, privateKey: app.privateKey } };
}

/**
 * The header of a response that is created here. It contains the code of the TriageError that the response
 * stands for.
 */
export const REFUSAL_HEADER = 'x-faultline-refusal';

const MAX_HOPS = 3;
/** The status of a refusal that is made here. The client never retries it, unlike a thrown error. */
const FINAL_STATUS = 422;
const BODILESS: readonly number[] = [204, 205, 304];

/**
 * Creates a fetch for calls that carry a token. It follows redirects (of a renamed repository) on the same
 * host only, and reads at most
 * `maxBytes`. A rejected response is replaced by one with `REFUSAL_HEADER`. With `redirect: 'manual'` the
 * first
 * response is returned as it is, and the caller must limit it.
 */
function createGuardedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    if (init?.redirect === 'manual') return fetchOnce(url, init);
    const { origin } = url;
    for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
      const response = await fetchOnce(url, init);
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null)
        return limitReply(response, url, maxBytes);
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.origin !== origin)
        return createRefusal(
          'upstream-failed',
          `it redirects to another host (${url.host}), which is not followed`,
        );
      if ((init?.method ?? 'GET') !== 'GET')
        return createRefusal('upstream-failed', 'a query was redirected to another address');
    }
    return createRefusal('upstream-failed', `it was redirected more than ${MAX_HOPS} times`);
  };
}

async function fetchOnce(url: URL, init: RequestInit | undefined): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'manual' });
  } catch (error) {
    // Errors with this name are not retried by the client; time limits have another name.
    if (init?.signal?.aborted === true) throw new DOMException('The call was stopped.', 'AbortError');
    throw error;
  }
}

async function limitReply(response: Response, url: URL, maxBytes: number): Promise<Response> {
  const headers = new Headers(response.headers);
  // The body is decoded, and only this function may set the refusal header.
  for (const name of [REFUSAL_HEADER, 'content-encoding', 'content-length']) headers.delete(name);
  const bytes = await readBytes(response.body, maxBytes);
  if (bytes === null)
    return createRefusal('too-large', `the response is larger than ${Math.round(maxBytes / 1024 / 1024)} MB`);
  const body = BODILESS.includes(response.status) ? null : bytes;
  const read = new Response(body, { status: response.status, statusText: response.statusText, headers });
  // The final URL identifies a renamed repository.
  return Object.defineProperty(read, 'url', { value: url.href });
}

function createRefusal(code: 'upstream-failed' | 'too-large', message: string): Response {
  return new Response(JSON.stringify({ message }), {
    status: FINAL_STATUS,
    headers: { 'content-type': 'application/json', [REFUSAL_HEADER]: code },
  });
}

interface Kept {
  readonly etag: string;
  readonly response: Awaited<ReturnType<Octokit['request']>>;
  readonly weight: number;
}

export type KeptAnswers = BoundedCache<Kept>;

/** The maximum number of characters of all cached replies, and of one. */
const MAX_KEPT = 16 * 1024 * 1024;
const MAX_ONE = 2 * 1024 * 1024;

/** Creates a cache for the responses of several clients, separated by client. */
export function createKeptAnswers(): KeptAnswers {
  return createBoundedCache<Kept>(MAX_KEPT, ({ weight }) => weight);
}

/**
 * Sends the ETag of the last response (`If-None-Match`). If nothing changed, GitHub answers 304, which does
 * not count toward the
 * rate limit, and the cached response is returned. A response is cached for `who` only: it is never returned
 * for another token or
 * another installation of an App.
 */
function askWhetherChanged(client: Octokit, answers: KeptAnswers, who: string): void {
  client.hook.wrap('request', async (request, options) => {
    const { method, url, headers } = client.request.endpoint(options);
    if (method !== 'GET') return await request(options);
    const key = `${who} ${url} ${headers.accept ?? ''}`;
    const kept = answers.get(key);
    // The object is changed in place, because inner hooks have a reference to it.
    if (kept !== undefined) options.headers['if-none-match'] = kept.etag;
    try {
      const response = await request(options);
      const { etag } = response.headers;
      const weight = etag === undefined ? Number.POSITIVE_INFINITY : measureWeight(response.data);
      if (etag !== undefined && weight <= MAX_ONE) answers.set(key, { etag, response, weight });
      return response;
    } catch (error) {
      if (kept !== undefined && findHttpFailure(error)?.status === 304) return kept.response;
      throw error;
    }
  });
}

/** Returns the size of a response; infinite if it is neither text nor JSON, so that it is not cached. */
function measureWeight(data: unknown): number {
  if (typeof data === 'string') return data.length;
  const isJson =
    Array.isArray(data) ||
    (typeof data === 'object' && data !== null && Object.getPrototypeOf(data) === Object.prototype);
  return isJson ? JSON.stringify(data).length : Number.POSITIVE_INFINITY;
}

/** A call whose response is not the requested data. */
export interface HttpFailure {
  readonly status: number;
  readonly message: string;
  readonly headers: Headers;
}

/**
 * Converts a failed call to the error of a triage. `what` names the call for people, `right` is the
 * permission that it needs. TriageErrors are returned unchanged.
 */
export function createGithubError(
  what: string,
  error: unknown,
  right: 'read Actions' | 'write Actions' | 'read the contents',
): TriageError {
  if (error instanceof TriageError) return error;
  const failure = findHttpFailure(error);
  if (failure === null) {
    return new TriageError(
      'upstream-failed',
      `GitHub could not be reached for ${what}: ${getErrorMessage(error)}.`,
      {
        retryable: true,
        cause: error,
      },
    );
  }
  const { status, headers } = failure;
  const refused = headers.get(REFUSAL_HEADER);
  if (refused !== null) {
    return new TriageError(
      refused === 'too-large' ? 'too-large' : 'upstream-failed',
      `GitHub's response for ${what}: ${failure.message}.`,
    );
  }
  if (status === 429 || (status === 403 && isRateLimit(failure))) {
    return new TriageError('upstream-failed', `The GitHub rate limit is reached; ${what} must wait.`, {
      retryable: true,
      retryAfterMs: rateLimitMs(headers, 'x-ratelimit-reset'),
      cause: error,
    });
  }
  if (status === 401 || status === 403) {
    return new TriageError(
      'upstream-auth',
      `GitHub returned ${status} for ${what}. FAULTLINE_GITHUB_TOKEN, or the GitHub App, needs ` +
        `permission to ${right} of this repository.`,
      { cause: error },
    );
  }
  if (status === 404) {
    const scope = {
      'read Actions': 'actions: read',
      'write Actions': 'actions: write',
      'read the contents': 'contents: read',
    }[right];
    const why = `it no longer exists, or the token or App has no access (is ${scope} granted?)`;
    return new TriageError('not-found', `GitHub returned 404 for ${what}: ${why}.`, { cause: error });
  }
  if (status === 410)
    return new TriageError('not-found', `GitHub returned 410 for ${what}: it has expired.`, { cause: error });
  const retryable = status >= 500;
  return new TriageError('upstream-failed', `GitHub returned ${status} for ${what}.`, {
    retryable,
    cause: error,
  });
}

/** Returns the HTTP response of a failed call; null if there was none. */
export function findHttpFailure(error: unknown): HttpFailure | null {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return null;
  // A broken connection has status 500 and no response.
  if (!('response' in error) || typeof error.response !== 'object' || error.response === null) return null;
  const headers =
    'headers' in error.response && typeof error.response.headers === 'object'
      ? { ...error.response.headers }
      : {};
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  return {
    status: error.status,
    message: error.message,
    headers: new Headers(given.map(([name, value]) => [name, String(value)])),
  };
}

function isRateLimit({ headers, message }: HttpFailure): boolean {
  return (
    headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0' || /rate limit/i.test(message)
  );
}

/** A run of Actions, as the API addresses it. */
export interface GithubRun {
  readonly owner: string;
  readonly repo: string;
  readonly run_id: number;
  readonly attempt_number: number;
}

export interface Download {
  /** The subject, shown to people: `the log of "build"`. */
  readonly what: string;
  /** The path of the API below its base. The client fills in its variables. */
  readonly route: `GET /${string}`;
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly maxBytes: number;
}

/**
 * Downloads a file for which GitHub redirects to its storage. The redirect is followed without the token,
 * because the storage is another host with a signed URL. Throws as `BuildSource.fetch` does.
 */
export async function download(
  client: GithubClient,
  { what, route, parameters, maxBytes }: Download,
  signal: AbortSignal,
): Promise<Buffer> {
  const answer = await client
    .request(route, {
      ...parameters,
      request: { signal, redirect: 'manual', parseSuccessResponseBody: false },
    })
    .catch((error: unknown) => {
      throw createGithubError(what, error, 'read Actions');
    });
  const body: unknown = answer.data;
  const status: number = answer.status;
  if (status < 300)
    return await readBody('GitHub', what, body instanceof ReadableStream ? body : null, maxBytes);
  if (body instanceof ReadableStream) await body.cancel();
  const address = new URL(answer.headers.location ?? '', answer.url);
  if (address.protocol !== 'https:' && address.protocol !== new URL(answer.url).protocol) {
    throw new TriageError('upstream-failed', `GitHub sent ${what} to an address that is not encrypted.`);
  }
  return await readBody(address.host, what, await openStorage(what, address, signal), maxBytes);
}

async function openStorage(
  what: string,
  address: URL,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | null> {
  // The signed URL must not be logged, so errors name only its host.
  const response = await fetch(address, { signal, redirect: 'error' }).catch((error: unknown) => {
    throw new TriageError(
      'upstream-failed',
      `The storage at ${address.host} could not be reached for ${what}.`,
      {
        retryable: true,
        cause: error,
      },
    );
  });
  if (response.ok) return response.body;
  await response.body?.cancel();
  const { status } = response;
  if (status === 404 || status === 410)
    throw new TriageError('not-found', `The storage answered ${status} for ${what}: it has expired.`);
  // A signed URL expires; a retry requests a new one.
  throw new TriageError('upstream-failed', `The storage at ${address.host} answered ${status} for ${what}.`, {
    retryable: true,
  });
}
