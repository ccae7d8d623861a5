import type { ChatModel, StreamRequest } from '../../ports/chat-model.ts';
import { type Logger, silentLogger } from '../../ports/telemetry.ts';
import { askValue } from './ask-value.ts';
import { chooseTools } from './choose-tools.ts';
import { type Dialect, firstDialect, type QuestionKind } from './dialect.ts';
import { endpointOf, shownAddress } from './endpoint.ts';
import type { PriceTable } from './prices.ts';
import { type ModelConnection, priced, type Question } from './question.ts';
import { tellStream } from './tell-stream.ts';

export interface OpenAiChatModelOptions {
  /** Any OpenAI-compatible server, with or without `/v1`; null: OpenAI's own. */
  readonly baseUrl: string | null;
  /** May be null for a server that wants none. */
  readonly apiKey: string | null;
  /** Azure's `api-version`, empty for the one we know; given, or where the host is Azure's, the server is spoken to as Azure OpenAI. */
  readonly apiVersion?: string | null;
  readonly model: string;
  /** Of one question with all its tries, in milliseconds. A stream may go on, up to four times as long, while something comes. */
  readonly timeoutMs: number;
  /** Tries after the first, for errors that say trying again may help. */
  readonly maxRetries: number;
  readonly logger?: Logger;
  readonly prices?: PriceTable;
  /** First pause before a retry; it doubles, with jitter. Milliseconds. */
  readonly retryDelayMs?: number;
  readonly maxReplyBytes?: number;
  /**
   * Most tokens of one answer, where less than usual will do: a model that goes round in circles stops only there. What a
   * reasoning model thinks counts too, so that well-known ones are left their own allowance.
   */
  readonly outputTokens?: number;
}

/** A model whose server can be asked what it was found to support. */
export interface OpenAiChatModel extends ChatModel {
  /** As learnt from the questions so far. */
  supports(): Pick<Dialect, 'value' | 'tools'> & { readonly calledFunctions: boolean };
  /** Host and path that are asked. */
  address(): string;
}

const MAX_REPLY_BYTES = 1024 * 1024;
const STREAM_TIMES = 4;

/**
 * A model behind an OpenAI-compatible server. Asks for JSON by schema; where the server does not support that, for any JSON;
 * where not that either, takes the JSON object out of the text. A reply that does not fit is sent back once with the reason.
 * Throws TriageError as the port says, `cancelled` where `signal` ended it, `invalid-config` where no key is given for OpenAI
 * or the base URL is none.
 */
export function createOpenAiChatModel(options: OpenAiChatModelOptions): OpenAiChatModel {
  const { baseUrl, apiKey, apiVersion = null, model } = options;
  const connection: ModelConnection = {
    model,
    endpoint: endpointOf({ baseUrl, apiKey, apiVersion, model }),
    timeoutMs: options.timeoutMs,
    maxRetries: options.maxRetries,
    retryDelayMs: options.retryDelayMs ?? 500,
    maxReplyBytes: options.maxReplyBytes ?? MAX_REPLY_BYTES,
    prices: options.prices,
    logger: options.logger ?? silentLogger,
    at: 0,
    dialect: firstDialect(model, options.outputTokens),
    called: false,
  };
  return {
    name: model,
    ask: (request, signal) => within(connection, 'value', signal, (question) => askValue(connection, question, request)),
    chooseTools: (request, signal) => within(connection, 'tools', signal, (question) => chooseTools(connection, question, request)),
    stream: (request, signal) => stream(connection, request, signal),
    supports: () => ({ value: connection.dialect.value, tools: connection.dialect.tools, calledFunctions: connection.called }),
    address: () => shownAddress(connection.endpoint.urls[connection.at] ?? ''),
  };
}

function within<Value>(connection: ModelConnection, kind: QuestionKind, signal: AbortSignal, ask: (question: Question) => Promise<Value>) {
  const { timeoutMs } = connection;
  return priced(connection, kind, signal, { signal: AbortSignal.timeout(timeoutMs), timeoutMs, ranOutAfterMs: () => timeoutMs }, ask);
}

/** Silence ends a stream as it ends a question; talking ends it after some times that long. */
async function stream(connection: ModelConnection, request: StreamRequest, signal: AbortSignal) {
  const timeoutMs = connection.timeoutMs * STREAM_TIMES;
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), connection.timeoutMs);
  const limit = AbortSignal.any([silence.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const ranOutAfterMs = () => (silence.signal.aborted ? connection.timeoutMs : timeoutMs);
    return await priced(connection, 'text', signal, { signal: limit, timeoutMs, ranOutAfterMs }, (question) =>
      tellStream(connection, question, request, () => timer.refresh()),
    );
  } finally {
    clearTimeout(timer);
  }
}
