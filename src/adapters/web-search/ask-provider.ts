import type { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';

export interface ProviderRequest {
  /** For people: "Brave Search". */
  readonly provider: string;
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** Hold the key; they never come into an error. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Asks the search provider that the operator configured, which may be in a private network; a redirect is never followed. Throws
 * `upstream-auth` and `quota-exhausted` (final), `rate-limited`, `timeout`, `too-large`, `upstream-failed`.
 */
export async function askProvider<Schema extends z.ZodType>(
  { provider, url, method, headers, body, timeoutMs }: ProviderRequest,
  schema: Schema,
  signal: AbortSignal,
): Promise<z.output<Schema>> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const within = AbortSignal.any([signal, deadline]);
  try {
    const init = { method, headers: { accept: 'application/json', ...headers }, signal: within, redirect: 'manual' as const };
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    if (!response.ok) {
      await response.body?.cancel();
      throw statusError(provider, response);
    }
    return read(provider, schema, await bounded(provider, response.body));
  } catch (error) {
    if (error instanceof TriageError) throw error;
    if (signal.aborted) throw new TriageError('cancelled', `The call to ${provider} was stopped.`, { retryable: true });
    if (deadline.aborted) throw new TriageError('timeout', `${provider} took longer than ${timeoutMs} ms.`, { retryable: true });
    // Without its cause: that may quote the request.
    throw new TriageError('upstream-failed', `${provider} could not be reached.`, { retryable: true });
  }
}

async function bounded(provider: string, body: ReadableStream<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new TriageError('too-large', `${provider} sent more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function read<Schema extends z.ZodType>(provider: string, schema: Schema, text: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new TriageError('upstream-failed', `${provider} did not return search results.`);
  }
}

function statusError(provider: string, { status, headers }: Response): TriageError {
  if (status >= 300 && status < 400) {
    return new TriageError('upstream-failed', `${provider} redirects elsewhere, which is not followed (FAULTLINE_WEB_SEARCH_URL).`);
  }
  if (status === 401 || status === 403) {
    return new TriageError(
      'upstream-auth',
      `${provider} returned ${status}: check FAULTLINE_WEB_SEARCH_KEY, and that JSON output is enabled.`,
    );
  }
  if (status === 402 || status === 432 || status === 433)
    return new TriageError('quota-exhausted', `${provider} returned ${status}: the quota of its plan is used up.`);
  if (status === 429) {
    const seconds = Number(headers.get('retry-after'));
    const rest = Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {};
    return new TriageError('rate-limited', `${provider} is rate limiting requests.`, { retryable: true, ...rest });
  }
  return new TriageError('upstream-failed', `${provider} returned ${status}.`, { retryable: status >= 500 });
}
