import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createOpenAiChatModel } from '../../../src/models/chat/openai.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';
import { CHOICE, catchError, never } from './model-stage.ts';

const Body = z.looseObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  stream: z.boolean(),
  keep_alive: z.string(),
  options: z.object({ num_ctx: z.number(), num_predict: z.number(), temperature: z.number().optional() }),
  format: z.unknown().optional(),
  tools: z.array(z.looseObject({ type: z.literal('function') })).optional(),
});
const COUNTS = { done: true, done_reason: 'stop', prompt_eval_count: 26, eval_count: 9 };
const servers: LoopbackServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Starts a server with Ollama's chat API; `react` gets each request. */
async function open(react: (body: z.infer<typeof Body>, response: ServerResponse) => void) {
  const server = await startLoopback(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    if (message.url !== '/api/chat') return sendJson(response, 404, { error: 'not found' });
    react(Body.parse(JSON.parse(Buffer.concat(chunks).toString('utf8'))), response);
  });
  servers.push(server);
  return createOpenAiChatModel({
    baseUrl: `${server.url}/api/chat`,
    apiKey: null,
    model: 'qwen3:8b',
    timeoutMs: 20_000,
    maxRetries: 1,
    retryDelayMs: 5,
  });
}

const Reply = z.object({ category: z.string() });
const ask = (user: string) => ({
  system: 'You classify.',
  user,
  name: 'classify',
  schema: z.toJSONSchema(Reply),
  parse: (value: unknown) => Reply.parse(value),
});
const sendMessage = (response: ServerResponse, message: object) =>
  sendJson(response, 200, { model: 'qwen3:8b', message: { role: 'assistant', ...message }, ...COUNTS });

describe("a model behind Ollama's own API", () => {
  test('stays loaded, gets a context that fits the question, and costs nothing', async () => {
    const seen: z.infer<typeof Body>[] = [];
    const model = await open((body, response) => {
      seen.push(body);
      sendMessage(response, { content: '<think>hm</think>{"category": "CODE_ERROR"}' });
    });
    const reply = await model.ask(ask('The build failed.'), never);
    expect(reply).toMatchObject({ value: { category: 'CODE_ERROR' }, inputTokens: 26, outputTokens: 9 });
    expect(reply).toMatchObject({ costUsd: 0, costKnown: true });
    await model.ask(ask('line of a log\n'.repeat(4_000)), never);
    expect(seen.map(({ options }) => options.num_ctx)).toEqual([8_192, 32_768]);
    expect(seen[0]).toMatchObject({ keep_alive: '30m', stream: false, format: { type: 'object' } });
    expect(seen[0]?.options).toMatchObject({ num_predict: 4_096, temperature: 0 });
  });

  test('chooses tools, whose arguments are objects', async () => {
    const model = await open((body, response) => {
      expect(body.tools).toHaveLength(2);
      const called = { name: 'grep_log', arguments: { text: 'ERROR', why: 'the error' } };
      sendMessage(response, { content: '', tool_calls: [{ function: called }] });
    });
    expect((await model.chooseTools(CHOICE, never)).value).toEqual([
      { name: 'grep_log', args: { text: 'ERROR' }, why: 'the error' },
    ]);
  });

  test('streams line by line, and reports an error in the stream', async () => {
    let isBroken = false;
    const model = await open((_body, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const send = (content: string, more: object = { done: false }) =>
        response.write(
          `${JSON.stringify({ model: 'qwen3:8b', message: { role: 'assistant', content }, ...more })}\n`,
        );
      send('It was ');
      if (isBroken) response.write('{"error": "an error was encountered while running the model"}\n');
      else send('rounded.', COUNTS);
      response.end();
    });
    const told: string[] = [];
    const turns = [{ role: 'user', text: 'Why?' }] as const;
    const request = { system: 's', turns, name: 'answer', onText: (text: string) => told.push(text) };
    expect(await model.stream(request, never)).toMatchObject({ value: 'It was rounded.', outputTokens: 9 });
    expect(told).toEqual(['It was ', 'rounded.']);
    isBroken = true;
    expect(await catchError(model.stream(request, never))).toMatchObject({ code: 'upstream-failed' });
  });

  test('names the missing model', async () => {
    const model = await open((_body, response) =>
      sendJson(response, 404, { error: "model 'qwen3:8b' not found" }),
    );
    expect(await catchError(model.ask(ask('x'), never))).toMatchObject({
      code: 'upstream-failed',
      message: expect.stringContaining('does not know qwen3:8b'),
    });
  });
});
