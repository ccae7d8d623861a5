import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { retryWithPolicy } from '../../lib/resilience.ts';
import type { ChatReply } from '../../ports/chat-model.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { type Refusal, toRefusalError } from '../refusal.ts';
import type { CompletionRequest, Endpoint, Message, Wishes } from './connect.ts';
import { chooseWeakerDialect, type Dialect, type QuestionKind } from './dialect.ts';
import type { ChatDriver, Completion } from './driver.ts';
import { computeCost, FREE, findPrice, isFree, PRICES, type PriceTable } from './prices.ts';

/** The server of a model and its known features. There is one per process and model. */
export interface ModelConnection {
  readonly model: string;
  readonly endpoint: Endpoint;
  /** Loads the protocol of the server, with the first question. */
  readonly loadDriver: () => Promise<ChatDriver>;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly maxReplyBytes: number;
  readonly prices: PriceTable | undefined;
  readonly logger: Logger;
  /** The index of the endpoint's address that works. */
  at: number;
  /** The features that this server supports, learned once. */
  dialect: Dialect;
  /** True if this server has ever called a function. */
  called: boolean;
}

/** One question, including all its turns and attempts. */
export interface ChatCall {
  readonly kind: QuestionKind;
  readonly signal: AbortSignal;
  /** The deadline in milliseconds, on the monotonic clock. */
  readonly deadline: number;
  readonly bill: Bill;
  retriesLeft: number;
}

/**
 * The usage of one question so far. Errors carry it in `details.usage`, so that failed questions are counted
 * too.
 */
interface Bill {
  inputTokens: number;
  outputTokens: number;
  /** The number of cached input tokens. Null if the server never reported it. */
  cachedInputTokens: number | null;
  cacheWriteTokens: number;
  /** The cost that the server stated; null if it stated none. */
  statedUsd: number | null;
  calls: number;
  retries: number;
  model: string;
}

/** The content of one request, adapted to the server's dialect. */
export interface Turn {
  readonly messages: readonly Message[];
  readonly wishes: Wishes;
}

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** The time limit of the whole question, in milliseconds. */
  readonly timeoutMs: number;
  /** Returns the limit that was exceeded, in milliseconds. */
  ranOutAfterMs(): number;
}

type Send = (
  driver: ChatDriver,
  request: CompletionRequest,
  signal: AbortSignal,
) => Promise<Completion | Refusal>;

const complete: Send = (driver, request, signal) => driver.complete(request, signal);

/**
 * Asks within the time limit and returns the value with its cost. Errors carry the cost in `details.usage`.
 */
export async function askAndPrice<Value>(
  connection: ModelConnection,
  kind: QuestionKind,
  signal: AbortSignal,
  limit: TimeLimit,
  ask: (question: ChatCall) => Promise<Value>,
): Promise<ChatReply<Value>> {
  const bill: Bill = {
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: null,
    cacheWriteTokens: 0,
    statedUsd: null,
    calls: 0,
    retries: 0,
    model: connection.model,
  };
  const deadline = performance.now() + limit.timeoutMs;
  const question: ChatCall = {
    kind,
    bill,
    signal: AbortSignal.any([signal, limit.signal]),
    deadline,
    retriesLeft: connection.maxRetries,
  };
  try {
    const value = await ask(question);
    const { modelCalls, ...cost } = computeSpending(connection, bill);
    return { value, model: bill.model, calls: modelCalls, ...cost };
  } catch (error) {
    throw withUsage(toEndError(error, signal, limit), connection, bill);
  }
}

/**
 * Sends one turn. Retries it if a retry may help and time is left. A repeated request with fewer features
 * does not count as a retry.
 */
export async function send(
  connection: ModelConnection,
  question: ChatCall,
  turn: (dialect: Dialect) => Turn,
  by: Send = complete,
): Promise<Completion> {
  const { bill, deadline, signal } = question;
  const policy = {
    retries: question.retriesLeft,
    backoff: { firstMs: connection.retryDelayMs },
    signal,
    longestPauseMs: () => deadline - performance.now(),
    onRetry: (error: unknown, pauseMs: number) => {
      question.retriesLeft -= 1;
      bill.retries += 1;
      connection.logger.info(
        { error: getErrorMessage(error), pauseMs: Math.round(pauseMs) },
        'retrying the model',
      );
    },
  };
  return await retryWithPolicy(policy, () => sendOnce(connection, question, turn, by));
}

