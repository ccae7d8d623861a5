import { TriageError } from '../../domain/errors.ts';
import { isTooLong } from './context-length.ts';
import type { Refusal } from './refusal.ts';

const MAX_WORDS = 300;
/** OpenAI, Azure, Anthropic and OpenRouter through gateways, LiteLLM's budgets. Waiting does not help against any of them. */
const QUOTA =
  /insufficient_quota|insufficient.?(?:balance|credit|funds)|billing|exceeded your current quota|credit balance|out of credits|budget.{0,20}exceeded|spend(?:ing)?.{0,10}(?:cap|limit)|key limit exceeded/i;
/** Google words a limit a minute like a used-up quota, but says when to come back. */
const PER_MINUTE = /per.?minute|retry in/i;

/** Reads an HTTP error reply; any body will do. */
export function readRefusal(status: number, headers: Headers, body: string): Refusal {
  const error = errorObject(body);
  const kind = textOf(error.type);
  const code = textOf(error.code) ?? kind;
  const message = (textOf(error.message) ?? textOf(error.detail) ?? body.slice(0, 10 * MAX_WORDS)).replace(/\s+/g, ' ').slice(0, MAX_WORDS);
  return { status, code, kind, message, retryAfterMs: retryAfter(headers) };
}

/** An error in the body of a reply that HTTP calls a success, as gateways send it; null where there is none. */
export function refusalInBody(body: string, headers: Headers): Refusal | null {
  const start = body.slice(0, 2_000);
  if (!start.includes('"error"') || start.includes('"choices"')) return null;
  const error = errorObject(body);
  if (textOf(error.message) === null) return null;
  const code = Number(error.code);
  return readRefusal(code >= 400 && code < 600 ? code : 502, headers, body);
}

/** The error that callers see. Whether to try again is decided here, where it is born. */
export function errorOfRefusal(refusal: Refusal, model: string): TriageError {
  const { status, code } = refusal;
  const details = { status, code };
  if (isTooLong(refusal)) {
    return new TriageError('too-large', `The question exceeds the context of the model ${model}`, { details });
  }
  if (isQuota(refusal)) return new TriageError('quota-exhausted', "The model's quota is used up; check plan and billing", { details });
  if (status === 401 || status === 403) {
    const message = `The model server rejected the API key (HTTP ${status}); check the key and its permissions`;
    return new TriageError('upstream-auth', message, { details });
  }
  const later = refusal.retryAfterMs === null ? {} : { retryAfterMs: refusal.retryAfterMs };
  if (status === 429) {
    return new TriageError('rate-limited', 'The model server is rate limiting requests (HTTP 429)', { retryable: true, details, ...later });
  }
  if (status === 408 || status === 409 || status >= 500) {
    return new TriageError('upstream-failed', `The model server failed (HTTP ${status})`, { retryable: true, details, ...later });
  }
  if (status === 404 || status === 405) {
    const message = `The model server does not know ${model} or the path (HTTP ${status}); check base URL and model`;
    return new TriageError('upstream-failed', message, { details });
  }
  return new TriageError('invalid-input', `The model server rejected the request (HTTP ${status}): ${refusal.message}`, { details });
}

/** The server sends us elsewhere. We do not go: the question and the key were meant for this one. */
export function errorOfRedirect(status: number, location: string | null, base: string): TriageError {
  const host = location !== null && URL.canParse(location, base) ? new URL(location, base).host : 'somewhere unknown';
  return new TriageError(
    'upstream-failed',
    `The model server redirects to ${host} (HTTP ${status}), where the key is not sent; correct the base URL`,
    { details: { status } },
  );
}

function isQuota({ status, code, kind, message }: Refusal): boolean {
  if (status === 402) return true;
  if (![400, 403, 429].includes(status)) return false;
  return QUOTA.test(`${code} ${kind} ${message}`) && !(status === 429 && PER_MINUTE.test(message));
}

/** No usable HTTP reply: the connection failed, or a limit of ours was hit. */
export function errorOfFailure(error: unknown): TriageError {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if (cause instanceof TriageError) return cause;
  }
  return new TriageError('upstream-failed', 'The model server could not be reached', { retryable: true, cause: error });
}

function retryAfter(headers: Headers): number | null {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const value = headers.get('retry-after');
  if (value === null) return null;
  const seconds = Number(value);
  if (value.trim() !== '' && seconds >= 0) return seconds * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

interface ErrorObject {
  readonly code?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
  /** FastAPI's name for the message. */
  readonly detail?: unknown;
}

function errorObject(body: string): ErrorObject {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== 'object' || parsed === null) return {};
    const error = 'error' in parsed ? parsed.error : parsed;
    if (typeof error === 'string') return { message: error };
    return typeof error === 'object' && error !== null ? error : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
