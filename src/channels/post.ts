import { z } from 'zod';
import { createHttpUrlSchema, defineSetting } from '../config/variable.ts';
import { TriageError } from '../domain/errors.ts';
import { readText } from '../lib/http-body.ts';
import { type Clock, retryAfter } from '../lib/time.ts';

/** The maximum size of an answer in bytes. The rest is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * Posts to a configured URL. Follows no redirect, and reads at most 64 kB of the response. Throws a
 * TriageError that names `who`, never the URL, which may contain a password.
 */
export async function postOnce(
  who: string,
  url: string,
  post: Post,
  clock: Clock,
): Promise<{ readonly response: Response; readonly text: string }> {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', ...post }).catch(
    (cause: unknown) => {
      throw new TriageError('upstream-failed', `${who} could not be reached.`, { retryable: true, cause });
    },
  );
  // The body is read to its end so that the connection can be reused. If the body breaks off, the status is
  // still complete.
  const text = (await readText(response.body, MAX_ANSWER_BYTES).catch(() => null)) ?? '';
  if (!response.ok) throw createRefusal(who, response, clock.now());
  return { response, text };
}

function createRefusal(who: string, { status, headers }: Response, now: number): TriageError {
  if (status >= 300 && status < 400) {
    return new TriageError(
      'upstream-failed',
      `${who} returned ${status}: a redirect, which is not followed.`,
    );
  }
  const retryable = status >= 500 || status === 408 || status === 425 || status === 429;
  const retryAfterMs = retryable ? retryAfter(headers, now) : null;
  const code =
    status === 401 || status === 403 ? 'upstream-auth' : status === 429 ? 'rate-limited' : 'upstream-failed';
  return new TriageError(code, `${who} returned ${status}.`, {
    retryable,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/**
 * Creates the setting of webhooks by name, `name` → URL. Users choose from the names; the URLs may hold a
 * secret. They are configured, so they may be in a private network.
 */
export function createNamedWebhooks(variable: string, meaning: string) {
  const schema = z
    .record(z.string(), createHttpUrlSchema())
    .refine(
      (all) => Object.keys(all).every((name) => /^[\w.-]{1,100}$/.test(name)),
      'each needs a name of letters, digits, dots and dashes: name=https://…',
    )
    .default({});
  return defineSetting(variable, schema, meaning, { secret: true });
}

/** Returns the destinations of messages that go to webhooks by name. */
export function listDestinations(variable: string, webhooks: Readonly<Record<string, string>>) {
  const destinations = Object.keys(webhooks);
  return {
    destinations,
    refusal: (name: string) =>
      Object.hasOwn(webhooks, name)
        ? null
        : `${variable} has no webhook of this name. It has: ${destinations.join(', ')}.`,
  };
}
