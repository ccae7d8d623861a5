import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { sendJson, startLoopback } from './loopback-server.ts';

const Text = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/, 'text content blocks must contain non-whitespace text'),
  cache_control: z.strictObject({ type: z.literal('ephemeral') }).optional(),
});
const Tool = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  strict: z.boolean().optional(),
});

/** The part of a request of the Messages API that is used; every other field is refused, as by the real one. */
const Request = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  system: z.array(Text),
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string().min(1) }))
    .min(1),
  temperature: z.number().min(0).max(1).optional(),
  stream: z.boolean().optional(),
  output_config: z
    .strictObject({ format: z.strictObject({ type: z.literal('json_schema'), schema: z.looseObject({}) }) })
    .optional(),
  tools: z.array(Tool).optional(),
  tool_choice: z.strictObject({ type: z.literal('auto') }).optional(),
});
export type MessagesRequest = z.infer<typeof Request>;

/** The reply of the server to a valid request. */
export type Reaction =
  | { readonly content: readonly object[]; readonly stop?: string; readonly usage?: object }
  | { readonly pieces: readonly string[]; readonly end?: 'stop' | 'cut' | 'overloaded' }
  | { readonly status: number; readonly type: string; readonly message: string; readonly after?: string }
  | 'hang';

export const ANTHROPIC_KEY = 'sk-ant-test';
export const MODEL = 'claude-sonnet-4-5-20250929';
const USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 800,
  cache_creation_input_tokens: 100,
  output_tokens: 50,
};

/** Starts a server with Anthropic's Messages API over real HTTP, which refuses what the real one refuses. */
export async function startAnthropicServer(react: (request: MessagesRequest, nth: number) => Reaction) {
  const requests: MessagesRequest[] = [];
  let closed = 0;
  const server = await startLoopback(async (message, response) => {
    message.socket.on('close', () => {
      closed += 1;
    });
    const parsed = Request.safeParse(await readBody(message));
    const refusal = findRefusal(message, parsed);
    if (refusal !== null) return sendError(response, refusal);
    if (!parsed.success) return;
    requests.push(parsed.data);
    answer(response, react(parsed.data, requests.length), parsed.data);
  });
  return {
    url: `${server.url}/v1/messages`,
    requests,
    closed: () => closed,
    close: server.close,
  };
}

async function readBody(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

interface ApiError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly after?: string;
}

function findRefusal(
  message: IncomingMessage,
  parsed: z.ZodSafeParseResult<MessagesRequest>,
): ApiError | null {
  if (message.method !== 'POST' || message.url !== '/v1/messages')
    return { status: 404, type: 'not_found_error', message: 'Not found' };
  if (message.headers['x-api-key'] !== ANTHROPIC_KEY || message.headers.authorization !== undefined)
    return { status: 401, type: 'authentication_error', message: 'invalid x-api-key' };
  if (message.headers['anthropic-version'] !== '2023-06-01')
    return { status: 400, type: 'invalid_request_error', message: 'anthropic-version: header is required' };
  if (parsed.success) return null;
  const message400 = z.prettifyError(parsed.error);
  return { status: 400, type: 'invalid_request_error', message: message400 };
}

function sendError(response: ServerResponse, { status, type, message, after }: ApiError): void {
  if (after !== undefined) response.setHeader('retry-after', after);
  sendJson(response, status, { type: 'error', error: { type, message }, request_id: 'req_1' });
}

function answer(response: ServerResponse, reaction: Reaction, { stream }: MessagesRequest) {
  if (reaction === 'hang') return;
  if ('status' in reaction) return sendError(response, reaction);
  if ('content' in reaction) {
    const { content, stop: stop_reason = 'end_turn', usage = USAGE } = reaction;
    const whole = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content, usage };
    return sendJson(response, 200, { ...whole, stop_reason, stop_sequence: null });
  }
  if (stream !== true) throw new Error('the request asks for no stream');
  sendStream(response, reaction.pieces, reaction.end ?? 'stop');
}

function sendStream(response: ServerResponse, pieces: readonly string[], end: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const { output_tokens: _later, ...read } = USAGE;
  send('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [],
      usage: { ...read, output_tokens: 1 },
    },
  });
  send('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } });
  send('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'Let me see.' } });
  send('content_block_stop', { index: 0 });
  send('content_block_start', { index: 1, content_block: { type: 'text', text: '' } });
  send('ping', {});
  for (const text of pieces) send('content_block_delta', { index: 1, delta: { type: 'text_delta', text } });
  if (end === 'overloaded') send('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
  if (end !== 'stop') return void response.end();
  send('content_block_stop', { index: 1 });
  send('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 50 },
  });
  send('message_stop', {});
  response.end();
}
