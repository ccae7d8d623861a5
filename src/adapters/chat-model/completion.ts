import type { ChatOpenAICompletions } from '@langchain/openai';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { Dialect } from './dialect.ts';
import { errorOfFailure, type Refusal, readRefusal } from './model-errors.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One request to the model's server. */
export interface CompletionRequest {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly dialect: Dialect;
  /** Name and strict JSON schema of the reply, sent where the dialect has it. */
  readonly reply: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
  readonly maxReplyBytes: number;
}

/** The part of a reply that we use. */
export interface Completion {
  readonly text: string;
  /** Why there is no more text: "stop", "length", "content_filter". */
  readonly finish: string;
  readonly refused: boolean;
  readonly model: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const MAX_OUTPUT_TOKENS = 4_096;
/** Reasoning models spend unseen tokens from the same allowance. */
const MAX_REASONING_TOKENS = 16_384;

const Body = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: z.number().min(0), completion_tokens: z.number().min(0) }).nullish(),
});

interface Seen {
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Asks once, through LangChain's chat-completions model with its own retries off. Resolves to the reply, or to the server's
 * refusal; throws `upstream-failed` without an answer, `invalid-input` where the answer is no chat completion or too large.
 *
 * LangChain and the SDK below it throw away a reply whose JSON is cut or wrapped in prose, together with what it cost, so
 * the body is kept as it passes and read here.
 */
export async function complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion | Refusal> {
  let seen: Seen | undefined;
  const model = await createModel(request, async (input, init) => {
    const response = await fetch(input, { ...init, signal });
    const body = await readBounded(response, request.maxReplyBytes);
    seen = { status: response.status, headers: response.headers, body };
    return new Response(body === '' ? null : body, { status: response.status, headers: { 'content-type': 'application/json' } });
  });
  try {
    const format = responseFormat(request);
    await model.invoke(
      request.messages.map(({ role, content }) => ({ role, content })),
      { signal, ...(format === null ? {} : { response_format: format }) },
    );
  } catch (error) {
    if (seen === undefined) throw errorOfFailure(error);
  }
  if (seen === undefined) throw new TriageError('internal', 'The model answered without an HTTP reply');
  return seen.status === 200 ? readCompletion(seen.body) : readRefusal(seen.status, seen.headers, seen.body);
}

/** Loaded on first use: rules-only installations never pay for it. */
async function createModel(request: CompletionRequest, fetchReply: typeof fetch): Promise<ChatOpenAICompletions> {
  const { ChatOpenAICompletions } = await import('@langchain/openai');
  return new ChatOpenAICompletions({
    model: request.model,
    apiKey: request.apiKey,
    maxRetries: 0,
    maxTokens: request.dialect.temperature ? MAX_OUTPUT_TOKENS : MAX_REASONING_TOKENS,
    ...(request.dialect.temperature ? { temperature: 0 } : {}),
    configuration: { baseURL: request.baseUrl, fetch: fetchReply },
  });
}

function responseFormat({ dialect, reply }: CompletionRequest) {
  if (dialect.format === 'text') return null;
  if (dialect.format === 'json_object') return { type: 'json_object' as const };
  return { type: 'json_schema' as const, json_schema: { name: reply.name, schema: reply.schema, strict: true } };
}

async function readBounded(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw new TriageError('invalid-input', `The model's reply is larger than ${limit} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function readCompletion(body: string): Completion {
  const parsed = Body.safeParse(parseJson(body));
  const choice = parsed.data?.choices[0];
  if (!parsed.success || choice === undefined) {
    throw new TriageError('invalid-input', "The model's server answered with something that is no chat completion");
  }
  const { model, usage } = parsed.data;
  return {
    text: choice.message.content ?? '',
    finish: choice.finish_reason ?? 'stop',
    refused: (choice.message.refusal ?? '') !== '',
    model: model ?? null,
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
