import { z } from 'zod';
import type { WebSearch } from '../../ports/toolbox.ts';
import { askProvider } from './ask-provider.ts';
import { searchWith, type WebSearchOptions } from './results.ts';

const Reply = z.object({
  results: z.array(z.object({ title: z.string().nullish(), url: z.string().nullish(), content: z.string().nullish() })),
});

const BASE = 'https://api.tavily.com';

/** Tavily's search. */
export function createTavilySearch(options: WebSearchOptions & { readonly apiKey: string }): WebSearch {
  const find = async (query: string, limit: number, signal: AbortSignal) => {
    const headers = { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, max_results: Math.min(limit, 20), search_depth: 'basic' });
    const url = new URL('/search', options.baseUrl ?? BASE);
    const asked = { provider: 'Tavily', url, method: 'POST' as const, headers, body, timeoutMs: options.timeoutMs };
    const { results } = await askProvider(asked, Reply, signal);
    return results.map(({ title, url: address, content }) => ({ title, url: address, text: content }));
  };
  return searchWith('tavily', find, options);
}
