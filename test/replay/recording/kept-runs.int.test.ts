import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileTriageGraph, type TriageGraph } from '../../../graphs/triage/graph.ts';
import { createRulesAnalyst } from '../../../src/judge/rules-analyst.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { readRecording } from '../../../src/replay/recording/read-recordings.ts';
import { runFrozen } from '../../../src/replay/recording/run-frozen.ts';
import { investigate } from '../../../src/service/triage/investigate.ts';
import { createPostgresCheckpointer } from '../../../src/stores/checkpointer.ts';
import { type KeptRun, loadRun, readKeptRun } from '../../support/kept-runs.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { LIMITS, never, sampleToday, sampleToolbox } from '../../support/recorded-run.ts';
import { sampleSubject } from '../../support/subject.ts';

const FOLDER = new URL('../../fixtures/recordings/', import.meta.url);
/** Captured by scripts/capture recordings, by each version that stored something new. */
const FILES = readdirSync(FOLDER).map((file) => file.replace('.json.gz', ''));
const RUNS = FILES.filter((file) => !file.includes('recording'));
const RECORDINGS = FILES.filter((file) => file.includes('recording'));

let db: TestDatabase;
let graph: TriageGraph;
beforeAll(async () => {
  db = await openTestDatabase();
  graph = compileTriageGraph(await createPostgresCheckpointer(db));
});
afterAll(() => db.dispose());

/** Who goes on is not who began: today's rules, with other tools. */
async function continueRun(run: KeptRun) {
  const before = (await graph.getState({ configurable: { thread_id: run.thread } })).values;
  const answered = {
    ...Object(null),
    state: 'answered',
    answer: 'Yes.',
    answeredBy: 'kim',
    answeredAt: '2026-01-05T10:00:00.000Z',
  };
  const analysis = await investigate(
    sampleSubject({ triageId: run.thread }),
    {
      analyst: createRulesAnalyst(),
      toolbox: sampleToolbox(),
      clock: systemClock,
      limits: LIMITS,
      graph,
      timeLimitMs: 20_000,
      durable: true,
      questions: { findByTriage: async () => answered },
    },
    never,
  );
  return { analysis, before };
}

describe('runs that other versions began are finished by this one', () => {
  it.each(RUNS)('%s, stopped before any node', async (name) => {
    const run = readKeptRun(name);
    expect(run.checkpoints.length).toBeGreaterThan(4);
    const nodes = new Set<string>();
    for (let stopped = 1; stopped <= run.checkpoints.length; stopped++) {
      await loadRun(db, run, stopped, stopped % 2 === 0);
      const { next } = await graph.getState({ configurable: { thread_id: run.thread } });
      if (stopped < run.checkpoints.length && nodes.has(next.join())) continue;
      nodes.add(next.join());
      const { analysis, before } = await continueRun(run);
      const where = `stopped after checkpoint ${stopped}`;
      expect(analysis?.triageId, where).toBe(run.thread);
      expect(analysis?.steps.slice(0, before.steps.length), where).toEqual(before.steps);
      expect(analysis?.steps.at(-1)?.node, where).toBe('verify');
    }
    expect(nodes.size).toBeGreaterThan(4);
  });

  it('even if it stores more or less of a run than they did', { timeout: 20_000 }, async () => {
    const run = readKeptRun('0.1.0-corrected');
    // What newer code added is not in there; what older code kept, and newer does not, is.
    const strip = (text: string) =>
      text.replaceAll('"investigations"', '"omens"').replaceAll('"webAsked"', '"portents"');
    const changed: KeptRun = JSON.parse(strip(JSON.stringify(run)));
    for (const stopped of [2, 5, 9]) {
      await loadRun(db, changed, stopped, false);
      expect(
        (await continueRun(changed)).analysis?.verdict.action,
        `stopped after checkpoint ${stopped}`,
      ).toBeDefined();
    }
  });
});

describe('recordings of other versions', () => {
  it.each(RECORDINGS)('are read and run to the end: %s', async (name) => {
    const recording = readRecording(
      JSON.parse(gunzipSync(readFileSync(new URL(`${name}.json.gz`, FOLDER))).toString('utf8')),
    );
    expect(recording).toMatchObject({ complete: true, missing: [] });
    const { stopped, analysis } = await runFrozen(recording, sampleToday(), never);
    expect(stopped).toBeNull();
    expect(analysis?.id).toBe(recording.analysis?.id);
  });
});
