import { isTooLong, type Refusal } from '../refusal.ts';

/** The ways to request a value, best first. */
export type Format = 'json_schema' | 'json_object' | 'text';
/**
 * The ways to request a choice among tools: function calling with strict schemas, function calling without
 * them, or a value.
 */
export type ToolFormat = 'strict_tools' | 'tools' | Format;
export type QuestionKind = 'value' | 'tools' | 'text';
type LimitName = 'max_tokens' | 'max_completion_tokens';

/**
 * The features, beyond plain text, that are requested from a server. Servers differ. After a refusal, a
 * feature is no longer requested.
 */
export interface Dialect {
  readonly value: Format;
  readonly tools: ToolFormat;
  /** True if `parallel_tool_calls` is sent. */
  readonly parallel: boolean;
  /** True if a temperature is sent. Reasoning models accept only their default. */
  readonly temperature: boolean;
  /**
   * Names of the parameter that limits the answer, without those that the server refused. The first is in
   * use. If empty, no limit is sent.
   */
  readonly limitNames: readonly LimitName[];
  /**
   * The maximum number of tokens of an answer. Reasoning models use the same limit for their unseen
   * reasoning.
   */
  readonly outputTokens: number;
  /** True if usage is requested for streams. */
  readonly streamUsage: boolean;
  /** True if a system message may be sent. Some chat templates do not support it. */
  readonly system: boolean;
}

const OUTPUT_TOKENS = 4_096;
const REASONING_TOKENS = 16_384;
/**
 * The maximum number of output tokens if the context has no room for more. It is enough for each of our
 * answers.
 */
const FEW_OUTPUT_TOKENS = 1_024;
const STATUSES = [400, 404, 415, 422, 500, 501];
const FORMAT =
  /response_format|output_config|json_schema|json_object|json mode|structured output|guided|grammar|schema/i;
/**
 * The messages of servers that do not support tools, such as llama.cpp ("tools param requires --jinja flag"),
 * vLLM ("--enable-auto-tool-choice") and Ollama ("does not support tools").
 */
const TOOLS = /\btools?\b|tool_|tool.?choice|tool.?call|function.?call|functions\b|jinja/i;
const NEXT_TOOLS = {
  strict_tools: 'tools',
  tools: 'json_schema',
  json_schema: 'json_object',
  json_object: 'text',
  text: null,
} as const satisfies Record<ToolFormat, ToolFormat | null>;
const NEXT_VALUE = { json_schema: 'json_object', json_object: 'text', text: null } as const satisfies Record<
  Format,
  Format | null
>;

/** Checks whether the model is one of OpenAI's reasoning models. */
export function isReasoningModel(model: string): boolean {
  return /^(?:o\d|gpt-5(?!-chat))/.test(model);
}

/**
 * Returns the dialect to try first. It has every feature, except that OpenAI's reasoning models get no
 * temperature and at least their own token limit.
 */
export function chooseFirstDialect(model: string, outputTokens: number = OUTPUT_TOKENS): Dialect {
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

/**
 * Returns the next weaker dialect if the server's message shows that it refused a feature of this one.
 * Returns null otherwise.
 */
export function chooseWeakerDialect(dialect: Dialect, refusal: Refusal, kind: QuestionKind): Dialect | null {
  if (isTooLong(refusal)) {
    return OUTPUT.test(refusal.message) && dialect.outputTokens > FEW_OUTPUT_TOKENS
      ? { ...dialect, outputTokens: FEW_OUTPUT_TOKENS }
      : null;
  }
  if (!STATUSES.includes(refusal.status)) return null;
  const { message } = refusal;
  if (dialect.temperature && /temperature/i.test(message)) return { ...dialect, temperature: false };
  if (/max_tokens|max_completion_tokens/i.test(message)) return withoutLimit(dialect, message);
  if (dialect.streamUsage && /stream_options|include_usage/i.test(message))
    return { ...dialect, streamUsage: false };
  if (dialect.parallel && /parallel_tool_calls/i.test(message)) return { ...dialect, parallel: false };
  if (dialect.system && /system role|system message|role.{0,20}system|must alternate/i.test(message))
    return { ...dialect, system: false };
  if (kind === 'tools') return withWeakerTools(dialect, message);
  if (kind === 'text' || !FORMAT.test(message)) return null;
  const next = NEXT_VALUE[dialect.value];
  return next === null ? null : { ...dialect, value: next };
}

/**
 * Lowers the limit after a message such as "max_tokens is too large: 4096. This model supports at most 2048".
 * After any other message, switches to the other name of the parameter.
 */
function withoutLimit(dialect: Dialect, message: string): Dialect | null {
  if (/too large|at most|less than|exceed/i.test(message)) {
    return dialect.outputTokens > FEW_OUTPUT_TOKENS ? { ...dialect, outputTokens: FEW_OUTPUT_TOKENS } : null;
  }
  return dialect.limitNames.length === 0 ? null : { ...dialect, limitNames: dialect.limitNames.slice(1) };
}

function withWeakerTools(dialect: Dialect, message: string): Dialect | null {
  const calling = dialect.tools === 'strict_tools' || dialect.tools === 'tools';
  if (dialect.tools === 'strict_tools' && /strict|schema/i.test(message))
    return { ...dialect, tools: 'tools' };
  if (calling && (TOOLS.test(message) || FORMAT.test(message))) return { ...dialect, tools: dialect.value };
  if (calling || !FORMAT.test(message)) return null;
  const next = NEXT_TOOLS[dialect.tools];
  return next === null ? null : { ...dialect, tools: next };
}

/** Messages that blame the requested output, not the prompt, for exceeding the context. */
const OUTPUT = /completion|max_tokens|max_completion_tokens|max_new_tokens|output tokens/i;
