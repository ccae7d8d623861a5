import { z } from 'zod';
import { parseJson } from '../../lib/text.ts';
import type { WebSearch } from '../../ports/toolbox.ts';
import { askProvider, type ProviderRequest } from './ask-provider.ts';
import { type Find, type RawResult, searchWith, type WebSearchOptions } from './results.ts';

const BASE_BRAVE = 'https://api.search.brave.com';
const BASE_TAVILY = 'https://api.tavily.com';

const BraveResult = z.object({
  title: z.string().nullish(),
  url: z.string().nullish(),
  description: z.string().nullish(),
});
const BraveReply = z
  .object({ web: z.object({ results: z.array(BraveResult) }).nullish() })
  .transform(({ web }) =>
    (web?.results ?? []).map(({ description: text, ...result }) => ({ ...result, text })),
  );
const Result = z.object({
  title: z.string().nullish(),
  url: z.string().nullish(),
  content: z.string().nullish(),
});
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

const MAX_BYTES = 2 * 1024 * 1024;

function searchBy(
  driver: string,
  request: (query: string, limit: number) => ProviderRequest,
  reply: z.ZodType<readonly RawResult[]>,
  options: WebSearchOptions,
): WebSearch {
  const reader = {
    maxBytes: MAX_BYTES,
    read: (text: string) => reply.safeParse(parseJson(text)).data ?? null,
  };
  const find: Find = (query, limit, signal) =>
    askProvider(request(query, limit), reader, options.timeoutMs, signal);
  return searchWith(driver, find, options);
}
