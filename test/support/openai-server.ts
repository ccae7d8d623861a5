import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** A request that passed the checks, as a script sees it. */
export interface ChatCompletionRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly format: 'json_schema' | 'json_object' | 'text';
  /** Name of the structured reply; empty where no schema was sent. */
  readonly schemaName: string;
  readonly schema: unknown;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the server does with one request. */
export type Script =
  | {
      readonly do: 'reply';
      readonly value: unknown;
      readonly finish?: string;
      readonly usage?: { readonly input: number; readonly output: number };
    }
  | { readonly do: 'text'; readonly text: string; readonly finish?: string }
  | { readonly do: 'refuse-to-answer' }
  | { readonly do: 'status'; readonly status: number; readonly headers?: Record<string, string>; readonly error?: object }
  | { readonly do: 'body'; readonly body: string }
  | { readonly do: 'hang' }
  | { readonly do: 'drip' }
  | { readonly do: 'reset' }
  | { readonly do: 'huge'; readonly bytes: number };

export interface OpenAiServerOptions {
  /** The only key it takes. */
  readonly apiKey?: string;
  /** What it supports, like servers of other makers; everything by default. */
  readonly formats?: readonly ChatCompletionRequest['format'][];
  /** Refuses a temperature, like reasoning models. */
  readonly noTemperature?: boolean;
}

export interface OpenAiServer {
  readonly baseUrl: string;
  readonly requests: readonly ChatCompletionRequest[];
  /** Requests that were answered 400 because their shape was wrong, with the reason. */
  readonly refused: readonly string[];
  /** What to do with the next requests, one each; the last one holds on. A function decides by the request. */
  script(...scripts: readonly (Script | ((request: ChatCompletionRequest) => Script))[]): void;
  close(): Promise<void>;
}

export const TEST_KEY = 'test-key-0123456789';

/**
 * A small server that speaks OpenAI's chat completions over real HTTP, does what it is told, and refuses requests that the
 * real one would refuse (developers.openai.com, Structured Outputs: closed objects, every property required, known keywords).
 */
export async function startOpenAiServer(options: OpenAiServerOptions = {}): Promise<OpenAiServer> {
  const requests: ChatCompletionRequest[] = [];
  const refused: string[] = [];
  let scripts: readonly (Script | ((request: ChatCompletionRequest) => Script))[] = [{ do: 'reply', value: {} }];
  const server = createServer((message, response) => {
    void readBody(message).then((body) => {
      const problem = whyRefused(message, body, options);
      if (problem !== null) {
        if (problem.status === 400) refused.push(problem.error.message);
        sendJson(response, problem.status, { error: problem.error });
        return;
      }
      const request = requestOf(body);
      requests.push(request);
      const [next, ...later] = scripts;
      if (later.length > 0) scripts = later;
      act(response, typeof next === 'function' ? next(request) : (next ?? { do: 'hang' }), request);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    refused,
    script: (...next) => {
      scripts = next;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function act(response: ServerResponse, script: Script, request: ChatCompletionRequest): void {
  switch (script.do) {
    case 'reply':
      sendJson(response, 200, completion(request, JSON.stringify(script.value), script.finish, script.usage));
      return;
    case 'text':
      sendJson(response, 200, completion(request, script.text, script.finish));
      return;
    case 'refuse-to-answer':
      sendJson(response, 200, completion(request, null, 'stop', undefined, 'I cannot help with that.'));
      return;
    case 'status': {
      const error = script.error ?? { message: 'scripted', type: 'server_error', param: null, code: null };
      sendJson(response, script.status, { error }, script.headers);
      return;
    }
    case 'body':
      response.writeHead(200, { 'content-type': 'application/json' }).end(script.body);
      return;
    case 'hang':
      return;
    case 'drip': {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
      return;
    }
    case 'reset':
      response.destroy();
      return;
    case 'huge':
      sendJson(response, 200, completion(request, 'x'.repeat(script.bytes)));
  }
}

function completion(
  request: ChatCompletionRequest,
  content: string | null,
  finish = 'stop',
  usage: { readonly input: number; readonly output: number } = { input: 1000, output: 100 },
  refusal: string | null = null,
) {
  return {
    id: 'chatcmpl-test',
    object: 'chat.completion',
    created: 1_750_000_000,
    model: request.model,
    choices: [{ index: 0, message: { role: 'assistant', content, refusal }, logprobs: null, finish_reason: finish }],
    usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
  };
}

const Body = z.strictObject({
  model: z.string().min(1),
  messages: z.array(z.strictObject({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: z.string().min(1) })).min(1),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  stream: z.literal(false).optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          strict: z.boolean().optional(),
          schema: z.record(z.string(), z.unknown()),
        }),
      }),
    ])
    .optional(),
});

