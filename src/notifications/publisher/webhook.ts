import { TriageError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/time.ts';
import type { Publisher } from '../../ports/notices.ts';
import { cloudEvent } from './cloud-event.ts';
import { webhookBody } from './webhook-body.ts';
import { signedHeaders } from './webhook-signature.ts';

export interface WebhookOptions {
  /** Configured by the operator, so it may be in a private network. A redirect is never followed. */
  readonly url: string;
  /** As `whsec_` and base64; several while one is rotated: all of them sign. */
  readonly secrets: readonly string[];
  /** How the news is worded: as Standard Webhooks, or as a CloudEvent. Signed the same way; absent: `standard`. */
  readonly format?: 'standard' | 'cloudevents';
  /** Where people reach Faultline: the source of its events. */
  readonly publicUrl?: string | null;
  readonly clock: Clock;
}

/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_REFERENCE = 500;

/**
 * Posts answers to one address, signed as Standard Webhooks says. The other side cannot be asked what it has: after a crash it may be
 * told again, with the same `webhook-id`, by which it knows.
 */
export function createWebhookPublisher({ url, secrets, format = 'standard', publicUrl = null, clock }: WebhookOptions): Publisher {
  const type = format === 'cloudevents' ? 'application/cloudevents+json' : 'application/json';
  return {
    driver: 'webhook',
    publish: async (build, analysis, { key, signal }) => {
      signal.throwIfAborted();
      const body = format === 'cloudevents' ? cloudEvent(build, analysis, key, publicUrl) : webhookBody(build, analysis);
      const headers = { 'content-type': type, 'user-agent': 'faultline', ...signedHeaders(key, body, secrets, clock.now()) };
      const response = await post(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await discard(response);
      if (!response.ok) throw refusal(response, clock.now());
      const location = response.headers.get('location');
      return { reference: location === null ? null : location.slice(0, MAX_REFERENCE) };
    },
  };
}

async function post(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    // Without its words: they may hold the address, and that a password.
    throw new TriageError('upstream-failed', 'The webhook could not be reached.', { retryable: true, cause });
  }
}

/** The answer says nothing that is needed; read to its end the connection can be used again. */
async function discard(response: Response): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
  } catch {
    // The status came whole.
  }
}

function refusal({ status, headers }: Response, now: number): TriageError {
  if (status >= 300 && status < 400) {
    return new TriageError('upstream-failed', `The webhook returned ${status}: a redirect, which is not followed.`);
  }
  const retryable = status >= 500 || status === 408 || status === 425 || status === 429;
  const retryAfterMs = retryable ? waitAsked(headers.get('retry-after'), now) : null;
  const code = status === 401 || status === 403 ? 'upstream-auth' : status === 429 ? 'rate-limited' : 'upstream-failed';
  return new TriageError(code, `The webhook returned ${status}.`, { retryable, ...(retryAfterMs === null ? {} : { retryAfterMs }) });
}

/** Seconds, or a date. */
function waitAsked(header: string | null, now: number): number | null {
  if (header === null) return null;
  const wait = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) && wait > 0 ? wait : null;
}
