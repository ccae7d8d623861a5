import type { AIMessageChunk } from '@langchain/core/messages';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { parseJson } from '../../lib/text.ts';
import { type Refusal, readRefusal, readRefusalInBody, toFailureError } from '../refusal.ts';
import { type CompletionRequest, connect, createTooLargeError, post, readBounded } from './connect.ts';

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
export async function complete(
  request: CompletionRequest,
  signal: AbortSignal,
): Promise<Completion | Refusal> {
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

/** A call as the model wrote it. The arguments are text that should be JSON. */
export interface WrittenCall {
  readonly name: string;
  readonly args: string;
}

interface TokenCount {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The number of cached input tokens. Null if the server does not report it. */
  readonly cachedInputTokens: number | null;
}

/** The parts of a reply that are used. */
export interface Completion extends TokenCount {
  /** The text of the reply without the model's reasoning. */
  readonly text: string;
  readonly calls: readonly WrittenCall[];
  /** The reason why the reply ended: "stop", "length", "content_filter", "tool_calls". */
  readonly finish: string;
  readonly refused: boolean;
  readonly model: string | null;
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
  };
}

/** Returns the arguments as text. Some servers send them as an object, or omit them if there are none. */
function formatArguments(args: unknown): string {
  if (typeof args === 'string') return args.trim() === '' ? '{}' : args;
  return JSON.stringify(args ?? {});
}

interface StreamOptions {
  /** Receives each piece of the answer, without the model's reasoning. */
  readonly onText: (piece: string) => void;
  /** Runs whenever the server sends anything, so that silence can be detected. */
  readonly onLife: () => void;
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
export async function streamCompletion(
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

const OPEN = /^\s{0,20}<(?:think|thinking|thought)>/;
const CLOSE = /<\/(?:think|thinking|thought)>/g;
/**
 * The maximum length of an opening tag with some space before it. After that many characters, it is known
 * whether a reply begins with one.
 */
const MAX_OPENING = 40;

/**
 * Removes the reasoning that some servers leave in the text of a reply. Some leave only the closing tag,
 * because the opening tag was in the prompt. A reply that begins with JSON is unchanged: tags in it are
 * quotations.
 */
function withoutThinking(text: string): string {
  if (text.trimStart().startsWith('{')) return text;
  const last = [...text.matchAll(CLOSE)].at(-1);
  if (last !== undefined) return text.slice(last.index + last[0].length).trimStart();
  return OPEN.test(text) ? '' : text;
}

/** Creates a filter that passes on a streamed reply without the reasoning at its beginning. */
function createThinkingFilter() {
  let state: 'unknown' | 'thinking' | 'answering' = 'unknown';
  let buffered = '';
  return {
    /** Returns the text that may be shown now that this piece has arrived. */
    push: (piece: string): string => {
      if (state === 'answering') return piece;
      buffered += piece;
      if (state === 'unknown') {
        if (OPEN.test(buffered)) state = 'thinking';
        else if (mayBegin(buffered)) return '';
        else return release();
      }
      const close = buffered.search(CLOSE);
      if (close < 0) {
        buffered = buffered.slice(-MAX_OPENING);
        return '';
      }
      buffered = buffered.slice(buffered.indexOf('>', close) + 1).trimStart();
      return release();
    },
    /** Returns the text that was held back and turned out not to be reasoning. */
    end: () => (state === 'unknown' ? release() : ''),
  };

  function release(): string {
    state = 'answering';
    const text = buffered;
    buffered = '';
    return text;
  }
}

function mayBegin(text: string): boolean {
  const start = text.trimStart();
  return (
    text.length <= MAX_OPENING && ['<think>', '<thinking>', '<thought>'].some((tag) => tag.startsWith(start))
  );
}
