import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { parseJson } from '../../lib/text.ts';
import { type Refusal, readRefusal, toFailureError, toRefusalError } from '../refusal.ts';
import { type CompletionRequest, post, readBounded } from './connect.ts';
import type { ChatDriver, Completion, StreamOptions, WrittenCall } from './driver.ts';
import { readLines } from './read-lines.ts';
import { createThinkingFilter, withoutThinking } from './thinking.ts';

/** The driver for Ollama's own chat API (docs.ollama.com/api/chat), with its context and keep-alive. */
export const OLLAMA_DRIVER: ChatDriver = {
  complete: (request, signal) => converse(request, null, signal),
  stream: (request, options, signal) => converse(request, options, signal),
};

/** The time for which the model stays loaded after a request. Loading it takes longer than an answer. */
const KEEP_ALIVE = '30m';
/** The contexts that are asked for. The model is loaded again when the context grows, so there are few. */
const CONTEXTS = [8_192, 16_384, 32_768, 65_536, 131_072];
/** The number of characters of a token of code and logs, at the least. */
const TOKEN_CHARACTERS = 3;

const Reply = z.object({
  model: z.string().nullish(),
  message: z
    .object({
      content: z.string().nullish(),
      tool_calls: z
        .array(z.object({ function: z.object({ name: z.string(), arguments: z.unknown().optional() }) }))
        .nullish(),
    })
    .nullish(),
  done: z.boolean(),
  done_reason: z.string().nullish(),
  prompt_eval_count: z.number().min(0).nullish(),
  eval_count: z.number().min(0).nullish(),
});
type Reply = z.infer<typeof Reply>;

async function converse(
  request: CompletionRequest,
  options: StreamOptions | null,
  signal: AbortSignal,
): Promise<Completion | Refusal> {
  try {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...createBody(request), stream: options !== null }),
    };
    const response = await post(request, init, signal);
    const { status, headers, body } = response;
    if (status === 200 && options !== null && body !== null)
      return await readStream(body, headers, request, options);
    const text = await readBounded(response, request.maxReplyBytes);
    if (status !== 200) return readRefusal(status, headers, text);
    const reply = Reply.safeParse(parseJson(text));
    if (!reply.success)
      throw new TriageError('invalid-input', "The model server did not return a reply of Ollama's chat API");
    const content = withoutThinking(reply.data.message?.content ?? '');
    return toCompletion(reply.data, content, readCalls(reply.data));
  } catch (error) {
    throw toFailureError(error);
  }
}

function createBody({ model, messages, dialect, wishes }: CompletionRequest) {
  const { response_format: format, tools } = wishes;
  const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
  const needed =
    Math.ceil((characters + JSON.stringify(tools ?? []).length) / TOKEN_CHARACTERS) + dialect.outputTokens;
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    keep_alive: KEEP_ALIVE,
    options: {
      num_ctx: CONTEXTS.find((size) => size >= needed) ?? CONTEXTS.at(-1),
      num_predict: dialect.outputTokens,
      ...(dialect.temperature && { temperature: 0 }),
    },
    ...(format?.type === 'json_schema' && { format: format.json_schema.schema }),
    ...(format?.type === 'json_object' && { format: 'json' }),
    ...(tools !== undefined && {
      tools: tools.map(({ type, function: { name, description, parameters } }) => ({
        type,
        function: { name, description, parameters },
      })),
    }),
  };
}

/** Reads a stream of JSON objects, a line each. An error in it is an object with the field `error`. */
async function readStream(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  { maxReplyBytes, model }: CompletionRequest,
  { onText, onLife }: StreamOptions,
): Promise<Completion | Refusal> {
  let text = '';
  const filter = createThinkingFilter();
  const say = (piece: string) => {
    text += piece;
    if (piece !== '') onText(piece);
  };
  for await (const line of readLines(body, maxReplyBytes, onLife)) {
    if (line.trim() === '') continue;
    const reply = Reply.safeParse(parseJson(line)).data;
    if (reply === undefined) {
      const refusal = readRefusal(500, headers, line);
      if (text === '') return refusal;
      throw toRefusalError(refusal, model);
    }
    say(filter.push(reply.message?.content ?? ''));
    if (!reply.done) continue;
    say(filter.end());
    return toCompletion(reply, text, []);
  }
  throw new TriageError('upstream-failed', "The model's answer was cut off before its end", {
    retryable: true,
  });
}

function readCalls({ message }: Reply): WrittenCall[] {
  return (message?.tool_calls ?? []).map(({ function: { name, arguments: args } }) => ({
    name,
    args: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  }));
}

function toCompletion(reply: Reply, text: string, calls: readonly WrittenCall[]): Completion {
  return {
    text,
    calls,
    finish: reply.done_reason ?? 'stop',
    refused: false,
    model: reply.model ?? null,
    inputTokens: reply.prompt_eval_count ?? 0,
    outputTokens: reply.eval_count ?? 0,
    cachedInputTokens: null,
    cacheWriteTokens: 0,
  };
}
