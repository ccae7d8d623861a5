import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { parseJson } from '../../lib/text.ts';
import { type Refusal, readRefusal, readRefusalInBody, toFailureError, toRefusalError } from '../refusal.ts';
import { type CompletionRequest, post, readBounded } from './connect.ts';
import type { ChatDriver, Completion, StreamOptions } from './driver.ts';
import { readLines } from './read-lines.ts';

/** The driver for Anthropic's Messages API (platform.claude.com/docs/en/api/messages). */
export const ANTHROPIC_DRIVER: ChatDriver = {
  complete: (request, signal) => converse(request, null, signal),
  stream: (request, options, signal) => converse(request, options, signal),
};

const Usage = z.object({
  /** The tokens that were neither read from the cache nor written to it. */
  input_tokens: z.number().min(0).nullish(),
  output_tokens: z.number().min(0).nullish(),
  cache_read_input_tokens: z.number().min(0).nullish(),
  cache_creation_input_tokens: z.number().min(0).nullish(),
});
type Usage = z.infer<typeof Usage>;

const Block = z.object({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});
const Message = z.object({
  type: z.literal('message'),
  model: z.string(),
  content: z.array(Block),
  stop_reason: z.string().nullish(),
  usage: Usage,
});

async function converse(
  request: CompletionRequest,
  options: StreamOptions | null,
  signal: AbortSignal,
): Promise<Completion | Refusal> {
  try {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...createBody(request), ...(options !== null && { stream: true }) }),
    };
    const response = await post(request, init, signal);
    const { status, headers, body } = response;
    const isStream = headers.get('content-type')?.includes('event-stream') === true;
    if (status === 200 && options !== null && isStream && body !== null)
      return await readStream(body, headers, request, options);
    const text = await readBounded(response, request.maxReplyBytes);
    if (status !== 200) return readRefusal(status, headers, text);
    const reply = readRefusalInBody(text, headers) ?? readMessage(text);
    if ('text' in reply && reply.text !== '') options?.onText(reply.text);
    return reply;
  } catch (error) {
    throw toFailureError(error);
  }
}

const CACHED = { cache_control: { type: 'ephemeral' } } as const;

/**
 * Creates the body of a request. The tools and the instructions are the same in many requests, so they are
 * cached: the mark stands on the last block that does not change.
 */
function createBody({ model, messages, dialect, wishes }: CompletionRequest) {
  const system = messages.filter(({ role, content }) => role === 'system' && content.trim() !== '');
  const turns = messages.filter(({ role, content }) => role !== 'system' && content.trim() !== '');
  const { response_format: format, tools } = wishes;
  return {
    model,
    max_tokens: dialect.outputTokens,
    ...(dialect.temperature && { temperature: 0 }),
    system: system.map(({ content }, index) => ({
      type: 'text',
      text: content,
      ...(index === system.length - 1 && CACHED),
    })),
    // A turn of the model must not end in white space.
    messages: turns.map(({ role, content }) => ({ role, content: content.trimEnd() })),
    ...(format?.type === 'json_schema' && {
      output_config: { format: { type: 'json_schema', schema: format.json_schema.schema } },
    }),
    ...(tools !== undefined && { tools: tools.map(toTool), tool_choice: { type: 'auto' } }),
  };
}

function toTool({ function: { name, description, parameters, strict } }: RequestedTool) {
  return { name, description, input_schema: parameters, ...(strict === true && { strict }) };
}
type RequestedTool = NonNullable<CompletionRequest['wishes']['tools']>[number];

function readMessage(body: string): Completion {
  const parsed = Message.safeParse(parseJson(body));
  if (!parsed.success)
    throw new TriageError('invalid-input', 'The model server did not return a message of the Messages API');
  const { content, stop_reason: stop, usage, model } = parsed.data;
  return {
    text: content.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join(''),
    calls: content.flatMap(({ type, name, input }) =>
      type === 'tool_use' && name !== undefined ? [{ name, args: JSON.stringify(input ?? {}) }] : [],
    ),
    model,
    ...toEnd(stop ?? 'end_turn'),
    ...countTokens(usage),
  };
}

/** The reasons to stop by the names that other servers use. */
const FINISH: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
};

function toEnd(stop: string): Pick<Completion, 'finish' | 'refused'> {
  return { finish: FINISH[stop] ?? stop, refused: stop === 'refusal' };
}

function countTokens(usage: Usage) {
  const read = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + read + written,
    outputTokens: usage.output_tokens ?? 0,
    cachedInputTokens: usage.cache_read_input_tokens ?? null,
    cacheWriteTokens: written,
  };
}

const StreamEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ model: z.string(), usage: Usage }) }),
  z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({ type: z.string(), text: z.string().optional() }),
  }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: Usage.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('error'), error: z.object({ type: z.string() }) }),
]);

/** The status that an error has outside of a stream (platform.claude.com/docs/en/api/errors). */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Reads a stream of events. Events and parts of a kind that is not known, and thoughts, are passed over. */
async function readStream(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  { maxReplyBytes, model }: CompletionRequest,
  { onText, onLife }: StreamOptions,
): Promise<Completion | Refusal> {
  const seen = { text: '', model, usage: {} as Usage, stop: '' };
  for await (const line of readLines(body, maxReplyBytes, onLife)) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice(5);
    const event = StreamEvent.safeParse(parseJson(data)).data;
    if (event === undefined) continue;
    if (event.type === 'message_start') {
      seen.model = event.message.model;
      seen.usage = event.message.usage;
    } else if (event.type === 'content_block_delta') {
      const { type, text = '' } = event.delta;
      if (type !== 'text_delta' || text === '') continue;
      seen.text += text;
      onText(text);
    } else if (event.type === 'message_delta') {
      seen.stop = event.delta.stop_reason ?? seen.stop;
      // The counts are those of the whole message; what is left out is as at its start.
      seen.usage = { ...seen.usage, ...omitNulls(event.usage ?? {}) };
    } else if (event.type === 'error') {
      const refusal = readRefusal(STATUSES[event.error.type] ?? 500, headers, data);
      if (seen.text === '') return refusal;
      throw toRefusalError(refusal, model);
    } else {
      return {
        text: seen.text,
        calls: [],
        model: seen.model,
        ...toEnd(seen.stop || 'end_turn'),
        ...countTokens(seen.usage),
      };
    }
  }
  throw new TriageError('upstream-failed', "The model's answer was cut off before its end", {
    retryable: true,
  });
}

function omitNulls(usage: Usage): Usage {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}
