import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { readText } from '../lib/http-body.ts';
import { jsonIn } from '../lib/text.ts';
import { clockFindings, type Examination, type Finding, note, ok, wrong } from '../ports/examination.ts';

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
  /**
   * Milliseconds by which the other side's clock is ahead of ours, to the second; null if it does not state
   * the time.
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
    const response = await fetch(url, { ...posted, headers: { accept: 'application/json', ...headers }, redirect: 'manual', signal });
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      json: await smallJson(response),
      aheadMs: Number.isNaN(date) ? null : date - Date.now(),
    };
  } catch (cause) {
    if (signal.aborted) throw new TriageError('timeout', `${getHost(url)} did not respond in time`, { retryable: true, cause });
    const { cause: inner } = cause instanceof Error ? cause : {};
    throw new TriageError('upstream-failed', `${getHost(url)} cannot be reached: ${getErrorMessage(inner ?? cause)}`, {
      retryable: true,
      cause,
    });
  }
}

async function smallJson(response: Response): Promise<unknown> {
  const text = await readText(response.body, MAX_BYTES).catch(() => null);
  return jsonIn(text ?? '') ?? null;
}

/** Addresses may hold user and password. */
function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the address';
}

/** Joins an address, with or without a slash at the end, and a path. */
export function below(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/$/, '')}/${path}`;
}

/** The status that a backend reports; `degraded` if it responds, but not as it should. */
export type Health = string | { readonly degraded: string };

/** Returns the value of `Authorization` for basic authentication. */
export function basicAuth(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export function rejected(who: string, what: string): TriageError {
  return new TriageError('upstream-auth', `${who} rejects ${what}`);
}

export function broken(who: string, status: number): TriageError {
  return new TriageError('upstream-failed', `${who} returned ${status}`, { retryable: true });
}

/** The check of an API that uses a token, with the messages shown to people. */
export interface TokenApi {
  /** The name of the finding: "gitlab". */
  readonly name: string;
  /** The display name: "GitLab". */
  readonly label: string;
  /** A cheap question; null where it cannot be asked with what is configured. */
  readonly probe: Probe | null;
  /**
   * The missing setting and the remedy, reported instead of a request. Null if nothing of the provider is
   * configured.
   */
  readonly lacking: { readonly says: string; readonly mend: string } | null;
  /**
   * Returns the API's description of itself from its response, such as its version; null if something else
   * responded.
   */
  readonly says: (json: unknown) => string | null;
  /** The remedies if the API is unreachable, if it rejects the token, and if something else responds. */
  readonly mend: { readonly reach: string; readonly token: string; readonly address: string };
}

/** Creates the checks of whether the API responds, for `/readyz` and for `faultline doctor`. */
export function tokenApi(api: TokenApi): { health: ((signal: AbortSignal) => Promise<Health>) | null; examine(): Examination[] } {
  const { name, label, probe: question, lacking, mend, says } = api;
  const ask = async (signal: AbortSignal): Promise<readonly Finding[]> => {
    if (question === null) return lacking === null ? [] : [note(name, lacking.says, lacking.mend)];
    const { status, json, aheadMs } = await probe(question, signal);
    return [...clockFindings(`${name} clock`, aheadMs), toFinding(api, status, json)];
  };
  return {
    health:
      question === null
        ? null
        : async (signal) => {
            const { status, json } = await probe(question, signal);
            if (status === 401 || status === 403) throw rejected(label, 'the token');
            if (status >= 400) throw broken(label, status);
            return says(json) ?? 'answers';
          },
    examine: () => (question === null && lacking === null ? [] : [{ name, mend: mend.reach, ask }]),
  };
}

function toFinding({ name, label, says, mend }: TokenApi, status: number, json: unknown): Finding {
  if (status === 401 || status === 403) return wrong(name, `the token is refused (${status})`, mend.token);
  const said = status < 300 ? says(json) : null;
  return said === null ? wrong(name, `the server there is not the API of ${label}`, mend.address) : ok(name, said);
}
