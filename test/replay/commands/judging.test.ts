import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../../src/config/load.ts';
import { openJudging } from '../../../src/replay/commands/replay-command.ts';
import { createSpending } from '../../../src/replay/commands/replay-source.ts';
import { createReplayed } from '../../replay/figures/cases.ts';
import { type OpenAiServer, startOpenAiServer, TEST_KEY } from '../../support/openai-server.ts';

let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer();
});
afterAll(() => server.close());

test('interrupting the judge keeps the figures of the replay, without the opinions', async () => {
  const interrupted = new AbortController();
  server.script(() => {
    interrupted.abort(new Error('Interrupted'));
    return { do: 'hang' };
  });
  const environment = { OPENAI_API_KEY: TEST_KEY, OPENAI_BASE_URL: server.baseUrl };
  const config = loadConfig(createEmbeddedPreset('data', 'knowledge'), environment, () => '');
  const judge = await openJudging({ concurrency: 1, green: true, judge: true }, config);
  const cases = [
    createReplayed(
      { id: 'a', root_cause: 'the header moved' },
      { rootCause: 'another', action: 'human_review' },
    ),
  ];
  const source = { name: 'set', path: 'set.jsonl' };
  const run = {
    source: { ...source, measure: failAlways, cases: failAlways },
    cases,
    milliseconds: 1,
    stopped: null,
  };
  expect(await judge?.(run, createSpending({}), interrupted.signal)).toEqual([]);
});

function failAlways(): never {
  throw new Error('nothing is replayed again');
}
