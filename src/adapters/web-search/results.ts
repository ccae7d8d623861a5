import type { WebResult, WebSearch } from '../../ports/toolbox.ts';
import { type AddressGuard, createAddressGuard, isPublicUrl } from './address-guard.ts';
import { fetchPage } from './fetch-page.ts';
import { pageText, plain, snippetText } from './page-text.ts';

export interface WebSearchOptions {
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** Of the search, and of each page, in milliseconds. */
  readonly timeoutMs: number;
  /** The pages of so many first results are read; 0: none. */
  readonly pages: number;
  /** For pages only: the provider is the operator's own choice. */
  readonly guard?: AddressGuard;
}

/** What a provider finds, as it says it. */
export interface RawResult {
  readonly title?: string | null | undefined;
  readonly url?: string | null | undefined;
  /** May hold marks in HTML. */
  readonly text?: string | null | undefined;
}

const MAX_TITLE = 200;
const MAX_SNIPPET = 800;
const MAX_PAGE_TEXT = 2_500;
const MAX_PAGE_BYTES = 512 * 1024;
/** One slow page must not use up the time of the tool. */
const MAX_PAGE_MS = 5_000;

type Find = (query: string, limit: number, signal: AbortSignal) => Promise<readonly RawResult[]>;

/** A web search over what a provider finds: plain text, bounded, public addresses only, the first pages read as far as they can be. */
export function searchWith(driver: string, find: Find, options: WebSearchOptions): WebSearch {
  const guard = options.guard ?? createAddressGuard();
  return {
    driver,
    configured: true,
    search: async (query, limit, signal) => {
      const results = (await find(query, limit, signal)).flatMap(publicResult).slice(0, limit);
      const read = results.map((result, rank) => (rank < options.pages ? withPage(result, guard, options.timeoutMs, signal) : result));
      return await Promise.all(read);
    },
  };
}

function publicResult({ title, url, text }: RawResult): WebResult[] {
  if (url == null || url.length > 2_000 || !URL.canParse(url)) return [];
  const address = new URL(url);
  if (!isPublicUrl(address)) return [];
  const said = snippetText((text ?? '').slice(0, MAX_SNIPPET * 4), MAX_SNIPPET);
  return [{ title: snippetText((title ?? '').slice(0, MAX_TITLE * 4), MAX_TITLE) || address.host, url: address.href, text: said }];
}

/** A page that cannot be read leaves what the provider said of it. */
async function withPage(result: WebResult, guard: AddressGuard, timeoutMs: number, signal: AbortSignal): Promise<WebResult> {
  try {
    const limits = { timeoutMs: Math.min(timeoutMs, MAX_PAGE_MS), maxBytes: MAX_PAGE_BYTES };
    const { type, bytes } = await fetchPage(new URL(result.url), guard, limits, signal);
    const said = textOfPage(type, bytes.toString('utf8'));
    return said === '' ? result : { ...result, text: [result.text, said].filter((part) => part !== '').join('\n\n') };
  } catch (error) {
    if (signal.aborted) throw error;
    return result;
  }
}

function textOfPage(type: string, body: string): string {
  if (/^text\/html|^application\/xhtml/i.test(type)) return pageText(body, MAX_PAGE_TEXT);
  return /^text\/plain/i.test(type) ? plain(body.slice(0, MAX_PAGE_TEXT * 2), MAX_PAGE_TEXT) : '';
}
