import { expect, test } from 'vitest';
import { toConnectionOptions, toSmallModel } from '../../src/app/open-models.ts';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';
import { withModel } from '../../src/config/model-providers.ts';

const loadLlm = (environment: Record<string, string>) =>
  loadConfig(
    createEmbeddedPreset('data', 'knowledge'),
    { FAULTLINE_ANALYST: 'llm', ...environment },
    () => '',
  ).analyst.llm;

test.each([
  [
    { OPENAI_MODEL: 'anthropic:claude-x', ANTHROPIC_API_KEY: 'k' },
    ['https://api.anthropic.com/v1/messages', 'claude-x', 'k'],
  ],
  [
    { OPENAI_MODEL: 'together:Qwen/Qwen3-8B', TOGETHER_API_KEY: 't' },
    ['https://api.together.ai/v1', 'Qwen/Qwen3-8B', 't'],
  ],
  [{ OPENAI_MODEL: 'ollama:qwen3:8b' }, ['http://localhost:11434/api/chat', 'qwen3:8b', null]],
  [{ OPENAI_MODEL: 'openai:gpt-x', OPENAI_API_KEY: 'o' }, [null, 'gpt-x', 'o']],
  // A model whose own name holds a colon, and a gateway that serves a provider's models under our key for it.
  [
    { OPENAI_MODEL: 'qwen3:8b', OPENAI_BASE_URL: 'http://127.0.0.1:1' },
    ['http://127.0.0.1:1', 'qwen3:8b', null],
  ],
  [
    { OPENAI_MODEL: 'google:gemini-x', OPENAI_BASE_URL: 'http://127.0.0.1:1', OPENAI_API_KEY: 'g' },
    ['http://127.0.0.1:1', 'gemini-x', 'g'],
  ],
])('the model of %j is requested at %j', (environment, [baseUrl, model, apiKey]) => {
  expect(toConnectionOptions(loadLlm(environment))).toMatchObject({ baseUrl, model, apiKey });
});

test('the key of another provider is never sent, and a missing key is named', () => {
  const llm = loadLlm({ OPENAI_MODEL: 'mistral:large', OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' });
  expect(() => toConnectionOptions(llm)).toThrow('api.mistral.ai requires a key: set MISTRAL_API_KEY');
});

test('a model that replaces the configured one uses its own provider', () => {
  const llm = loadLlm({ OPENAI_MODEL: 'gpt-x', OPENAI_API_KEY: 'o', GROQ_API_KEY: 'q' });
  expect(toConnectionOptions(withModel(llm, 'groq:llama-x'))).toMatchObject({
    baseUrl: 'https://api.groq.com/openai/v1',
    apiKey: 'q',
    model: 'llama-x',
  });
});

test.each([
  [{ FAULTLINE_MODEL_SMALL: 'gpt-mini', OPENAI_API_KEY: 'o' }, [null, 'gpt-mini', 'o']],
  [
    { OPENAI_MODEL: 'anthropic:claude-x', ANTHROPIC_API_KEY: 'k', FAULTLINE_MODEL_SMALL: 'ollama:qwen3:8b' },
    ['http://localhost:11434/api/chat', 'qwen3:8b', null],
  ],
  [
    { OPENAI_MODEL: 'ollama:qwen3:8b', OPENAI_API_KEY: 'o', FAULTLINE_MODEL_SMALL: 'gpt-mini' },
    [null, 'gpt-mini', 'o'],
  ],
])('the cheaper model of %j is requested at %j', (environment, [baseUrl, model, apiKey]) => {
  const small = toSmallModel(loadLlm(environment));
  expect(small && toConnectionOptions(small)).toMatchObject({ baseUrl, model, apiKey });
});

test('without a cheaper model, none is used', () => {
  expect(toSmallModel(loadLlm({ OPENAI_API_KEY: 'o' }))).toBeNull();
});
