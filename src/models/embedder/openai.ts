import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { readText } from '../../lib/http-body.ts';
import { limitTime, retryWithPolicy } from '../../lib/resilience.ts';
import { parseJson } from '../../lib/text.ts';
import { type Logger, silentLogger } from '../../ports/telemetry.ts';
import type { Embedder } from '../../ports/vector-index.ts';
import { readRefusal, toRefusalError } from '../refusal.ts';
import { createUnrelatedMeasure, toUnitVector } from './vectors.ts';

export interface OpenAiEmbedderOptions {
  /** The base URL of an OpenAI-compatible server, including `/v1`. Null for OpenAI. */
  readonly baseUrl: string | null;
  /** The key. Null for a server that needs none. */
  readonly apiKey: string | null;
  readonly model: string;
  /** The time limit of one batch with all its attempts, in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum number of retries after errors that may be temporary. */
  readonly maxRetries: number;
  readonly logger?: Logger;
  /** The first pause before a retry, in milliseconds. It doubles each time, with jitter. */
  readonly retryDelayMs?: number;
  readonly maxReplyBytes?: number;
}

const OPENAI = 'https://api.openai.com/v1';
/**
 * The maximum numbers of texts and of characters in one request. Servers refuse more than about 300,000
 * tokens at once.
 */
const BATCH_TEXTS = 64;
const BATCH_CHARACTERS = 200_000;
/**
 * The maximum length of a text in characters. The lowest limit of common models is 8,191 tokens, and every
 * script has at most about one token per character.
 */
const MAX_TEXT = 8_000;
const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/**
 * Creates an embedder that uses a model behind an OpenAI-compatible server. Throws TriageError:
 * `upstream-auth`, `quota-exhausted`, `rate-limited`, `upstream-failed` (also if the number or length of the
 * vectors is wrong), `invalid-input`, `timeout` or `cancelled`. Throws `invalid-config` if the key for OpenAI
 * is missing.
 */
export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  if (options.apiKey === null && options.baseUrl === null) {
    throw new TriageError(
      'invalid-config',
      'OpenAI needs an API key for embeddings; set one, or set the base URL of a server that needs none',
    );
  }
  /** The length of the first vector. All others must have the same. */
  let dimensions: number | null = null;
  const embed = async (texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = [];
    for (const batch of splitBatches(texts)) append(vectors, await embedBatch(options, batch, signal));
    const wrong = vectors.find(({ length }) => length !== (dimensions ?? vectors[0]?.length));
    if (wrong !== undefined) throw createWrongLengthError(options.model, wrong.length, dimensions);
    dimensions ??= vectors[0]?.length ?? null;
    return vectors;
  };
  return {
    name: `openai:${options.model}`,
    get dimensions() {
      return dimensions;
    },
    embed,
    unrelated: createUnrelatedMeasure(embed),
  };
}

function* splitBatches(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    // OpenAI refuses an empty text, but accepts a space.
    const sent = text.slice(0, MAX_TEXT).toWellFormed().trim() || ' ';
    if (batch.length === BATCH_TEXTS || (batch.length > 0 && characters + sent.length > BATCH_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(sent);
    characters += sent.length;
  }
  if (batch.length > 0) yield batch;
}

/** Sends one request and retries it if that may help and time is left. */
async function embedBatch(
  options: OpenAiEmbedderOptions,
  texts: readonly string[],
  run: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const { timeoutMs: limitMs, maxRetries: retries, retryDelayMs = 500, logger = silentLogger } = options;
  const message = `The embedding server did not respond (timeout after ${limitMs / 1000} s)`;
  const late = (cause: unknown) => new TriageError('timeout', message, { retryable: true, cause });
  const canceled = (cause: unknown) => new TriageError('cancelled', 'Embedding was canceled.', { cause });
  const onRetry = (error: unknown, pauseMs: number) =>
    logger.info(
      { error: getErrorMessage(error), pauseMs: Math.round(pauseMs) },
      'retrying the embedding server',
    );
  return await limitTime({ limitMs, signal: run, late, canceled }, (signal, longestPauseMs) =>
    retryWithPolicy(
      { retries, backoff: { firstMs: retryDelayMs }, longestPauseMs, signal, onRetry },
      async () => (await requestEmbeddings(options, texts, signal)).map(toUnitVector),
    ),
  );
}

function createWrongLengthError(model: string, got: number, wanted: number | null): TriageError {
  const expected =
    wanted === null
      ? 'vectors of different lengths'
      : `a vector of ${got} numbers where ${wanted} were expected`;
  return new TriageError(
    'upstream-failed',
    `The embedding server returned ${expected} for ${model}; if its model was replaced, restart, then ` +
      'run: faultline knowledge reindex',
    { details: { model, got, wanted } },
  );
}

const Reply = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(16_000) })),
});

/**
 * Sends one request. Resolves to one vector for each text, in order. Throws TriageError with the same codes
 * as a chat model.
 */
async function requestEmbeddings(
  { baseUrl, apiKey, model, maxReplyBytes = MAX_REPLY_BYTES }: OpenAiEmbedderOptions,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const body = { model, input: texts, encoding_format: 'float' };
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${(baseUrl ?? OPENAI).replace(/\/$/, '')}/embeddings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    });
    const read = await readText(response.body, maxReplyBytes);
    if (read === null)
      throw new TriageError(
        'upstream-failed',
        `The response of the embedding server is larger than ${maxReplyBytes} bytes`,
      );
    text = read;
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('upstream-failed', 'The embedding server could not be reached', {
      retryable: true,
      cause: error,
    });
  }
  if (!response.ok)
    throw toRefusalError(readRefusal(response.status, response.headers, text), model, 'The embedding server');
  return parseVectors(text, texts.length);
}

function parseVectors(text: string, wanted: number): Float32Array[] {
  const reply = Reply.safeParse(parseJson(text));
  if (!reply.success)
    throw new TriageError('upstream-failed', 'The embedding server did not return a list of embeddings');
  const byIndex = new Map(
    reply.data.data.map(({ index, embedding }) => [index, Float32Array.from(embedding)]),
  );
  const vectors = Array.from({ length: wanted }, (_, index) => byIndex.get(index));
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length === wanted && reply.data.data.length === wanted) return whole;
  const message = `The embedding server returned ${reply.data.data.length} vectors for ${wanted} texts`;
  throw new TriageError('upstream-failed', message, { details: { wanted, got: reply.data.data.length } });
}
