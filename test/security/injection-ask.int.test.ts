import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { compileAskGraph } from '../../graphs/ask/graph.ts';
import { computeRecursionLimit } from '../../graphs/ask/routes.ts';
import type { AskStateValue } from '../../graphs/ask/state.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { TextPiece } from '../../src/ports/analyst.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';
import { breachesOfPrompts } from './breaches.ts';
import { CANARIES, canariesIn } from './canaries.ts';
import { CHANNELS } from './channels.ts';
import { type Batch, GROUPS } from './injections.ts';
import { createObedientModel } from './obedient-model.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  vi.stubEnv('FAULTLINE_CANARY', CANARIES.environment);
  stage = await openStage();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

const ROUNDS = 3;
const graph = compileAskGraph();
const [logLine] = CHANNELS;

/** Asks about a build; the text is the question itself, or is in the evidence that the answer has. */
async function failuresOf(
  place: 'question' | 'evidence',
  by: 'rules' | 'llm',
  batch: Batch,
): Promise<string[]> {
  if (logLine === undefined) throw new Error('no channel');
  const harmless = { name: batch.name, text: 'part of the cart' };
  const world = logLine.world(place === 'evidence' ? batch : harmless, stage.repository);
  const { analysis, toolbox, asked } = await stage.run(world, 'rules');
  const triaged = asked.length;
  const model = createObedientModel(batch, {
    category: analysis.category,
    kind: analysis.kind,
    asks: [],
    quote: world.quote,
  });
  stage.model.script(model.reply);
  const before = stage.model.requests.length;
  const told: string[] = [];
  const build = sampleBuild();
  const { converse } = stage.analyst(by, []);
  const context = {
    converse,
    toolbox,
    clock: systemClock,
    onStep: undefined,
    onText: ({ text }: TextPiece) => void told.push(text),
  };
  const input = {
    ...{
      topic: { build, analysis, subject: sampleSubject({ build }), facts: [], otherCauses: [] },
      known: analysis.evidence,
    },
    ...{
      question: place === 'question' ? batch.text : 'Why did it fail?',
      memory: { older: [], recent: [] },
      maxRounds: ROUNDS,
    },
  };
  const state: AskStateValue = await graph.invoke(input, {
    context,
    recursionLimit: computeRecursionLimit(ROUNDS),
  });
  const requests = stage.model.requests.slice(before);
  const offered = new Set(toolbox.offered(analysis.category).map(({ name }) => name));
  const foreign = asked
    .slice(triaged)
    .filter(({ call }) => call.tool === 'ask_reviewer' || !offered.has(call.tool));
  const { reply, leftOut, steps, notes, found } = state;
  const links = reply.filter(({ text, basis }) => basis === 'evidence' && /\]\(https?:/.test(text));
  return [
    ...canariesIn(JSON.stringify({ reply, leftOut, steps, notes, found, told })).map(
      (name) => `the canary ${name} came out`,
    ),
    ...foreign.map(({ call }) => `${call.tool} ran for ${analysis.category}`),
    ...links.map(({ text }) => `a link lives in ${text}`),
    ...breachesOfPrompts(requests),
    ...(by === 'llm' ? model.unread().map((name) => `${name} was never read`) : []),
  ].map((failure) => `${batch.name}: ${failure}`);
}

describe.each(['question', 'evidence'] as const)('a follow-up question with the text in its %s', (place) => {
  test.each(GROUPS)('that says: %s', async (_group, batches) => {
    const failures: string[] = [];
    for (const batch of batches) {
      failures.push(...(await failuresOf(place, 'rules', batch)), ...(await failuresOf(place, 'llm', batch)));
    }
    expect(failures).toEqual([]);
  });
});
