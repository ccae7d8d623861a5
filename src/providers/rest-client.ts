import type { z } from 'zod';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { readBytes, readText } from '../lib/http-body.ts';
import { limitTime, retryWithPolicy } from '../lib/resilience.ts';
import { parseJson } from '../lib/text.ts';
import { retryAfter } from '../lib/time.ts';

export interface RestOptions {
  /** The display name: "Gitea". */
  readonly label: string;
  /** The URL of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** The headers of each request to that host, and to no other. */
  readonly headers: Readonly<Record<string, string>>;
  /** The variable with the token, for error messages. */
  readonly tokenSetting: string;
  /** The time limit of one request with all its attempts, in milliseconds. */
  readonly timeoutMs: number;
  /** The unit of delays between attempts, in milliseconds. A second by default; tests use less. */
  readonly retryUnitMs?: number;
}

export interface RestRequest {
  /**
   * The path below the base address, with variables encoded by `at`; or a whole address that the host has
   * named. An address on another host is requested without the token.
   */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** The subject, shown to people: `the log of "build"`. */
  readonly what: string;
  readonly signal: AbortSignal;
  /** The maximum size of the response in bytes; 48 MB if absent. */
  readonly maxBytes?: number;
}

export interface Change extends RestRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  /** The permission that the token needs, for error messages: "write:issue". */
  readonly right: string;
}

interface Pages {
  /** The host's name for the parameter of the page size. */
  readonly sizeName: string;
  readonly size: number;
  readonly maxPages: number;
}

/** Sends requests to one host. Methods throw only TriageErrors, as `BuildSource.fetch` does. */
export interface RestClient {
  readonly label: string;
  get<Reply>(schema: z.ZodType<Reply>, question: RestRequest): Promise<Reply>;
  bytes(question: RestRequest): Promise<Buffer>;
  /** Yields the items of a list, page by page, until a page is not full. */
  items<Item>(schema: z.ZodType<Item[]>, question: RestRequest, pages: Pages): AsyncGenerator<Item>;
  /** Returns all items of a list at once. */
  list<Item>(schema: z.ZodType<Item[]>, question: RestRequest, pages: Pages): Promise<Item[]>;
  /** Sends a change without a retry, because the first attempt may have succeeded. */
  send<Reply>(schema: z.ZodType<Reply>, change: Change): Promise<Reply>;
}

/** Time limit of one request to rerun failed jobs, in milliseconds. */
export const RERUN_MS = 15_000;

const MAX_REPLY_BYTES = 48 * 1024 * 1024;
const MAX_COMPLAINT_BYTES = 64 * 1024;
const MAX_HOPS = 3;
const RETRIES = 2;
/** The permission that a token needs for requests that change nothing. */
const READ = 'read it';
/**
 * The longest rate limit that is waited for, in milliseconds. Work with a longer one goes back to the queue.
 */
const MAX_WAIT_MS = 20_000;

/** Builds a path with encoded variables, so that a value cannot change the structure of the path. */
export function buildPath(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return parts.reduce((path, part, index) => `${path}${encodeURIComponent(values[index - 1] ?? '')}${part}`);
}

export function createRestClient(options: RestOptions): RestClient {
  const { label, timeoutMs } = options;
  const ask = (question: RestRequest, init: Init, retries: number) =>
    withDeadline(`Asking ${label} for ${question.what}`, timeoutMs, question.signal, (signal) =>
      askPatiently(options, { ...question, signal }, init, retries),
    );
  const read = async <Reply>(schema: z.ZodType<Reply>, question: RestRequest, bytes: Buffer) =>
    parseReply(label, schema, question.what, parse(bytes));
  const bytes = (question: RestRequest) => ask(question, { method: 'GET' }, RETRIES);
  const get = async <Reply>(schema: z.ZodType<Reply>, question: RestRequest) =>
    read(schema, question, await bytes(question));
  async function* listItems<Item>(
    schema: z.ZodType<Item[]>,
    question: RestRequest,
    { sizeName, size, maxPages }: Pages,
  ) {
    for (let page = 1; page <= maxPages; page += 1) {
      const found = await get(schema, { ...question, query: { ...question.query, [sizeName]: size, page } });
      yield* found;
      if (found.length < size) return;
    }
  }
  return {
    label,
    get,
    bytes,
    items: listItems,
    list: async (schema, question, pages) => {
      const all: z.infer<typeof schema> = [];
      for await (const item of listItems(schema, question, pages)) all.push(item);
      return all;
    },
    send: async (schema, change) => {
      const { method, body, right } = change;
      return read(
        schema,
        change,
        await ask(
          change,
          { method, right, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
          0,
        ),
      );
    },
  };
}

interface Init {
  readonly method: string;
  readonly body?: string;
  readonly right?: string;
}

/**
 * Retries after transient errors, such as a server error or a short rate limit. A wait of minutes is left to
 * the caller.
 */
async function askPatiently(
  options: RestOptions,
  question: RestRequest,
  init: Init,
  retries: number,
): Promise<Buffer> {
  const backoff = { firstMs: (options.retryUnitMs ?? 1000) * 2 };
  const longestPauseMs = () => MAX_WAIT_MS;
  return await retryWithPolicy({ retries, backoff, longestPauseMs, signal: question.signal }, () =>
    askOnce(options, question, init),
  );
}

async function askOnce(
  options: RestOptions,
  { path, query = {}, what, signal, maxBytes = MAX_REPLY_BYTES }: RestRequest,
  init: Init,
): Promise<Buffer> {
  const root = new URL(options.baseUrl);
  let url = new URL(path.startsWith('/') ? `${options.baseUrl}${path}` : path);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
    // Logs and artifacts may be in separate storage with signed URLs, which must not receive the token.
    if (url.protocol !== 'https:' && url.protocol !== root.protocol)
      throw new TriageError(
        'upstream-failed',
        `${options.label} sent ${what} to an address that is not encrypted.`,
      );
    const response = await fetchOnce(options, url, {
      init,
      what,
      signal,
      isHome: url.origin === root.origin,
    });
    const location = response.headers.get('location');
    if (response.ok) return await readBody(options.label, what, response.body, maxBytes);
    if (response.status < 300 || response.status > 399 || location === null || init.method !== 'GET')
      throw await toTriageError(options, what, response, init.right);
    await response.body?.cancel();
    url = new URL(location, url);
  }
  throw new TriageError(
    'upstream-failed',
    `${options.label} redirected ${what} more than ${MAX_HOPS} times.`,
  );
}

