import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createOpenAiChatModel, type OpenAiChatModelOptions } from '../../../src/models/chat/openai.ts';
import {
  ANTHROPIC_KEY,
  type MessagesRequest,
  MODEL,
  type Reaction,
  startAnthropicServer,
} from '../../support/anthropic-server.ts';
import { CHOICE, catchError, never } from './model-stage.ts';

const servers: Awaited<ReturnType<typeof startAnthropicServer>>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function open(
  react: (request: MessagesRequest, nth: number) => Reaction,
  options: Partial<OpenAiChatModelOptions> = {},
) {
  const server = await startAnthropicServer(react);
  servers.push(server);
  const model = createOpenAiChatModel({
    baseUrl: server.url,
    apiKey: ANTHROPIC_KEY,
    model: 'claude-sonnet-4-5',
    timeoutMs: 20_000,
    maxRetries: 2,
    retryDelayMs: 5,
    ...options,
  });
  return { server, model };
}

const Reply = z.object({ category: z.string() });
const VALUE = {
  system: 'You classify.',
  user: 'The build failed.',
  name: 'classify',
  schema: z.toJSONSchema(Reply),
  parse: (value: unknown) => Reply.parse(value),
};
const say = (text: string): Reaction => ({ content: [{ type: 'text', text }] });
const ok = say('{"category": "CODE_ERROR"}');

