import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TriageError } from '../../domain/errors.ts';
import type { AddressGuard } from './address-guard.ts';

interface PageLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** A page as received: its declared type, and its bytes up to the limit. */
interface FetchedPage {
  readonly type: string;
  readonly bytes: Buffer;
}

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a page of the public web. The address, its resolved addresses, and every redirect are checked by
 * the guard. Requests have no cookies and no credentials, and no compression, so that the size limit counts
 * the parsed bytes. Throws `forbidden`, `timeout`, and `upstream-failed`.
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
    if (!URL.canParse(next, url.href)) throw createFailedError(url, 'redirects without a target');
    url = new URL(next, url);
  }
  throw createFailedError(address, 'redirects too often');
}

function open(url: URL, guard: AddressGuard, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = {
    accept: 'text/html, text/plain;q=0.9',
    'accept-encoding': 'identity',
    'user-agent': 'faultline',
  };
  return new Promise((resolve, reject) => {
    // The connection is not reused, because an open one was checked for another name.
    const sent = request(url, { headers, signal, lookup: guard.lookup, agent: false }, resolve);
    sent.on('error', (error) => reject(toTriageError(url, error, signal)));
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
    throw createFailedError(url, `answered ${response.statusCode ?? 0}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      size += bytes.length;
      // The beginning of the page is sufficient. Leaving the loop closes the connection.
      if (size >= maxBytes) break;
    }
  } catch (error) {
    throw toTriageError(url, error, signal);
  }
  return { type: response.headers['content-type'] ?? '', bytes: Buffer.concat(chunks).subarray(0, maxBytes) };
}

function toTriageError(url: URL, error: unknown, signal: AbortSignal): TriageError {
  if (error instanceof TriageError) return error;
  if (signal.aborted)
    return new TriageError('timeout', `${url.host} took too long.`, { retryable: true, cause: error });
  return new TriageError('upstream-failed', `${url.host} could not be reached.`, {
    retryable: true,
    cause: error,
  });
}

function createFailedError(url: URL, why: string): TriageError {
  return new TriageError('upstream-failed', `${url.host} ${why}.`);
}
