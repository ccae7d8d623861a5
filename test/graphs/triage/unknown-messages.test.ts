import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { computeRecursionLimit } from '../../../graphs/triage/routes.ts';
import { createSearxngSearch } from '../../../src/adapters/web-search/services.ts';
import { createRulesAnalyst } from '../../../src/judge/rules-analyst.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import type { Toolbox } from '../../../src/ports/toolbox.ts';
import { createMemoryIndex } from '../../../src/stores/vectors/memory.ts';
import { createTools } from '../../../src/tools/all-tools.ts';
import { loadKnowledge, readKnowledge } from '../../../src/tools/knowledge-base.ts';
import { createToolbox } from '../../../src/tools/toolbox.ts';
import { createSubject } from '../../judge/subject.ts';
import { INVENTED_MESSAGES, logOfMessage } from '../../support/invented-messages.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';
import { createEmptySources } from '../../tools/sources.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
/** Every third message, so that each name and each shape comes up, and each in another frame. */
const MESSAGES = INVENTED_MESSAGES.filter((_, index) => index % 3 === 0);

let engine: LoopbackServer;
let toolbox: Toolbox;
beforeAll(async () => {
  engine = await startLoopback((_request, response) => {
    const results = [{ title: 'A page', url: 'https://example.com/page', content: 'Nobody knows.' }];
    sendJson(response, 200, { results });
  });
  const vectorIndex = createMemoryIndex(createHashingEmbedder());
  await loadKnowledge(
    vectorIndex,
    await readKnowledge(new URL('../../../knowledge', import.meta.url).pathname),
  );
  const webSearch = createSearxngSearch({ baseUrl: engine.url, apiKey: null, timeoutMs: 2_000, pages: 0 });
  toolbox = createToolbox(createTools({ ...createEmptySources(), vectorIndex, webSearch }), {
    mask: (text) => text,
  });
});
afterAll(() => engine.close());

/** Triages a log with the curated documents and a search engine, and returns what the engine was asked. */
async function triage(log: string) {
  const before = engine.requests.length;
  const context = {
    analyst: createRulesAnalyst(),
    fallbackAnalyst: undefined,
    toolbox,
    clock: systemClock,
    onStep: undefined,
  };
  const given = { subject: createSubject(log), limits: LIMITS };
  const state = await compileTriageGraph().invoke(given, {
    context,
    recursionLimit: computeRecursionLimit(LIMITS),
  });
  const queries = engine.requests
    .slice(before)
    .map(({ path }) => new URL(path, engine.url).searchParams.get('q'));
  return { state, queries };
}

describe('an unknown failure', () => {
  it('has more than thirty examples', () => {
    expect(MESSAGES.length).toBeGreaterThan(30);
  });

  it.each(MESSAGES.map((message, index) => [message, index] as const))(
    'is reported as unknown, and searched for: %s',
    async (message, index) => {
      const { state, queries } = await triage(logOfMessage(message, index));

      expect(state.classification).toMatchObject({ abstained: true });
      expect(state.verdict?.action).toBe('human_review');
      expect(state.answer?.confidence).toBeLessThan(0.5);
      expect(state.answer?.rootCause).toContain(
        message.replace(/^(?:fatal: |Error: |ERROR |❌ )/, '').replace(/\.$/, ''),
      );
      expect(queries).toEqual([message]);
    },
  );

  it.each([
    'starting job\ndone.\n##[error]Process completed with exit code 1.\n',
    'step one\nall good\nFinished: FAILURE\n',
  ])('is not searched for on the web by how it ended: %j', async (log) => {
    const { state, queries } = await triage(log);

    expect(queries).toEqual([]);
    expect(state.verdict?.action).toBe('human_review');
  });
});
