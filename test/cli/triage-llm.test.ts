import { afterEach, beforeEach, expect, test } from 'vitest';
import { ANSWER, createScript, LOG } from '../journeys/graph-llm-stage.ts';
import { type OpenAiServer, startOpenAiServer, TEST_KEY } from '../support/openai-server.ts';
import { runFaultline } from './faultline.ts';

let server: OpenAiServer;
beforeEach(async () => {
  server = await startOpenAiServer();
  server.script(createScript({}));
});
afterEach(() => server.close());

const triage = (env: Readonly<Record<string, string>>) =>
  runFaultline(['triage', '-', '--analyst', 'llm', '--json'], { input: LOG, env });

test('triage uses the model server that the usual variables name, here one without /v1', {
  timeout: 60_000,
}, async () => {
  const env = {
    OPENAI_BASE_URL: server.baseUrl.replace('/v1', ''),
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_MODEL: 'gpt-4o-mini',
  };
  const { stdout } = await triage(env);
  expect(stdout).toContain(ANSWER.title);
  expect(server.requests.some((request) => request.tools.includes('search_knowledge'))).toBe(true);
  expect(server.refused).toEqual([]);
});

test('59: a request for a model without a key is refused with the missing setting', async () => {
  const ended = await runFaultline(['triage', '-', '--analyst', 'llm'], { input: LOG });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('No model is configured for --analyst llm. Set OPENAI_API_KEY');
});

test('a refused key costs one request; then the rules answer and say so', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await triage({
    OPENAI_BASE_URL: server.baseUrl,
    OPENAI_API_KEY: 'sk-another-key-0123456789',
  });
  expect(stdout).toContain('rejected the API key (HTTP 401)');
  expect(stdout).toContain('43.42');
  expect(server.heard).toHaveLength(1);
  expect(stdout + stderr).not.toContain('sk-another-key');
});
