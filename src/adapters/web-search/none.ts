import type { WebSearch } from '../../ports/toolbox.ts';

/** No web search: an honest "not configured", never an error. */
export function createNoWebSearch(): WebSearch {
  return { driver: 'none', configured: false, search: async () => [] };
}
