import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Blame } from '../../../src/domain/experiment.ts';
import type { FailingTest } from '../../../src/domain/failure.ts';
import { bisect } from '../../../src/experiments/bisect.ts';
import { confirm } from '../../../src/experiments/confirm.ts';
import { outputReader } from '../../../src/experiments/outcome.ts';
import { tryFix } from '../../../src/experiments/try-fix.ts';
import { DatasetRow } from '../../../src/replay/cases/case.ts';

const never = new AbortController().signal;
const LIMIT_MS = 20 * 60_000;
const RUNS = 5;
const DAY_MS = 86_400_000;

type Files = Readonly<Record<string, string>>;

interface Project {
  readonly name: string;
  /** The programs that the project needs. Without one of them, it is skipped. */
  readonly needs?: readonly string[];
  /** True if packages of npm are installed once for all projects. */
  readonly packages?: boolean;
  readonly base: Files;
  readonly change: Files;
  readonly argv: readonly string[];
  readonly install?: readonly string[];
  readonly prepare?: (folder: string) => void;
  readonly tests?: readonly string[];
  /** The pattern that the sentence must match. */
  readonly expect: RegExp;
  /** The expected origin of the failure. This change if absent. */
  readonly blame?: Blame;
  readonly how?: (folder: string, project: Project, rows: DatasetRow[]) => Promise<string>;
}

const [RIGHT, WRONG] = ['exports.sum = (a, b) => a + b;\n', 'exports.sum = (a, b) => a - b;\n'];
const THIS_CHANGE = /^Fails 5 of 5 here, 0 of 5 on the base .*introduced by this change/;
const BOTH = /^Fails 5 of 5 here and 5 of 5 on the base .*not caused by this change/;
const nodeTest = (body: string) =>
  `require('node:test')('holds', () => { const assert = require('node:assert'); ${body} });\n`;
const bin = (name: string) => `node_modules/.bin/${name}`;
const GO = {
  'go.mod': 'module shop\n\ngo 1.20\n',
  'sum_test.go':
    'package shop\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Fatal("sum is wrong")\n\t}\n}\n',
};
const goSum = (sign: string) => `package shop\n\nfunc Sum(a, b int) int { return a ${sign} b }\n`;
const rust = (sign: string) =>
  `pub fn sum(a: i32, b: i32) -> i32 { a ${sign} b }\n#[test]\nfn adds() { assert_eq!(sum(2, 3), 5); }\n#[test]\nfn rests() {}\n`;
