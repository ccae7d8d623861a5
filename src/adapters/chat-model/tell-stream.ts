import { TriageError } from '../../domain/errors.ts';
import type { StreamRequest } from '../../ports/chat-model.ts';
import type { Message } from './connect.ts';
import { type ModelConnection, type Question, send, unusable } from './question.ts';
import { whyUnanswered } from './read-value.ts';
import { streamCompletion } from './stream-completion.ts';

/**
 * Plain text as it arrives. Tried again only while nothing was told: what a reader saw cannot be taken back. `onLife` is
 * called whenever the server sends anything.
 */
export async function tellStream(
  connection: ModelConnection,
  question: Question,
  request: StreamRequest,
  onLife: () => void,
): Promise<string> {
  let told = false;
  const onText = (piece: string) => {
    told = true;
    request.onText(piece);
  };
  const messages: Message[] = [
    { role: 'system', content: request.system },
    ...request.turns.map(({ role, text }): Message => ({ role, content: text })),
  ];
  const completion = await send(
    connection,
    question,
    () => ({ messages, wishes: {} }),
    async (asked, signal) => {
      try {
        return await streamCompletion(asked, { onText, onLife }, signal);
      } catch (error) {
        throw told ? final(error) : error;
      }
    },
  );
  const unanswered = whyUnanswered(completion);
  if (unanswered !== null) throw unusable(unanswered);
  if (completion.text.trim() === '') throw unusable('the reply is empty');
  return completion.text;
}

function final(error: unknown): unknown {
  if (!(error instanceof TriageError) || !error.retryable) return error;
  return new TriageError(error.code, error.message, { details: error.details, cause: error });
}
