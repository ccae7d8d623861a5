import { TriageError } from '../domain/errors.ts';
import { parseJson } from '../lib/text.ts';
import { retryAfter } from '../lib/time.ts';

/** The error response of a server. */
export interface Refusal {
  readonly status: number;
  /** The server's `error.code`, or else its `error.type`. */
  readonly code: string | null;
  /** The server's `error.type`. */
  readonly kind: string | null;
  /** The server's message, shortened. It must not be shown if it could contain a key. */
  readonly message: string;
  readonly retryAfterMs: number | null;
}

const MAX_WORDS = 300;
/**
 * The messages of a used-up quota or budget, of OpenAI, Azure, LiteLLM, and of Anthropic and OpenRouter
 * through gateways. Waiting does not help.
 */
const QUOTA = new RegExp(
  'insufficient_quota|insufficient.?(?:balance|credit|funds)|billing|' +
    'exceeded your current quota|credit balance|out of credits|budget.{0,20}exceeded|' +
    'spend(?:ing)?.{0,10}(?:cap|limit)|key limit exceeded',
  'i',
);
/** Google describes a limit per minute like a used-up quota, but with the time to wait. */
const PER_MINUTE = /per.?minute|retry in/i;

/** Reads an HTTP error response. Any body is accepted. */
export function readRefusal(status: number, headers: Headers, body: string): Refusal {
  const error = readErrorObject(body);
  const kind = toText(error.type);
  // Anthropic's reason for a limit on spending, which no waiting ends.
  const code = toText(error.code) ?? toText(error.details?.error_code) ?? kind;
  const message = (toText(error.message) ?? toText(error.detail) ?? body.slice(0, 10 * MAX_WORDS))
    .replace(/\s+/g, ' ')
    .slice(0, MAX_WORDS);
  return { status, code, kind, message, retryAfterMs: waitAsked(headers) };
}

/**
 * Reads an error from the body of a response with a success status, as gateways send it. Returns null if
 * there is none.
 */
export function readRefusalInBody(body: string, headers: Headers): Refusal | null {
  const start = body.slice(0, 2_000);
  if (!start.includes('"error"') || start.includes('"choices"')) return null;
  const error = readErrorObject(body);
  if (toText(error.message) === null) return null;
  const code = Number(error.code);
  return readRefusal(code >= 400 && code < 600 ? code : 502, headers, body);
}

/** Converts a refusal to the error that callers see. The error states whether a retry may help. */
export function toRefusalError(refusal: Refusal, model: string, server = 'The model server'): TriageError {
  const { status, code } = refusal;
  const details = { status, code };
  if (isTooLong(refusal)) {
    return new TriageError('too-large', `The question exceeds the context of the model ${model}`, {
      details,
    });
  }
  if (isQuota(refusal))
    return new TriageError('quota-exhausted', "The model's quota is used up; check plan and billing", {
      details,
    });
  if (status === 401 || status === 403) {
    const message = `${server} rejected the API key (HTTP ${status}); check the key and its permissions`;
    return new TriageError('upstream-auth', message, { details });
  }
  const later = refusal.retryAfterMs === null ? {} : { retryAfterMs: refusal.retryAfterMs };
  if (status === 429) {
    return new TriageError('rate-limited', `${server} is rate limiting requests (HTTP 429)`, {
      retryable: true,
      details,
      ...later,
    });
  }
  if (status === 408 || status === 409 || status >= 500) {
    return new TriageError('upstream-failed', `${server} failed (HTTP ${status})`, {
      retryable: true,
      details,
      ...later,
    });
  }
  if (status === 404 || status === 405) {
    const message = `${server} does not know ${model} or the path (HTTP ${status}); check base URL and model`;
    return new TriageError('upstream-failed', message, { details });
  }
  return new TriageError(
    'invalid-input',
    `${server} rejected the request (HTTP ${status}): ${refusal.message}`,
    { details },
  );
}

/**
 * Creates the error for a redirect. Redirects are not followed, because the question and the key are meant
 * only for this server.
 */
export function createRedirectError(status: number, location: string | null, base: string): TriageError {
  const host =
    location !== null && URL.canParse(location, base) ? new URL(location, base).host : 'somewhere unknown';
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

/**
 * Converts a failure without a usable HTTP reply: the connection failed, or one of our limits was exceeded.
 */
export function toFailureError(error: unknown): TriageError {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if (cause instanceof TriageError) return cause;
  }
  return new TriageError('upstream-failed', 'The model server could not be reached', {
    retryable: true,
    cause: error,
  });
}

/** Reads the delay that the server requests. OpenAI gives it in milliseconds. */
function waitAsked(headers: Headers): number | null {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  return milliseconds >= 0 ? milliseconds : retryAfter(headers);
}

interface ErrorObject {
  readonly code?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
  /** The message, as FastAPI names it. */
  readonly detail?: unknown;
  readonly details?: { readonly error_code?: unknown } | null;
}

function readErrorObject(body: string): ErrorObject {
  const parsed = parseJson(body);
  if (typeof parsed !== 'object' || parsed === null) return {};
  const error = 'error' in parsed ? parsed.error : parsed;
  if (typeof error === 'string') return { message: error };
  return typeof error === 'object' && error !== null ? error : {};
}

function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * Messages for a question that is too long: OpenAI and Azure ("maximum context length",
 * context_length_exceeded), vLLM
 * (the same words), llama.cpp ("exceeds the available context size", exceed_context_size_error),
 * llama-cpp-python ("exceed
 * context window"), Ollama ("exceeds the context length"), LiteLLM (ContextWindowExceededError), Groq and
 * others behind
 * gateways ("reduce the length", "prompt is too long", "input token count").
 */
const WORDS = new RegExp(
  'context.?length|context.?size|context.?window|reduce the length|(?:prompt|input|request)' +
    ' (?:is |was )?too (?:long|large)|input token count|max_new_tokens.{0,40}must be',
  'i',
);

/** Checks whether the server refused because question and answer do not fit the model's context. */
export function isTooLong({ status, code, kind, message }: Refusal): boolean {
  if (status === 413) return true;
  // OpenAI refuses a single request above the limit per minute with 429. Waiting does not help.
  if (status === 429) return /request too large/i.test(message);
  return [400, 422, 500].includes(status) && WORDS.test(`${code} ${kind} ${message}`);
}
