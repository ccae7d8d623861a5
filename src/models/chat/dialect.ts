import { TriageError } from '../../domain/errors.ts';
import { jsonIn } from '../../lib/text.ts';
import { retryAfter } from '../../lib/time.ts';

/** How a value is requested, best first. */
export type Format = 'json_schema' | 'json_object' | 'text';
/** How a choice among tools is requested: by the server's function calling, held to the schemas or not, else as a value. */
export type ToolFormat = 'strict_tools' | 'tools' | Format;
export type QuestionKind = 'value' | 'tools' | 'text';
type LimitName = 'max_tokens' | 'max_completion_tokens';

/** What a server is asked for beyond plain text. Servers differ; a refusal makes us ask for less, once. */
export interface Dialect {
  readonly value: Format;
  readonly tools: ToolFormat;
  /** Whether `parallel_tool_calls` is sent. */
  readonly parallel: boolean;
  /** Whether a temperature is sent; reasoning models refuse any but their own. */
  readonly temperature: boolean;
  /** Names for the limit of the answer that are still untried, the one in use first; empty: no limit is sent. */
  readonly limitNames: readonly LimitName[];
  /** Most tokens of an answer. Reasoning models spend unseen tokens from the same allowance. */
  readonly outputTokens: number;
  /** Whether usage is asked for when streaming. */
  readonly streamUsage: boolean;
  /** Whether there may be a system message; some chat templates know none. */
  readonly system: boolean;
}

const OUTPUT_TOKENS = 4_096;
const REASONING_TOKENS = 16_384;
/** Enough for each of our answers; asked for where the context has no room for more. */
const FEW_OUTPUT_TOKENS = 1_024;
const STATUSES = [400, 404, 415, 422, 500, 501];
const FORMAT = /response_format|json_schema|json_object|json mode|structured output|guided|grammar|schema/i;
/** llama.cpp: "tools param requires --jinja flag"; vLLM: "--enable-auto-tool-choice"; Ollama: "does not support tools". */
const TOOLS = /\btools?\b|tool_|tool.?choice|tool.?call|function.?call|functions\b|jinja/i;
const NEXT_TOOLS = {
  strict_tools: 'tools',
  tools: 'json_schema',
  json_schema: 'json_object',
  json_object: 'text',
  text: null,
} as const satisfies Record<ToolFormat, ToolFormat | null>;
const NEXT_VALUE = { json_schema: 'json_object', json_object: 'text', text: null } as const satisfies Record<Format, Format | null>;

/** OpenAI's models that think before they answer. */
export function isReasoningModel(model: string): boolean {
  return /^(?:o\d|gpt-5(?!-chat))/.test(model);
}

/** What to try first: everything, except that OpenAI's reasoning models get no temperature and at least their own allowance. */
export function firstDialect(model: string, outputTokens: number = OUTPUT_TOKENS): Dialect {
  const reasoning = isReasoningModel(model);
  return {
    value: 'json_schema',
    tools: 'strict_tools',
    parallel: true,
    temperature: !reasoning,
    limitNames: reasoning ? ['max_completion_tokens', 'max_tokens'] : ['max_tokens', 'max_completion_tokens'],
    outputTokens: reasoning ? REASONING_TOKENS : outputTokens,
    streamUsage: true,
    system: true,
  };
}

/** The next weaker dialect where the server's words show that it refused a part of this one; null where they do not. */
export function weakerDialect(dialect: Dialect, refusal: Refusal, kind: QuestionKind): Dialect | null {
  if (isTooLong(refusal)) {
    return countsOutput(refusal) && dialect.outputTokens > FEW_OUTPUT_TOKENS ? { ...dialect, outputTokens: FEW_OUTPUT_TOKENS } : null;
  }
  if (!STATUSES.includes(refusal.status)) return null;
  const { message } = refusal;
  if (dialect.temperature && /temperature/i.test(message)) return { ...dialect, temperature: false };
  if (/max_tokens|max_completion_tokens/i.test(message)) return withoutLimit(dialect, message);
  if (dialect.streamUsage && /stream_options|include_usage/i.test(message)) return { ...dialect, streamUsage: false };
  if (dialect.parallel && /parallel_tool_calls/i.test(message)) return { ...dialect, parallel: false };
  if (dialect.system && /system role|system message|role.{0,20}system|must alternate/i.test(message)) return { ...dialect, system: false };
  if (kind === 'tools') return withWeakerTools(dialect, message);
  if (kind === 'text' || !FORMAT.test(message)) return null;
  const next = NEXT_VALUE[dialect.value];
  return next === null ? null : { ...dialect, value: next };
}

