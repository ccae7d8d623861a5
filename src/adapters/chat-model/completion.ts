import { TriageError } from '../../domain/errors.ts';
import { type Completion, readCompletion } from './completion-body.ts';
import { type CompletionRequest, connect, post, readBounded } from './connect.ts';
import { errorOfFailure, readRefusal, refusalInBody } from './model-errors.ts';
import type { Refusal } from './refusal.ts';

interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Asks once. Resolves to the reply, or to the server's refusal; throws `upstream-failed` without an answer, `invalid-input`
 * where the answer is no chat completion or too large.
 *
 * LangChain and the SDK below it throw away a reply whose JSON is cut or wrapped in prose, together with what it cost, so
 * the body is kept as it passes and read here.
 */
export async function complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion | Refusal> {
  let seen: Seen | undefined;
  const model = await connect(request, async (_input, init) => {
    const response = await post(request, init, signal);
    const { status, headers } = response;
    const body = await readBounded(response, request.maxReplyBytes);
    seen = { status, headers, body };
    return new Response(body === '' ? null : body, { status, headers: { 'content-type': 'application/json' } });
  });
  try {
    await model.invoke(
      request.messages.map(({ role, content }) => ({ role, content })),
      { signal, ...request.wishes },
    );
  } catch (error) {
    if (seen === undefined) throw errorOfFailure(error);
  }
  if (seen === undefined) throw new TriageError('internal', 'The model answered without an HTTP reply');
  const { status, headers, body } = seen;
  if (status !== 200) return readRefusal(status, headers, body);
  return refusalInBody(body, headers) ?? readCompletion(body);
}
