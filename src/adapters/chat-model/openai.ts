import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import type { ChatModel, ChatReply, ChatRequest, ChatToolCall, StreamRequest, ToolChoiceRequest } from '../../ports/chat-model.ts';
import { type Logger, silentLogger } from '../../ports/logger.ts';
import { type Completion, complete, type Message } from './completion.ts';
import { type Dialect, firstDialect, weakerDialect } from './dialect.ts';
import { errorOfRefusal } from './model-errors.ts';
import { costOf, PRICES, type PriceTable, priceOf } from './prices.ts';
import { readValue } from './read-value.ts';
import { strictSchema } from './strict-schema.ts';

export interface OpenAiChatModelOptions {
  /** Any OpenAI-compatible server, with its `/v1`; null: OpenAI's own. */
  readonly baseUrl: string | null;
  /** May be null for a server that wants none. */
  readonly apiKey: string | null;
  readonly model: string;
  /** Of one question with all its tries, in milliseconds. */
  readonly timeoutMs: number;
  /** Tries after the first, for errors that say trying again may help. */
  readonly maxRetries: number;
  readonly logger?: Logger;
  readonly prices?: PriceTable;
  /** First pause before a retry; it doubles, with jitter. Milliseconds. */
  readonly retryDelayMs?: number;
  readonly maxReplyBytes?: number;
}

/** What one question has cost so far. Errors carry it in `details.usage`, so that failed questions are paid for too. */
interface Bill {
  inputTokens: number;
  outputTokens: number;
  calls: number;
  model: string;
}

const OPENAI = 'https://api.openai.com/v1';
const MAX_REPLY_BYTES = 1024 * 1024;
const MAX_QUOTED = 8_000;

/**
 * A model behind an OpenAI-compatible server. Asks for JSON by schema; where the server does not support that, for any JSON;
 * where not that either, takes the JSON object out of the text. A reply that does not fit is sent back once with the reason.
 * Throws TriageError as the port says, `cancelled` where `signal` ended it, `invalid-config` where no key is given for OpenAI.
 */
export function createOpenAiChatModel(options: OpenAiChatModelOptions): ChatModel {
  if (options.apiKey === null && options.baseUrl === null) {
    throw new TriageError('invalid-config', "OpenAI's own server needs an API key; set one, or the base URL of a server that needs none");
  }
  const desk: Desk = { options, logger: options.logger ?? silentLogger, dialect: firstDialect(options.model) };
  return {
    name: options.model,
    ask: (request, signal) => ask(desk, request, signal),
    chooseTools: (request, signal) => ask(desk, callsRequest(request), signal),
    stream: async (request, signal) => {
      const reply = await ask(desk, textRequest(request), signal);
      request.onText(reply.value);
      return reply;
    },
  };
}

const Calls = z.object({ calls: z.array(z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()), why: z.string() })) });
const Text = z.object({ text: z.string() });

function callsRequest({ system, user, name, tools }: ToolChoiceRequest): ChatRequest<readonly ChatToolCall[]> {
  const listed = tools.map((tool) => `- ${tool.name}: ${tool.description} Arguments: ${JSON.stringify(tool.parameters)}`).join('\n');
  const how = 'Reply with one JSON object {"calls": [{"tool", "args", "why"}]}.';
  const call = { type: 'object', properties: { tool: { type: 'string' }, args: { type: 'object' }, why: { type: 'string' } } };
  return {
    system: `${system}\n\nThe tools:\n${listed}\n\n${how}`,
    user,
    name,
    schema: { type: 'object', properties: { calls: { type: 'array', items: call } }, required: ['calls'] },
    parse: (reply) => Calls.parse(reply).calls.map(({ tool, args, why }) => ({ name: tool, args, why })),
  };
}

function textRequest({ system, turns, name }: StreamRequest): ChatRequest<string> {
  return {
    system: `${system}\n\nReply with one JSON object {"text": your answer}.`,
    user: turns.map(({ role, text }) => `${role}: ${text}`).join('\n\n'),
    name,
    schema: z.toJSONSchema(Text),
    parse: (reply) => Text.parse(reply).text,
  };
}

interface Desk {
  readonly options: OpenAiChatModelOptions;
  readonly logger: Logger;
  /** What this server was found to support; learnt once. */
  dialect: Dialect;
}

interface Question {
  readonly request: ChatRequest<unknown>;
  readonly bill: Bill;
  readonly signal: AbortSignal;
  /** When time is up, on the monotonic clock. */
  readonly deadline: number;
  retries: number;
}

async function ask<Value>(desk: Desk, request: ChatRequest<Value>, signal: AbortSignal): Promise<ChatReply<Value>> {
  const { timeoutMs, maxRetries, model } = desk.options;
  const limit = AbortSignal.timeout(timeoutMs);
  const bill: Bill = { inputTokens: 0, outputTokens: 0, calls: 0, model };
  const deadline = performance.now() + timeoutMs;
  const question: Question = { request, bill, signal: AbortSignal.any([signal, limit]), deadline, retries: maxRetries };
  try {
    const value = await askWithRepair(desk, question, request.parse);
    return { value, model: bill.model, ...spent(desk, bill) };
  } catch (error) {
    throw withUsage(whatEnded(error, signal, limit, timeoutMs), desk, bill);
  }
}

