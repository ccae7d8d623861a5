import { TriageError } from '../../domain/errors.ts';
import type {
  ChatModel,
  ChatRequest,
  ChatToolCall,
  StreamRequest,
  ToolChoiceRequest,
} from '../../ports/chat-model.ts';
import { type Logger, silentLogger } from '../../ports/telemetry.ts';
import { formatAddress, type Message, resolveEndpoint } from './connect.ts';
import {
  chooseFirstDialect,
  type Dialect,
  type Format,
  type QuestionKind,
  type ToolFormat,
} from './dialect.ts';
import type { ChatDriver, Completion } from './driver.ts';
import { type ChatProtocol, findProtocol, loadDriver } from './load-driver.ts';
import type { PriceTable } from './prices.ts';
import { askAndPrice, type ChatCall, createUnusableError, type ModelConnection, send } from './question.ts';
import { findRefusal, isOffered, type ReplyCalls, readCalls, readValue } from './read-reply.ts';
import { createToolTurn, formatWish, formatWithoutCalling, isCalling } from './tool-format.ts';

export interface OpenAiChatModelOptions {
  /**
   * Any OpenAI-compatible server, with or without `/v1`; null: OpenAI's own. An address that ends in
   * `/messages` is Anthropic's, one in `/api/chat` Ollama's.
   */
  readonly baseUrl: string | null;
  /** The key. Null for a server that needs none. */
  readonly apiKey: string | null;
  /**
   * Azure's `api-version`. If empty, the known version is used. If it is not null, or the host is Azure's,
   * the server is addressed as Azure OpenAI.
   */
  readonly apiVersion?: string | null;
  readonly model: string;
  /**
   * Time limit of one question with all its attempts, in milliseconds. A stream may take up to four times as
   * long while data arrives.
   */
  readonly timeoutMs: number;
  /** The maximum number of retries after errors that may be temporary. */
  readonly maxRetries: number;
  readonly logger?: Logger;
  readonly prices?: PriceTable;
  /** The first pause before a retry, in milliseconds. It doubles, with jitter. */
  readonly retryDelayMs?: number;
  readonly maxReplyBytes?: number;
  /**
   * The maximum number of tokens of one answer, if it should be lower than usual. It also ends the answer of
   * a model that repeats itself endlessly. Because reasoning counts too, well-known reasoning models keep
   * their own limit.
   */
  readonly outputTokens?: number;
}

/** A model whose server reports the features that it has supported so far. */
export interface OpenAiChatModel extends ChatModel {
  readonly protocol: ChatProtocol;
  /** Returns the features that the server has supported so far. */
  supports(): Pick<Dialect, 'value' | 'tools'> & { readonly calledFunctions: boolean };
  /** Returns the host and path in use. */
  address(): string;
}

const MAX_REPLY_BYTES = 1024 * 1024;
const STREAM_TIMES = 4;

/**
 * Creates a model behind an OpenAI-compatible server. It requests JSON by schema. If the server does not
 * support that, it requests any JSON; if that is not supported either, it extracts the JSON object from the
 * text. An invalid reply is sent back once with the reason. Throws TriageError as the port documents:
 * `cancelled` if `signal` ended it, `invalid-config` if the key for OpenAI is missing or the base URL is
 * invalid.
 */
export function createOpenAiChatModel(options: OpenAiChatModelOptions): OpenAiChatModel {
  const { baseUrl, apiKey, apiVersion = null, model } = options;
  const endpoint = resolveEndpoint({ baseUrl, apiKey, apiVersion, model });
  let driver: Promise<ChatDriver> | undefined;
  const connection: ModelConnection = {
    model,
    endpoint,
    loadDriver: () => {
      driver ??= loadDriver(endpoint.urls[0] ?? '');
      return driver;
    },
    timeoutMs: options.timeoutMs,
    maxRetries: options.maxRetries,
    retryDelayMs: options.retryDelayMs ?? 500,
    maxReplyBytes: options.maxReplyBytes ?? MAX_REPLY_BYTES,
    prices: options.prices,
    logger: options.logger ?? silentLogger,
    at: 0,
    dialect: chooseFirstDialect(model, options.outputTokens),
    called: false,
  };
  return {
    name: model,
    protocol: findProtocol(endpoint.urls[0] ?? ''),
    ask: (request, signal) =>
      askWithinLimit(connection, 'value', signal, (question) => askValue(connection, question, request)),
    chooseTools: (request, signal) =>
      askWithinLimit(connection, 'tools', signal, (question) => chooseTools(connection, question, request)),
    stream: (request, signal) => stream(connection, request, signal),
    supports: () => ({
      value: connection.dialect.value,
      tools: connection.dialect.tools,
      calledFunctions: connection.called,
    }),
    address: () => formatAddress(connection.endpoint.urls[connection.at] ?? ''),
  };
}

