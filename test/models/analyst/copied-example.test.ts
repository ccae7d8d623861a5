import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLlmAnalyst } from '../../../src/models/analyst/llm-analyst.ts';
import { createOpenAiChatModel } from '../../../src/models/chat/openai.ts';
import { type OpenAiServer, startOpenAiServer, TEST_KEY } from '../../support/openai-server.ts';
import { sampleSubject } from '../../support/subject.ts';

const never = new AbortController().signal;
/** What SmolLM2-135M and Gemma 3 270M replied about a failed unit test: the example of the prompt, word for word. */
const COPIED = {
  because: 'The registry says that the package left-padder does not exist.',
  category: 'DEPENDENCY_ERROR',
  kind: 'dependency_install',
  confidence: 0.93,
  probabilities: {
    CODE_ERROR: 0.01,
    INFRA_ERROR: 0.03,
    CONFIG_ERROR: 0.03,
    DEPENDENCY_ERROR: 0.93,
    TEST_FAILURE: 0,
  },
  abstained: false,
};
const OWN = {
  ...COPIED,
  because: 'The total is 10.21 where the test expects 10.20.',
  category: 'TEST_FAILURE',
  kind: 'assertion',
  probabilities: { ...COPIED.probabilities, DEPENDENCY_ERROR: 0, TEST_FAILURE: 0.93 },
};
let server: OpenAiServer;

beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(() => server.close());

function classify() {
  const model = createOpenAiChatModel({
    baseUrl: server.baseUrl,
    apiKey: TEST_KEY,
    model: 'small',
    timeoutMs: 5_000,
    maxRetries: 0,
  });
  return createLlmAnalyst({ model }).classify({ subject: sampleSubject() }, never);
}

test('a model that copies the example is corrected once, and may then answer', async () => {
  server.script({ do: 'reply', value: COPIED }, { do: 'reply', value: OWN });
  const { value, usage } = await classify();
  expect(value.category).toBe('TEST_FAILURE');
  expect(usage.modelCalls).toBe(2);
  expect(JSON.stringify(server.requests[1]?.messages.at(-1))).toContain(
    "is the example's; say what this build shows",
  );
});

test('a model that copies the example twice is not believed', async () => {
  server.script({ do: 'reply', value: COPIED });
  await expect(classify()).rejects.toMatchObject({ code: 'invalid-input', retryable: false });
  expect(server.requests).toHaveLength(2);
});
