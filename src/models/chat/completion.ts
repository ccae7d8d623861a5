import type { AIMessageChunk } from '@langchain/core/messages';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { parseJson } from '../../lib/text.ts';
import { type Refusal, readRefusal, readRefusalInBody, toFailureError } from '../refusal.ts';
import { type CompletionRequest, connect, createTooLargeError, post, readBounded } from './connect.ts';
import type { ChatDriver, Completion, StreamOptions, TokenCount } from './driver.ts';
import { createThinkingFilter, withoutThinking } from './thinking.ts';

/** The driver for OpenAI's chat completions. */
export const OPENAI_DRIVER: ChatDriver = { complete, stream: streamCompletion };

interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Asks once. Resolves to the reply, or to the server's refusal. Throws `upstream-failed` if there is no
 * answer, and `invalid-input` if the answer is not a chat completion or is too large.
 *
 * LangChain and its SDK discard a reply whose JSON is cut off or wrapped in prose, including its cost.
 * Therefore the body is captured from the HTTP response and read here.
 */
async function complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion | Refusal> {
  let seen: Seen | undefined;
  const model = await connect(request, async (_input, init) => {
    const response = await post(request, init, signal);
    const { status, headers } = response;
    const body = await readBounded(response, request.maxReplyBytes);
    seen = { status, headers, body };
    return new Response(body === '' ? null : body, {
      status,
      headers: { 'content-type': 'application/json' },
    });
  });
  try {
    await model.invoke(
      request.messages.map(({ role, content }) => ({ role, content })),
      { signal, ...request.wishes },
    );
  } catch (error) {
    if (seen === undefined) throw toFailureError(error);
  }
  if (seen === undefined) throw new TriageError('internal', 'The model answered without an HTTP reply');
  const { status, headers, body } = seen;
  if (status !== 200) return readRefusal(status, headers, body);
  return readRefusalInBody(body, headers) ?? readCompletion(body);
}

const Content = z
  .union([z.string(), z.array(z.object({ type: z.string(), text: z.string().optional() }))])
  .nullish()
  .transform((content) =>
    Array.isArray(content)
      ? content.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('')
      : (content ?? ''),
  );
