import { MemorySaver } from '@langchain/langgraph';
import { compileTriageGraph } from '../../graphs/triage/graph.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { Build } from '../../src/domain/build.ts';
import { createId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import type { Database } from '../../src/ports/database.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import type { WorkHandler } from '../../src/ports/work.ts';
import { escalateToReviewer } from '../../src/service/triage/conclude.ts';
import type { InvestigateDeps } from '../../src/service/triage/investigate.ts';
import { type TriageBuildDeps, triageBuild } from '../../src/service/triage/triage-build.ts';
import { createTriageHandler } from '../../src/service/triage/triage-work.ts';
import { createMemoryArchive } from '../../src/stores/archive/memory.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { sampleBuild } from './sample-build.ts';
import { createScriptedAnalyst } from './scripted-analyst.ts';
import { createScriptedToolbox } from './scripted-toolbox.ts';
import { createTriageJobs } from './triage-jobs.ts';

const LOG = [
  'npm test',
  'not ok 1 - cart total',
  "TypeError: Cannot read properties of undefined (reading 'price')",
  '    at total (/home/runner/work/shop/src/cart.js:12:9)',
  'npm ERR! Test failed.',
].join('\n');

export interface TriageWorld {
  readonly stores: Stores;
  readonly deps: TriageBuildDeps;
  readonly handler: WorkHandler;
  /** Stores a failed build with a log and requests its triage. By default the repository is a new one. */
  accept(failed?: { readonly repository?: string; readonly log?: string }): Promise<Build>;
}

/**
 * Creates the triage of uploaded builds as the app composes it, with the compiled graph and an analyst that
 * answers at once.
 */
export function createTriageWorld(
  db: Database,
  {
    graph = compileTriageGraph(new MemorySaver()),
    analyst = createScriptedAnalyst(),
    onStep,
  }: Partial<Pick<InvestigateDeps, 'graph' | 'analyst'>> & Pick<TriageBuildDeps, 'onStep'> = {},
): TriageWorld {
  const stores = createStores(db, systemClock);
  const archive = createMemoryArchive();
  const limits = {
    maxIterations: 5,
    maxCorrections: 2,
    thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
  };
  const investigation = {
    analyst,
    toolbox: createScriptedToolbox({}),
    clock: systemClock,
    onStep: undefined,
    graph,
    limits,
    timeLimitMs: 10_000,
    durable: true,
  };
  const deps: TriageBuildDeps = {
    database: db,
    stores,
    archive,
    masker: createMasker(),
    clock: systemClock,
    logger: silentLogger,
    buildSources: {},
    investigation,
    budgetTokens: 4_000,
    greenBuilds: 0,
    publishers: [],
    forget: async () => undefined,
    ...(onStep === undefined ? {} : { onStep }),
  };
  const handler = createTriageHandler({
    ...deps,
    leaseMs: 60_000,
    concurrency: 2,
    maxCrashes: 3,
    triage: (item, run) => triageBuild(item.key, deps, run),
    escalateToReviewer: (buildId, error, run) => escalateToReviewer(buildId, error, deps, run),
  });
  return {
    stores,
    deps,
    handler,
    accept: async ({ repository = `acme/${createId('bld')}`, log = LOG } = {}) => {
      const { build } = await stores.builds.upsert(
        sampleBuild({
          provider: 'upload',
          repository,
          number: createId('bld'),
          externalId: null,
          commit: null,
        }),
      );
      await archive.put(build.id, { name: 'build.log', kind: 'log', text: log, notes: [] });
      await stores.triages.request(build.id);
      return build;
    },
  };
}

/** Triages a new build of the repository with this log, and counts the judgments that an analyst was asked for. */
export async function triageLog(
  db: Database,
  repository: string,
  log: string,
): Promise<{ readonly analysis: Analysis; readonly build: Build; readonly asked: number }> {
  const analyst = createScriptedAnalyst();
  const { deps, stores, accept } = createTriageWorld(db, { analyst });
  const build = await accept({ repository, log });
  const job = await createTriageJobs(stores).lease(build.id);
  if (job === null) throw new Error('The lease was not given.');
  const [analysis] = await triageBuild(build.id, deps, {
    signal: new AbortController().signal,
    lastTry: false,
    holds: (sql) => stores.work.holds(job, sql),
  });
  if (analysis === undefined) throw new Error('The failure was not answered.');
  return { analysis, build, asked: analyst.asked.length };
}
