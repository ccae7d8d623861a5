import type { ChatOpenAICompletions } from '@langchain/openai';
import { TriageError } from '../../domain/errors.ts';
import { type Dialect, isReasoningModel } from './dialect.ts';
import { errorOfRedirect } from './model-errors.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One request to the model's server. */
export interface CompletionRequest {
  readonly url: string;
  /** They show who we are; sent to `url` and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly dialect: Dialect;
  /** How the reply is wished for, where it is not plain text. */
  readonly wishes: Wishes;
  readonly maxReplyBytes: number;
}

/** The parts of a chat completion that shape the reply. */
export interface Wishes {
  readonly response_format?:
    | { type: 'json_object' }
    | { type: 'json_schema'; json_schema: { name: string; schema: Record<string, unknown>; strict: boolean } };
  readonly tools?: {
    type: 'function';
    function: { name: string; description: string; parameters: Record<string, unknown>; strict?: boolean };
  }[];
  readonly tool_choice?: 'auto';
  readonly parallel_tool_calls?: boolean;
}

/**
 * LangChain's chat-completions model with its own retries off, over a fetch of ours. Loaded on first use: rules-only
 * installations never pay for it.
 */
export async function connect(request: CompletionRequest, fetchReply: typeof fetch): Promise<ChatOpenAICompletions> {
  const { ChatOpenAICompletions } = await import('@langchain/openai');
  const { dialect, model } = request;
  return new ChatOpenAICompletions({
    model,
    apiKey: 'in the headers',
    maxRetries: 0,
    streamUsage: dialect.streamUsage,
    ...outputLimit(dialect, model),
    ...(dialect.temperature ? { temperature: 0 } : {}),
    configuration: { baseURL: request.url, fetch: fetchReply, logLevel: 'off' },
  });
}

/**
 * Sends what LangChain prepared to exactly the address of the request. A redirect is refused: followed, it would carry log
 * excerpts, and on Azure the key, to another host. Throws `upstream-failed`.
 */
export async function post({ url, headers }: CompletionRequest, init: RequestInit | undefined, signal: AbortSignal): Promise<Response> {
  const sent = new Headers(init?.headers);
  sent.delete('authorization');
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  const response = await fetch(url, { ...init, headers: sent, signal, redirect: 'manual' });
  if (response.status < 300 || response.status >= 400) return response;
  await response.body?.cancel();
  throw errorOfRedirect(response.status, response.headers.get('location'), url);
}

export async function readBounded(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw tooLarge(limit);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

export function tooLarge(limit: number): TriageError {
  return new TriageError('invalid-input', `The model's reply is larger than ${limit} bytes`);
}

/** LangChain sends `maxTokens` by the name that it thinks right for the model; -1 keeps it from that. */
function outputLimit({ limitNames, outputTokens }: Dialect, model: string) {
  const [name] = limitNames;
  const usual = isReasoningModel(model) ? 'max_completion_tokens' : 'max_tokens';
  if (name === usual) return { maxTokens: outputTokens };
  return { maxTokens: -1, modelKwargs: name === undefined ? {} : { [name]: outputTokens } };
}
