import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { withoutThinking } from './thinking.ts';

/** A call as the model wrote it: its arguments are text that ought to be JSON. */
export interface WrittenCall {
  readonly name: string;
  readonly args: string;
}

export interface TokenCount {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null where the server does not say. */
  readonly cachedInputTokens: number | null;
}

/** The part of a reply that we use. */
export interface Completion extends TokenCount {
  /** Without the model's thoughts. */
  readonly text: string;
  readonly calls: readonly WrittenCall[];
  /** Why there is no more text: "stop", "length", "content_filter", "tool_calls". */
  readonly finish: string;
  readonly refused: boolean;
  readonly model: string | null;
}

const Content = z
  .union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))])
  .nullish()
  .transform((content) =>
    Array.isArray(content) ? content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('') : (content ?? ''),
  );
const Called = z.object({ name: z.string(), arguments: z.unknown() });
const Count = z.number().min(0).nullish();
export const UsageBody = z.object({
  prompt_tokens: z.number().min(0),
  completion_tokens: z.number().min(0),
  prompt_tokens_details: z.object({ cached_tokens: Count }).nullish(),
  /** DeepSeek's and Anthropic's names for the same. */
  prompt_cache_hit_tokens: Count,
  cache_read_input_tokens: Count,
});
const Body = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: Content,
          refusal: z.string().nullish(),
          reasoning_content: z.string().nullish(),
          tool_calls: z.array(z.object({ function: Called })).nullish(),
          function_call: Called.nullish(),
        }),
      }),
    )
    .min(1),
  usage: UsageBody.nullish().catch(null),
});

/** Reads the body of a chat completion. Throws `invalid-input` where it is none. */
export function readCompletion(body: string): Completion {
  const parsed = Body.safeParse(parseJson(body));
  const choice = parsed.data?.choices[0];
  if (!parsed.success || choice === undefined) {
    throw new TriageError('invalid-input', 'The model server did not return a chat completion');
  }
  const { message, finish_reason: finish } = choice;
  const called = message.tool_calls?.map((call) => call.function) ?? (message.function_call ? [message.function_call] : []);
  const text = withoutThinking(message.content);
  return {
    // A server whose reasoning parser is set wrongly puts the whole reply among the thoughts.
    text: text.trim() === '' && called.length === 0 && finish !== 'length' ? (message.reasoning_content ?? '') : text,
    calls: called.map((call) => ({ name: call.name, args: writtenArguments(call.arguments) })),
    finish: finish ?? 'stop',
    refused: (message.refusal ?? '') !== '',
    model: parsed.data.model ?? null,
    ...countTokens(parsed.data.usage),
  };
}

export function countTokens(usage: z.infer<typeof UsageBody> | null | undefined): TokenCount {
  return {
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
    cachedInputTokens:
      usage?.prompt_tokens_details?.cached_tokens ?? usage?.prompt_cache_hit_tokens ?? usage?.cache_read_input_tokens ?? null,
  };
}

/** Some servers send the arguments as an object, or nothing where there are none. */
function writtenArguments(args: unknown): string {
  if (typeof args === 'string') return args.trim() === '' ? '{}' : args;
  return JSON.stringify(args ?? {});
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