interface Sending {
  readonly init: Init;
  readonly what: string;
  readonly signal: AbortSignal;
  /** True if the URL is on the configured host, which is the only one that receives the token. */
  readonly isHome: boolean;
}

async function fetchOnce(
  { label, headers }: RestOptions,
  url: URL,
  { init, what, signal, isHome }: Sending,
): Promise<Response> {
  const type = init.body === undefined ? {} : { 'content-type': 'application/json' };
  try {
    return await fetch(url, {
      method: init.method,
      headers: { 'user-agent': 'faultline', ...(isHome ? { ...headers, ...type } : {}) },
      ...(init.body === undefined ? {} : { body: init.body }),
      redirect: 'manual',
      signal,
    });
  } catch (cause) {
    // A signed URL must not be logged, so only its host is named.
    const where = isHome ? '' : ` at ${url.host}`;
    throw new TriageError('upstream-failed', `${label}${where} could not be reached for ${what}.`, {
      retryable: true,
      cause,
    });
  }
}

/**
 * Reads a body up to a limit; the rest is not read. `what` names it for people. Throws `too-large`, and
 * `upstream-failed` if the body breaks off.
 */
export async function readBody(
  label: string,
  what: string,
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer> {
  const bytes = await readBytes(body, maxBytes).catch((cause: unknown) => {
    const says = `The connection to ${label} broke while reading ${what}: ${getErrorMessage(cause)}.`;
    throw new TriageError('upstream-failed', says, { retryable: true, cause });
  });
  if (bytes !== null) return bytes;
  const limit = `${Math.round(maxBytes / 1024)} kB (FAULTLINE_MAX_LOG_BYTES)`;
  throw new TriageError('too-large', `${what} is larger than the limit of ${limit}.`, {
    details: { maxBytes },
  });
}

/** Converts a response other than 2xx to the error of a triage. */
async function toTriageError(
  { label, tokenSetting }: RestOptions,
  what: string,
  response: Response,
  right = READ,
): Promise<TriageError> {
  const { status, headers } = response;
  const detail = status === 400 ? readComplaint(await readText(response.body, MAX_COMPLAINT_BYTES)) : '';
  await response.body?.cancel().catch(() => undefined);
  const says = `${label} returned ${status} for ${what}${detail}`;
  if (status === 429) {
    const options = { retryable: true, retryAfterMs: rateLimitMs(headers, 'ratelimit-reset') };
    return new TriageError(
      'upstream-failed',
      `The ${label} rate limit is reached; ${what} must wait.`,
      options,
    );
  }
  if (status === 401 || status === 403)
    return new TriageError('upstream-auth', `${says}. ${tokenSetting} needs permission to ${right}.`);
  if (status === 404)
    return new TriageError(
      'not-found',
      `${says}: it does not exist or was deleted, or ${tokenSetting} gives no access to it.`,
    );
  if (status === 410) return new TriageError('not-found', `${says}: it has expired.`);
  if (status === 409 && right === READ)
    return new TriageError('not-found', `${says}: the repository is empty.`);
  return new TriageError('upstream-failed', `${says}.`, { retryable: status >= 500 });
}

/** Returns the host's explanation of a bad request, on one line. */
function readComplaint(text: string | null): string {
  const line = (text ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 200).toWellFormed();
  return line === '' ? '' : ` (${line})`;
}

/**
 * Returns the wait that a rate limit demands, in milliseconds: by `Retry-After`, else by the header with the
 * end of the limit, else a minute.
 */
export function rateLimitMs(headers: Headers, reset: string): number {
  const given = retryAfter(headers);
  if (given !== null) return given;
  const left = Number(headers.get(reset) ?? Number.NaN) * 1000 - Date.now();
  return left > 0 ? left : 60_000;
}

/** Parses JSON; returns the text if it is not JSON. */
export function parse(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  const json = parseJson(text);
  return json === undefined ? text : json;
}

/** Parses a response with its schema. Throws `upstream-failed` if it does not match. */
export function parseReply<Reply>(
  label: string,
  schema: z.ZodType<Reply>,
  what: string,
  data: unknown,
): Reply {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
  throw new TriageError(
    'upstream-failed',
    `${label}'s response for ${what} has an unexpected format${where}.`,
    { cause: result.error },
  );
}

/**
 * Runs work that must end within `timeoutMs` and when the caller aborts, even if a library waits on its
 * own. Throws `timeout` (retryable) or `cancelled`.
 */
export async function withDeadline<Result>(
  what: string,
  limitMs: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = (cause: unknown) =>
    new TriageError('timeout', `${what} took longer than ${Math.round(limitMs / 1000)} s.`, {
      retryable: true,
      cause,
    });
  const canceled = (cause: unknown) =>
    new TriageError('cancelled', `${what} was canceled.`, { retryable: true, cause });
  return await limitTime({ limitMs, signal: caller, late, canceled }, work);
}
