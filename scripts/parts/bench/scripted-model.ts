import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { findMax } from '../../../src/lib/collections.ts';
import { countTokens } from '../../../src/log/reduce/tokens.ts';
import { type Judged, judge } from './scripted-judgements.ts';

/** The parts of a request that are read. */
const Body = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).optional(),
  response_format: z.object({ json_schema: z.object({ name: z.string() }).optional() }).optional(),
});
export type ScriptedBody = z.infer<typeof Body>;

export interface ScriptedModel {
  /** The base URL, including `/v1`. */
  readonly baseUrl: string;
  /** Returns the number of answered calls. */
  calls(): number;
  close(): Promise<void>;
}

export interface ScriptedModelOptions {
  /** The delay of each answer, in milliseconds. */
  readonly latencyMs: number;
  /** The number of rounds after which it says that enough is known. */
  readonly rounds: number;
  /** Decides in place of {@link judge}. */
  readonly judge?: (body: ScriptedBody, rounds: number) => Judged;
  /** Receives the cost of each answered request. */
  readonly onAnswered?: (cost: RequestCost) => void;
}

/** The tokens of a request, and the number that a provider bills as cached. */
export interface RequestCost {
  /** The name of the prompt, such as "classify" or "reason". "select-tool" for a choice among functions. */
  readonly name: string;
  readonly prompt: number;
  readonly completion: number;
  /** The number of tokens at the beginning that are equal to those of the request before it. */
  readonly shared: number;
  /** The number of cached tokens if earlier requests are remembered, by OpenAI's rule. */
  readonly cached: number;
}

/**
 * Starts a model server with plausible scripted answers: chat completions over HTTP, with function calling,
 * JSON by schema, and tokens counted like OpenAI's (o200k). It is used to measure everything around a model.
 */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  let calls = 0;
  const decide = options.judge ?? judge;
  const memory = createPromptCache();
  const server = createServer(async (message, response) => {
    // Requests that only check whether the server is there, or that are aborted, get no judgment.
    if (message.method !== 'POST') return void response.writeHead(404).end('{}');
    const sent = await readAll(message)
      .then(JSON.parse)
      .catch(() => null);
    if (sent === null) return void response.destroy();
    const body = Body.parse(sent);
    calls += 1;
    if (options.latencyMs > 0) await sleep(options.latencyMs);
    const judged = decide(body, options.rounds);
    const { shared, cached } = memory.read(formatPrompt(sent));
    const prompt = estimateTokens(sent);
    const completion = send(response, body, { prompt, cached }, judged, calls);
    const name = body.response_format?.json_schema?.name ?? 'select-tool';
    options.onAnswered?.({ name, prompt, completion, shared, cached });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls: () => calls,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((settle) => server.close(() => settle()));
    },
  };
}

function send(
  response: ServerResponse,
  body: ScriptedBody,
  { prompt, cached }: { readonly prompt: number; readonly cached: number },
  judged: Judged,
  id: number,
): number {
  const toolCalls = judged.calls.map((call, index) => ({
    id: `call_${id}_${index}`,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  }));
  const completion = countTokens(judged.text) + countTokens(JSON.stringify(toolCalls));
  const message = {
    role: 'assistant',
    content: judged.text,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  const reply = {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: 0,
    model: body.model,
    choices: [{ index: 0, message, finish_reason: toolCalls.length > 0 ? 'tool_calls' : 'stop' }],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached },
    },
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  return completion;
}

/**
 * The minimum number of tokens that OpenAI caches, and the step
 * (platform.openai.com/docs/guides/prompt-caching).
 */
const [MIN_CACHED, CACHED_STEP] = [1024, 128];
/** The number of requests that are remembered. */
const REMEMBERED = 60;

/** Creates a memory of the latest prompts, like that of providers. */
function createPromptCache() {
  const known: string[] = [];
  return {
    read: (prompt: string) => {
      const before = known.at(-1) ?? '';
      const longest = findMax(
        known.map((other) => countShared(prompt, other)),
        0,
      );
      known.push(prompt);
      if (known.length > REMEMBERED) known.shift();
      const tokens = countTokens(prompt.slice(0, longest));
      const cached = tokens < MIN_CACHED ? 0 : tokens - (tokens % CACHED_STEP);
      return { shared: countTokens(prompt.slice(0, countShared(prompt, before))), cached };
    },
  };
}

function countShared(left: string, right: string): number {
  let at = 0;
  while (at < left.length && at < right.length && left[at] === right[at]) at++;
  return at;
}

const Sized = z.object({
  messages: z.array(z.object({ content: z.string().nullish() })),
  tools: z.unknown().optional(),
  response_format: z.unknown().optional(),
});

/** Counts everything that a provider counts as the prompt: messages, tools, and the schema of the reply. */
function estimateTokens(sent: unknown): number {
  return listPromptParts(sent).reduce((sum, text) => sum + countTokens(text), 0);
}

/**
 * Formats the prompt in the order in which providers read it: functions and schemas come before the messages.
 */
function formatPrompt(sent: unknown): string {
  return listPromptParts(sent).join('\n');
}

function listPromptParts(sent: unknown): string[] {
  const { messages, tools, response_format: format } = Sized.parse(sent);
  const shapes = [tools, format].flatMap((shape) => (shape === undefined ? [] : [JSON.stringify(shape)]));
  return [...shapes, ...messages.map((message) => message.content ?? '')];
}

async function readAll(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
