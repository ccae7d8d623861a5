import { z } from 'zod';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { append } from '../lib/collections.ts';
import { parseJson } from '../lib/text.ts';

/** The URL of a service and the token of the caller. */
export interface Service {
  readonly url: string;
  readonly token: string;
}

/** The error response of a service. */
export const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const TIMEOUT_MS = 30_000;
/** The size of a page of a list that is read as a whole. */
const PAGE = 200;

/** Asks the service for all pages of a list. Throws as `askServer` does. */
export async function askServerForAll<Item>(
  server: Service,
  path: string,
  item: z.ZodType<Item>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page: { items: Item[]; next: number | null } = await askServer(
      server,
      'GET',
      `${path}?limit=${PAGE}&offset=${offset}`,
      z.object({ items: z.array(item), next: z.int().nullable() }),
    );
    append(all, page.items);
    offset = page.next;
  }
  return all;
}

/** Calls a running service. Throws TriageError with the service's message. */
export async function askServer<Value>(
  server: Service,
  method: Method,
  path: string,
  schema: z.ZodType<Value>,
  body?: object,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Value> {
  const response = await send(server, method, path, body, AbortSignal.timeout(timeoutMs));
  const text = await response.text();
  const value = parseJson(text);
  if (response.ok) {
    const answer = schema.safeParse(value);
    if (answer.success) return answer.data;
    throw new TriageError('upstream-failed', `The server at ${server.url} is not Faultline of this version`, {
      cause: answer.error,
    });
  }
  const refusal = Refusal.safeParse(value);
  const message = refusal.success ? refusal.data.error.message : `The service answered ${response.status}`;
  throw new TriageError(
    response.status === 404 ? 'not-found' : response.status === 409 ? 'conflict' : 'forbidden',
    message,
  );
}

type Method = 'GET' | 'POST' | 'DELETE';

/**
 * Sends a request and returns any response. Throws `upstream-failed` if the service cannot be reached, and
 * `invalid-config` for an invalid URL.
 */
export async function send(
  { url, token }: Service,
  method: Method,
  path: string,
  body: object | undefined,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  if (!URL.canParse(path, url))
    throw new TriageError(
      'invalid-config',
      `${url} is not a valid URL; use one such as http://127.0.0.1:4600`,
    );
  return await fetch(new URL(path, url), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    // A token must not follow a redirect.
    redirect: 'error',
    signal,
  }).catch((cause: unknown) => {
    const message = `Cannot reach Faultline at ${url} (${getErrorMessage(cause)}). Start it with: faultline serve`;
    throw new TriageError('upstream-failed', message, { cause });
  });
}

/** Returns null if the requested object does not exist. */
export async function findOrNull<Value>(asking: Promise<Value>): Promise<Value | null> {
  return await asking.catch((error: unknown) => {
    if (error instanceof TriageError && error.code === 'not-found') return null;
    throw error;
  });
}

/**
 * Rethrows an error. If a service uses the data directory, it adds a hint about `--url`, for commands that
 * can also ask a service.
 */
export function adviseUrl(error: unknown): never {
  if (!(error instanceof TriageError) || error.code !== 'locked') throw error;
  const message = `${error.message} If a service is using it, add --url http://127.0.0.1:4600`;
  throw new TriageError('locked', message, { cause: error, details: error.details });
}
