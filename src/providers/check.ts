import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { readText } from '../lib/http-body.ts';
import { parseJson } from '../lib/text.ts';
import { type Check, type Finding, findClockSkew, note, ok, wrong } from '../ports/health.ts';

export interface Probe {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of a POST request. If absent, a GET request is sent. */
  readonly body?: string;
}

export interface ProbeReply {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON of at most 64 KB; null if it is something else. */
  readonly json: unknown;
  /**
   * The number of milliseconds by which the server's clock is ahead of ours, to the second; null if it does
   * not state the time.
   */
  readonly aheadMs: number | null;
}

const MAX_BYTES = 64 * 1024;

/**
 * Sends one request. Does not follow redirects, which would send a key to another host. Throws
 * `upstream-failed` if there is no response.
 */
export async function probe({ url, headers = {}, body }: Probe, signal: AbortSignal): Promise<ProbeReply> {
  try {
    const posted = body === undefined ? {} : { method: 'POST', body };
    const response = await fetch(url, {
      ...posted,
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal,
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      json: await readSmallJson(response),
      aheadMs: Number.isNaN(date) ? null : date - Date.now(),
    };
  } catch (cause) {
    if (signal.aborted)
      throw new TriageError('timeout', `${getHost(url)} did not respond in time`, { retryable: true, cause });
    const { cause: inner } = cause instanceof Error ? cause : {};
    throw new TriageError(
      'upstream-failed',
      `${getHost(url)} cannot be reached: ${getErrorMessage(inner ?? cause)}`,
      {
        retryable: true,
        cause,
      },
    );
  }
}

async function readSmallJson(response: Response): Promise<unknown> {
  const text = await readText(response.body, MAX_BYTES).catch(() => null);
  return parseJson(text ?? '') ?? null;
}

/** URLs may contain user and password, so only the host is shown. */
function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the address';
}

/** Joins a URL, with or without a slash at the end, and a path. */
export function joinPath(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/$/, '')}/${path}`;
}

/**
 * The number of milliseconds for which a result is reused, so that frequent checks do not burden the external
 * service.
 */
export const OUTSIDE_FRESH_MS = 60_000;

/** Returns the value of `Authorization` for basic authentication. */
export function createBasicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** The check of an API that uses a token, with the messages shown to people. */
export interface TokenApi {
  /** The name of the finding: "gitlab". */
  readonly name: string;
  /** The display name: "GitLab". */
  readonly label: string;
  /** A cheap request; null if the configuration allows none. */
  readonly probe: Probe | null;
  /**
   * The missing setting and the remedy, reported instead of a request. Null if nothing of the provider is
   * configured.
   */
  readonly lacking: { readonly says: string; readonly remedy: string } | null;
  /**
   * Returns the API's description of itself from its response, such as its version; null if something else
   * responded.
   */
  readonly says: (json: unknown) => string | null;
  /** The remedies if the API is unreachable, if it rejects the token, and if something else responds. */
  readonly remedy: { readonly reach: string; readonly token: string; readonly address: string };
}

/** Lists the checks of an API that uses a token: one, or none if nothing of the provider is configured. */
export function checkTokenApi(api: TokenApi): Check[] {
  const { name, probe: question, lacking, remedy } = api;
  if (question === null) {
    return lacking === null
      ? []
      : [{ name, remedy: lacking.remedy, ask: async () => note(name, lacking.says, lacking.remedy) }];
  }
  const ask = async (signal: AbortSignal) => {
    const { status, json, aheadMs } = await probe(question, signal);
    return [...findClockSkew(`${name} clock`, aheadMs), toFinding(api, status, json)];
  };
  return [{ name, remedy: remedy.reach, freshMs: OUTSIDE_FRESH_MS, ask }];
}

function toFinding({ name, label, says, remedy }: TokenApi, status: number, json: unknown): Finding {
  if (status === 401 || status === 403) return wrong(name, `the token is refused (${status})`, remedy.token);
  if (status === 429) return note(name, `${label} is limiting requests`, remedy.reach);
  if (status >= 500) return wrong(name, `${label} returned ${status}`, remedy.reach);
  const value = status < 300 ? says(json) : null;
  return value === null
    ? wrong(name, `the server there is not the API of ${label}`, remedy.address)
    : ok(name, value);
}
