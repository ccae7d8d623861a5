import { isTooLong, type Refusal } from '../refusal.ts';

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
    return OUTPUT.test(refusal.message) && dialect.outputTokens > FEW_OUTPUT_TOKENS
      ? { ...dialect, outputTokens: FEW_OUTPUT_TOKENS }
      : null;
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

/** Of a question that is too long, the part that we asked for, rather than what we said. */
const OUTPUT = /completion|max_tokens|max_completion_tokens|max_new_tokens|output tokens/i;
