import type { WebResult, WebSearch } from '../../ports/toolbox.ts';
import { type AddressGuard, createAddressGuard, isPublicUrl } from './address-guard.ts';
import { fetchPage } from './fetch-page.ts';
import { extractPageText, extractSnippetText, toPlainText } from './page-text.ts';

export interface WebSearchOptions {
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** The time limit of the search and of each page, in milliseconds. */
  readonly timeoutMs: number;
  /** The number of results, from the first on, whose pages are read. 0 reads none. */
  readonly pages: number;
  /** The guard, which checks only result pages. The search provider is chosen by the operator. */
  readonly guard?: AddressGuard;
}

export interface RawResult {
  readonly title?: string | null | undefined;
  readonly url?: string | null | undefined;
  /** The text, which may contain HTML. */
  readonly text?: string | null | undefined;
}

const MAX_TITLE = 200;
const MAX_SNIPPET = 800;
const MAX_PAGE_TEXT = 2_500;
const MAX_PAGE_BYTES = 512 * 1024;
/** The time limit of one page, in milliseconds. A slow page must not use up the time of the tool. */
const MAX_PAGE_MS = 5_000;

export type Find = (query: string, limit: number, signal: AbortSignal) => Promise<readonly RawResult[]>;

/**
 * Creates a web search from a provider's results. Results are plain text, bounded, and from public addresses
 * only. The first pages are fetched and added if they can be read.
 */
export function searchWith(driver: string, find: Find, options: WebSearchOptions): WebSearch {
  const guard = options.guard ?? createAddressGuard();
  return {
    driver,
    configured: true,
    search: async (query, limit, signal) => {
      const results = (await find(query, limit, signal)).flatMap(toPublicResults).slice(0, limit);
      const read = results.map((result, rank) =>
        rank < options.pages ? withPage(result, guard, options.timeoutMs, signal) : result,
      );
      return await Promise.all(read);
    },
  };
}

function toPublicResults({ title, url, text }: RawResult): WebResult[] {
  if (url == null || url.length > 2_000 || !URL.canParse(url)) return [];
  const address = new URL(url);
  if (!isPublicUrl(address)) return [];
  const snippet = extractSnippetText((text ?? '').slice(0, MAX_SNIPPET * 4), MAX_SNIPPET);
  return [
    {
      title: extractSnippetText((title ?? '').slice(0, MAX_TITLE * 4), MAX_TITLE) || address.host,
      url: address.href,
      text: snippet,
    },
  ];
}

/** Adds the text of the page to a result. If the page cannot be read, the provider's snippet stays. */
async function withPage(
  result: WebResult,
  guard: AddressGuard,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WebResult> {
  try {
    const limits = { timeoutMs: Math.min(timeoutMs, MAX_PAGE_MS), maxBytes: MAX_PAGE_BYTES };
    const { type, bytes } = await fetchPage(new URL(result.url), guard, limits, signal);
    const page = readPageText(type, bytes.toString('utf8'));
    return page === ''
      ? result
      : { ...result, text: [result.text, page].filter((part) => part !== '').join('\n\n') };
  } catch (error) {
    if (signal.aborted) throw error;
    return result;
  }
}

function readPageText(type: string, body: string): string {
  if (/^text\/html|^application\/xhtml/i.test(type)) return extractPageText(body, MAX_PAGE_TEXT);
  return /^text\/plain/i.test(type) ? toPlainText(body.slice(0, MAX_PAGE_TEXT * 2), MAX_PAGE_TEXT) : '';
}
