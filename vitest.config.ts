import { availableParallelism } from 'node:os';
import { matchesGlob, relative, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The project `long`, which only `scripts/test --all` runs:
 * - what takes half a minute and more a file and tries in bulk or at random what other tests try once;
 * - what `scripts/gate` and `scripts/bench` run as well, and contracts of code hosts that GitHub keeps in the
 *   short run;
 * - in a browser, all but the frame and hostile text; experiments of every kind on real projects;
 * - query plans and recall on many rows, and how long patterns take;
 * - what needs tools that are built or fetched for it: the package as installed, Gitea, act, Buildbot, Helm,
 *   Helm and Kustomize, other releases of Node, the language of Jenkins.
 * The same command sets FAULTLINE_TEST_THOROUGH (test/support/thorough.ts), with which other tests try more
 * of the same: all kill points, all older releases of the database, all hostile texts, properties five
 * times as often.
 */
const LONG = [
  'test/journeys/{kill-at-random,stop-under-load,bad-weather,provider-away,gitea,gitea-whose,gitea-oauth,act,retrieval-figure}.int.test.ts',
  'test/journeys/teach-and-measure.int.test.ts',
  'test/house/{package,kubernetes,release,linear-time}.int.test.ts',
  'test/action/{nodes,confirm}.int.test.ts',
  'test/browser/!(frame|hostile).int.test.ts',
  'test/experiments/{confirm,bisect,try-fix,by-date,caches,base-worktree}.int.test.ts',
  'test/cli/triage-confirm.int.test.ts',
  'test/providers/{gitea,gitlab}/code-host-contract.int.test.ts',
  'test/stores/{plans,vectors/pgvector-hnsw}.int.test.ts',
  'test/recipes/{other-ci,buildbot/buildbot}.int.test.ts',
  'test/gate/our-bars.int.test.ts',
  'test/bench/*.int.test.ts',
  'test/api/generated-clients.int.test.ts',
  'test/mcp/conformance.int.test.ts',
  'test/jenkins-library/faultline-report.int.test.ts',
];

/**
 * Tests that start git and other programs many times. They begin first, while the workers are small:
 * starting a program copies the page tables of the process that starts it, and a worker that has opened
 * embedded databases has gigabytes of memory. After those, a test of git takes three to six times as much CPU.
 */
const STARTS_PROGRAMS = [
  'test/{experiments,tools,providers,recipes,action,security}/**',
  'test/{api/repository-ask,cli/triage,gate/requested-lines,journeys/mending-push,service/triage/owners}.int.test.ts',
  'test/cli/ask-repository.test.ts',
];
/**
 * Files that take longest though they are short: they begin before the others, so that no worker is left with
 * one at the end. Vitest knows durations only on a machine that has run the tests before; on a new one it
 * begins with the largest files.
 */
const BEGUN_EARLY = [
  'test/cli/{serve,migrate,try-fix}.int.test.ts',
  'test/mcp/finds-causes.int.test.ts',
  'test/journeys/{green-build,kill-at-failpoints,kill-workers,kill-settles,operate,mongodb-away}.int.test.ts',
];
/** Folders of data; some of their files are named like tests. */
const DATA = ['test/fixtures/**', 'test/captures/**'];
const ORDER = ['unit', 'integration', 'long'];

/**
 * Sorts unit tests before integration tests, and in each project those that start many programs first, then
 * the longest files.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const inOrder = [...projects].toSorted(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
    return inOrder.flatMap(([, own]) => own.toSorted((a, b) => rank(a) - rank(b)));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const path = relative(import.meta.dirname, moduleId);
  if (STARTS_PROGRAMS.some((pattern) => matchesGlob(path, pattern))) return 0;
  return BEGUN_EARLY.some((pattern) => matchesGlob(path, pattern)) ? 1 : 2;
}

/**
 * Options of Node for tests that load @actions/workflow-parser, which imports JSON as bundlers do and Node
 * does not.
 */
const JSON_IMPORTS = ['--import', resolve(import.meta.dirname, 'test/support/json-imports.ts')];
/**
 * Options of V8 for processes that open many embedded databases, which are WebAssembly. Code is compiled
 * once, not again after it has run for a while, because most databases of tests are closed by then.
 * Compiled code is kept, because V8 sometimes ends the process when it frees it: `Check failed:
 * jit_page_->allocations_.erase`, https://github.com/nodejs/node/issues/64500.
 */
const DATABASE_OPTIONS = ['--wasm-tiering-budget=100000000', '--no-wasm-code-gc'];
/**
 * A time limit that no test reaches on a busy machine. A test that needs less time names it, and waits for
 * events.
 */
const LIMIT_MS = 300_000;
const SHARED_POSTGRES = 'test/support/shared-postgres.ts';

// Workers and the processes that they start share compiled code.
process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, 'node_modules/.cache/faultline-compiled');

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // More than there are cores, because tests spend a quarter of their time waiting.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Node runs the source as it is; Vite transforms nothing.
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
          // A worker loads the program once, not once a file.
          isolate: false,
        },
      },
      {
        test: {
          name: 'integration',
          execArgv: JSON_IMPORTS.concat(DATABASE_OPTIONS),
          globalSetup: SHARED_POSTGRES,
          include: ['test/**/*.int.test.ts'],
          exclude: [...LONG, ...DATA, 'node_modules/**'],
          isolate: false,
          testTimeout: LIMIT_MS,
          hookTimeout: LIMIT_MS,
        },
      },
      {
        test: {
          name: 'long',
          execArgv: JSON_IMPORTS.concat(DATABASE_OPTIONS),
          globalSetup: SHARED_POSTGRES,
          include: LONG,
          testTimeout: LIMIT_MS,
          hookTimeout: LIMIT_MS,
        },
      },
    ],
  },
});