const Called = z.object({ name: z.string(), arguments: z.unknown() });
const Count = z.number().min(0).nullish();
const UsageBody = z.object({
  prompt_tokens: z.number().min(0),
  completion_tokens: z.number().min(0),
  prompt_tokens_details: z.object({ cached_tokens: Count }).nullish(),
  /** The names that DeepSeek and Anthropic use. */
  prompt_cache_hit_tokens: Count,
  cache_read_input_tokens: Count,
  /** OpenRouter's cost in US dollars. */
  cost: Count,
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

/** Reads the body of a chat completion. Throws `invalid-input` if it is not one. */
function readCompletion(body: string): Completion {
  const parsed = Body.safeParse(parseJson(body));
  const choice = parsed.data?.choices[0];
  if (!parsed.success || choice === undefined) {
    throw new TriageError('invalid-input', 'The model server did not return a chat completion');
  }
  const { message, finish_reason: finish } = choice;
  const called =
    message.tool_calls?.map((call) => call.function) ??
    (message.function_call ? [message.function_call] : []);
  const text = withoutThinking(message.content);
  return {
    // If the server's reasoning parser is set incorrectly, the whole reply is among the reasoning.
    text:
      text.trim() === '' && called.length === 0 && finish !== 'length'
        ? (message.reasoning_content ?? '')
        : text,
    calls: called.map((call) => ({ name: call.name, args: formatArguments(call.arguments) })),
    finish: finish ?? 'stop',
    refused: (message.refusal ?? '') !== '',
    model: parsed.data.model ?? null,
    ...countTokens(parsed.data.usage),
  };
}

function countTokens(usage: z.infer<typeof UsageBody> | null | undefined): TokenCount {
  return {
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
    cachedInputTokens:
      usage?.prompt_tokens_details?.cached_tokens ??
      usage?.prompt_cache_hit_tokens ??
      usage?.cache_read_input_tokens ??
      null,
    cacheWriteTokens: 0,
    statedUsd: usage?.cost ?? undefined,
  };
}

/** Returns the arguments as text. Some servers send them as an object, or omit them if there are none. */
function formatArguments(args: unknown): string {
  if (typeof args === 'string') return args.trim() === '' ? '{}' : args;
  return JSON.stringify(args ?? {});
}

/** The data that is captured from the HTTP reply before LangChain reads it. */
interface Tap {
  /** The server's refusal, or its whole reply if it does not stream. */
  whole: Completion | Refusal | undefined;
  /** The last characters of the stream. */
  tail: string;
}

const TAIL = 64;

/**
 * Asks once and passes the answer on as it arrives. Resolves to the whole answer, or to the server's refusal.
 * Throws `upstream-failed` if there is no answer or it is cut off, and `invalid-input` if it is too large.
 * The reply of a server that does not stream is read to its end and passed on in one piece.
 */
async function streamCompletion(
  request: CompletionRequest,
  options: StreamOptions,
  signal: AbortSignal,
): Promise<Completion | Refusal> {
  const tap: Tap = { whole: undefined, tail: '' };
  const model = await connect(request, async (_input, init) => {
    const response = await post(request, init, signal);
    const { status, headers } = response;
    if (status === 200 && headers.get('content-type')?.includes('event-stream') && response.body !== null) {
      return new Response(response.body.pipeThrough(watch(tap, options, request.maxReplyBytes)), {
        status,
        headers: { 'content-type': 'text/event-stream' },
      });
    }
    const body = await readBounded(response, request.maxReplyBytes);
    tap.whole =
      status === 200
        ? (readRefusalInBody(body, headers) ?? readCompletion(body))
        : readRefusal(status, headers, body);
    return new Response(body === '' ? null : body, {
      status: status === 200 ? 502 : status,
      headers: { 'content-type': 'application/json' },
    });
  });
  try {
    const messages = request.messages.map(({ role, content }) => ({ role, content }));
    return await readStream(await model.stream(messages, { signal, ...request.wishes }), tap, options);
  } catch (error) {
    if (tap.whole === undefined) throw toFailureError(error);
    if ('text' in tap.whole && tap.whole.text !== '') options.onText(tap.whole.text);
    return tap.whole;
  }
}

async function readStream(
  chunks: AsyncIterable<AIMessageChunk>,
  tap: Tap,
  { onText }: StreamOptions,
): Promise<Completion> {
  const filter = createThinkingFilter();
  const seen = { text: '', finish: '', model: '', ...countTokens(null) };
  const say = (piece: string) => {
    if (piece === '') return;
    seen.text += piece;
    onText(piece);
  };
  for await (const chunk of chunks) {
    if (typeof chunk.content === 'string') say(filter.push(chunk.content));
    const { finish_reason: finish, model_name: model } = chunk.response_metadata;
    if (typeof finish === 'string') seen.finish = finish;
    if (typeof model === 'string') seen.model = model;
    // LangChain also counts tokens, but knows fewer names for cached ones.
    const usage = UsageBody.safeParse(chunk.response_metadata.usage);
    if (usage.success) Object.assign(seen, countTokens(usage.data));
  }
  say(filter.end());
  if (seen.finish === '' && !tap.tail.includes('[DONE]')) {
    throw new TriageError('upstream-failed', "The model's answer was cut off before its end", {
      retryable: true,
    });
  }
  return { ...seen, model: seen.model || null, finish: seen.finish || 'stop', calls: [], refused: false };
}

function watch(tap: Tap, { onLife }: StreamOptions, limit: number): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > limit) throw createTooLargeError(limit);
      onLife();
      tap.tail = (tap.tail + decoder.decode(chunk, { stream: true })).slice(-TAIL);
      controller.enqueue(chunk);
    },
  });
}
