import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkModel } from '../../src/app/external-checks.ts';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';
import {
  type OpenAiServer,
  type OpenAiServerOptions,
  type Script,
  startOpenAiServer,
  TEST_KEY,
} from '../support/openai-server.ts';

const READY: Script = { do: 'call', calls: [{ name: 'report_ready', args: { ready: true } }] };

let server: OpenAiServer;
beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(() => server.close());

async function check(environment: Readonly<Record<string, string>>) {
  const config = loadConfig(
    createEmbeddedPreset('/data', '/knowledge'),
    { FAULTLINE_ANALYST: 'llm', ...environment },
    () => '',
  );
  return checkModel(config);
}

async function checkServer(
  options: OpenAiServerOptions,
  script: Script,
  environment: Readonly<Record<string, string>> = {},
) {
  await server.close();
  server = await startOpenAiServer(options);
  server.script(script);
  return check({ OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: TEST_KEY, ...environment });
}

const IN_WORDS: Script = {
  do: 'reply',
  value: { calls: [{ tool: 'report_ready', args: { ready: true }, why: 'asked' }] },
};

test.each([
  ['strict functions', {}, READY, 'by function calling with strict schemas'],
  ['functions', { tools: 'plain' }, READY, 'by function calling'],
  ['JSON schema', { tools: 'refused' }, IN_WORDS, 'by JSON schema (it does not call functions)'],
  [
    'JSON',
    { tools: 'refused', formats: ['json_object', 'text'] },
    IN_WORDS,
    'in JSON without a schema (it does not call functions)',
  ],
  ['text', { tools: 'refused', formats: ['text'] }, IN_WORDS, 'as text only, from which JSON is extracted'],
] as const)(
  'a model server that uses %s passes the check after one request',
  async (_name, options, script, how) => {
    const { host } = new URL(server.baseUrl);
    const finding = await checkServer(options, script);
    expect(finding).toMatchObject({ name: 'analyst', state: 'ok' });
    expect(finding.says.replace(new URL(server.baseUrl).host, host)).toBe(
      `llm: gpt-4o-mini at ${host}/v1/chat/completions answered ${how}`,
    );
    expect(server.requests).toHaveLength(1);
  },
);

test.each([
  ['key', { do: 'status', status: 401 }, 'rejected the API key', 'OPENAI_API_KEY'],
  ['quota', { do: 'status', status: 402 }, 'quota is used up', 'raise the limit'],
  ['rate', { do: 'status', status: 429 }, 'rate limiting requests', 'wait'],
  [
    'model',
    { do: 'status', status: 404, error: { message: 'model not found' } },
    'does not know gpt-4o-mini',
    'OPENAI_MODEL',
  ],
  ['fault', { do: 'status', status: 500 }, 'HTTP 500', 'is the server running'],
  [
    'context',
    { do: 'status', status: 400, error: { code: 'context_length_exceeded', message: 'x' } },
    'exceeds the context',
    'small context',
  ],
  ['sense', { do: 'text', text: 'Hello!' }, 'does not fit what was asked', 'follows instructions'],
  ['time', { do: 'hang' }, 'timeout after 0.3 s', 'FAULTLINE_MODEL_TIMEOUT_MS'],
] as const)(
  'a model server that has trouble with the %s is reported with what to fix',
  async (_name, script, says, remedy) => {
    const finding = await checkServer({}, script, { FAULTLINE_MODEL_TIMEOUT_MS: '300' });
    expect(finding).toMatchObject({
      state: 'wrong',
      says: expect.stringContaining(says),
      remedy: expect.stringContaining(remedy),
    });
    expect(finding.remedy).toContain('until then, the rules are used');
    expect(JSON.stringify(finding)).not.toContain(TEST_KEY);
  },
);

test('a model server that does not respond is reported', async () => {
  expect(await check({ OPENAI_BASE_URL: 'http://127.0.0.1:1' })).toMatchObject({
    state: 'wrong',
    says: 'The model server could not be reached',
    remedy: expect.stringContaining('OPENAI_BASE_URL'),
  });
});

test('a missing model configuration is reported', async () => {
  expect(await check({})).toMatchObject({
    state: 'wrong',
    says: expect.stringContaining('No model'),
    remedy: expect.stringContaining('OPENAI_API_KEY'),
  });
});

test('Azure is configured by its own variables, and its model by the usual one', async () => {
  await server.close();
  server = await startOpenAiServer({
    azure: true,
    path: '/openai/deployments/our-mini/chat/completions?api-version=2024-10-21',
  });
  server.script(READY);
  const azure = {
    AZURE_OPENAI_ENDPOINT: server.baseUrl.replace('/v1', '/'),
    AZURE_OPENAI_API_KEY: TEST_KEY,
    OPENAI_MODEL: 'our-mini',
  };
  expect(await check(azure)).toMatchObject({
    state: 'ok',
    says: expect.stringContaining('llm: our-mini at'),
  });
  const refused = await check({ ...azure, AZURE_OPENAI_API_KEY: 'another' });
  expect(refused).toMatchObject({ state: 'wrong', remedy: expect.stringContaining('AZURE_OPENAI_API_KEY') });
});

test('the rules need no model server', async () => {
  expect(await check({ FAULTLINE_ANALYST: 'rules' })).toEqual({
    name: 'analyst',
    state: 'ok',
    says: 'rules: no model is needed',
  });
});
