import { lookup as lookupAddress } from 'node:dns';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { type DefaultTreeAdapterTypes, parse, parseFragment } from 'parse5';
import { TriageError } from '../../domain/errors.ts';
import { cleanLine } from '../../log/lines/clean.ts';
import type { WebResult, WebSearch } from '../../ports/toolbox.ts';

export interface WebSearchOptions {
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** Time limit of the search and of each page, in milliseconds. */
  readonly timeoutMs: number;
  /** The pages of so many first results are read; 0: none. */
  readonly pages: number;
  /** The guard for result pages only. The search provider itself is the operator's choice. */
  readonly guard?: AddressGuard;
}

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

export type Find = (query: string, limit: number, signal: AbortSignal) => Promise<readonly RawResult[]>;

/**
 * Creates a web search from a provider's results. Results are plain text, bounded, and from public addresses
 * only. The first pages are fetched and added where they can be read.
 */
export function searchWith(driver: string, find: Find, options: WebSearchOptions): WebSearch {
  const guard = options.guard ?? createAddressGuard();
  return {
    driver,
    configured: true,
    search: async (query, limit, signal) => {
      const results = (await find(query, limit, signal)).flatMap(publicResult).slice(0, limit);
      const read = results.map((result, rank) =>
        rank < options.pages ? withPage(result, guard, options.timeoutMs, signal) : result,
      );
      return await Promise.all(read);
    },
  };
}

function publicResult({ title, url, text }: RawResult): WebResult[] {
  if (url == null || url.length > 2_000 || !URL.canParse(url)) return [];
  const address = new URL(url);
  if (!isPublicUrl(address)) return [];
  const said = snippetText((text ?? '').slice(0, MAX_SNIPPET * 4), MAX_SNIPPET);
  return [
    {
      title: snippetText((title ?? '').slice(0, MAX_TITLE * 4), MAX_TITLE) || address.host,
      url: address.href,
      text: said,
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
    const said = textOfPage(type, bytes.toString('utf8'));
    return said === ''
      ? result
      : { ...result, text: [result.text, said].filter((part) => part !== '').join('\n\n') };
  } catch (error) {
    if (signal.aborted) throw error;
    return result;
  }
}

function textOfPage(type: string, body: string): string {
  if (/^text\/html|^application\/xhtml/i.test(type)) return pageText(body, MAX_PAGE_TEXT);
  return /^text\/plain/i.test(type) ? plain(body.slice(0, MAX_PAGE_TEXT * 2), MAX_PAGE_TEXT) : '';
}

interface PageLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** A page as it came: what it says of its type, and its bytes up to the limit. */
interface FetchedPage {
  readonly type: string;
  readonly bytes: Buffer;
}

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a page of the public web. The address, what it resolves to, and every redirect go through the
 * guard. No cookies, no credentials, no compression, so that the size limit counts what is parsed. Throws
 * `forbidden`, `timeout`, `upstream-failed`.
 */
export async function fetchPage(
  address: URL,
  guard: AddressGuard,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<FetchedPage> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(limits.timeoutMs)]);
  let url = address;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    guard.check(url);
    const response = await open(url, guard, within);
    const { statusCode: status = 0, headers } = response;
    if (!REDIRECTS.has(status)) return await read(url, response, limits.maxBytes, within);
    response.destroy();
    const next = headers.location ?? '';
    if (!URL.canParse(next, url.href)) throw failed(url, 'redirects without a target');
    url = new URL(next, url);
  }
  throw failed(address, 'redirects too often');
}

function open(url: URL, guard: AddressGuard, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = {
    accept: 'text/html, text/plain;q=0.9',
    'accept-encoding': 'identity',
    'user-agent': 'faultline',
  };
  return new Promise((resolve, reject) => {
    // A connection of its own: one kept open was checked for another name.
    const sent = request(url, { headers, signal, lookup: guard.lookup, agent: false }, resolve);
    sent.on('error', (error) => reject(asTriageError(url, error, signal)));
    sent.end();
  });
}

