import { TriageError } from '../../domain/errors.ts';
import { readBytes } from '../../lib/http-body.ts';
import { retryAfter } from '../../lib/time.ts';
import type { RawResult } from './results.ts';

export interface ProviderRequest {
  /** The display name: "Brave Search". */
  readonly provider: string;
  readonly url: URL;
  readonly query?: Readonly<Record<string, string>>;
  /** The headers contain the key, so they must not appear in an error. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body that is sent as JSON by POST. If absent, the request is a GET. */
  readonly body?: object;
}

/** Reads the results in a reply. Returns null if it has none that can be read. May throw a `TriageError`. */
export interface ReplyReader {
  readonly maxBytes: number;
  read(text: string): readonly RawResult[] | null;
}

/**
 * Asks the search provider that the operator configured, which may be in a private network. Never follows a
 * redirect. Throws `upstream-auth` and `quota-exhausted` (final), `rate-limited`, `timeout`, `too-large`, and
 * `upstream-failed`.
 */
export async function askProvider(
  { provider, url, query, headers, body }: ProviderRequest,
  reader: ReplyReader,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly RawResult[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const within = AbortSignal.any([signal, deadline]);
  try {
    if (query !== undefined) url.search = new URLSearchParams(query).toString();
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const init = {
      headers: { accept: 'application/json', ...headers },
      signal: within,
      redirect: 'manual' as const,
    };
    const response = await fetch(url, { ...init, ...sent });
    if (!response.ok) {
      await response.body?.cancel();
      throw createStatusError(provider, response);
    }
    const bytes = await readBytes(response.body, reader.maxBytes);
    if (bytes === null)
      throw new TriageError('too-large', `${provider} sent more than ${reader.maxBytes} bytes.`);
    const results = reader.read(bytes.toString('utf8'));
    if (results === null)
      throw new TriageError('upstream-failed', `${provider} did not return search results.`);
    return results;
  } catch (error) {
    if (error instanceof TriageError) throw error;
    if (signal.aborted)
      throw new TriageError('cancelled', `The call to ${provider} was stopped.`, { retryable: true });
    if (deadline.aborted)
      throw new TriageError('timeout', `${provider} took longer than ${timeoutMs} ms.`, { retryable: true });
    // The cause is left out, because it may quote the request.
    throw new TriageError('upstream-failed', `${provider} could not be reached.`, { retryable: true });
  }
}

function createStatusError(provider: string, { status, headers }: Response): TriageError {
  if (status >= 300 && status < 400) {
    return new TriageError(
      'upstream-failed',
      `${provider} redirects elsewhere, which is not followed (FAULTLINE_WEB_SEARCH_URL).`,
    );
  }
  if (status === 401 || status === 403) {
    return new TriageError(
      'upstream-auth',
      `${provider} returned ${status}: check FAULTLINE_WEB_SEARCH_KEY, and that JSON output is enabled.`,
    );
  }
  if (status === 402 || status === 432 || status === 433)
    return new TriageError(
      'quota-exhausted',
      `${provider} returned ${status}: the quota of its plan is used up.`,
    );
  if (status === 429) {
    const retryAfterMs = retryAfter(headers);
    const rest = retryAfterMs === null ? {} : { retryAfterMs };
    return new TriageError('rate-limited', `${provider} is rate limiting requests.`, {
      retryable: true,
      ...rest,
    });
  }
  return new TriageError('upstream-failed', `${provider} returned ${status}.`, { retryable: status >= 500 });
}
