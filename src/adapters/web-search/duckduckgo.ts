import { setTimeout as sleep } from 'node:timers/promises';
import { TriageError } from '../../domain/errors.ts';

import type { WebSearch } from '../../ports/toolbox.ts';
import { type HtmlNode, parseHtml, walkHtml } from '../html.ts';
import { askProvider, type ReplyReader } from './ask-provider.ts';
import { readText } from './page-text.ts';
import { type Find, searchWith, type WebSearchOptions } from './results.ts';

const BASE = 'https://html.duckduckgo.com/html/';
/**
 * The maximum size of a page, in bytes. A page of results has about 40 kB. Parsing more would block
 * everything else.
 */
const MAX_BYTES = 128 * 1024;
const MAX_TEXT = 1_000;
/** The minimum time between two searches, in milliseconds, because the page is made for people. */
const PACE_MS = 2_000;
/**
 * The maximum time for which a search waits for earlier searches, in milliseconds. A search that would have
 * to wait longer is not made.
 */
const MAX_WAIT_MS = 8_000;
/** The time without searches after a refusal, in milliseconds. */
const REST_MS = 10 * 60_000;

interface DuckDuckGoOptions extends WebSearchOptions {
  /** The minimum time between two searches, in milliseconds. */
  readonly paceMs?: number;
}

/**
 * Creates a client of DuckDuckGo's page for browsers without scripts, which needs no key, or of its lite
 * page. It is not an API, so it may change or refuse a program at any time. Searches are made one after the
 * other, and none for ten minutes after a refusal.
 */
export function createDuckDuckGoSearch({ paceMs = PACE_MS, ...options }: DuckDuckGoOptions): WebSearch {
  const takeTurn = createTurns(paceMs);
  let restsUntil = 0;
  const find: Find = async (query, _limit, signal) => {
    if (Date.now() < restsUntil) throw createRefusal();
    await takeTurn(signal);
    const request = {
      provider: 'DuckDuckGo',
      url: new URL(options.baseUrl ?? BASE),
      query: { q: query },
      headers: { accept: 'text/html', 'user-agent': 'faultline' },
    };
    try {
      return await askProvider(request, READER, options.timeoutMs, signal);
    } catch (error) {
      if (!(error instanceof TriageError) || !REFUSALS.has(error.code)) throw error;
      restsUntil = Date.now() + REST_MS;
      throw createRefusal();
    }
  };
  return searchWith('duckduckgo', find, options);
}

const REFUSALS: ReadonlySet<string> = new Set(['rate-limited', 'upstream-auth']);

function createRefusal(): TriageError {
  const text = 'DuckDuckGo refuses to answer a program for now; it is not asked for 10 minutes.';
  return new TriageError('rate-limited', text);
}

/**
 * Creates a function that returns when it is the caller's turn, and throws `rate-limited` if that would take
 * too long.
 */
function createTurns(paceMs: number): (signal: AbortSignal) => Promise<void> {
  let next = 0;
  return async (signal) => {
    const now = Date.now();
    const wait = Math.max(0, next - now);
    if (wait > MAX_WAIT_MS) throw new TriageError('rate-limited', 'Too many searches are waiting.');
    next = now + wait + paceMs;
    if (wait > 0) await sleep(wait, undefined, { signal });
  };
}

const LINKS: ReadonlySet<string> = new Set(['result__a', 'result-link']);
const SNIPPETS: ReadonlySet<string> = new Set(['result__snippet', 'result-snippet']);
const NO_RESULTS: ReadonlySet<string> = new Set(['no-results', 'no-results__message']);

/**
 * The reader of both pages: `result__a` and `result__snippet` belong to the first, `result-link` and
 * `result-snippet` to the lite one.
 */
const READER: ReplyReader = {
  maxBytes: MAX_BYTES,
  read(text) {
    const found: { title: string; url: string | null; text: string }[] = [];
    let isEmpty = false;
    walkHtml(parseHtml(text), {
      enter(node) {
        if (hasClass(node, LINKS)) found.push({ title: toHtml(node), url: resolveTarget(node), text: '' });
        const last = found.at(-1);
        if (last !== undefined && hasClass(node, SNIPPETS)) last.text = toHtml(node);
        isEmpty ||= hasClass(node, NO_RESULTS);
        return undefined;
      },
    });
    // A page that checks for a human has neither results nor the statement that there are none.
    if (found.length === 0 && !isEmpty) throw createRefusal();
    return found.filter(({ url }) => url !== null);
  },
};

function hasClass(node: HtmlNode, names: ReadonlySet<string>): boolean {
  return readAttribute(node, 'class')
    .split(/\s+/)
    .some((name) => names.has(name));
}

function readAttribute(node: HtmlNode, name: string): string {
  return 'attrs' in node ? (node.attrs.find((attribute) => attribute.name === name)?.value ?? '') : '';
}

/** Returns the text of a part of the page as HTML without formatting. */
function toHtml(node: HtmlNode): string {
  return readText(node, MAX_TEXT).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/**
 * Returns the target address of a result, without DuckDuckGo's own redirect. Returns null for advertisements.
 */
function resolveTarget(node: HtmlNode): string | null {
  const href = readAttribute(node, 'href');
  if (!URL.canParse(href, BASE)) return null;
  const address = new URL(href, BASE);
  return /(?:^|\.)duckduckgo\.com$/.test(address.hostname) ? address.searchParams.get('uddg') : address.href;
}
