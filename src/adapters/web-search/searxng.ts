import { z } from 'zod';
import type { WebSearch } from '../../ports/toolbox.ts';
import { askProvider } from './ask-provider.ts';
import { searchWith, type WebSearchOptions } from './results.ts';

const Reply = z.object({
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
      Reply,
      signal,
    );
    return results.map(({ title, url: address, content }) => ({ title, url: address, text: content }));
  };
  return searchWith('searxng', find, options);
}
