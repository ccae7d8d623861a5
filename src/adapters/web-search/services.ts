import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { readBytes } from '../../lib/http-body.ts';
import { retryAfter } from '../../lib/time.ts';
import type { WebSearch } from '../../ports/toolbox.ts';
import { searchWith, type WebSearchOptions } from './results.ts';

const BraveReply = z.object({
  web: z
    .object({ results: z.array(z.object({ title: z.string().nullish(), url: z.string().nullish(), description: z.string().nullish() })) })
    .nullish(),
});

const BASE_BRAVE = 'https://api.search.brave.com';

/** Brave's Web Search API, version 1. */
export function createBraveSearch(options: WebSearchOptions & { readonly apiKey: string }): WebSearch {
  const find = async (query: string, limit: number, signal: AbortSignal) => {
    const url = new URL('/res/v1/web/search', options.baseUrl ?? BASE_BRAVE);
    url.search = new URLSearchParams({ q: query, count: String(Math.min(limit, 20)), text_decorations: 'false' }).toString();
    const headers = { 'x-subscription-token': options.apiKey };
    const { web } = await askProvider(
      { provider: 'Brave Search', url, method: 'GET', headers, timeoutMs: options.timeoutMs },
      BraveReply,
      signal,
    );
    return (web?.results ?? []).map(({ title, url: address, description }) => ({ title, url: address, text: description }));
  };
  return searchWith('brave', find, options);
}

const SearxngReply = z.object({
  results: z.array(z.object({ title: z.string().nullish(), url: z.string().nullish(), content: z.string().nullish() })),
});

/** A SearXNG of one's own, whose settings allow `format=json`. It may lie in a private network; a key is sent as a bearer token. */
export function createSearxngSearch(options: WebSearchOptions & { readonly baseUrl: string }): WebSearch {
  const headers: Record<string, string> = options.apiKey === null ? {} : { authorization: `Bearer ${options.apiKey}` };
  const find = async (query: string, _limit: number, signal: AbortSignal) => {
    const url = new URL('search', options.baseUrl.endsWith('/') ? options.baseUrl : `${options.baseUrl}/`);
    url.search = new URLSearchParams({ q: query, format: 'json', safesearch: '1' }).toString();
    const { results } = await askProvider(
      { provider: 'SearXNG', url, method: 'GET', headers, timeoutMs: options.timeoutMs },
      SearxngReply,
      signal,
    );
    return results.map(({ title, url: address, content }) => ({ title, url: address, text: content }));
  };
  return searchWith('searxng', find, options);
}

const TavilyReply = z.object({
  results: z.array(z.object({ title: z.string().nullish(), url: z.string().nullish(), content: z.string().nullish() })),
});

const BASE_TAVILY = 'https://api.tavily.com';

/** Tavily's search. */
export function createTavilySearch(options: WebSearchOptions & { readonly apiKey: string }): WebSearch {
  const find = async (query: string, limit: number, signal: AbortSignal) => {
    const headers = { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, max_results: Math.min(limit, 20), search_depth: 'basic' });
    const url = new URL('/search', options.baseUrl ?? BASE_TAVILY);
    const asked = { provider: 'Tavily', url, method: 'POST' as const, headers, body, timeoutMs: options.timeoutMs };
    const { results } = await askProvider(asked, TavilyReply, signal);
    return results.map(({ title, url: address, content }) => ({ title, url: address, text: content }));
  };
  return searchWith('tavily', find, options);
}

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
    const bytes = await readBytes(response.body, MAX_BYTES);
    if (bytes === null) throw new TriageError('too-large', `${provider} sent more than ${MAX_BYTES} bytes.`);
    return read(provider, schema, bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof TriageError) throw error;
    if (signal.aborted) throw new TriageError('cancelled', `The call to ${provider} was stopped.`, { retryable: true });
    if (deadline.aborted) throw new TriageError('timeout', `${provider} took longer than ${timeoutMs} ms.`, { retryable: true });
    // Without its cause: that may quote the request.
    throw new TriageError('upstream-failed', `${provider} could not be reached.`, { retryable: true });
  }
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
    const retryAfterMs = retryAfter(headers);
    const rest = retryAfterMs === null ? {} : { retryAfterMs };
    return new TriageError('rate-limited', `${provider} is rate limiting requests.`, { retryable: true, ...rest });
  }
  return new TriageError('upstream-failed', `${provider} returned ${status}.`, { retryable: status >= 500 });
}
