import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';

/** A request that passed the checks, as a script receives it. */
export interface ChatCompletionRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly format: 'json_schema' | 'json_object' | 'text';
  /** The name of the structured reply. Empty if no schema was sent. */
  readonly schemaName: string;
  readonly schema: unknown;
  /** The names of the functions that may be called. Empty if none were sent. */
  readonly tools: readonly string[];
  readonly stream: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface OpenAiServerOptions {
  /** The only key that it accepts. Null if none is required. */
  readonly apiKey?: string | null;
  /** The formats that it supports, like servers of other vendors. All by default. */
  readonly formats?: readonly ChatCompletionRequest['format'][];
  /**
   * Its treatment of functions: it enforces strict schemas, knows only plain ones, refuses functions, or
   * ignores them.
   */
  readonly tools?: 'strict' | 'plain' | 'refused' | 'overlooked';
  /** True if it refuses a temperature, like reasoning models. */
  readonly noTemperature?: boolean;
  /** The parameters that it does not know: "parallel_tool_calls", "max_tokens", "stream_options". */
  readonly unknownParameters?: readonly string[];
  /** True if its chat template does not support a system message. */
  readonly noSystem?: boolean;
  /** The only path that it serves, with its query. /v1/chat/completions by default. */
  readonly path?: string;
  /** True if it accepts the key in a header `api-key`, as Azure does. */
  readonly azure?: boolean;
}

export const TEST_KEY = 'test-key-0123456789';

const Body = z.strictObject({
  model: z.string().min(1),
  messages: z
    .array(
      z.strictObject({
        role: z.enum(['system', 'developer', 'user', 'assistant']),
        content: z.string().min(1),
      }),
    )
    .min(1),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean() }).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          description: z.string().optional(),
          parameters: z.record(z.string(), z.unknown()),
          strict: z.boolean().optional(),
        }),
      }),
    )
    .min(1)
    .max(128)
    .optional(),
  tool_choice: z.enum(['auto', 'none', 'required']).optional(),
  parallel_tool_calls: z.boolean().optional(),
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
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

export function findRefusal(
  message: IncomingMessage,
  body: unknown,
  options: OpenAiServerOptions,
): Refused | null {
  if (message.method !== 'POST' || message.url !== (options.path ?? '/v1/chat/completions')) {
    return createRefusal(404, `Invalid URL (${message.method} ${message.url})`, 'unknown_url');
  }
  const { apiKey = TEST_KEY } = options;
  const key = options.azure
    ? message.headers['api-key']
    : message.headers.authorization?.replace(/^Bearer /, '');
  if (apiKey !== null && key !== apiKey)
    return createRefusal(401, `Incorrect API key provided: ${key}.`, 'invalid_api_key');
  if (!message.headers['content-type']?.startsWith('application/json'))
    return createRefusal(400, 'Content type must be application/json');
  const parsed = Body.safeParse(body);
  if (!parsed.success) return createRefusal(400, `Invalid request: ${z.prettifyError(parsed.error)}`);
  const { response_format: format, messages, temperature } = parsed.data;
  const unknown = options.unknownParameters?.find((name) => Object.hasOwn(parsed.data, name));
  if (unknown !== undefined)
    return createRefusal(400, `Unsupported parameter: '${unknown}' is not supported with this model.`);
  if (options.noSystem && messages.some((other) => other.role === 'system'))
    return createRefusal(400, 'System role not supported');
  if (options.noTemperature && temperature !== undefined && temperature !== 1) {
    return createRefusal(
      400,
      "Unsupported value: 'temperature' does not support 0 with this model.",
      'unsupported_value',
    );
  }
  const type = format?.type ?? 'text';
  if (options.formats !== undefined && !options.formats.includes(type)) {
    return createRefusal(
      400,
      `Invalid parameter: 'response_format' of type '${type}' is not supported with this model.`,
    );
  }
  if (format?.type === 'json_object' && !messages.some((other) => /json/i.test(other.content))) {
    return createRefusal(
      400,
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    );
  }
  const problemWithTools = findToolRefusal(parsed.data, options);
  if (problemWithTools !== null) return problemWithTools;
  if (format?.type !== 'json_schema' || format.json_schema.strict !== true) return null;
  const problem =
    format.json_schema.schema.type === 'object'
      ? findLooseSpot(format.json_schema.schema, '$')
      : '$: must be an object';
  return problem === null
    ? null
    : createRefusal(400, `Invalid schema for response_format '${format.json_schema.name}': ${problem}`);
}

function findToolRefusal(
  { tools = [], tool_choice, parallel_tool_calls }: z.infer<typeof Body>,
  options: OpenAiServerOptions,
): Refused | null {
  if (tools.length === 0) {
    if (tool_choice === undefined && parallel_tool_calls === undefined) return null;
    return createRefusal(400, "'tool_choice' is only allowed when 'tools' are specified.");
  }
  if (options.tools === 'refused') return createRefusal(400, 'this model does not support tools');
  const strict = tools.filter((tool) => tool.function.strict === true);
  if (options.tools === 'plain' && strict.length > 0)
    return createRefusal(400, "Unknown parameter: 'tools[0].function.strict'.");
  for (const { function: called } of strict) {
    const problem = findLooseSpot(called.parameters, '$');
    if (problem !== null)
      return createRefusal(400, `Invalid schema for function '${called.name}': ${problem}`);
  }
  return null;
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

/** Returns the position at which a schema does not satisfy strict mode, or null. */
function findLooseSpot(node: unknown, at: string): string | null {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return `${at}: not a schema`;
  const schema = node as Record<string, unknown>;
  const unknown = Object.keys(schema).find((key) => !KEYWORDS.has(key));
  if (unknown !== undefined) return `${at}: '${unknown}' is not permitted`;
  if (schema.type === undefined && schema.anyOf === undefined && schema.$ref === undefined)
    return `${at}: schema must have a 'type' key`;
  if (Array.isArray(schema.anyOf))
    return takeFirst(schema.anyOf.map((one, index) => findLooseSpot(one, `${at}.anyOf[${index}]`)));
  if (schema.type === 'array') return findLooseSpot(schema.items, `${at}[]`);
  if (schema.type !== 'object') return null;
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  if (schema.additionalProperties !== false)
    return `${at}: 'additionalProperties' is required to be supplied and to be false`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = Object.keys(properties).find((name) => !required.includes(name));
  if (missing !== undefined)
    return `${at}: 'required' must include every key in properties. Missing '${missing}'.`;
  return takeFirst(Object.entries(properties).map(([name, one]) => findLooseSpot(one, `${at}.${name}`)));
}

function takeFirst(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

function createRefusal(status: number, message: string, code: string | null = null): Refused {
  return { status, error: { message, type: 'invalid_request_error', param: null, code } };
}

export function createRequest(body: unknown): ChatCompletionRequest {
  const parsed = Body.parse(body);
  const format = parsed.response_format;
  return {
    model: parsed.model,
    messages: parsed.messages,
    format: format?.type ?? 'text',
    schemaName: format?.type === 'json_schema' ? format.json_schema.name : '',
    schema: format?.type === 'json_schema' ? format.json_schema.schema : null,
    tools: parsed.tools?.map((tool) => tool.function.name) ?? [],
    stream: parsed.stream === true,
    body: body as Record<string, unknown>,
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