async function sendOnce(
  connection: ModelConnection,
  question: ChatCall,
  turn: (dialect: Dialect) => Turn,
  by: Send,
): Promise<Completion> {
  for (;;) {
    const { dialect, at } = connection;
    const { messages, wishes } = turn(dialect);
    const { model, maxReplyBytes, endpoint } = connection;
    const url = endpoint.urls[at] ?? endpoint.urls[0] ?? '';
    const asked = {
      url,
      headers: endpoint.headers,
      model,
      dialect,
      wishes,
      maxReplyBytes,
      messages: dialect.system ? messages : withoutSystem(messages),
    };
    const reply = await by(await connection.loadDriver(), asked, question.signal);
    if (!('status' in reply)) return pay(question.bill, reply);
    if (isWrongPath(reply) && at + 1 < endpoint.urls.length) {
      connection.at = at + 1;
      continue;
    }
    const weaker = chooseWeakerDialect(dialect, reply, question.kind);
    if (weaker === null) {
      if (isWrongPath(reply)) connection.at = 0;
      throw toRefusalError(hideCredentials(reply, endpoint), model);
    }
    connection.logger.info(
      { from: dialect, to: weaker, status: reply.status },
      'model server does not support a requested feature',
    );
    // Another question may have changed the dialect in the meantime.
    connection.dialect =
      connection.dialect === dialect
        ? weaker
        : (chooseWeakerDialect(connection.dialect, reply, question.kind) ?? connection.dialect);
  }
}

const CREDENTIALS = ['authorization', 'api-key', 'x-api-key'];

/** Hides our key in the message of a server that repeats it. Readers of the answer see the message. */
function hideCredentials(refusal: Refusal, { headers }: Endpoint): Refusal {
  const message = CREDENTIALS.reduce((text, name) => {
    const key = headers[name]?.replace(/^Bearer /, '') ?? '';
    return key === '' ? text : text.replaceAll(key, '***');
  }, refusal.message);
  return { ...refusal, message };
}

/** Checks whether the address is wrong. A 404 that reports a missing model comes from the right address. */
function isWrongPath({ status, message, code }: Refusal): boolean {
  return (status === 404 && !/model|deployment/i.test(`${code} ${message}`)) || status === 405;
}

/**
 * Moves the system message before the first question, for chat templates that do not support system messages.
 */
function withoutSystem(messages: readonly Message[]): Message[] {
  const system = messages.filter((message) => message.role === 'system').map((message) => message.content);
  const [first, ...rest] = messages.filter((message) => message.role !== 'system');
  return first === undefined ? [] : [{ ...first, content: [...system, first.content].join('\n\n') }, ...rest];
}

function pay(bill: Bill, completion: Completion): Completion {
  bill.inputTokens += completion.inputTokens;
  bill.outputTokens += completion.outputTokens;
  bill.cacheWriteTokens += completion.cacheWriteTokens;
  if (completion.statedUsd !== undefined) bill.statedUsd = (bill.statedUsd ?? 0) + completion.statedUsd;
  if (completion.cachedInputTokens !== null)
    bill.cachedInputTokens = (bill.cachedInputTokens ?? 0) + completion.cachedInputTokens;
  bill.calls += 1;
  bill.model = completion.model ?? bill.model;
  return completion;
}

function computeSpending(connection: ModelConnection, bill: Bill) {
  const { inputTokens, outputTokens, calls, cachedInputTokens, retries } = bill;
  const price = findPriceOfCall(connection, bill.model);
  const costUsd = bill.statedUsd ?? (price === null ? null : computeCost(price, bill));
  return {
    inputTokens,
    outputTokens,
    modelCalls: calls,
    costUsd: costUsd ?? 0,
    costKnown: costUsd !== null,
    ...(cachedInputTokens === null ? {} : { cachedInputTokens }),
    ...(retries === 0 ? {} : { retries }),
  };
}

function findPriceOfCall({ prices = PRICES, model, endpoint }: ModelConnection, answered: string) {
  const known = findPrice(answered, prices) ?? findPrice(model, prices);
  return known ?? (isFree(endpoint.urls[0] ?? '') ? FREE : null);
}

function toEndError(error: unknown, run: AbortSignal, limit: TimeLimit): unknown {
  if (run.aborted) return new TriageError('cancelled', 'The run ended during a model call', { cause: error });
  if (limit.signal.aborted) {
    const message = `The model did not respond (timeout after ${limit.ranOutAfterMs() / 1000} s)`;
    return new TriageError('timeout', message, { retryable: true, cause: error });
  }
  return error;
}

function withUsage(error: unknown, connection: ModelConnection, bill: Bill): unknown {
  if (!(error instanceof TriageError) || (bill.calls === 0 && bill.retries === 0)) return error;
  const { costKnown: _known, ...usage } = computeSpending(connection, bill);
  const { code, message, retryable, retryAfterMs, details, cause } = error;
  return new TriageError(code, message, {
    retryable,
    cause,
    details: { ...details, usage },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Creates the error for a reply that is unusable even after a correction. */
export function createUnusableError(problem: string): TriageError {
  return new TriageError('invalid-input', `The model's reply does not fit what was asked: ${problem}`);
}
