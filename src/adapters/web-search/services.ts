import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { readBytes } from '../../lib/http-body.ts';
import { limitTime } from '../../lib/resilience.ts';
import { jsonIn } from '../../lib/text.ts';
import { retryAfter } from '../../lib/time.ts';
import type { WebSearch } from '../../ports/toolbox.ts';
import { type Find, type RawResult, searchWith, type WebSearchOptions } from './results.ts';

const BASE_BRAVE = 'https://api.search.brave.com';
const BASE_TAVILY = 'https://api.tavily.com';

const BraveResult = z.object({ title: z.string().nullish(), url: z.string().nullish(), description: z.string().nullish() });
const BraveReply = z
  .object({ web: z.object({ results: z.array(BraveResult) }).nullish() })
  .transform(({ web }) => (web?.results ?? []).map(({ description: text, ...result }) => ({ ...result, text })));
const Result = z.object({ title: z.string().nullish(), url: z.string().nullish(), content: z.string().nullish() });
const Reply = z
  .object({ results: z.array(Result) })
  .transform(({ results }) => results.map(({ content: text, ...result }) => ({ ...result, text })));

/** Creates a client of Brave's Web Search API, version 1. */
export function createBraveSearch(options: WebSearchOptions & { readonly apiKey: string }): WebSearch {
  const request = (query: string, limit: number): ProviderRequest => ({
    provider: 'Brave Search',
    url: new URL('/res/v1/web/search', options.baseUrl ?? BASE_BRAVE),
    query: { q: query, count: String(Math.min(limit, 20)), text_decorations: 'false' },
    headers: { 'x-subscription-token': options.apiKey },
  });
  return searchBy('brave', request, BraveReply, options);
}

/**
 * Creates a client for a self-hosted SearXNG whose settings allow `format=json`. It may be in a private
 * network. A key is sent as a bearer token.
 */
export function createSearxngSearch(options: WebSearchOptions & { readonly baseUrl: string }): WebSearch {
  const request = (query: string): ProviderRequest => ({
    provider: 'SearXNG',
    url: new URL('search', options.baseUrl.endsWith('/') ? options.baseUrl : `${options.baseUrl}/`),
    query: { q: query, format: 'json', safesearch: '1' },
    headers: options.apiKey === null ? {} : { authorization: `Bearer ${options.apiKey}` },
  });
  return searchBy('searxng', request, Reply, options);
}

export function createTavilySearch(options: WebSearchOptions & { readonly apiKey: string }): WebSearch {
  const request = (query: string, limit: number): ProviderRequest => ({
    provider: 'Tavily',
    url: new URL('/search', options.baseUrl ?? BASE_TAVILY),
    headers: { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' },
    body: { query, max_results: Math.min(limit, 20), search_depth: 'basic' },
  });
  return searchBy('tavily', request, Reply, options);
}

interface ProviderRequest {
  /** The name shown to people: "Brave Search". */
  readonly provider: string;
  readonly url: URL;
  readonly query?: Readonly<Record<string, string>>;
  /** Hold the key; they never come into an error. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON by POST; absent: a GET. */
  readonly body?: object;
}

const MAX_BYTES = 2 * 1024 * 1024;

function searchBy(
  driver: string,
  request: (query: string, limit: number) => ProviderRequest,
  reply: z.ZodType<readonly RawResult[]>,
  options: WebSearchOptions,
): WebSearch {
  const find: Find = (query, limit, signal) => askProvider(request(query, limit), reply, options.timeoutMs, signal);
  return searchWith(driver, find, options);
}

/**
 * Asks the search provider that the operator configured, which may be in a private network; a redirect is never followed. Throws
 * `upstream-auth` and `quota-exhausted` (final), `rate-limited`, `timeout`, `too-large`, `upstream-failed`.
 */
async function askProvider(
  request: ProviderRequest,
  reply: z.ZodType<readonly RawResult[]>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly RawResult[]> {
  const { provider } = request;
  const canceled = () => new TriageError('cancelled', `The call to ${provider} was stopped.`, { retryable: true });
  const late = () => new TriageError('timeout', `${provider} took longer than ${timeoutMs} ms.`, { retryable: true });
  return await limitTime({ limitMs: timeoutMs, signal, late, canceled }, (within) => fetchResults(request, reply, within));
}

async function fetchResults(
  { provider, url, query, headers, body }: ProviderRequest,
  reply: z.ZodType<readonly RawResult[]>,
  signal: AbortSignal,
): Promise<readonly RawResult[]> {
  try {
    if (query !== undefined) url.search = new URLSearchParams(query).toString();
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const init = { headers: { accept: 'application/json', ...headers }, signal, redirect: 'manual' as const };
    const response = await fetch(url, { ...init, ...sent });
    if (!response.ok) {
      await response.body?.cancel();
      throw statusError(provider, response);
    }
    const bytes = await readBytes(response.body, MAX_BYTES);
    if (bytes === null) throw new TriageError('too-large', `${provider} sent more than ${MAX_BYTES} bytes.`);
    const read = reply.safeParse(jsonIn(bytes.toString('utf8')));
    if (!read.success) throw new TriageError('upstream-failed', `${provider} did not return search results.`);
    return read.data;
  } catch (error) {
    if (error instanceof TriageError) throw error;
    // Without its cause: that may quote the request.
    throw new TriageError('upstream-failed', `${provider} could not be reached.`, { retryable: true });
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
    const retryAfterMs = retryAfter(headers);
    const rest = retryAfterMs === null ? {} : { retryAfterMs };
    return new TriageError('rate-limited', `${provider} is rate limiting requests.`, { retryable: true, ...rest });
  }
  return new TriageError('upstream-failed', `${provider} returned ${status}.`, { retryable: status >= 500 });
}
