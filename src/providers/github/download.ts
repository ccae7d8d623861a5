import { messageOf, TriageError } from '../../domain/errors.ts';
import { readBounded } from '../rest.ts';
import { type GithubClient, githubError } from './client.ts';

/** A run of Actions, as the API addresses it. */
export interface GithubRun {
  readonly owner: string;
  readonly repo: string;
  readonly run_id: number;
  readonly attempt_number: number;
}

export interface Download {
  /** For people: `the log of "build"`. */
  readonly what: string;
  /** Path of the API below its base, with its variables filled in by the client. */
  readonly route: `GET /${string}`;
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly maxBytes: number;
}

/**
 * Downloads what GitHub answers with a redirect to its storage. The redirect is followed by hand and without the token:
 * the storage is another host, and the address is signed. Throws as `BuildSource.fetch` does.
 */
export async function download(
  client: GithubClient,
  { what, route, parameters, maxBytes }: Download,
  signal: AbortSignal,
): Promise<Buffer> {
  const answer = await client
    .request(route, { ...parameters, request: { signal, redirect: 'manual', parseSuccessResponseBody: false } })
    .catch((error: unknown) => {
      throw githubError(what, error, 'Actions');
    });
  const body: unknown = answer.data;
  const status: number = answer.status;
  if (status < 300) return await bounded(what, body instanceof ReadableStream ? body : null, maxBytes);
  if (body instanceof ReadableStream) await body.cancel();
  const address = new URL(answer.headers.location ?? '', answer.url);
  if (address.protocol !== 'https:' && address.protocol !== new URL(answer.url).protocol) {
    throw new TriageError('upstream-failed', `GitHub sent ${what} to an address that is not encrypted.`);
  }
  return await bounded(what, await openStorage(what, address, signal), maxBytes);
}

async function openStorage(what: string, address: URL, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
  // The address is signed and must not be logged: errors name its host only.
  const response = await fetch(address, { signal, redirect: 'error' }).catch((error: unknown) => {
    throw new TriageError('upstream-failed', `The storage at ${address.host} could not be reached for ${what}.`, {
      retryable: true,
      cause: error,
    });
  });
  if (response.ok) return response.body;
  await response.body?.cancel();
  const { status } = response;
  if (status === 404 || status === 410) throw new TriageError('not-found', `The storage answered ${status} for ${what}: it has expired.`);
  // A signed address that has run out is signed anew by the next try.
  throw new TriageError('upstream-failed', `The storage at ${address.host} answered ${status} for ${what}.`, { retryable: true });
}

async function bounded(what: string, body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Buffer> {
  try {
    return await readBounded(what, body, maxBytes);
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('upstream-failed', `The connection broke while reading ${what}: ${messageOf(error)}.`, {
      retryable: true,
      cause: error,
    });
  }
}
