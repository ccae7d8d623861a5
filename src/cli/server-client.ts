import { z } from 'zod';
import { messageOf, TriageError } from '../domain/errors.ts';

const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const TIMEOUT_MS = 30_000;

/** Asks a running service. Throws TriageError with the service's own sentence. */
export async function askServer<Value>(
  server: { url: string; token: string },
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  schema: z.ZodType<Value>,
  body?: object,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Value> {
  if (!URL.canParse(path, server.url))
    throw new TriageError('invalid-config', `${server.url} is not a valid URL; use one such as http://127.0.0.1:4600`);
  const response = await fetch(new URL(path, server.url), {
    method,
    headers: { authorization: `Bearer ${server.token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    // A token must not follow a redirect.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw new TriageError(
      'upstream-failed',
      `Cannot reach Faultline at ${server.url} (${messageOf(cause)}). Start it with: faultline serve`,
      { cause },
    );
  });
  const text = await response.text();
  const value = parsed(text);
  if (response.ok) {
    const answer = schema.safeParse(value);
    if (answer.success) return answer.data;
    throw new TriageError('upstream-failed', `The server at ${server.url} is not Faultline of this version`, { cause: answer.error });
  }
  const refusal = ErrorBody.safeParse(value);
  const message = refusal.success ? refusal.data.error.message : `The service answered ${response.status}`;
  throw new TriageError(response.status === 404 ? 'not-found' : response.status === 409 ? 'conflict' : 'forbidden', message);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
