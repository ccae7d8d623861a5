import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../../src/config/load.ts';
import { openAnswerer } from '../../../src/replay/commands/answering.ts';
import { type ReplayedCase, replay } from '../../../src/replay/run/replay.ts';
import { createScript, LOG } from '../../journeys/graph-llm-stage.ts';
import { type OpenAiServer, startOpenAiServer, TEST_KEY } from '../../support/openai-server.ts';

let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer();
});
afterAll(() => server.close());

test('a case whose model stops responding costs what it used until then', async () => {
  const settings = {
    FAULTLINE_ANALYST: 'llm',
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: server.baseUrl,
    OPENAI_MODEL: 'gpt-4o-mini',
  };
  const preset = createEmbeddedPreset('data', 'knowledge');
  const hurried = { ...preset, triage: { ...preset.triage, timeLimitMs: 2000 } };
  const config = loadConfig(hurried, settings, () => '');
  // The classification is answered, and nothing after it.
  server.script(createScript({}), { do: 'hang' });
  const options = { concurrency: 1, green: false };
  const cases: ReplayedCase[] = [];
  const row = { id: 'a', log: LOG };
  const one = {
    row,
    load: async () => ({
      sources: [{ name: 'log', kind: 'log' as const, text: row.log, notes: [] }],
      greenText: undefined,
    }),
  };
  await replay(
    {
      cases: (async function* () {
        yield { line: 1, one };
      })(),
      budgetTokens: 2000,
      concurrency: 1,
      maxLogBytes: 1e6,
      green: false,
      answer: await openAnswerer(options, config),
      onCase: (done) => void cases.push(done),
    },
    new AbortController().signal,
  );
  expect(cases.map(({ result }) => [result.error, result.usage])).toEqual([
    ['The analysis took longer than 2000 ms', { inputTokens: 1000, outputTokens: 100, costUsd: 0.00021 }],
  ]);
});
