import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import type { Build } from '../../../src/domain/build.ts';
import { TRIAGE } from '../../../src/domain/work.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { BuildArchive } from '../../../src/ports/build-archive.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createReviewerClient } from '../../../src/service/triage/investigate.ts';
import { type TriageBuildDeps, triageBuild } from '../../../src/service/triage/triage-build.ts';
import { createTriageHandler } from '../../../src/service/triage/triage-work.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';
import { createPostgresCheckpointer } from '../../../src/stores/checkpointer.ts';
import type { PgDatabase } from '../../../src/stores/database/pool-database.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { askReviewer } from '../../../src/tools/last-resorts.ts';
import { createToolbox } from '../../../src/tools/toolbox.ts';
import { drainWork } from '../../../src/work/process-items.ts';
import { sampleBuild } from '../../stores/samples.ts';
import { type InstalledDatabase, installDatabase } from '../../support/installed-database.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const QUESTION = 'Was the price list of May meant to be empty?';
const LOG = [
  'not ok 1 - cart total',
  "TypeError: Cannot read properties of undefined (reading 'price')",
  '    at total (/home/runner/work/shop/src/cart.js:12:9)',
].join('\n');

let folder = '';
let installed: InstalledDatabase;
let db: PgDatabase;
let stores: Stores;
let archive: BuildArchive;

async function open(): Promise<void> {
  db = await installed.open();
  await db.migrate();
  stores = createStores(db, systemClock);
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-question-'));
  installed = await installDatabase(folder);
  await open();
  archive = createMemoryArchive();
});
afterEach(async () => {
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

/** An analyst that asks a person first, and a queue that never notifies. */
async function work(waitMs = 60_000): Promise<void> {
  const analyst = createScriptedAnalyst({ plans: [{ enough: true }] });
  const { chooseTools } = analyst;
  analyst.chooseTools = async (input, signal) => {
    const offered = input.offered.some((tool) => tool.name === 'ask_reviewer');
    const value = offered
      ? [{ tool: 'ask_reviewer', args: { question: QUESTION }, why: 'nobody else knows' }]
      : [];
    return { ...(await chooseTools(input, signal)), value };
  };
  const masker = createMasker();
  const { questions } = stores;
  const reviewer = createReviewerClient({ questions, masker, clock: systemClock, waitMs });
  const toolbox = createToolbox([askReviewer(reviewer)], { mask: (text) => text });
  const checkpointer = await createPostgresCheckpointer(db);
  const graph = compileTriageGraph(checkpointer);
  const deps: TriageBuildDeps = {
    database: db,
    stores,
    archive,
    masker,
    clock: systemClock,
    logger: silentLogger,
    buildSources: {},
    investigation: {
      analyst,
      fallbackAnalyst: undefined,
      toolbox,
      clock: systemClock,
      onStep: undefined,
      questions,
      graph,
      limits: LIMITS,
      timeLimitMs: 10_000,
      durable: true,
    },
    budgetTokens: 4_000,
    greenBuilds: 0,
    forget: (triageId: string) => checkpointer.deleteThread(triageId),
    publishers: [],
  };
  const handler = createTriageHandler({
    ...deps,
    leaseMs: 60_000,
    concurrency: 1,
    maxCrashes: 3,
    triage: (item, run) => triageBuild(item.key, deps, run),
    escalateToReviewer: async (_id, error) => Promise.reject(error),
  });
  await drainWork(handler, { work: stores.work, masker, logger: silentLogger }, new AbortController().signal);
}

async function storePendingBuild(): Promise<Build> {
  const { build } = await stores.builds.upsert(sampleBuild({ provider: 'upload' }));
  await archive.put(build.id, { name: 'build.log', kind: 'log', text: LOG, notes: [] });
  await stores.triages.request(build.id);
  return build;
}

describe('a question to a person', () => {
  it('holds no lease, survives the process, and its answer becomes evidence', async () => {
    const build = await storePendingBuild();
    await work();
    const [question] = await stores.questions.list({ state: 'waiting' }, { limit: 10, offset: 0 });
    expect(question).toMatchObject({ kind: 'question', question: QUESTION, buildId: build.id, answer: null });
    expect(await stores.triages.findByBuild(build.id)).toMatchObject({ state: 'done' });
    expect(await stores.analyses.listByBuild(build.id)).toEqual([]);

    await db.close();
    await open();
    const answered = await stores.questions.answer(
      question?.id ?? '',
      'No, the import of May failed.',
      'grace',
    );
    expect(answered).toMatchObject({ state: 'answered', answeredBy: 'grace' });
    expect(await stores.questions.answer(question?.id ?? '', 'Again.', 'bob')).toBeNull();
    expect(await stores.work.dueKeys(TRIAGE, 10)).toEqual([build.id]);
    await work();

    const [analysis] = await stores.analyses.listByBuild(build.id);
    const evidence = analysis?.evidence.filter((item) => item.tool === 'ask_reviewer');
    expect(evidence).toMatchObject([
      { text: 'No, the import of May failed.', source: 'reviewer/grace', data: { answeredBy: 'grace' } },
    ]);
    expect(analysis?.steps.map((step) => step.node).slice(0, 9)).toEqual([
      'classify',
      'reason',
      'select_tool',
      'execute_tool',
      'observe',
      'await_reviewer',
      'reason',
      'generate_answer',
      'verify',
    ]);
    expect(
      (await stores.reviews.events(question?.id ?? '')).map((event) => [event.event, event.actor]),
    ).toEqual([
      ['asked', 'faultline'],
      ['answered', 'grace'],
    ]);
  });

  it('is continued without an answer after a time limit', async () => {
    const build = await storePendingBuild();
    await work(1);
    await work(1);
    expect(await stores.analyses.listByBuild(build.id)).toEqual([]);
    expect(await stores.questions.expire()).toEqual([build.id]);
    expect(await stores.questions.expire()).toEqual([]);
    await work(1);

    const [analysis] = await stores.analyses.listByBuild(build.id);
    expect(analysis?.notes.join()).toContain('No answer in time');
    expect(analysis?.evidence.some((item) => item.tool === 'ask_reviewer')).toBe(false);
  });
});