async function askWithRepair<Value>(desk: Desk, question: Question, parse: (reply: unknown) => Value): Promise<Value> {
  const { system, user } = question.request;
  const messages: Message[] = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
  const first = await send(desk, question, messages);
  const reading = readValue(first, parse);
  if ('value' in reading) return reading.value;
  if (!reading.mendable) throw unusable(reading.problem);
  desk.logger.info({ reply: question.request.name, problem: reading.problem }, 'model reply did not fit and is sent back once');
  const second = readValue(await send(desk, question, [...messages, ...repair(first, reading.problem)]), parse);
  if ('value' in second) return second.value;
  throw unusable(second.problem);
}

function repair(reply: Completion, problem: string): Message[] {
  const content = `Your reply could not be used: ${problem}\nReply again with one JSON object that fits, and nothing else.`;
  const said: Message[] = reply.text.trim() === '' ? [] : [{ role: 'assistant', content: reply.text.slice(0, MAX_QUOTED) }];
  return [...said, { role: 'user', content }];
}

/** One turn, tried again where that may help and time is left. Asking for less because the server supports less is no retry. */
async function send(desk: Desk, question: Question, messages: readonly Message[]): Promise<Completion> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(desk, question, messages);
    } catch (error) {
      if (!(error instanceof TriageError) || !error.retryable || question.retries === 0 || question.signal.aborted) throw error;
      const pause = error.retryAfterMs ?? backoff(desk.options.retryDelayMs ?? 500, attempt);
      if (performance.now() + pause >= question.deadline) throw error;
      question.retries -= 1;
      desk.logger.info({ code: error.code, pauseMs: Math.round(pause) }, 'model is asked again');
      await sleep(pause, undefined, { signal: question.signal });
    }
  }
}

async function sendOnce(desk: Desk, question: Question, messages: readonly Message[]): Promise<Completion> {
  const { options } = desk;
  const { name, schema } = question.request;
  for (;;) {
    const dialect = desk.dialect;
    const reply = await complete(
      {
        baseUrl: options.baseUrl ?? OPENAI,
        apiKey: options.apiKey ?? 'none',
        model: options.model,
        messages,
        dialect,
        reply: { name, schema: strictSchema(schema) },
        maxReplyBytes: options.maxReplyBytes ?? MAX_REPLY_BYTES,
      },
      question.signal,
    );
    if (!('status' in reply)) return pay(question.bill, reply);
    const weaker = weakerDialect(dialect, reply);
    if (weaker === null) throw errorOfRefusal(reply, options.model);
    desk.logger.info({ from: dialect, to: weaker, status: reply.status }, 'model server supports less than was asked for');
    desk.dialect = weaker;
  }
}

function pay(bill: Bill, completion: Completion): Completion {
  bill.inputTokens += completion.inputTokens;
  bill.outputTokens += completion.outputTokens;
  bill.calls += 1;
  bill.model = completion.model ?? bill.model;
  return completion;
}

function spent(desk: Desk, bill: Bill) {
  const prices = desk.options.prices ?? PRICES;
  const price = priceOf(bill.model, prices) ?? priceOf(desk.options.model, prices);
  const { inputTokens, outputTokens, calls } = bill;
  const costUsd = price === null ? 0 : costOf(price, inputTokens, outputTokens);
  return { inputTokens, outputTokens, calls, costUsd, costKnown: price !== null };
}

/** Half fixed, half random, so that many workers do not come back at once. */
function backoff(firstMs: number, attempt: number): number {
  const ceiling = firstMs * 2 ** (attempt - 1);
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

function whatEnded(error: unknown, run: AbortSignal, limit: AbortSignal, timeoutMs: number): unknown {
  if (run.aborted) return new TriageError('cancelled', 'The run ended while the model was asked', { cause: error });
  if (limit.aborted) {
    return new TriageError('timeout', `The model did not answer (timeout after ${timeoutMs / 1000} s)`, { retryable: true, cause: error });
  }
  return error;
}

function withUsage(error: unknown, desk: Desk, bill: Bill): unknown {
  if (!(error instanceof TriageError) || bill.calls === 0) return error;
  const { inputTokens, outputTokens, costUsd, calls } = spent(desk, bill);
  const { code, message, retryable, retryAfterMs, details, cause } = error;
  return new TriageError(code, message, {
    retryable,
    cause,
    details: { ...details, usage: { inputTokens, outputTokens, costUsd, modelCalls: calls } },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function unusable(problem: string): TriageError {
  return new TriageError('invalid-input', `The model's reply does not fit what was asked: ${problem}`);
}