const java = (sign: string) =>
  `package shop;\npublic class Sum { public static int sum(int a, int b) { return a ${sign} b; } }\n`;
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin></plugins></build></project>\n`;
const JAVA_TEST = `package shop;\nimport org.junit.jupiter.api.Test;\nimport static org.junit.jupiter.api.Assertions.assertEquals;\nclass SumTest { @Test void adds() { assertEquals(5, Sum.sum(2, 3)); } @Test void rests() {} }\n`;
const VITEST = `import { expect, test } from 'vitest';\nimport sum from './sum.cjs';\ntest('adds', () => expect(sum.sum(2, 3)).toBe(5));\n`;

const PROJECTS: readonly Project[] = [
  {
    name: 'Vitest',
    packages: true,
    base: { 'sum.cjs': RIGHT, 'sum.test.mjs': VITEST },
    change: { 'sum.cjs': WRONG },
    argv: [bin('vitest'), 'run'],
    expect: THIS_CHANGE,
  },
  {
    name: 'Jest',
    packages: true,
    base: {
      'package.json': '{}',
      'sum.js': RIGHT,
      'sum.test.js': `test('adds', () => expect(require('./sum.js').sum(2, 3)).toBe(5));\ntest('rests', () => {});\n`,
    },
    change: { 'sum.js': WRONG },
    argv: [bin('jest')],
    expect: THIS_CHANGE,
  },
  {
    name: 'Mocha',
    packages: true,
    base: {
      'sum.js': RIGHT,
      'test/sum.js': `describe('sum', () => { it('adds', () => require('assert').equal(require('../sum.js').sum(2, 3), 5)); it('rests', () => {}); });\n`,
    },
    change: { 'sum.js': WRONG },
    argv: [bin('mocha')],
    expect: THIS_CHANGE,
  },
  {
    name: 'npm test',
    base: {
      'package.json': '{"scripts":{"test":"node --test"}}',
      'sum.js': RIGHT,
      'sum.test.js': nodeTest(`assert.equal(require('./sum.js').sum(2, 3), 5);`),
    },
    change: { 'sum.js': WRONG },
    argv: ['npm', 'test'],
    expect: THIS_CHANGE,
  },
  {
    name: 'pytest',
    needs: ['pytest'],
    base: {
      'shop.py': 'def total(a, b):\n    return a + b\n',
      'test_shop.py':
        'import shop\n\n\ndef test_total():\n    assert shop.total(2, 3) == 5\n\n\ndef test_rests():\n    pass\n',
    },
    change: { 'shop.py': 'def total(a, b):\n    return a - b\n' },
    argv: ['pytest', '-q'],
    expect: THIS_CHANGE,
  },
  {
    name: 'Go',
    needs: ['go'],
    base: { ...GO, 'sum.go': goSum('+') },
    change: { 'sum.go': goSum('-') },
    argv: ['go', 'test', './...'],
    expect: THIS_CHANGE,
  },
  {
    name: 'Cargo',
    needs: ['cargo'],
    base: {
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/lib.rs': rust('+'),
    },
    change: { 'src/lib.rs': rust('-') },
    argv: ['cargo', 'test'],
    expect: THIS_CHANGE,
  },
  {
    name: 'Maven',
    needs: ['mvn', 'javac'],
    base: {
      'pom.xml': POM,
      'src/main/java/shop/Sum.java': java('+'),
      'src/test/java/shop/SumTest.java': JAVA_TEST,
    },
    change: { 'src/main/java/shop/Sum.java': java('-') },
    argv: ['mvn', '-q', '-B', 'test'],
    expect: THIS_CHANGE,
  },
  {
    name: 'broken base',
    blame: 'not-this-change',
    needs: ['go'],
    base: { ...GO, 'sum.go': goSum('-') },
    change: { 'README.md': 'words\n' },
    argv: ['go', 'test', './...'],
    expect: BOTH,
  },
  {
    name: 'order-dependent',
    blame: 'not-this-change',
    needs: ['pytest'],
    base: {
      'test_lamp.py':
        'lamp = []\n\n\ndef test_sweeps():\n    pass\n\n\ndef test_lights():\n    lamp.append(1)\n\n\ndef test_rests():\n    pass\n\n\ndef test_dark():\n    assert lamp == []\n',
    },
    change: { 'README.md': 'words\n' },
    argv: ['pytest', '-q'],
    expect: /depends on other tests: fails 5 of 5 behind "test_lights", 0 of 5 alone/,
  },
  {
    name: 'time-dependent',
    blame: 'not-this-change',
    needs: ['faketime'],
    base: {
      'a.test.js': nodeTest(
        `assert.ok(Date.now() < ${Date.now() - 100 * DAY_MS}, 'the certificate has expired');`,
      ),
    },
    change: { 'README.md': 'words\n' },
    argv: ['node', '--test'],
    expect:
      /not caused by this change.* It depends on the time: fails 6 of 6 as it is, 0 of 6 with the clock at/,
  },
  {
    name: 'time zone',
    blame: 'not-this-change',
    base: { 'a.test.js': nodeTest(`assert.equal(new Date(1e12).getHours(), 15, 'another hour');`) },
    change: { 'README.md': 'words\n' },
    argv: ['env', 'sh', '-c', 'exec node --test'],
    expect: /It depends on the time zone: fails 6 of 6 as it is, 0 of 6 with TZ=/,
  },
  {
    name: 'seed-dependent',
    blame: 'flaky',
    needs: ['pytest'],
    base: { 'test_set.py': "def test_first():\n    assert next(iter({'ebb', 'flow'})) == 'ebb'\n" },
    change: { 'README.md': 'words\n' },
    argv: ['pytest', '-q'],
    expect:
      /flaky, in .*It depends on the seed: fails 6 of 6 with PYTHONHASHSEED=\d+, 0 of 6 with PYTHONHASHSEED=\d+/,
  },
  {
    name: 'network-dependent',
    blame: 'not-this-change',
    needs: ['pytest', 'unshare'],
    base: {
      'test_net.py':
        "import socket\n\n\ndef test_route():\n    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:\n        one.connect(('192.0.2.1', 9))\n",
    },
    change: { 'README.md': 'words\n' },
    argv: ['pytest', '-q'],
    tests: ['test_net.py', 'test_route'],
    expect:
      /^Passes .* not reproduced.* It depends on the network: fails 6 of 6 with the network off, 0 of 6 with the network on/,
  },
  {
    name: 'memory-dependent',
    base: {
      'a.test.js': nodeTest(
        'const all = []; for (let at = 0; at < 2; at += 1) all.push(Array.from({ length: 500_000 }, String));',
      ),
    },
    change: {
      'a.test.js': nodeTest(
        'const all = []; for (let at = 0; at < 40; at += 1) all.push(Array.from({ length: 500_000 }, String));',
      ),
    },
    argv: ['node', '--max-old-space-size=120', '--test'],
    expect: THIS_CHANGE,
  },
  {
    name: 'upgrade in the lock file',
    base: {},
    change: {},
    prepare: upgrade,
    argv: ['node', '--test'],
    install: ['npm', 'ci', '--offline', '--no-audit', '--no-fund'],
    expect: THIS_CHANGE,
  },
  {
    name: 'guilty among 30, 2 do not build',
    needs: ['go'],
    base: { ...GO, 'sum.go': goSum('+') },
    change: {},
    prepare: createThirtyCommits,
    argv: ['go', 'test', './...'],
    expect: /^Broken by \w{7} \(99.*confidence, \d+ runs\)/,
    how: findGuiltyCommit,
  },
  {
    name: 'fix: Prettier',
    packages: true,
    base: { 'a.js': 'const a = 1;\n' },
    change: { 'a.js': 'const   a=1\n' },
    argv: [bin('prettier'), '--check', '.'],
    expect: /^Fixed: fails 0 of 3 with it, 3 of 3 without it/,
    how: createFixer(),
  },
  {
    name: 'fix: diff',
    needs: ['go'],
    base: { ...GO, 'sum.go': goSum('+') },
    change: { 'sum.go': goSum('-') },
    argv: ['go', 'test', './...'],
    expect: /^Fixed: fails 0 of 3 with it/,
    how: createFixer(
      `--- a/sum.go\n+++ b/sum.go\n@@ -1,3 +1,3 @@\n package shop\n \n-func Sum(a, b int) int { return a - b }\n+func Sum(a, b int) int { return a + b }\n`,
    ),
  },
];

/**
 * Creates each project in a temporary folder and prints the results of its runs. Returns the number of wrong
 * ones. `cases` is a file for the confirmed ones, as cases of a replay.
 */
export async function benchProjects(only: string | undefined, cases: string | undefined): Promise<number> {
  const rows: DatasetRow[] = [];
  const chosen = PROJECTS.filter(({ name }) => only === undefined || name.includes(only));
  const packages = chosen.some(({ packages }) => packages === true) ? installPackages() : null;
  let wrong = 0;
  console.log('| project | right | seconds | what the runs say |\n|---|---|---|---|');
  for (const project of chosen) {
    const missing = project.needs?.find((program) => !isOnPath(program));
    if (missing !== undefined) {
      console.log(`| ${project.name} | – | – | not run: ${missing} is not installed |`);
      continue;
    }
    const startedAt = performance.now();
    const said = await tryProject(project, packages, rows).catch(
      (error: unknown) => `error: ${String(error)}`,
    );
    const isRight = project.expect.test(said);
    if (!isRight) wrong += 1;
    console.log(
      `| ${project.name} | ${isRight ? 'yes' : 'NO'} | ${Math.round((performance.now() - startedAt) / 1000)} | ${said.replaceAll('|', '\\|')} |`,
    );
  }
  if (packages !== null) rmSync(packages, { recursive: true, force: true });
  if (cases !== undefined) writeFileSync(cases, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return wrong;
}

async function tryProject(project: Project, packages: string | null, rows: DatasetRow[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-project-'));
  try {
    const ignored = ['node_modules', 'target', '__pycache__', '.pytest_cache', 'Cargo.lock'];
    runGit(folder, 'init', '--quiet', '--initial-branch=main');
    if (project.packages === true && packages !== null)
      symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'), 'dir');
    commit(
      folder,
      { '.gitignore': `${ignored.join('\n')}\n`, '.prettierignore': '.*\n', ...project.base },
      'works',
    );
    runGit(folder, 'checkout', '--quiet', '-b', 'work');
    if (Object.keys(project.change).length > 0) commit(folder, project.change, 'changes');
    project.prepare?.(folder);
    return await (project.how ?? createConfirmation)(folder, project, rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createConfirmation(
  cwd: string,
  { name, argv, install, tests = [], blame = 'this-change' }: Project,
  rows: DatasetRow[],
): Promise<string> {
  const known = tests.length === 0 ? [] : [createFailingTest(tests[0] ?? '', tests[1] ?? '')];
  const options = {
    argv,
    cwd,
    env: process.env,
    base: 'main',
    runs: RUNS,
    limitMs: LIMIT_MS,
    tests: known,
    conditions: true,
  };
  const reader = outputReader();
  let log: string | null = null;
  // Only failures are read from the output.
  const read = async (output: string) => {
    log ??= output;
    return await reader(output);
  };
  const experiment = await confirm(
    { ...options, ...(install === undefined ? {} : { install }) },
    { read },
    never,
  );
  const row = { id: name, project: name, log: log ?? '', blame, experiment };
  const elsewhere = JSON.stringify(row)
    .replaceAll(cwd, '/home/ada/shop')
    .replaceAll(process.execPath, '/usr/bin/node');
  rows.push(DatasetRow.parse(JSON.parse(elsewhere)));
  return [experiment.sentence, ...experiment.notes].join(' ');
}

async function findGuiltyCommit(cwd: string, { argv }: Project): Promise<string> {
  const options = {
    argv,
    cwd,
    env: process.env,
    good: 'main',
    bad: 'HEAD',
    runs: 3,
    limitMs: LIMIT_MS,
    tests: [],
    build: ['go', 'build', './...'],
  };
  const { sentence, skipped } = await bisect(options, { read: outputReader() }, never);
  return `${sentence} ${skipped.length} skipped.`;
}

function createFixer(diff?: string): NonNullable<Project['how']> {
  return async (cwd, { argv }) => {
    const proposals = diff === undefined ? [] : [{ source: 'a diff', diff }];
    const rules = diff === undefined ? (['format'] as const) : [];
    const options = { argv, cwd, env: process.env, tests: [], proposals, rules, check: null };
    const allowed = { tests: false, workflows: false };
    return (
      await tryFix({ ...options, allowed, runs: 3, limitMs: LIMIT_MS }, { read: outputReader() }, never)
    ).sentence;
  };
}

/**
 * Prepares a project whose dependency has a wrong new release, as a tarball next to it. Only the lock file
 * and the version change.
 */
function upgrade(folder: string): void {
  const pack = (version: string, code: string) => {
    const files = { 'package.json': JSON.stringify({ name: 'adder', version }), 'index.js': code };
    write(join(folder, 'adder'), files);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(folder, 'adder') });
    rmSync(join(folder, 'adder'), { recursive: true });
    write(folder, {
      'package.json': JSON.stringify({
        name: 'shop',
        version: '1.0.0',
        dependencies: { adder: `file:adder-${version}.tgz` },
      }),
    });
    execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund'], { cwd: folder });
  };
  pack('1.0.0', 'module.exports = (a, b) => a + b;\n');
  runGit(folder, 'checkout', '--quiet', 'main');
  commit(folder, { 'a.test.js': nodeTest(`assert.equal(require('adder')(2, 3), 5);`) }, 'uses a package');
  runGit(folder, 'checkout', '--quiet', '-B', 'work');
  pack('1.0.1', 'module.exports = (a, b) => a - b;\n');
  commit(folder, {}, 'upgrades it');
}

/** Creates thirty commits. Two do not build, and the nineteenth breaks the sum. */
function createThirtyCommits(folder: string): void {
  for (let at = 1; at <= 30; at += 1) {
    if (at === 19) commit(folder, { 'sum.go': goSum('-') }, 'turns the sum around', 'Bea');
    else if (at === 14 || at === 15)
      commit(folder, { 'extra.go': `package shop\n\nfunc broken${at}( {\n` }, 'does not build');
    else commit(folder, { 'extra.go': `package shop\n\nconst note${at} = ${at}\n` }, `note ${at}`);
  }
}

function installPackages(): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-packages-'));
  write(folder, { 'package.json': '{"private":true}' });
  execFileSync(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', 'jest@30', 'mocha@11', 'prettier@3', 'vitest@4'],
    { cwd: folder },
  );
  return folder;
}

function createFailingTest(file: string, name: string): FailingTest {
  return {
    framework: 'pytest',
    name,
    suite: null,
    file,
    line: null,
    message: null,
    expected: null,
    actual: null,
    at: null,
  };
}

function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function commit(folder: string, files: Files, message: string, author = 'Ada'): void {
  write(folder, files);
  runGit(folder, 'add', '--all');
  runGit(
    folder,
    '-c',
    `user.name=${author}`,
    '-c',
    'user.email=bench@example.test',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    message,
  );
}

function runGit(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
