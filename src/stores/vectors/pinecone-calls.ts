import { AsyncLocalStorage } from 'node:async_hooks';
import { Pinecone } from '@pinecone-database/pinecone';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { readText } from '../../lib/http-body.ts';
import { limitTime, retryWithPolicy } from '../../lib/resilience.ts';
import { parseJson } from '../../lib/text.ts';
import { retryAfter } from '../../lib/time.ts';
import type { Logger } from '../../ports/telemetry.ts';

interface PineconeCallOptions {
  readonly apiKey: string;
  /** The address of the control plane; null for Pinecone's own. */
  readonly baseUrl: string | null;
  /** Time limit of one call with all its tries, in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum number of retries of an error that may pass. */
  readonly maxRetries: number;
  /** First pause before a retry; it doubles, with jitter. Milliseconds. */
  readonly retryDelayMs: number;
  readonly maxReplyBytes: number;
  readonly logger: Logger;
}

export interface PineconeAnswer<T> {
  readonly value: T;
  /**
   * The position of the write in its namespace's log; null after a read, and if the index has no such log.
   */
  readonly written: number | null;
  /** The position in its namespace's log up to which a query looked; null in the same cases. */
  readonly indexed: number | null;
}

/** Calls the client's library. Throws TriageError alone. */
type PineconeCall = <T>(
  work: (client: Pinecone) => Promise<T>,
  signal?: AbortSignal,
) => Promise<PineconeAnswer<T>>;

/** One attempt: the signal for its requests and their results. */
interface Try {
  readonly signal: AbortSignal;
  failure: unknown;
  written: number | null;
  indexed: number | null;
}

/**
 * Wraps Pinecone's client to add a signal, a time limit and a size limit for each call, and a pause after
 * HTTP 429 that is as long as Pinecone requested. The client's own retries are off; failed calls are retried
 * here, with jitter.
 */
export function createPineconeCalls(options: PineconeCallOptions): PineconeCall {
  const running = new AsyncLocalStorage<Try>();
  const client = new Pinecone({
    apiKey: options.apiKey,
    ...(options.baseUrl === null ? {} : { controllerHostUrl: options.baseUrl }),
    sourceTag: 'faultline',
    maxRetries: 0,
    fetchApi: (input, init) => fetchGuarded(input, init, running.getStore(), options.maxReplyBytes),
  });
  const { timeoutMs: limitMs, maxRetries: retries, retryDelayMs, logger } = options;
  const message = `Pinecone did not respond (timeout after ${limitMs / 1000} s)`;
  const late = (cause: unknown) => new TriageError('timeout', message, { retryable: true, cause });
  const canceled = (cause: unknown) =>
    new TriageError('cancelled', 'The Pinecone call was canceled.', { cause });
  const onRetry = (error: unknown, pauseMs: number) =>
    logger.info({ error: getErrorMessage(error), pauseMs: Math.round(pauseMs) }, 'retrying Pinecone');
  return async (work, run) =>
    await limitTime({ limitMs, signal: run, late, canceled }, (signal, longestPauseMs) =>
      retryWithPolicy(
        { retries, backoff: { firstMs: retryDelayMs }, longestPauseMs, signal, onRetry },
        async () => {
          const current: Try = { signal, failure: undefined, written: null, indexed: null };
          try {
            const value = await running.run(current, () => work(client));
            return { value, written: current.written, indexed: current.indexed };
          } catch (error) {
            throw toCallError(current.failure ?? error);
          }
        },
      ),
    );
}

/**
 * Sends a request within the limits of its call. The library hides the errors and statuses of its `fetch`, so
 * the failure is also stored in `current`.
 */
async function fetchGuarded(
  input: string | URL | Request,
  init: RequestInit | undefined,
  current: Try | undefined,
  maxBytes: number,
) {
  if (current === undefined) throw new TriageError('internal', 'Pinecone was called outside of a call');
  try {
    const response = await fetch(input, { ...init, redirect: 'error', signal: current.signal });
    const text = await readText(response.body, maxBytes);
    if (text === null)
      throw new TriageError('upstream-failed', `The reply of Pinecone is larger than ${maxBytes} bytes`);
    if (!response.ok) throw createRefusal(response, text);
    current.written = findNumber(response.headers, 'x-pinecone-request-lsn');
    current.indexed = findNumber(response.headers, 'x-pinecone-max-indexed-lsn');
    return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } });
  } catch (error) {
    current.failure = error;
    throw error;
  }
}

function toCallError(error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  if (error instanceof SyntaxError) return new TriageError('upstream-failed', 'Pinecone did not return JSON');
  if (isArgumentError(error))
    return new TriageError('internal', `Pinecone's client refused the call: ${error.message}`, {
      cause: error,
    });
  return new TriageError('upstream-failed', 'Pinecone could not be reached', {
    retryable: true,
    cause: error,
  });
}

function isArgumentError(error: unknown): error is Error {
  return error instanceof Error && /^Pinecone(?:Argument|Configuration|IndexProperty)Error$/.test(error.name);
}