function askWithinLimit<Value>(
  connection: ModelConnection,
  kind: QuestionKind,
  signal: AbortSignal,
  ask: (question: ChatCall) => Promise<Value>,
) {
  const { timeoutMs } = connection;
  return askAndPrice(
    connection,
    kind,
    signal,
    { signal: AbortSignal.timeout(timeoutMs), timeoutMs, ranOutAfterMs: () => timeoutMs },
    ask,
  );
}

/**
 * Streams an answer. Silence ends the stream after the time limit of a question; an active stream ends after
 * a multiple of that limit.
 */
async function stream(connection: ModelConnection, request: StreamRequest, signal: AbortSignal) {
  const timeoutMs = connection.timeoutMs * STREAM_TIMES;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), connection.timeoutMs);
  const limit = AbortSignal.any([silence.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const ranOutAfterMs = () => (silence.signal.aborted ? connection.timeoutMs : timeoutMs);
    return await askAndPrice(
      connection,
      'text',
      signal,
      { signal: limit, timeoutMs, ranOutAfterMs },
      (question) => streamAnswer(connection, question, request, () => timer.refresh()),
    );
  } finally {
    clearTimeout(timer);
  }
}

const AGAIN = 'Reply again with one JSON object that fits, and nothing else.';

/**
 * Requests a value by JSON schema, as any JSON, or from the text, whichever the server supports. An invalid
 * reply is sent back once with the reason.
 */
async function askValue<Value>(
  connection: ModelConnection,
  question: ChatCall,
  request: ChatRequest<Value>,
): Promise<Value> {
  const turn = (more: readonly Message[]) => (dialect: Dialect) => ({
    messages: [...createOpening(request, dialect.value), ...more],
    wishes: formatWish(dialect.value, request.name, request.schema),
  });
  const first = await send(connection, question, turn([]));
  const reading = readValue(first, request.parse);
  if ('value' in reading) return reading.value;
  if (!reading.isCorrectable) throw createUnusableError(reading.problem);
  connection.logger.info(
    { reply: request.name, problem: reading.problem },
    'model reply is invalid; asking once for a correction',
  );
  const second = readValue(
    await send(connection, question, turn(repair(first.text, reading.problem, AGAIN))),
    request.parse,
  );
  if ('value' in second) return second.value;
  throw createUnusableError(second.problem);
}

/**
 * Returns the first messages of a question. If the server does not receive the schema as a response format,
 * the instructions contain it.
 */
function createOpening({ system, user, schema }: ChatRequest<unknown>, format: Format): Message[] {
  const instructions =
    format === 'json_schema'
      ? system
      : `${system}\n\nReply with one JSON object of this JSON schema:\n${JSON.stringify(schema)}`;
  return [
    { role: 'system', content: instructions },
    { role: 'user', content: user },
  ];
}

const MAX_QUOTED = 8_000;

/**
 * Sends a reply back with a description of its problem. The messages are plain, so that every server and chat
 * template supports them.
 */
function repair(reply: string, problem: string, how: string): Message[] {
  const quoted: Message[] =
    reply.trim() === '' ? [] : [{ role: 'assistant', content: reply.slice(0, MAX_QUOTED) }];
  return [...quoted, { role: 'user', content: `Your reply could not be used: ${problem}\n${how}` }];
}

/**
 * Returns the answer and passes on its text as it arrives. Retries only if nothing was passed on yet, because
 * text that was shown cannot be withdrawn. `onLife` is
 * called whenever the server sends anything.
 */
async function streamAnswer(
  connection: ModelConnection,
  question: ChatCall,
  request: StreamRequest,
  onLife: () => void,
): Promise<string> {
  let isBegun = false;
  const onText = (piece: string) => {
    isBegun = true;
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
    async (driver, asked, signal) => {
      try {
        return await driver.stream(asked, { onText, onLife }, signal);
      } catch (error) {
        throw isBegun ? toFinalError(error) : error;
      }
    },
  );
  const unanswered = findRefusal(completion);
  if (unanswered !== null) throw createUnusableError(unanswered);
  if (completion.text.trim() === '') throw createUnusableError('the reply is empty');
  return completion.text;
}

