import type { ChatRequest } from '../../ports/chat-model.ts';
import type { Message, Wishes } from './connect.ts';
import type { Dialect, Format } from './dialect.ts';
import { type ModelConnection, type Question, send, unusable } from './question.ts';
import { readValue } from './read-value.ts';
import { repair } from './repair.ts';
import { strictSchema } from './strict-schema.ts';

const AGAIN = 'Reply again with one JSON object that fits, and nothing else.';

/** A value by JSON schema, else by any JSON, else out of the text. A reply that does not fit is sent back once with the reason. */
export async function askValue<Value>(connection: ModelConnection, question: Question, request: ChatRequest<Value>): Promise<Value> {
  const turn = (more: readonly Message[]) => (dialect: Dialect) => ({
    messages: [...opening(request, dialect.value), ...more],
    wishes: formatWish(dialect.value, request.name, request.schema),
  });
  const first = await send(connection, question, turn([]));
  const reading = readValue(first, request.parse);
  if ('value' in reading) return reading.value;
  if (!reading.mendable) throw unusable(reading.problem);
  connection.logger.info({ reply: request.name, problem: reading.problem }, 'model reply did not fit and is sent back once');
  const second = readValue(await send(connection, question, turn(repair(first.text, reading.problem, AGAIN))), request.parse);
  if ('value' in second) return second.value;
  throw unusable(second.problem);
}

/** How a reply in this format is wished for. */
export function formatWish(format: Format, name: string, schema: Readonly<Record<string, unknown>>): Wishes {
  if (format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  return { response_format: { type: 'json_schema', json_schema: { name, schema: strictSchema(schema), strict: true } } };
}

/** A server that is not sent the schema's format must read the schema. */
function opening({ system, user, schema }: ChatRequest<unknown>, format: Format): Message[] {
  const told =
    format === 'json_schema' ? system : `${system}\n\nReply with one JSON object of this JSON schema:\n${JSON.stringify(schema)}`;
  return [
    { role: 'system', content: told },
    { role: 'user', content: user },
  ];
}