async function read(
  url: URL,
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<FetchedPage> {
  if (response.statusCode !== 200) {
    response.destroy();
    throw failed(url, `answered ${response.statusCode ?? 0}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      size += bytes.length;
      // Its beginning says enough; leaving the loop closes the connection.
      if (size >= maxBytes) break;
    }
  } catch (error) {
    throw asTriageError(url, error, signal);
  }
  return { type: response.headers['content-type'] ?? '', bytes: Buffer.concat(chunks).subarray(0, maxBytes) };
}

function asTriageError(url: URL, error: unknown, signal: AbortSignal): TriageError {
  if (error instanceof TriageError) return error;
  if (signal.aborted)
    return new TriageError('timeout', `${url.host} took too long.`, { retryable: true, cause: error });
  return new TriageError('upstream-failed', `${url.host} could not be reached.`, {
    retryable: true,
    cause: error,
  });
}

function failed(url: URL, why: string): TriageError {
  return new TriageError('upstream-failed', `${url.host} ${why}.`);
}

/** Any part of a parsed page. */
export type Node =
  | DefaultTreeAdapterTypes.ChildNode
  | DefaultTreeAdapterTypes.Document
  | DefaultTreeAdapterTypes.DocumentFragment;

/** Elements that are invisible or say nothing about the subject of the page. */
const UNSEEN = new Set(
  (
    'script style noscript template head svg math iframe object select textarea nav header footer ' +
    'form button'
  ).split(' '),
);
const BREAKS = new Set(
  (
    'address article blockquote br dd div dl dt figure h1 h2 h3 h4 h5 h6 hr li main ol p pre section ' +
    'table tr ul'
  ).split(' '),
);

/**
 * Returns the visible text of a page, at most `maxLength` characters. Uses no recursion, so hostile nesting
 * cannot overflow the stack.
 */
function pageText(html: string, maxLength: number): string {
  return readText(parse(html), maxLength);
}

/** Returns the text of an HTML fragment, such as a result with highlighted words. */
function snippetText(html: string, maxLength: number): string {
  return readText(parseFragment(html), maxLength).replace(/\s+/g, ' ');
}

/** Returns the visible text below a part of a page, at most `maxLength` characters. */
export function readText(root: Node, maxLength: number): string {
  let text = '';
  const open: Node[] = [root];
  for (let node = open.pop(); node !== undefined && text.length < maxLength * 2; node = open.pop()) {
    if (node.nodeName === '#text' && 'value' in node) text += node.value;
    if (!('childNodes' in node)) continue;
    if ('tagName' in node && UNSEEN.has(node.tagName)) continue;
    if (BREAKS.has(node.nodeName)) text += '\n';
    for (let index = node.childNodes.length - 1; index >= 0; index -= 1) {
      const child = node.childNodes[index];
      if (child !== undefined) open.push(child);
    }
  }
  return plain(text, maxLength);
}

/** Removes control characters and empty lines. */
function plain(text: string, maxLength: number): string {
  const lines = text.split('\n').map((line) =>
    cleanLine(line)
      .replace(/[\t \u00a0]+/g, ' ')
      .trim(),
  );
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .slice(0, maxLength)
    .toWellFormed();
}

/** Decides whom we may connect to on the word of others. */
interface AddressGuard {
  /** Throws `forbidden` for a host that is, or is named like, one of a private network. */
  check(url: URL): void;
  /** Resolves as the system does, and fails with `forbidden` where any of the addresses is not public. */
  readonly lookup: LookupFunction;
}

interface GuardOptions {
  /** Resolves a name; the system's resolver unless a test has its own. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly isPublic?: (address: string) => boolean;
}

/** IANA's special-purpose registries: what is not globally reachable, and multicast. */
const IPV4_SPECIAL: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
/**
 * Inside of 2000::/3, which is all that is global in IPv6: protocol assignments, documentation, and tunnels
 * that hold an IPv4 address.
 */
const IPV6_SPECIAL: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];
const PRIVATE_ENDING =
  /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa|test|invalid|onion)$/i;

const special = new BlockList();
for (const [address, prefix] of IPV4_SPECIAL) special.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of IPV6_SPECIAL) special.addSubnet(address, prefix, 'ipv6');
const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');

/** Checks whether an IPv4 or IPv6 address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.{0,100}$/, '');
  const version = isIP(plain);
  if (version === 4) return !special.check(plain, 'ipv4');
  return version === 6 && globalIpv6.check(plain, 'ipv6') && !special.check(plain, 'ipv6');
}

/** Checks whether a URL has a public host. A host name is not resolved. */
export function isPublicUrl(url: URL, isPublic: (address: string) => boolean = isPublicAddress): boolean {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
  if (url.username !== '' || url.password !== '') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublic(host);
  return host.includes('.') && !PRIVATE_ENDING.test(host);
}

/**
 * Creates a guard that uses the system's resolver. The connection goes to the addresses that were checked, so
 * a second DNS answer cannot replace them (DNS rebinding).
 */
export function createAddressGuard({
  resolve = resolveAll,
  isPublic = isPublicAddress,
}: GuardOptions = {}): AddressGuard {
  return {
    check: (url) => {
      if (!isPublicUrl(url, isPublic)) throw refused(url.hostname);
    },
    lookup: (hostname, options, callback) => {
      resolve(hostname).then(
        (addresses) => {
          const [first] = addresses;
          if (first === undefined || !addresses.every(isPublic)) return callback(refused(hostname), '', 4);
          if (options.all === true)
            callback(
              null,
              addresses.map((address) => ({ address, family: isIP(address) })),
            );
          else callback(null, first, isIP(first));
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 4),
      );
    },
  };
}

function resolveAll(hostname: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    lookupAddress(hostname, { all: true, verbatim: true }, (error, addresses) => {
      if (error !== null) reject(error);
      else resolve(addresses.map(({ address }) => address));
    });
  });
}

function refused(hostname: string): TriageError {
  return new TriageError(
    'forbidden',
    `${hostname.slice(0, 200)} is not a host on the public internet, so it is not contacted.`,
  );
}
