import { MemorySaver } from '@langchain/langgraph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { newId } from '../../../src/domain/ids.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { type TriageBuildDeps, triageBuild } from '../../../src/service/triage/triage-build.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { sampleBuild, sampleEntry } from '../../stores/samples.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { scriptedAnalyst } from '../../support/scripted-analyst.ts';
import { scriptedToolbox } from '../../support/scripted-toolbox.ts';
import { createTriageJobs } from '../../support/triage-jobs.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const YAML = (...said: string[]) =>
  ['not ok 7 cart/sums-up', '  ---', ...said.map((line) => `  ${line}`), '  ...', ''].join('\n');

/** The same test, in three builds that say how it ended at most. */
const SILENT = {
  'no word': YAML('duration_ms: 12.5', 'severity: fail', 'exitcode: 1', 'stack: |-'),
  'a time limit': YAML('duration_ms: 120012.5', 'severity: fail', 'exitcode: -15', 'stack: |-', '  timeout'),
  'a signal': YAML('duration_ms: 12.5', 'severity: crashed', 'exitcode: -11', 'stack: |-'),
};
const SPEAKING = YAML(
  'severity: fail',
  'exitcode: 1',
  'stack: |-',
  '  TypeError: rates.of is not a function',
);

let db: TestDatabase;
let stores: Stores;
beforeAll(async () => {
  db = await openTestDatabase();
  stores = createStores(db, systemClock);
});
afterAll(async () => db.dispose());

/** A build of the repository with this log, triaged. */
async function triaged(repository: string, log: string) {
  const { build } = await stores.builds.upsert(
    sampleBuild({ provider: 'upload', repository, number: newId('bld') }),
  );
  const archive = createMemoryArchive();
  await archive.put(build.id, { name: 'build.log', kind: 'log', text: log, notes: [] });
  await stores.triages.request(build.id);
  const job = await createTriageJobs(stores).lease(build.id);
  if (job === null) throw new Error('the lease is given');
  const investigation = {
    ...{ analyst: scriptedAnalyst(), toolbox: scriptedToolbox({}), clock: systemClock, onStep: undefined },
    ...{ graph: compileTriageGraph(new MemorySaver()), limits: LIMITS, timeLimitMs: 10_000, durable: true },
  };
  const deps: TriageBuildDeps = {
    ...{
      database: db,
      stores,
      archive,
      masker: createMasker(),
      clock: systemClock,
      logger: silentLogger,
      buildSources: {},
    },
    ...{ investigation, budgetTokens: 4_000, greenBuilds: 0 },
    publishers: [],
    forget: async () => undefined,
  };
  const [analysis] = await triageBuild(build.id, deps, {
    signal: new AbortController().signal,
    lastTry: false,
    holds: (sql) => stores.work.holds(job, sql),
  });
  const [failure] = await stores.failures.listByBuild(build.id);
  if (analysis === undefined || failure === undefined) throw new Error('a failure is answered');
  return { analysis, failure };
}

describe('a test that does not say why it failed', () => {
  it.each(Object.entries(SILENT))(
    '%s: has one fingerprint in every build, and never gets a remembered answer',
    async (_, log) => {
      const repository = `acme/${newId('bld')}`;
      const first = await triaged(repository, log);
      await stores.library.insert(sampleEntry(first.analysis.fingerprint, { repository }));
      const second = await triaged(repository, log);

      expect(second.failure.fingerprint).toEqual(first.failure.fingerprint);
      expect(second.failure.generic).toBe(true);
      expect(second.analysis).toMatchObject({ recalled: null });
      expect(second.analysis.terminationReason).not.toBe('known_failure');
    },
  );

  it('gets one as soon as it says why', async () => {
    const repository = `acme/${newId('bld')}`;
    const first = await triaged(repository, SPEAKING);
    await stores.library.insert(sampleEntry(first.analysis.fingerprint, { repository }));

    expect((await triaged(repository, SPEAKING)).analysis.terminationReason).toBe('known_failure');
  });
});