function toFinalError(error: unknown): unknown {
  if (!(error instanceof TriageError) || !error.retryable) return error;
  return new TriageError(error.code, error.message, { details: error.details, cause: error });
}

const MAX_SAID = 4_000;

/**
 * Requests a choice among tools by function calling, as JSON, or from the text, whichever the server
 * supports. Calls that cannot be parsed, or that name no offered tool, are sent back once with the reason.
 * Valid calls are kept in any case.
 */
async function chooseTools(
  connection: ModelConnection,
  question: ChatCall,
  request: ToolChoiceRequest,
): Promise<readonly ChatToolCall[]> {
  if (request.tools.length === 0) return [];
  const first = await ask(connection, question, request, (dialect) => dialect.tools, []);
  if (first.reading.by === 'calling') connection.called = true;
  if (isCalling(first.format) && first.reading.by === 'nothing')
    return connection.called ? [] : await askInWords(connection, question, request);
  return await correctCalls(connection, question, request, first);
}

interface Reply {
  readonly completion: Completion;
  readonly reading: ReplyCalls;
  /** The format that was used for the last request. */
  readonly format: ToolFormat;
}

async function ask(
  connection: ModelConnection,
  question: ChatCall,
  request: ToolChoiceRequest,
  formatOf: (dialect: Dialect) => ToolFormat,
  more: readonly Message[],
): Promise<Reply> {
  let format = formatOf(connection.dialect);
  const completion = await send(connection, question, (dialect) => {
    format = formatOf(dialect);
    return createToolTurn(request, format, dialect, more);
  });
  const unanswered = findRefusal(completion);
  if (unanswered !== null) throw createUnusableError(unanswered);
  return { completion, reading: readCalls(completion, request.tools), format };
}

/**
 * Asks again without function calling, after a reply in prose from a server that has never called a function.
 * Either the model wants no tool, or the server ignores tools. The second answer shows which is the case.
 */
async function askInWords(
  connection: ModelConnection,
  question: ChatCall,
  request: ToolChoiceRequest,
): Promise<readonly ChatToolCall[]> {
  const reply = await ask(connection, question, request, formatWithoutCalling, []);
  const calls = await correctCalls(connection, question, request, reply);
  if (calls.length > 0 && isCalling(connection.dialect.tools)) {
    connection.logger.info(
      { tools: reply.format },
      'model server ignores tools; they are described as text from now on',
    );
    connection.dialect = { ...connection.dialect, tools: reply.format };
  }
  return calls;
}

async function correctCalls(
  connection: ModelConnection,
  question: ChatCall,
  request: ToolChoiceRequest,
  { completion, reading, format }: Reply,
): Promise<readonly ChatToolCall[]> {
  if (reading.problem === null) return reading.calls;
  connection.logger.info(
    { reply: request.name, problem: reading.problem },
    'model reply is invalid; asking once for a correction',
  );
  const how = isCalling(format)
    ? 'Call again what you want, with tools that are offered and arguments that fit.'
    : 'Reply again with one JSON object that fits, and nothing else.';
  const sameFormat = (dialect: Dialect) =>
    isCalling(format) ? dialect.tools : formatWithoutCalling(dialect);
  const again = await ask(
    connection,
    question,
    request,
    sameFormat,
    repair(formatReply(completion), reading.problem, how),
  );
  const kept = reading.calls.filter((call) => isOffered(call, request.tools));
  const calls = combineCalls(kept, again.reading.calls);
  const usable = calls.some((call) => isOffered(call, request.tools));
  if (!usable && !(again.reading.problem === null && again.reading.calls.length === 0))
    throw createUnusableError(again.reading.problem ?? reading.problem);
  return calls;
}

/**
 * Formats the reply and its calls as text, for servers that do not accept their own invalid calls as input.
 */
function formatReply({ text, calls }: Completion): string {
  const called = calls.map((call) => `${call.name}(${call.args})`).join('\n');
  return [text, called]
    .filter((part) => part.trim() !== '')
    .join('\n')
    .slice(0, MAX_SAID);
}

/** Combines the valid calls of the first reply with the new calls of the second. */
function combineCalls(
  first: readonly ChatToolCall[],
  second: readonly ChatToolCall[],
): readonly ChatToolCall[] {
  const key = ({ name, args }: ChatToolCall) => JSON.stringify([name, args]);
  const known = new Set(first.map(key));
  return [...first, ...second.filter((call) => !known.has(key(call)))];
}
