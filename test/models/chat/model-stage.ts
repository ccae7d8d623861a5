import { expect } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { createOpenAiChatModel, type OpenAiChatModelOptions } from '../../../src/models/chat/openai.ts';
import type { ChatTool, ToolChoiceRequest } from '../../../src/ports/chat-model.ts';
import { type OpenAiServer, TEST_KEY } from '../../support/openai-server.ts';

export const never = new AbortController().signal;

export function createModel(server: OpenAiServer, options: Partial<OpenAiChatModelOptions> = {}) {
  const { baseUrl } = server;
  return createOpenAiChatModel({
    baseUrl,
    apiKey: TEST_KEY,
    model: 'gpt-4o-mini',
    timeoutMs: 20_000,
    maxRetries: 2,
    retryDelayMs: 5,
    ...options,
  });
}

/** What was thrown on purpose; anything else fails the test. */
export async function catchError(asked: Promise<unknown>): Promise<TriageError> {
  const error = await asked.then(
    (reply) => expect.fail(`answered ${JSON.stringify(reply)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TriageError)) throw error;
  return error;
}

const GREP: ChatTool = {
  name: 'grep_log',
  description: 'Which lines hold this text?',
  parameters: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { text: { type: 'string', minLength: 2 }, limit: { type: 'integer' } },
    required: ['text'],
  },
};
const VIEW: ChatTool = {
  name: 'view_log',
  description: 'What stands around this line?',
  parameters: { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] },
};

export const CHOICE: ToolChoiceRequest = {
  system: 'You choose what to look up.',
  user: 'The build failed. Which questions?',
  name: 'select-tool',
  tools: [GREP, VIEW],
};