describe("a model behind Anthropic's Messages API", () => {
  test('does not pass on the key that a server repeats in its message', async () => {
    const type = 'invalid_request_error';
    const { model } = await open(() => ({
      status: 400,
      type,
      message: `There is no budget for ${ANTHROPIC_KEY}`,
    }));
    const { message } = await catchError(model.ask(VALUE, never));

    expect(message).toContain('There is no budget for ***');
  });

  test('returns a value by schema, with the instructions marked for the cache, and every token at its price', async () => {
    const { server, model } = await open(() => ok);
    const reply = await model.ask(VALUE, never);
    expect(reply).toMatchObject({
      value: { category: 'CODE_ERROR' },
      model: MODEL,
      calls: 1,
      costKnown: true,
    });
    expect(reply).toMatchObject({ inputTokens: 1_000, outputTokens: 50, cachedInputTokens: 800 });
    expect(reply.costUsd).toBeCloseTo((100 * 3 + 800 * 0.3 + 100 * 3.75 + 50 * 15) / 1_000_000, 12);
    expect(server.requests[0]).toMatchObject({
      model: 'claude-sonnet-4-5',
      max_tokens: 4_096,
      temperature: 0,
      system: [{ type: 'text', text: 'You classify.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: 'The build failed.' }],
      output_config: { format: { type: 'json_schema', schema: { additionalProperties: false } } },
    });
  });

  test('chooses tools with strict schemas, several at once', async () => {
    const { server, model } = await open(() => ({
      content: [
        { type: 'text', text: 'I look.' },
        {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'grep_log',
          input: { text: 'ERROR', limit: 3, why: 'the error' },
        },
        { type: 'tool_use', id: 'toolu_2', name: 'view_log', input: { line: 12, why: 'its place' } },
      ],
      stop: 'tool_use',
    }));
    const { value } = await model.chooseTools(CHOICE, never);
    expect(value).toEqual([
      { name: 'grep_log', args: { text: 'ERROR', limit: 3 }, why: 'the error' },
      { name: 'view_log', args: { line: 12 }, why: 'its place' },
    ]);
    expect(server.requests[0]?.tool_choice).toEqual({ type: 'auto' });
    expect(server.requests[0]?.tools?.map(({ name, strict }) => [name, strict])).toEqual([
      ['grep_log', true],
      ['view_log', true],
    ]);
    expect(model.supports()).toMatchObject({ tools: 'strict_tools', calledFunctions: true });
  });

  test('streams its answer without its thoughts, and counts cached tokens', async () => {
    const { model } = await open(() => ({ pieces: ['It was ', 'rounded', ' twice.'] }));
    const told: string[] = [];
    const turns = [
      { role: 'user', text: 'What failed?' },
      { role: 'assistant', text: 'A test.  \n' },
      { role: 'user', text: 'Why?' },
    ] as const;
    const request = {
      system: 'You explain.',
      turns,
      name: 'answer',
      onText: (text: string) => told.push(text),
    };
    const reply = await model.stream(request, never);
    expect(told).toEqual(['It was ', 'rounded', ' twice.']);
    expect(reply).toMatchObject({
      value: 'It was rounded twice.',
      inputTokens: 1_000,
      outputTokens: 50,
      cachedInputTokens: 800,
      model: MODEL,
    });
  });

  test('is asked again if the stream breaks before its first word, and not afterwards', async () => {
    const told: string[] = [];
    const request = {
      system: 's',
      turns: [{ role: 'user', text: 'Why?' }] as const,
      name: 'answer',
      onText: (text: string) => told.push(text),
    };
    const first = await open((_, nth) =>
      nth === 1 ? { pieces: [], end: 'overloaded' } : { pieces: ['Yes.'] },
    );
    expect((await first.model.stream(request, never)).value).toBe('Yes.');
    const second = await open(() => ({ pieces: ['It was'], end: 'overloaded' }));
    expect(await catchError(second.model.stream(request, never))).toMatchObject({ code: 'upstream-failed' });
    expect(second.server.requests).toHaveLength(1);
    const third = await open(() => ({ pieces: ['It was'], end: 'cut' }));
    expect(await catchError(third.model.stream(request, never))).toMatchObject({
      message: "The model's answer was cut off before its end",
    });
  });

  test('gets no parameters that an older model refuses', async () => {
    const { server, model } = await open(({ output_config, temperature }) => {
      const type = 'invalid_request_error';
      if (temperature !== undefined)
        return { status: 400, type, message: '`temperature` is deprecated for this model.' };
      if (output_config !== undefined)
        return { status: 400, type, message: 'output_config: Extra inputs are not permitted' };
      return ok;
    });
    expect((await model.ask(VALUE, never)).value).toEqual({ category: 'CODE_ERROR' });
    expect(server.requests.at(-1)?.system[0]?.text).toContain('JSON schema');
    expect(model.supports().value).not.toBe('json_schema');
  });

  test.each([
    [529, 'overloaded_error', 'Overloaded', 3, 'upstream-failed'],
    [500, 'api_error', 'Internal server error', 3, 'upstream-failed'],
    [429, 'rate_limit_error', 'This request would exceed your rate limit', 3, 'rate-limited'],
    [401, 'authentication_error', 'invalid x-api-key', 1, 'upstream-auth'],
    [400, 'invalid_request_error', 'Your credit balance is too low', 1, 'quota-exhausted'],
    [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 1, 'too-large'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 1, 'too-large'],
    [404, 'not_found_error', 'model: claude-none', 1, 'upstream-failed'],
  ])('answers %i %s (%s) after %i attempts with %s', async (status, type, message, tries, code) => {
    const { server, model } = await open(() => ({ status, type, message }));
    expect(await catchError(model.ask(VALUE, never))).toMatchObject({ code });
    expect(server.requests).toHaveLength(tries);
  });

  test('causes clear errors for a refusal, a cut reply and a reply of another protocol', async () => {
    const refused = await open(() => ({ content: [], stop: 'refusal' }));
    expect(await catchError(refused.model.ask(VALUE, never))).toMatchObject({
      message: expect.stringContaining('refused to answer'),
    });
    const cut = await open((_, nth) =>
      nth === 1 ? { content: [{ type: 'text', text: '{"cat' }], stop: 'max_tokens' } : ok,
    );
    expect((await cut.model.ask(VALUE, never)).value).toEqual({ category: 'CODE_ERROR' });
    expect(cut.server.requests[1]?.messages.at(-1)?.content).toContain('cut off');
  });

  test('stops when aborted and at its time limit', async () => {
    const { model, server } = await open(() => 'hang', { timeoutMs: 150, maxRetries: 0 });
    expect(await catchError(model.ask(VALUE, never))).toMatchObject({ code: 'timeout', retryable: true });
    const stopping = new AbortController();
    const asked = catchError(model.ask(VALUE, stopping.signal));
    setTimeout(() => stopping.abort(), 20);
    expect(await asked).toMatchObject({ code: 'cancelled' });
    expect(server.requests.length).toBeGreaterThan(0);
  });

  test('has replies above the limit refused', async () => {
    const { model } = await open(() => say('x'.repeat(20_000)), { maxReplyBytes: 10_000 });
    expect(await catchError(model.ask(VALUE, never))).toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('larger than 10000 bytes'),
    });
  });
});
