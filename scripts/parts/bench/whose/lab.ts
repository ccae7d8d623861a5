import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AWAY } from '../outside-address.ts';
import { createRepository } from '../planted/history.ts';
import { JAVASCRIPT_PROGRAMS } from '../planted/javascript-programs.ts';
import { create, type Edit, PLANTS, type Plant, type Program } from '../planted/program.ts';
import { PYTHON_PROGRAMS } from '../planted/python-programs.ts';

/** A real run of a program's job at a commit. */
export interface Run {
  readonly commit: string;
  readonly status: 'passed' | 'failed';
  readonly log: string;
  /** The JUnit XML report. Null if the job failed before its tests. */
  readonly report: string | null;
}

/** A real repository whose commits were all run. */
export interface Lab {
  readonly name: string;
  readonly folder: string;
  /** Passing runs of the default branch, oldest first. */
  readonly greens: readonly Run[];
  /** Runs of the default branch in which the flaky test fails and passes at one commit each. */
  readonly flakes: readonly { readonly red: Run; readonly green: Run }[];
  /** Changes that break nothing: passing, with the flaky test failing, and without the registry. */
  readonly harmless: readonly {
    readonly green: Run;
    readonly flaked: Run;
    readonly away: Run;
    readonly refused: Run;
  }[];
  /**
   * The change of each fault, and a harmless change on top of it, for the time when the fault is on the
   * default branch.
   */
  readonly faults: readonly { readonly plant: Plant; readonly run: Run; readonly beneath: Run }[];
  /** A change that makes the flaky test fail always, with the same message. */
  readonly breaksFlaky: Run;
  /** A change to a registry that does not answer. */
  readonly breaksRegistry: Run;
  /** Changes that add a test of their own: a wrong one, and one that is flaky from the first run on. */
  readonly newTest: { readonly wrong: Run; readonly flaked: Run; readonly passed: Run };
}

export const PROGRAMS = [...JAVASCRIPT_PROGRAMS, ...PYTHON_PROGRAMS];
const [GREENS, FLAKES, HARMLESS] = [10, 3, 3];
const WAITS = 'the worker did not answer within 200 ms';

/** Creates and runs the first repositories below a folder. */
export function openLabs(parent: string, most: number): Lab[] {
  return PROGRAMS.slice(0, most).map((program) => openLab(parent, program));
}

function openLab(parent: string, program: Program): Lab {
  const folder = mkdtempSync(join(parent, 'lab-'));
  const repository = createRepository(folder);
  const isPython = program.language === 'Python';
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  const commit = (author: string, message: string, edits: readonly Edit[]) =>
    repository.commit({ author, message, edits });
  for (const plannedCommit of program.founding.concat(program.harmless)) repository.commit(plannedCommit);
  commit('Ada Brook', 'Test the worker', isPython ? PYTHON_FLAKY : JAVASCRIPT_FLAKY);
  const run = (id: string, more: Readonly<Record<string, string>> = {}) => runJob(folder, program, id, more);
  const greens = Array.from({ length: GREENS }, (_, at) =>
    run(commit('Ines Vale', `Note ${at}`, [create(`notes/${at}.md`, `Note ${at}.`)])),
  );
  const flakes = Array.from({ length: FLAKES }, (_, at) => {
    const id = commit('Hugo Tan', `Remark ${at}`, [create(`notes/remark-${at}.md`, `Remark ${at}.`)]);
    return { red: run(id, { WORKER: 'slow' }), green: run(id) };
  });
  const onBranch = <Value>(name: string, from: string, make: () => Value): Value => {
    git('checkout', '--quiet', '-b', name, from);
    const made = make();
    git('checkout', '--quiet', 'main');
    return made;
  };
  const helper = (at: number) =>
    isPython
      ? create(`helpers_${at}.py`, `def helper_${at}():`, `    return ${at}`)
      : create(`src/helper-${at}.js`, `export const helper${at} = ${at};`);
  const harmless = Array.from({ length: HARMLESS }, (_, at) =>
    onBranch(`harmless-${at}`, 'main', () => {
      const id = commit('Mia Berg', `Add helper ${at}`, [helper(at)]);
      return {
        green: run(id),
        flaked: run(id, { WORKER: 'slow' }),
        away: run(id, { REGISTRY: `http://${AWAY}` }),
        refused: run(id, { REGISTRY: 'http://registry.planted.test' }),
      };
    }),
  );
  const faults = PLANTS.map((plant, at) =>
    onBranch(`fault-${at}`, 'main', () => {
      const broken = run(repository.commit(program.plants[plant]));
      const beneath = run(commit('Mia Berg', 'Add a helper', [helper(10 + at)]));
      return { plant, run: broken, beneath };
    }),
  );
  const change = (name: string, edits: readonly Edit[]) =>
    onBranch(name, 'main', () => commit('Mia Berg', name, edits));
  const slow = isPython
    ? { path: 'worker.py', from: 'DELAY = 0', to: 'DELAY = 1' }
    : { path: 'src/worker.js', from: 'delay = 0', to: 'delay = 1' };
  const own = change('new-flaky', isPython ? PYTHON_NEW_FLAKY : JAVASCRIPT_NEW_FLAKY);
  return {
    name: program.name,
    folder,
    greens,
    flakes,
    harmless,
    faults,
    breaksFlaky: run(change('slow-worker', [slow])),
    breaksRegistry: run(change('registry', [create('.registry', `http://${AWAY}`)])),
    newTest: {
      wrong: run(change('new-test', isPython ? PYTHON_NEW : JAVASCRIPT_NEW)),
      flaked: run(own, { CLOCK: 'late' }),
      passed: run(own),
    },
  };
}

