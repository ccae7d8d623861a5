import type { ServerResponse } from 'node:http';
import { type ChatCompletionRequest, sendJson } from './openai-requests.ts';

interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
}

/** The server's reaction to one request. A request to stream is answered in pieces. */
export type Script =
  /** A JSON value. For a request with tools, `{ calls: [{ tool, args, why }] }` becomes function calls. */
  | { readonly do: 'reply'; readonly value: unknown; readonly finish?: string; readonly usage?: Usage }
  | { readonly do: 'text'; readonly text: string; readonly finish?: string; readonly reasoning?: string }
  /** Function calls. Arguments that are given as text are sent unchanged. */
  | {
      readonly do: 'call';
      readonly calls: readonly { readonly name: string; readonly args: object | string }[];
      readonly text?: string;
    }
  /** A stream of these pieces, which has no end if it is cut. */
  | {
      readonly do: 'pieces';
      readonly pieces: readonly string[];
      readonly cut?: 'closed' | 'reset';
      readonly pauseMs?: number;
      readonly usage?: Usage;
    }
  /** A stream that breaks off with the server's own message. */
  | { readonly do: 'stream-error'; readonly message: string }
  | { readonly do: 'refuse-to-answer' }
  | {
      readonly do: 'status';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly error?: object;
    }
  | { readonly do: 'body'; readonly body: string }
  /** A response that announces more than it sends. */
  | { readonly do: 'cut' }
  | { readonly do: 'hang' }
  | { readonly do: 'drip' }
  | { readonly do: 'reset' }
  | { readonly do: 'huge'; readonly bytes: number };

const USAGE: Usage = { input: 1000, output: 100 };

export function act(response: ServerResponse, script: Script, request: ChatCompletionRequest): void {
  switch (script.do) {
    case 'reply': {
      const calls = request.tools.length === 0 ? null : readCalls(script.value);
      if (calls !== null)
        sendJson(
          response,
          200,
          createCompletion(
            request,
            { ...createMessage(null), tool_calls: calls },
            'tool_calls',
            script.usage,
          ),
        );
      else answer(response, request, JSON.stringify(script.value), script.finish, script.usage);
      return;
    }
    case 'text':
      answer(response, request, script.text, script.finish, USAGE, script.reasoning);
      return;
    case 'call': {
      const calls = script.calls.map(({ name, args }) =>
        createToolCall(name, typeof args === 'string' ? args : JSON.stringify(args)),
      );
      sendJson(
        response,
        200,
        createCompletion(request, { ...createMessage(script.text ?? null), tool_calls: calls }, 'tool_calls'),
      );
      return;
    }
    case 'pieces':
      void stream(response, request, script.pieces, script);
      return;
    case 'stream-error':
      open(response);
      send(response, createChunk(request, { role: 'assistant', content: 'Well' }));
      send(response, { error: { message: script.message, type: 'server_error' } });
      response.end();
      return;
    case 'refuse-to-answer':
      sendJson(
        response,
        200,
        createCompletion(request, { ...createMessage(null), refusal: 'I cannot help with that.' }, 'stop'),
      );
      return;
    case 'status': {
      const error = script.error ?? { message: 'scripted', type: 'server_error', param: null, code: null };
      sendJson(response, script.status, { error }, script.headers);
      return;
    }
    case 'body':
      response.writeHead(200, { 'content-type': 'application/json' }).end(script.body);
      return;
    case 'cut':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
      response.write(
        JSON.stringify(createCompletion(request, createMessage('{"half": "an'), 'stop')).slice(0, 150),
        () => response.destroy(),
      );
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
      answer(response, request, 'x'.repeat(script.bytes));
  }
}

function answer(
  response: ServerResponse,
  request: ChatCompletionRequest,
  text: string,
  finish = 'stop',
  usage = USAGE,
  reasoning?: string,
) {
  if (request.stream) void stream(response, request, text.match(/[\s\S]{1,12}/g) ?? [], { usage });
  else
    sendJson(
      response,
      200,
      createCompletion(
        request,
        { ...createMessage(text), ...(reasoning === undefined ? {} : { reasoning_content: reasoning }) },
        finish,
        usage,
      ),
    );
}

async function stream(
  response: ServerResponse,
  request: ChatCompletionRequest,
  pieces: readonly string[],
  {
    cut,
    pauseMs = 0,
    usage = USAGE,
  }: { readonly cut?: 'closed' | 'reset'; readonly pauseMs?: number; readonly usage?: Usage },
): Promise<void> {
  open(response);
  send(response, createChunk(request, { role: 'assistant', content: '' }));
  for (const piece of pieces) {
    send(response, createChunk(request, { content: piece }));
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  if (cut === 'reset') response.destroy();
  if (cut === undefined) {
    send(response, createChunk(request, {}, 'stop'));
    const wished = request.body.stream_options !== undefined;
    if (wished) send(response, { ...createChunk(request, {}), choices: [], usage: countAdvice(usage) });
    response.write('data: [DONE]\n\n');
  }
  response.end();
}

function open(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

function send(response: ServerResponse, event: object): void {
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}

function createChunk(request: ChatCompletionRequest, delta: object, finish: string | null = null) {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return {
    id: 'chatcmpl-test',
    object: 'chat.completion.chunk',
    created: 1_750_000_000,
    model: request.model,
    choices,
  };
}

function createCompletion(
  request: ChatCompletionRequest,
  message: object,
  finish: string,
  usage: Usage = USAGE,
) {
  return {
    id: 'chatcmpl-test',
    object: 'chat.completion',
    created: 1_750_000_000,
    model: request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: countAdvice(usage),
  };
}

function createMessage(content: string | null) {
  return { role: 'assistant', content, refusal: null };
}

function countAdvice({ input, output, cached }: Usage) {
  const details =
    cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 } };
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...details };
}

function readCalls(value: unknown): object[] | null {
  if (typeof value !== 'object' || value === null || !('calls' in value) || !Array.isArray(value.calls))
    return null;
  return value.calls.map(({ tool, args, why }) => createToolCall(tool, JSON.stringify({ why, ...args })));
}

let calls = 0;

function createToolCall(name: string, written: string) {
  calls += 1;
  return { id: `call_${calls}`, type: 'function', function: { name, arguments: written } };
}
