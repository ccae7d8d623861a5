import type { ChatToolCall, ToolChoiceRequest } from '../../ports/chat-model.ts';
import type { Completion } from './completion-body.ts';
import type { Message } from './connect.ts';
import type { Dialect, ToolFormat } from './dialect.ts';
import { type ModelConnection, type Question, send, unusable } from './question.ts';
import { type CallsReading, isOffered, readCalls } from './read-calls.ts';
import { whyUnanswered } from './read-value.ts';
import { repair } from './repair.ts';
import { formatWithoutCalling, isCalling, toolTurn } from './tool-format.ts';

const MAX_SAID = 4_000;

/**
 * A choice among tools by function calling, else by JSON, else out of the text. Calls that cannot be read, or name no tool
 * that was offered, are sent back once with the reason; those that can be read count in any case.
 */
export async function chooseTools(
  connection: ModelConnection,
  question: Question,
  request: ToolChoiceRequest,
): Promise<readonly ChatToolCall[]> {
  if (request.tools.length === 0) return [];
  const first = await ask(connection, question, request, (dialect) => dialect.tools, []);
  if (first.reading.by === 'calling') connection.called = true;
  if (isCalling(first.format) && first.reading.by === 'nothing')
    return connection.called ? [] : await askInWords(connection, question, request);
  return await mend(connection, question, request, first);
}

interface Reply {
  readonly completion: Completion;
  readonly reading: CallsReading;
  /** How it was asked for, in the end. */
  readonly format: ToolFormat;
}

async function ask(
  connection: ModelConnection,
  question: Question,
  request: ToolChoiceRequest,
  formatOf: (dialect: Dialect) => ToolFormat,
  more: readonly Message[],
): Promise<Reply> {
  let format = formatOf(connection.dialect);
  const completion = await send(connection, question, (dialect) => {
    format = formatOf(dialect);
    return toolTurn(request, format, dialect, more);
  });
  const unanswered = whyUnanswered(completion);
  if (unanswered !== null) throw unusable(unanswered);
  return { completion, reading: readCalls(completion, request.tools), format };
}

/**
 * A server that was never seen to call a function answered in prose: the model wants none, or the server does not know
 * tools and keeps quiet about it. Asked in words the model must say which.
 */
async function askInWords(connection: ModelConnection, question: Question, request: ToolChoiceRequest): Promise<readonly ChatToolCall[]> {
  const reply = await ask(connection, question, request, formatWithoutCalling, []);
  const calls = await mend(connection, question, request, reply);
  if (calls.length > 0 && isCalling(connection.dialect.tools)) {
    connection.logger.info({ tools: reply.format }, 'model server ignores tools and is asked in words from now on');
    connection.dialect = { ...connection.dialect, tools: reply.format };
  }
  return calls;
}

async function mend(
  connection: ModelConnection,
  question: Question,
  request: ToolChoiceRequest,
  { completion, reading, format }: Reply,
): Promise<readonly ChatToolCall[]> {
  if (reading.problem === null) return reading.calls;
  connection.logger.info({ reply: request.name, problem: reading.problem }, 'model reply did not fit and is sent back once');
  const how = isCalling(format)
    ? 'Call again what you want, with tools that are offered and arguments that fit.'
    : 'Reply again with one JSON object that fits, and nothing else.';
  const sameFormat = (dialect: Dialect) => (isCalling(format) ? dialect.tools : formatWithoutCalling(dialect));
  const again = await ask(connection, question, request, sameFormat, repair(said(completion), reading.problem, how));
  const kept = reading.calls.filter((call) => isOffered(call, request.tools));
  const calls = joined(kept, again.reading.calls);
  const usable = calls.some((call) => isOffered(call, request.tools));
  if (!usable && !(again.reading.problem === null && again.reading.calls.length === 0))
    throw unusable(again.reading.problem ?? reading.problem);
  return calls;
}

/** What the model said, in words, for servers that could not take its own broken calls back. */
function said({ text, calls }: Completion): string {
  const called = calls.map((call) => `${call.name}(${call.args})`).join('\n');
  return [text, called]
    .filter((part) => part.trim() !== '')
    .join('\n')
    .slice(0, MAX_SAID);
}

/** Those of the first reply that could be used, and what the second one adds. */
function joined(first: readonly ChatToolCall[], second: readonly ChatToolCall[]): readonly ChatToolCall[] {
  const key = ({ name, args }: ChatToolCall) => JSON.stringify([name, args]);
  const known = new Set(first.map(key));
  return [...first, ...second.filter((call) => !known.has(key(call)))];
}
