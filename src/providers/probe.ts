import { messageOf, TriageError } from '../domain/errors.ts';
import { readText } from '../lib/http-body.ts';

export interface Probe {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Posted; absent: nothing is sent, only asked. */
  readonly body?: string;
}

export interface ProbeReply {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON of at most 64 KB; null where it is something else. */
  readonly json: unknown;
  /** How far the other side's clock is ahead of ours, in milliseconds, to the second; null where it does not say. */
  readonly aheadMs: number | null;
}

const MAX_BYTES = 64 * 1024;

/** One request. Follows no redirect, which would take a key to another host. Throws `upstream-failed` where nothing answers. */
export async function probe({ url, headers = {}, body }: Probe, signal: AbortSignal): Promise<ProbeReply> {
  try {
    const posted = body === undefined ? {} : { method: 'POST', body };
    const response = await fetch(url, { ...posted, headers: { accept: 'application/json', ...headers }, redirect: 'manual', signal });
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      json: await smallJson(response),
      aheadMs: Number.isNaN(date) ? null : date - Date.now(),
    };
  } catch (cause) {
    if (signal.aborted) throw new TriageError('timeout', `${hostOf(url)} did not respond in time`, { retryable: true, cause });
    const { cause: inner } = cause instanceof Error ? cause : {};
    throw new TriageError('upstream-failed', `${hostOf(url)} cannot be reached: ${messageOf(inner ?? cause)}`, { retryable: true, cause });
  }
}

async function smallJson(response: Response): Promise<unknown> {
  try {
    return JSON.parse((await readText(response.body, MAX_BYTES)) ?? '');
  } catch {
    return null;
  }
}

/** Addresses may hold user and password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the address';
}

/** An address below another, which may end with a slash or not. */
export function below(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/$/, '')}/${path}`;
}

export function rejected(who: string, what: string): TriageError {
  return new TriageError('upstream-auth', `${who} rejects ${what}`);
}

export function broken(who: string, status: number): TriageError {
  return new TriageError('upstream-failed', `${who} returned ${status}`, { retryable: true });
}
