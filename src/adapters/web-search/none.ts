import type { WebSearch } from '../../ports/web-search.ts';

/** No web search: an honest "not configured", never an error. */
export function createNoWebSearch(): WebSearch {
  return { driver: 'none', configured: false, search: async () => [] };
}
