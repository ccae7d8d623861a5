import { TriageError } from '../../domain/errors.ts';

/** What a server said when it refused. */
export interface Refusal {
  readonly status: number;
  /** The server's `error.code` or `error.type`, where it gave one. */
  readonly code: string | null;
  /** The server's own words, bounded; may not be shown where it could name a key. */
  readonly message: string;
  readonly retryAfterMs: number | null;
}

const MAX_WORDS = 300;
const QUOTA = /insufficient_quota|billing|quota exceeded|exceeded your current quota|credit balance|out of credits/i;

/** Reads an HTTP error reply; any body will do. */
export function readRefusal(status: number, headers: Headers, body: string): Refusal {
  const error = errorObject(body);
  const code = textOf(error.code) ?? textOf(error.type);
  const message = (textOf(error.message) ?? body).replace(/\s+/g, ' ').slice(0, MAX_WORDS);
  return { status, code, message, retryAfterMs: retryAfter(headers) };
}

/** The error that callers see. Whether to try again is decided here, where it is born. */
export function errorOfRefusal(refusal: Refusal, model: string): TriageError {
  const { status } = refusal;
  const details = { status, code: refusal.code };
  if (status === 401 || status === 403) {
    return new TriageError('upstream-auth', `The model's server refused our key (HTTP ${status}); check the API key and its rights`, {
      details,
    });
  }
  if (status === 402 || (status === 429 && QUOTA.test(`${refusal.code} ${refusal.message}`))) {
    return new TriageError('quota-exhausted', "The model's quota is used up; check plan and billing", { details });
  }
  if (status === 429) {
    const later = refusal.retryAfterMs === null ? {} : { retryAfterMs: refusal.retryAfterMs };
    return new TriageError('rate-limited', "The model's server wants fewer requests (HTTP 429)", { retryable: true, details, ...later });
  }
  if (status === 408 || status === 409 || status >= 500) {
    const later = refusal.retryAfterMs === null ? {} : { retryAfterMs: refusal.retryAfterMs };
    return new TriageError('upstream-failed', `The model's server failed (HTTP ${status})`, { retryable: true, details, ...later });
  }
  if (status === 404) {
    return new TriageError(
      'upstream-failed',
      `The model's server does not know ${model} or the path (HTTP 404); check base URL and model`,
      { details },
    );
  }
  return new TriageError('invalid-input', `The model's server refused the question (HTTP ${status}): ${refusal.message}`, { details });
}

/** No usable HTTP reply: the connection failed, or a limit of ours was hit. */
export function errorOfFailure(error: unknown): TriageError {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if (cause instanceof TriageError) return cause;
  }
  return new TriageError('upstream-failed', "The model's server could not be reached", { retryable: true, cause: error });
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

function errorObject(body: string): { readonly code?: unknown; readonly type?: unknown; readonly message?: unknown } {
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
