import { z } from 'zod';
import type { WebSearch } from '../../ports/toolbox.ts';
import { askProvider } from './ask-provider.ts';
import { searchWith, type WebSearchOptions } from './results.ts';

const Reply = z.object({
  web: z
    .object({ results: z.array(z.object({ title: z.string().nullish(), url: z.string().nullish(), description: z.string().nullish() })) })
    .nullish(),
});

const BASE = 'https://api.search.brave.com';

/** Brave's Web Search API, version 1. */
export function createBraveSearch(options: WebSearchOptions & { readonly apiKey: string }): WebSearch {
  const find = async (query: string, limit: number, signal: AbortSignal) => {
    const url = new URL('/res/v1/web/search', options.baseUrl ?? BASE);
    url.search = new URLSearchParams({ q: query, count: String(Math.min(limit, 20)), text_decorations: 'false' }).toString();
    const headers = { 'x-subscription-token': options.apiKey };
    const { web } = await askProvider(
      { provider: 'Brave Search', url, method: 'GET', headers, timeoutMs: options.timeoutMs },
      Reply,
      signal,
    );
    return (web?.results ?? []).map(({ title, url: address, description }) => ({ title, url: address, text: description }));
  };
  return searchWith('brave', find, options);
}