/** "max_tokens is too large: 4096. This model supports at most 2048" asks for fewer; anything else for the other name. */
function withoutLimit(dialect: Dialect, message: string): Dialect | null {
  if (/too large|at most|less than|exceed/i.test(message)) {
    return dialect.outputTokens > FEW_OUTPUT_TOKENS ? { ...dialect, outputTokens: FEW_OUTPUT_TOKENS } : null;
  }
  return dialect.limitNames.length === 0 ? null : { ...dialect, limitNames: dialect.limitNames.slice(1) };
}

function withWeakerTools(dialect: Dialect, message: string): Dialect | null {
  const calling = dialect.tools === 'strict_tools' || dialect.tools === 'tools';
  if (dialect.tools === 'strict_tools' && /strict|schema/i.test(message)) return { ...dialect, tools: 'tools' };
  if (calling && (TOOLS.test(message) || FORMAT.test(message))) return { ...dialect, tools: dialect.value };
  if (calling || !FORMAT.test(message)) return null;
  const next = NEXT_TOOLS[dialect.tools];
  return next === null ? null : { ...dialect, tools: next };
}

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
  return { status, code, kind, message, retryAfterMs: waitAsked(headers) };
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
export function errorOfRefusal(refusal: Refusal, model: string, server = 'The model server'): TriageError {
  const { status, code } = refusal;
  const details = { status, code };
  if (isTooLong(refusal)) {
    return new TriageError('too-large', `The question exceeds the context of the model ${model}`, { details });
  }
  if (isQuota(refusal)) return new TriageError('quota-exhausted', "The model's quota is used up; check plan and billing", { details });
  if (status === 401 || status === 403) {
    const message = `${server} rejected the API key (HTTP ${status}); check the key and its permissions`;
    return new TriageError('upstream-auth', message, { details });
  }
  const later = refusal.retryAfterMs === null ? {} : { retryAfterMs: refusal.retryAfterMs };
  if (status === 429) {
    return new TriageError('rate-limited', `${server} is rate limiting requests (HTTP 429)`, { retryable: true, details, ...later });
  }
  if (status === 408 || status === 409 || status >= 500) {
    return new TriageError('upstream-failed', `${server} failed (HTTP ${status})`, { retryable: true, details, ...later });
  }
  if (status === 404 || status === 405) {
    const message = `${server} does not know ${model} or the path (HTTP ${status}); check base URL and model`;
    return new TriageError('upstream-failed', message, { details });
  }
  return new TriageError('invalid-input', `${server} rejected the request (HTTP ${status}): ${refusal.message}`, { details });
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

/** OpenAI says it to the millisecond. */
function waitAsked(headers: Headers): number | null {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  return milliseconds >= 0 ? milliseconds : retryAfter(headers);
}

interface ErrorObject {
  readonly code?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
  /** FastAPI's name for the message. */
  readonly detail?: unknown;
}

function errorObject(body: string): ErrorObject {
  const parsed = jsonIn(body);
  if (typeof parsed !== 'object' || parsed === null) return {};
  const error = 'error' in parsed ? parsed.error : parsed;
  if (typeof error === 'string') return { message: error };
  return typeof error === 'object' && error !== null ? error : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * How servers say that a question is too long: OpenAI and Azure ("maximum context length", context_length_exceeded), vLLM
 * (the same words), llama.cpp ("exceeds the available context size", exceed_context_size_error), llama-cpp-python ("exceed
 * context window"), Ollama ("exceeds the context length"), LiteLLM (ContextWindowExceededError), Groq and others behind
 * gateways ("reduce the length", "prompt is too long", "input token count").
 */
const WORDS =
  /context.?length|context.?size|context.?window|reduce the length|(?:prompt|input|request) (?:is |was )?too (?:long|large)|input token count|max_new_tokens.{0,40}must be/i;
/** The part of it that we asked for, rather than what we said. */
const OUTPUT = /completion|max_tokens|max_completion_tokens|max_new_tokens|output tokens/i;

/** Whether the server refused because question and answer do not fit the model's context. */
export function isTooLong({ status, code, kind, message }: Refusal): boolean {
  if (status === 413) return true;
  // OpenAI: a single request above the limit a minute is refused with 429, however long one waits.
  if (status === 429) return /request too large/i.test(message);
  return [400, 422, 500].includes(status) && WORDS.test(`${code} ${kind} ${message}`);
}

/** Whether a smaller allowance for the answer may be all it takes. */
function countsOutput(refusal: Refusal): boolean {
  return OUTPUT.test(refusal.message);
}

/** What a server said when it refused. */
export interface Refusal {
  readonly status: number;
  /** The server's `error.code` or `error.type`, where it gave one. */
  readonly code: string | null;
  /** Its `error.type`. */
  readonly kind: string | null;
  /** The server's own words, bounded; may not be shown where it could name a key. */
  readonly message: string;
  readonly retryAfterMs: number | null;
}