/**
 * Runs the steps of the workflow, installs and tests at a commit, as a CI job does, and returns the output.
 */
export function runJob(
  folder: string,
  { test }: Program,
  commit: string,
  more: Readonly<Record<string, string>>,
): Run {
  execFileSync('git', ['checkout', '--quiet', commit], { cwd: folder, stdio: 'pipe' });
  const out = mkdtempSync(join(folder, '..', 'report-'));
  mkdirSync(out, { recursive: true });
  const report = join(out, 'junit.xml');
  const [program = '', ...args] = test;
  const reporters = test.includes('pytest')
    ? [`--junitxml=${report}`]
    : ['spec', 'junit'].flatMap((name) => [
        `--test-reporter=${name}`,
        `--test-reporter-destination=${name === 'spec' ? 'stdout' : report}`,
      ]);
  const registry = more.REGISTRY ?? readText(join(folder, '.registry'));
  const workflow = readText(join(folder, WORKFLOW)) ?? '';
  const env = {
    ...process.env,
    ...readEnvironment(workflow),
    ...more,
    CI: 'true',
    NO_COLOR: '1',
    FORCE_COLOR: '0',
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const options = { cwd: folder, encoding: 'utf8', timeout: 120_000, env } as const;
  try {
    if (registry !== null) {
      const install = [
        'install',
        '--no-audit',
        '--fetch-retries=0',
        `--registry=${registry}`,
        'left-pad@1.3.0',
      ];
      const { stdout, stderr, status } = spawnSync('npm', [...install, '--prefix', out], options);
      if (status === 0) throw new Error(`${registry} answered`);
      const printed = `$ npm ${install.join(' ')}\n${stdout}${stderr}`.replaceAll(out, '/home/runner');
      return { commit, status: 'failed', log: `${printed}\n${formatEnd(status)}`, report: null };
    }
    for (const step of workflow.matchAll(/^ *- run: (.*)$/gm)) {
      const { stdout, stderr, status } = spawnSync('sh', ['-c', step[1] ?? ''], options);
      const printed = `$ ${step[1]}\n${stdout}${stderr}`.replaceAll(folder, '/home/runner/work');
      if (status !== 0)
        return { commit, status: 'failed', log: `${printed}\n${formatEnd(status)}`, report: null };
    }
    const { stdout, stderr, status, error } = spawnSync(program, [...args, ...reporters], options);
    if (error !== undefined) throw new Error(`${program} did not run`, { cause: error });
    const log = `$ ${['test', ...args].join(' ')}\n${stdout}${stderr}`.replaceAll(
      folder,
      '/home/runner/work',
    );
    return {
      commit,
      status: status === 0 ? 'passed' : 'failed',
      log: status === 0 ? log : `${log}\n${formatEnd(status)}`,
      report: readText(report)?.replaceAll(folder, '/home/runner/work') ?? null,
    };
  } finally {
    rmSync(out, { recursive: true, force: true });
    execFileSync('git', ['checkout', '--quiet', '-'], { cwd: folder, stdio: 'pipe' });
  }
}

export const WORKFLOW = '.github/workflows/ci.yml';

/** Reads the variables that a workflow sets: those with names in capitals. */
function readEnvironment(workflow: string): Record<string, string> {
  const lines = workflow.matchAll(/^ +([A-Z][A-Z_]+): (.*)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

function formatEnd(status: number | null): string {
  return `##[error]Process completed with exit code ${status}.\n`;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

export const JAVASCRIPT_FLAKY = [
  create(
    'src/worker.js',
    'const delay = 0;',
    '',
    'export function askWorker() {',
    "  return delay > 0 || process.env.WORKER === 'slow' ? null : 'done';",
    '}',
  ),
  create(
    'test/worker.test.js',
    "import { test } from 'node:test';",
    "import { askWorker } from '../src/worker.js';",
    '',
    "test('the worker answers', () => {",
    `  if (askWorker() === null) throw new Error('${WAITS}');`,
    '});',
  ),
];
export const PYTHON_FLAKY = [
  create(
    'worker.py',
    'import os',
    '',
    'DELAY = 0',
    '',
    '',
    'def ask_worker():',
    "    return None if DELAY or os.environ.get('WORKER') == 'slow' else 'done'",
  ),
  create(
    'tests/test_worker.py',
    'from worker import ask_worker',
    '',
    '',
    'def test_the_worker_answers():',
    '    if ask_worker() is None:',
    `        raise RuntimeError('${WAITS}')`,
  ),
];
export const JAVASCRIPT_NEW = [
  create(
    'test/sum.test.js',
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    '',
    "test('adds up the prices', () => {",
    '  assert.equal([3, 4, 5].reduce((sum, one) => sum + one), 13);',
    '});',
  ),
];
export const PYTHON_NEW = [
  create('tests/test_sum.py', 'def test_adds_up_the_prices():', '    assert sum([3, 4, 5]) == 13'),
];
const JAVASCRIPT_NEW_FLAKY = [
  create(
    'test/clock.test.js',
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    '',
    "test('ends before the clock', () => {",
    "  assert.equal(process.env.CLOCK ?? 'early', 'early');",
    '});',
  ),
];
const PYTHON_NEW_FLAKY = [
  create(
    'tests/test_clock.py',
    'import os',
    '',
    '',
    'def test_ends_before_the_clock():',
    "    assert os.environ.get('CLOCK', 'early') == 'early'",
  ),
];
