import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { investigate } from '../../../src/service/triage/investigate.ts';
import { createPostgresCheckpointer } from '../../../src/stores/checkpointer.ts';
import { dumpRun } from '../../../test/support/kept-runs.ts';
import { openEmbeddedDatabase } from '../../../test/support/pglite.ts';
import { LIMITS, never, recordRun, sampleToolbox } from '../../../test/support/recorded-run.ts';
import { createScriptedAnalyst } from '../../../test/support/scripted-analyst.ts';
import { createScriptedToolbox } from '../../../test/support/scripted-toolbox.ts';
import { sampleSubject } from '../../../test/support/subject.ts';

/**
 * Captures what this version stores of runs, so that later versions are tested against it: checkpoints of runs through every node, and a
 * recording. `scripts/capture recordings NAME` writes test/fixtures/recordings/NAME-*.json.gz. What is there is never written over.
 */
const FOLDER = resolve(import.meta.dirname, '../../../test/fixtures/recordings');
const name = process.argv[2];
if (name === undefined || !/^[\w.-]{1,40}$/.test(name))
  throw new Error('Give the capture a name, such as 0.1.0.');

const call = (tool: string, args = {}) => ({ tool, args, why: 'captured' });
const asked = {
  title: 'asked',
  text: 'Was it meant?',
  source: 'reviewer',
  data: { questionId: 'rev_captured' },
};
const corrected = [{ confidence: 0.6, gaps: ['why it broke'] }, { confidence: 0.9 }];
const RUNS = {
  corrected: {
    limits: LIMITS,
    toolbox: sampleToolbox(),
    analyst: createScriptedAnalyst({
      calls: [
        [call('search_knowledge')],
        [call('read_file', { path: 'src/cart/tax.ts' })],
        [call('grep_log', { text: 'x' })],
      ],
      assessments: corrected,
    }),
  },
  investigators: {
    limits: { ...LIMITS, investigators: { when: 'always' as const, rounds: 2 } },
    toolbox: sampleToolbox(),
    analyst: createScriptedAnalyst({
      calls: [
        [call('search_knowledge')],
        [call('read_file', { path: 'a' })],
        [call('grep_log', { text: 'y' })],
        [],
      ],
      plans: [{}, {}, {}, { enough: true }],
    }),
  },
  waiting: {
    limits: LIMITS,
    toolbox: createScriptedToolbox({ ask_reviewer: { findings: [asked] }, search_knowledge: {} }),
    analyst: createScriptedAnalyst({
      calls: [[call('ask_reviewer', { question: 'Was it meant?' })]],
      plans: [{}, { enough: true }],
    }),
  },
};

mkdirSync(FOLDER, { recursive: true });
const database = await openEmbeddedDatabase();
try {
  const saver = await createPostgresCheckpointer(database);
  for (const [kind, { limits, toolbox, analyst }] of Object.entries(RUNS)) {
    const subject = sampleSubject({ triageId: `tri_${kind}` });
    const deps = {
      analyst,
      toolbox,
      limits,
      clock: systemClock,
      graph: compileTriageGraph(saver),
      timeLimitMs: 30_000,
      durable: true,
    };
    const waiting = {
      findByTriage: async () => ({
        ...Object(null),
        state: 'waiting',
        answer: null,
        answeredBy: null,
        answeredAt: null,
      }),
    };
    await investigate(subject, { ...deps, questions: waiting }, never);
    keep(`${name}-${kind}`, await dumpRun(database, subject.triageId, `Faultline ${name}`));
  }
  keep(
    `${name}-recording`,
    await recordRun({
      analyst: createScriptedAnalyst({ calls: [[call('search_knowledge')]], plans: [{}, { enough: true }] }),
    }),
  );
  keep(`${name}-recording-rules`, await recordRun());
} finally {
  await database.dispose();
}

function keep(file: string, value: object): void {
  const path = join(FOLDER, `${file}.json.gz`);
  writeFileSync(path, gzipSync(JSON.stringify(value), { level: 9 }), { flag: 'wx' });
  console.log(path);
}