function findNumber(headers: Headers, name: string): number | null {
  const value = headers.get(name);
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** The data plane answers with a status of gRPC, the control plane with an error object. */
const ErrorReply = z.union([
  z.looseObject({ message: z.string() }),
  z.looseObject({ error: z.looseObject({ message: z.string() }) }).transform(({ error }) => error),
]);
/** The texts with which Pinecone reports an exceeded monthly limit; these responses are also HTTP 429. */
const USED_UP = /for the current month|upgrade your plan|quota/i;
const MAX_WORDS = 300;

/** Returns the error for a status other than 2xx. */
function createRefusal({ status, headers }: Response, text: string): TriageError {
  const words = extractMessage(text);
  const details = { status };
  if (status === 401 || status === 403) {
    const message = `Pinecone rejected the key (HTTP ${status}); check PINECONE_API_KEY and its permissions`;
    return new TriageError('upstream-auth', message, { details });
  }
  if (status === 402 || (status === 429 && USED_UP.test(words))) {
    return new TriageError(
      'quota-exhausted',
      `The quota of the Pinecone plan is used up (HTTP ${status}): ${words}`,
      { details },
    );
  }
  const later = retryAfter(headers);
  const retry = { retryable: true, details, ...(later === null ? {} : { retryAfterMs: later }) };
  if (status === 429)
    return new TriageError('rate-limited', 'Pinecone is rate limiting requests (HTTP 429)', retry);
  if (status === 408 || status >= 500)
    return new TriageError('upstream-failed', `Pinecone failed (HTTP ${status})`, retry);
  if (status === 404)
    return new TriageError('not-found', `Pinecone cannot find the requested resource (HTTP 404): ${words}`, {
      details,
    });
  return new TriageError('invalid-input', `Pinecone refused the request (HTTP ${status}): ${words}`, {
    details,
  });
}

function extractMessage(text: string): string {
  const read = ErrorReply.safeParse(parseJson(text));
  return (read.success ? read.data.message : text).replace(/\s+/g, ' ').slice(0, MAX_WORDS);
}

/** The host of the index and the length of its vectors. */
export interface PineconeTarget {
  readonly host: string;
  readonly dimension: number;
}

interface PineconePlace {
  /** Name of the index. */
  readonly index: string;
  /** The address of the control plane; null for Pinecone's own. */
  readonly baseUrl: string | null;
  /** The length of the embedder's vectors; null if it is not known yet. */
  readonly dimensions: number | null;
}

/** Says that it is the service that is not as it should be: a start goes on without it. */
const DETAILS = { details: { backend: 'pinecone' } };

/**
 * Reads the description of the index from the control plane. Throws `invalid-config`, with the fix, if there
 * is no index or it is not usable; `upstream-failed` if it is not ready yet; and the errors of `call`.
 */
export async function findTarget(
  call: PineconeCall,
  place: PineconePlace,
  signal?: AbortSignal,
): Promise<PineconeTarget> {
  const { index, dimensions } = place;
  const { value } = await call((client) => client.indexes.describe(index), signal).catch((error: unknown) => {
    if (error instanceof TriageError && error.code === 'not-found')
      throw createMissingError(index, dimensions);
    throw error;
  });
  const field = Object.values(value.schema.fields).find(
    (indexSchemaField) => 'type' in indexSchemaField && indexSchemaField.type === 'dense_vector',
  );
  if (field === undefined || !('dimension' in field))
    throw createUnfitError(index, 'has no dense vectors', dimensions);
  const { dimension, metric } = field;
  if (typeof dimension !== 'number') throw createUnfitError(index, 'has no dense vectors', dimensions);
  if (metric !== 'cosine') throw createUnfitError(index, `measures by ${metric}`, dimensions);
  if (dimensions !== null && dimension < dimensions) throw createTooShortError(index, dimension, dimensions);
  if (!value.status.ready) {
    throw new TriageError(
      'upstream-failed',
      `Pinecone's index ${index} is not ready yet (${value.status.state})`,
      { retryable: true },
    );
  }
  return { host: resolveAddress(value.privateHost ?? value.host, place), dimension };
}

/** Creates the error for an index whose vectors are shorter than those of the embedder. */
export function createTooShortError(index: string, dimension: number, wanted: number): TriageError {
  return createUnfitError(index, `has ${dimension} dimensions, but the embedder produces ${wanted}`, wanted);
}

/**
 * Returns the address of the index. A custom control plane may return hosts without a scheme. With Pinecone's
 * own, the key is sent only to Pinecone's hosts. Throws `upstream-failed` for any other host.
 */
function resolveAddress(host: string, { index, baseUrl }: PineconePlace): string {
  const address = /^https?:\/\//.test(host)
    ? host
    : `${baseUrl?.startsWith('http://') ? 'http' : 'https'}://${host}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (
    url === null ||
    (baseUrl === null && (url.protocol !== 'https:' || !url.hostname.endsWith('.pinecone.io')))
  ) {
    throw new TriageError(
      'upstream-failed',
      `Pinecone returned an unexpected host for the index ${index}: ${host.slice(0, 200)}`,
    );
  }
  return address;
}

function createMissingError(index: string, dimensions: number | null): TriageError {
  return new TriageError(
    'invalid-config',
    `Pinecone has no index named ${index}. ${describeRemedy(dimensions)}`,
    DETAILS,
  );
}

function createUnfitError(index: string, why: string, dimensions: number | null): TriageError {
  return new TriageError(
    'invalid-config',
    `Pinecone's index ${index} ${why}. ${describeRemedy(dimensions)}`,
    DETAILS,
  );
}

function describeRemedy(dimensions: number | null): string {
  const length =
    dimensions === null ? 'as many dimensions as the embedder produces' : `at least ${dimensions} dimensions`;
  return (
    `Create one with dense vectors, metric cosine and ${length}, and name it in ` +
    'FAULTLINE_PINECONE_INDEX.'
  );
}
