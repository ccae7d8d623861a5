import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pinecone } from '@pinecone-database/pinecone';
import { TriageError } from '../../domain/errors.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { refusal } from './pinecone-errors.ts';

export interface PineconeCallOptions {
  readonly apiKey: string;
  /** Of the control plane; null: Pinecone's own. */
  readonly baseUrl: string | null;
  /** Of one call with all its tries, in milliseconds. */
  readonly timeoutMs: number;
  /** Tries after the first, where trying again may help. */
  readonly maxRetries: number;
  /** First pause before a retry; it doubles, with jitter. Milliseconds. */
  readonly retryDelayMs: number;
  readonly maxReplyBytes: number;
  readonly logger: Logger;
}

export interface PineconeAnswer<T> {
  readonly value: T;
  /** Where the write stands in its namespace's log; null after a read, and where the index has no such log. */
  readonly written: number | null;
  /** How far into its namespace's log a query looked; null as above. */
  readonly indexed: number | null;
}

/** Calls the client's library. Throws TriageError alone. */
export type PineconeCall = <T>(work: (client: Pinecone) => Promise<T>, signal?: AbortSignal) => Promise<PineconeAnswer<T>>;

/** One try: what its requests are bound to, and what they left behind. */
interface Try {
  readonly signal: AbortSignal;
  failure: unknown;
  written: number | null;
  indexed: number | null;
}

/**
 * Pinecone's client with what it does not have: a signal, a time and a size limit for each call, and a pause after HTTP 429 that is as
 * long as Pinecone asked for. Its own retries are off; failures are tried again here, with jitter.
 */
export function createPineconeCalls(options: PineconeCallOptions): PineconeCall {
  const running = new AsyncLocalStorage<Try>();
  const client = new Pinecone({
    apiKey: options.apiKey,
    ...(options.baseUrl === null ? {} : { controllerHostUrl: options.baseUrl }),
    sourceTag: 'faultline',
    maxRetries: 0,
    fetchApi: (input, init) => guardedFetch(input, init, running.getStore(), options.maxReplyBytes),
  });
  return async (work, run) => {
    const limit = AbortSignal.timeout(options.timeoutMs);
    const signal = run === undefined ? limit : AbortSignal.any([run, limit]);
    const deadline = performance.now() + options.timeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      const current: Try = { signal, failure: undefined, written: null, indexed: null };
      try {
        const value = await running.run(current, () => work(client));
        return { value, written: current.written, indexed: current.indexed };
      } catch (error) {
        const failure = meaningOf(current.failure ?? error, { run, limit, timeoutMs: options.timeoutMs });
        if (!failure.retryable || attempt > options.maxRetries || signal.aborted) throw failure;
        const pause = failure.retryAfterMs ?? backoff(options.retryDelayMs, attempt);
        if (performance.now() + pause >= deadline) throw failure;
        options.logger.info({ code: failure.code, pauseMs: Math.round(pause) }, 'Pinecone is asked again');
        await sleep(pause, undefined, { signal }).catch((cause: unknown) => {
          throw meaningOf(cause, { run, limit, timeoutMs: options.timeoutMs });
        });
      }
    }
  };
}

/** The library hides what its `fetch` threw, and what the status was: both are kept beside it. */
async function guardedFetch(input: string | URL | Request, init: RequestInit | undefined, current: Try | undefined, maxBytes: number) {
  if (current === undefined) throw new TriageError('internal', 'Pinecone was called outside of a call');
  try {
    const response = await fetch(input, { ...init, redirect: 'error', signal: current.signal });
    const text = await readBounded(response, maxBytes);
    if (!response.ok) throw refusal(response, text);
    current.written = numberIn(response.headers, 'x-pinecone-request-lsn');
    current.indexed = numberIn(response.headers, 'x-pinecone-max-indexed-lsn');
    return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } });
  } catch (error) {
    current.failure = error;
    throw error;
  }
}

interface Limits {
  readonly run: AbortSignal | undefined;
  readonly limit: AbortSignal;
  readonly timeoutMs: number;
}

function meaningOf(error: unknown, { run, limit, timeoutMs }: Limits): TriageError {
  if (run?.aborted) return new TriageError('cancelled', 'The Pinecone call was canceled.', { cause: error });
  if (error instanceof TriageError) return error;
  if (limit.aborted) {
    const message = `Pinecone did not respond (timeout after ${timeoutMs / 1000} s)`;
    return new TriageError('timeout', message, { retryable: true, cause: error });
  }
  if (error instanceof SyntaxError) return new TriageError('upstream-failed', 'Pinecone did not return JSON');
  if (isArgumentError(error)) return new TriageError('internal', `Pinecone's client refused the call: ${error.message}`, { cause: error });
  return new TriageError('upstream-failed', 'Pinecone could not be reached', { retryable: true, cause: error });
}

function isArgumentError(error: unknown): error is Error {
  return error instanceof Error && /^Pinecone(?:Argument|Configuration|IndexProperty)Error$/.test(error.name);
}

async function readBounded(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw new TriageError('upstream-failed', `The reply of Pinecone is larger than ${limit} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function numberIn(headers: Headers, name: string): number | null {
  const value = headers.get(name);
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** Half fixed, half random, so that many workers do not come back at once. */
function backoff(firstMs: number, attempt: number): number {
  const ceiling = firstMs * 2 ** (attempt - 1);
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}