interface Refused {
  readonly status: number;
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string | null };
}

function whyRefused(message: IncomingMessage, body: unknown, options: OpenAiServerOptions): Refused | null {
  if (message.method !== 'POST' || message.url !== '/v1/chat/completions') {
    return refusal(404, `Invalid URL (${message.method} ${message.url})`, 'unknown_url');
  }
  if (message.headers.authorization !== `Bearer ${options.apiKey ?? TEST_KEY}`) {
    return refusal(401, `Incorrect API key provided: ${message.headers.authorization?.slice(7)}.`, 'invalid_api_key');
  }
  if (!message.headers['content-type']?.startsWith('application/json')) return refusal(400, 'Content type must be application/json');
  const parsed = Body.safeParse(body);
  if (!parsed.success) return refusal(400, `Invalid request: ${z.prettifyError(parsed.error)}`);
  const { response_format: format, messages, temperature } = parsed.data;
  if (options.noTemperature && temperature !== undefined && temperature !== 1) {
    return refusal(400, "Unsupported value: 'temperature' does not support 0 with this model.", 'unsupported_value');
  }
  const type = format?.type ?? 'text';
  if (options.formats !== undefined && !options.formats.includes(type)) {
    return refusal(400, `Invalid parameter: 'response_format' of type '${type}' is not supported with this model.`);
  }
  if (format?.type === 'json_object' && !messages.some((one) => /json/i.test(one.content))) {
    return refusal(400, "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.");
  }
  if (format?.type !== 'json_schema' || format.json_schema.strict !== true) return null;
  const problem = format.json_schema.schema.type === 'object' ? looseSpot(format.json_schema.schema, '$') : '$: must be an object';
  return problem === null ? null : refusal(400, `Invalid schema for response_format '${format.json_schema.name}': ${problem}`);
}

const KEYWORDS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'description',
  '$ref',
  '$defs',
]);

/** Where a schema is not what strict mode takes, or null. */
function looseSpot(node: unknown, at: string): string | null {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return `${at}: not a schema`;
  const schema = node as Record<string, unknown>;
  const unknown = Object.keys(schema).find((key) => !KEYWORDS.has(key));
  if (unknown !== undefined) return `${at}: '${unknown}' is not permitted`;
  if (schema.type === undefined && schema.anyOf === undefined && schema.$ref === undefined) return `${at}: schema must have a 'type' key`;
  if (Array.isArray(schema.anyOf)) return firstOf(schema.anyOf.map((one, index) => looseSpot(one, `${at}.anyOf[${index}]`)));
  if (schema.type === 'array') return looseSpot(schema.items, `${at}[]`);
  if (schema.type !== 'object') return null;
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  if (schema.additionalProperties !== false) return `${at}: 'additionalProperties' is required to be supplied and to be false`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = Object.keys(properties).find((name) => !required.includes(name));
  if (missing !== undefined) return `${at}: 'required' must include every key in properties. Missing '${missing}'.`;
  return firstOf(Object.entries(properties).map(([name, one]) => looseSpot(one, `${at}.${name}`)));
}

function firstOf(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

function refusal(status: number, message: string, code: string | null = null): Refused {
  return { status, error: { message, type: 'invalid_request_error', param: null, code } };
}

function requestOf(body: unknown): ChatCompletionRequest {
  const parsed = Body.parse(body);
  const format = parsed.response_format;
  return {
    model: parsed.model,
    messages: parsed.messages,
    format: format?.type ?? 'text',
    schemaName: format?.type === 'json_schema' ? format.json_schema.name : '',
    schema: format?.type === 'json_schema' ? format.json_schema.schema : null,
    body: body as Record<string, unknown>,
  };
}

async function readBody(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return null;
  }
}

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
