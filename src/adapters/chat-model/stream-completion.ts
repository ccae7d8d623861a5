import type { AIMessageChunk } from '@langchain/core/messages';
import { TriageError } from '../../domain/errors.ts';
import { type Completion, countTokens, readCompletion, UsageBody } from './completion-body.ts';
import { type CompletionRequest, connect, post, readBounded, tooLarge } from './connect.ts';
import { errorOfFailure, readRefusal, refusalInBody } from './model-errors.ts';
import type { Refusal } from './refusal.ts';
import { createThinkingFilter } from './thinking.ts';

export interface StreamOptions {
  /** Told each piece of the answer, without the model's thoughts. */
  readonly onText: (piece: string) => void;
  /** Told whenever the server sent anything, so that silence can be noticed. */
  readonly onLife: () => void;
}

/** What passed by beneath LangChain. */
interface Tap {
  /** The server's refusal, or its whole reply where it does not stream. */
  whole: Completion | Refusal | undefined;
  /** The last characters of the stream. */
  tail: string;
}

const TAIL = 64;

/**
 * Asks once and tells the answer as it arrives. Resolves to the whole of it, or to the server's refusal; throws
 * `upstream-failed` where there is no answer or it ends before its end, `invalid-input` where it is too large. A server that
 * does not stream is heard out and told in one piece.
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
    tap.whole = status === 200 ? (refusalInBody(body, headers) ?? readCompletion(body)) : readRefusal(status, headers, body);
    return new Response(body === '' ? null : body, {
      status: status === 200 ? 502 : status,
      headers: { 'content-type': 'application/json' },
    });
  });
  try {
    const messages = request.messages.map(({ role, content }) => ({ role, content }));
    return await tell(await model.stream(messages, { signal, ...request.wishes }), tap, options);
  } catch (error) {
    if (tap.whole === undefined) throw errorOfFailure(error);
    if ('text' in tap.whole && tap.whole.text !== '') options.onText(tap.whole.text);
    return tap.whole;
  }
}

async function tell(chunks: AsyncIterable<AIMessageChunk>, tap: Tap, { onText }: StreamOptions): Promise<Completion> {
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
    // Beside LangChain's own count, which knows fewer names for cached tokens.
    const usage = UsageBody.safeParse(chunk.response_metadata.usage);
    if (usage.success) Object.assign(seen, countTokens(usage.data));
  }
  say(filter.end());
  if (seen.finish === '' && !tap.tail.includes('[DONE]')) {
    throw new TriageError('upstream-failed', "The model's answer was cut off before its end", { retryable: true });
  }
  return { ...seen, model: seen.model || null, finish: seen.finish || 'stop', calls: [], refused: false };
}

function watch(tap: Tap, { onLife }: StreamOptions, limit: number): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > limit) throw tooLarge(limit);
      onLife();
      tap.tail = (tap.tail + decoder.decode(chunk, { stream: true })).slice(-TAIL);
      controller.enqueue(chunk);
    },
  });
}
