import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';

export interface EmbeddingsRequest {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions?: number;
  readonly maxReplyBytes: number;
}

const Reply = z.object({ data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(16_000) })) });
const ErrorReply = z.object({ error: z.union([z.string(), z.looseObject({ message: z.string().optional(), code: z.unknown() })]) });
const QUOTA = /insufficient_quota|billing|quota exceeded|exceeded your current quota|credit balance/i;
const MAX_WORDS = 300;

/** Asks once. Resolves to one vector a text, in the order of the texts; throws TriageError with the codes that a chat model's errors have. */
export async function requestEmbeddings(request: EmbeddingsRequest, signal: AbortSignal): Promise<Float32Array[]> {
  const { baseUrl, apiKey, model, texts, dimensions, maxReplyBytes } = request;
  const body = { model, input: texts, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) };
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${baseUrl.replace(/\/$/, '')}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    });
    text = await readBounded(response, maxReplyBytes);
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('upstream-failed', 'The embedding server could not be reached', { retryable: true, cause: error });
  }
  if (!response.ok) throw refusal(response, text, model);
  return vectorsOf(text, texts.length);
}

function vectorsOf(text: string, wanted: number): Float32Array[] {
  const reply = Reply.safeParse(parsed(text));
  if (!reply.success) throw new TriageError('upstream-failed', 'The embedding server did not return a list of embeddings');
  const byIndex = new Map(reply.data.data.map(({ index, embedding }) => [index, Float32Array.from(embedding)]));
  const vectors = Array.from({ length: wanted }, (_, index) => byIndex.get(index));
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length === wanted && reply.data.data.length === wanted) return whole;
  const message = `The embedding server returned ${reply.data.data.length} vectors for ${wanted} texts`;
  throw new TriageError('upstream-failed', message, { details: { wanted, got: reply.data.data.length } });
}

function refusal({ status, headers }: Response, text: string, model: string): TriageError {
  const words = wordsOf(text);
  const details = { status };
  if (status === 401 || status === 403) {
    return new TriageError(
      'upstream-auth',
      `The embedding server rejected the API key (HTTP ${status}); check the key and its permissions`,
      {
        details,
      },
    );
  }
  if (status === 402 || (status === 429 && QUOTA.test(words))) {
    return new TriageError('quota-exhausted', 'The quota for embeddings is used up; check plan and billing', { details });
  }
  const later = retryAfter(headers);
  const retry = { retryable: true, details, ...(later === null ? {} : { retryAfterMs: later }) };
  if (status === 429) return new TriageError('rate-limited', 'The embedding server is rate limiting requests (HTTP 429)', retry);
  if (status === 408 || status === 409 || status >= 500) {
    return new TriageError('upstream-failed', `The embedding server failed (HTTP ${status})`, retry);
  }
  if (status === 404) {
    const message = `The embedding server does not know ${model} or the path (HTTP 404); check base URL and model`;
    return new TriageError('upstream-failed', message, { details });
  }
  return new TriageError('invalid-input', `The embedding server rejected the texts (HTTP ${status}): ${words}`, { details });
}

function wordsOf(text: string): string {
  const read = ErrorReply.safeParse(parsed(text));
  if (!read.success) return text.replace(/\s+/g, ' ').slice(0, MAX_WORDS);
  const { error } = read.data;
  return (typeof error === 'string' ? error : `${error.message ?? ''} ${String(error.code ?? '')}`)
    .replace(/\s+/g, ' ')
    .slice(0, MAX_WORDS);
}

function retryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null || value.trim() === '') return null;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

async function readBounded(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw new TriageError('upstream-failed', `The response of the embedding server is larger than ${limit} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
