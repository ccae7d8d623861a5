import { availableParallelism } from 'node:os';
import { matchesGlob, relative, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Only `scripts/test --all` runs this: what takes half a minute and more a file and tries again, in bulk or at random, what others try once;
 * the package as it is installed; in a browser the first minute, every page, every state of the review queue, long logs, figures and runs that
 * go on (the short run opens a browser for the frame and hostile text); experiments of every kind on real projects (the short run tries one of
 * each command); query plans and recall on many rows; how long patterns take; the recipes for other CIs, one of them in a real Buildbot; what
 * `scripts/gate` and `scripts/bench` run as well; the journeys against a real Gitea and under act, which scripts/install-gitea builds; the
 * manifests, for which Kustomize is compiled; the Action on other releases of Node, which npm brings; the step for Jenkins, which Maven brings
 * its language for. The same command sets FAULTLINE_TEST_THOROUGH, read in test/support/thorough.ts, with which other tests try more of the
 * same: all kill points, every older release of the database and every upgrade embedded, experiments with other tools than Node's and in every
 * kind of checkout, every asker at every route, ten thousand deliveries, all hostile texts at all places, properties five times as often.
 */
const LONG = [
  'test/journeys/{kill-at-random,stop-under-load,bad-weather,provider-away,gitea,act,retrieval-figure}.int.test.ts',
  'test/house/{package,kubernetes,linear-time}.int.test.ts',
  'test/action/{nodes,confirm}.int.test.ts',
  'test/browser/!(frame|hostile).int.test.ts',
  'test/experiments/{confirm,bisect,try-fix}.int.test.ts',
  'test/stores/{plans,vectors/pgvector-hnsw}.int.test.ts',
  'test/recipes/{other-ci,buildbot/buildbot}.int.test.ts',
  'test/gate/our-bars.int.test.ts',
  'test/bench/*.int.test.ts',
  'test/jenkins-library/faultline-report.int.test.ts',
];

/**
 * What takes longest, and is not long to read: begun first, so that no worker is left with it at the end. A fresh machine knows no durations and
 * begins with the largest files.
 */
const BEGUN_FIRST = [
  'test/experiments/{guarded,forged-fix,paths}.int.test.ts',
  'test/cli/{serve,migrate,try-fix}.int.test.ts',
  'test/mcp/finds-causes.int.test.ts',
  'test/recipes/hostile-values.int.test.ts',
  'test/journeys/{green-build,kill-at-failpoints,kill-workers,kill-settles}.int.test.ts',
  'test/action/served.int.test.ts',
];
/** Folders of files that are data, though some are named like tests. */
const DATA = ['test/fixtures/**', 'test/captures/**'];
const ORDER = ['unit', 'integration', 'long'];

/** Unit tests, then integration tests, each with what takes longest at first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const inOrder = [...projects].toSorted(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
    return inOrder.flatMap(([, own]) =>
      own.toSorted((a, b) => Number(isBegunFirst(b)) - Number(isBegunFirst(a))),
    );
  }
}

function isBegunFirst({ moduleId }: TestSpecification): boolean {
  const path = relative(import.meta.dirname, moduleId);
  return BEGUN_FIRST.some((pattern) => matchesGlob(path, pattern));
}

/** For tests that load @actions/workflow-parser, which imports JSON as bundlers do and Node does not. */
const JSON_IMPORTS = ['--import', resolve(import.meta.dirname, 'test/support/json-imports.ts')];
/**
 * The embedded database is WebAssembly, which V8 compiles twice: at once, and again what has run for a while. Most of the databases of tests are
 * closed by then, and compiling was a fifth of what they cost.
 */
const COMPILED_ONCE = '--wasm-tiering-budget=100000000';
/**
 * V8 ends a process now and then in which many embedded databases were opened and closed, while it frees their compiled code
 * (https://github.com/nodejs/node/issues/64500: `Check failed: jit_page_->allocations_.erase`). Tests keep that code: it is small.
 */
const CODE_KEPT = '--no-wasm-code-gc';
/** What nothing takes even on a machine that does much else: a test that needs a time names it itself, and waits for an event. */
const MINUTES_5 = 300_000;
const SHARED_POSTGRES = 'test/support/shared-postgres.ts';

// What one worker has stripped of its types and compiled is ready for the next one, and for what they start.
process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, 'node_modules/.cache/faultline-compiled');

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // More than there are cores: tests wait for timers, servers, databases and browsers for a quarter of their time.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Node runs the source as it is, here too: nothing is transformed.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      {
        test: {
          name: 'unit',
          execArgv: JSON_IMPORTS,
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.int.test.ts', ...DATA, 'node_modules/**'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          // One process after the other loads the program once instead of once a file.
          isolate: false,
        },
      },
      {
        test: {
          name: 'integration',
          execArgv: JSON_IMPORTS.concat(COMPILED_ONCE, CODE_KEPT),
          globalSetup: SHARED_POSTGRES,
          include: ['test/**/*.int.test.ts'],
          exclude: [...LONG, ...DATA, 'node_modules/**'],
          isolate: false,
          testTimeout: MINUTES_5,
          hookTimeout: MINUTES_5,
        },
      },
      {
        test: {
          name: 'long',
          execArgv: JSON_IMPORTS.concat(COMPILED_ONCE, CODE_KEPT),
          globalSetup: SHARED_POSTGRES,
          include: LONG,
          testTimeout: MINUTES_5,
          hookTimeout: MINUTES_5,
        },
      },
    ],
  },
});
