import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FixTrial } from '../../src/domain/experiment.ts';
import { refuseChanges, refuseFix } from '../../src/domain/fix-refusals.ts';
import { findDiff } from '../../src/experiments/fix-diff.ts';
import { type FixOptions, tryFix } from '../../src/experiments/try-fix.ts';
import { readMasked } from '../../src/service/triage/read-build.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

const never = new AbortController().signal;
const NODE_TEST = [process.execPath, '--test'];
const read = async (text: string) =>
  readMasked([{ name: 'output', kind: 'log', text, notes: [] }], { budgetTokens: 500, secrets: 0 });
const HEAD = `const { test } = require('node:test');\nconst assert = require('node:assert');\n`;
const SUM_TEST = `${HEAD}test('adds', () => assert.equal(require('./sum.js').sum(2, 3), 5));\ntest('takes away', () => assert.equal(require('./sum.js').sum(2, -3), -1));\n`;
const WRONG = 'exports.sum = (a, b) => a - b;\n';
const createDiff = (path: string, from: string, to: string) =>
  `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}+${to}`;
const RIGHT_DIFF = createDiff('sum.js', WRONG, 'exports.sum = (a, b) => a + b;\n');

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.remove());

const tryIt = (
  diffs: readonly string[],
  changes: Partial<FixOptions> = {},
  signal = never,
): Promise<FixTrial> =>
  tryFix(
    {
      argv: NODE_TEST,
      cwd: repository.folder,
      env: process.env,
      tests: [],
      rules: [],
      check: null,
      runs: 3,
      limitMs: 120_000,
      proposals: diffs.map((diff, at) => ({ source: `fix ${at + 1}`, diff })),
      allowed: { tests: false, workflows: false },
      ...changes,
    },
    { read },
    signal,
  );
const worktrees = () => repository.git('worktree', 'list').split('\n').length;
const state = () => [
  repository.git('rev-parse', 'HEAD'),
  repository.git('status', '--porcelain'),
  repository.git('branch', '--list'),
];

describe('a proposed change', () => {
  test('that fixes the failing tests and breaks nothing is reported with counts and a local branch, and the checkout is unchanged', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'broken');
    const before = state();
    const found = await tryIt([RIGHT_DIFF], { branch: 'fix/sum' });
    expect(found).toMatchObject({
      verdict: 'fixed',
      before: { failed: 3, passed: 0 },
      branch: 'fix/sum',
      tests: ['adds', 'takes away'],
      attempts: [
        { verdict: 'fixed', files: ['sum.js'], added: 1, deleted: 1, passed: 3, failed: 0, broke: [] },
      ],
      sentence: 'Fixed: fails 0 of 3 with it, 3 of 3 without it, and the wider check passes.',
    });
    expect(refuseFix(found.attempts[0]?.diff ?? '', { tests: false, workflows: false })).toEqual([]);
    expect([found.before.exitCodes, found.attempts[0]?.exitCodes, found.attempts[0]?.checkExitCodes]).toEqual(
      [[1, 1, 1], [0, 0, 0], [0]],
    );
    expect(found.attempts[0]?.diff).toContain('+exports.sum = (a, b) => a + b;');
    expect(repository.git('show', 'fix/sum:sum.js')).toContain('a + b');
    expect(repository.git('rev-parse', 'fix/sum^')).toBe(before[0]);
    repository.git('branch', '-D', 'fix/sum');
    expect(state()).toEqual(before);
    expect(worktrees()).toBe(1);
  });

  test('that does not fix it, does not apply, or changes nothing is reported, and the next one is tried', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'broken');
    const found = await tryIt([
      createDiff('sum.js', WRONG, 'exports.sum = (a, b) => a * b;\n'),
      createDiff('sum.js', 'exports.other = 1;\n', 'exports.sum = 1;\n'),
      RIGHT_DIFF,
      RIGHT_DIFF,
    ]);
    expect(
      found.attempts.map(({ source, verdict, sentence, refused }) => [source, verdict, refused ?? sentence]),
    ).toEqual([
      ['fix 1', 'not-fixed', 'Fails 1 of 1 with it, 3 of 3 without it, so it does not fix it.'],
      ['fix 2', 'refused', expect.stringMatching(/^it does not apply: .*sum\.js/)],
      ['fix 3', 'fixed', expect.stringContaining('Fails 0 of 3 with it')],
    ]);
  });

  test('that fixes one test and breaks another is reported with the broken test', async () => {
    const tests = `${HEAD}test('adds', () => assert.equal(require('./sum.js').sum(2, 3), 5));\ntest('is a number', () => assert.equal(typeof require('./sum.js').sum(2, 4), 'number'));\n`;
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': tests }, 'broken');
    const found = await tryIt([
      createDiff('sum.js', WRONG, `exports.sum = (a, b) => (b === 3 ? 5 : 'many');\n`),
    ]);
    expect(found).toMatchObject({
      verdict: 'not-fixed',
      attempts: [{ verdict: 'breaks', passed: 3, broke: ['is a number'] }],
    });
    expect(found.attempts[0]?.sentence).toBe(
      'Fails 0 of 3 with it, 3 of 3 without it, but it breaks 1 other test or check.',
    );
  });

  test('is not blamed for earlier failures in the wider check', async () => {
    repository.commit(
      {
        'sum.js': WRONG,
        'sum.test.js': SUM_TEST,
        'check.js': `console.error('error: no such harbour'); process.exit(1);`,
      },
      'two',
    );
    const found = await tryIt([RIGHT_DIFF], { check: [process.execPath, 'check.js'] });
    expect(found).toMatchObject({
      verdict: 'fixed',
      sentence: expect.stringContaining('the wider check fails as before'),
    });
    const other = await tryIt([RIGHT_DIFF], {
      check: [process.execPath, '-e', `require('./sum.js').sum(1, 1) === 2 && process.exit(4)`],
    });
    expect(other).toMatchObject({ verdict: 'not-fixed', attempts: [{ verdict: 'breaks' }] });
  });

  test('is tried with the wrapper that disables the network for the command and the check', async () => {
    const check = `if (process.env.TIDE !== 'low' || require('./sum.js').sum(2, 3) !== 5) { console.error('error: wrong sum'); process.exit(1); }\n`;
    repository.commit({ 'sum.js': WRONG, 'check.js': check }, 'broken');
    const argv = [process.execPath, 'check.js'];
    expect((await tryIt([RIGHT_DIFF], { argv, within: ['env', 'TIDE=low'] })).verdict).toBe('fixed');
    expect((await tryIt([RIGHT_DIFF], { argv })).verdict).toBe('not-fixed');
  });

  test('is tried with uncommitted changes, without a branch', async () => {
    repository.commit({ 'sum.js': 'exports.sum = (a, b) => a + b;\n', 'sum.test.js': SUM_TEST }, 'works');
    writeFileSync(join(repository.folder, 'sum.js'), WRONG);
    expect(await tryIt([RIGHT_DIFF])).toMatchObject({
      verdict: 'fixed',
      notes: [expect.stringContaining('uncommitted')],
    });
    expect(readFileSync(join(repository.folder, 'sum.js'), 'utf8')).toBe(WRONG);
    await expect(tryIt([RIGHT_DIFF], { branch: 'fix' })).rejects.toThrow(
      'Commit or stash your changes first',
    );
  });

  test('proves nothing if the command passes or fails at random without it', async () => {
    repository.commit({ 'sum.js': 'exports.sum = (a, b) => a + b;\n', 'sum.test.js': SUM_TEST }, 'works');
    expect(await tryIt([RIGHT_DIFF])).toMatchObject({ verdict: 'not-reproduced', attempts: [] });
    const counter = JSON.stringify(join(repository.folder, '.git', 'count'));
    const odd = `const fs = require('node:fs'); fs.appendFileSync(${counter}, 'x'); if (fs.readFileSync(${counter}).length % 5 === 1) { console.error('error: low tide'); process.exit(1); }\n`;
    repository.commit({ 'odd.js': odd, 'note.txt': 'low\n' }, 'odd');
    const flaky = await tryIt([createDiff('note.txt', 'low\n', 'high\n')], {
      argv: [process.execPath, 'odd.js'],
      runs: 2,
    });
    expect(flaky).toMatchObject({ verdict: 'not-fixed', attempts: [{ verdict: 'inconclusive' }] });
  });

  test('cannot write outside of the worktree, and its branch must be new and have a name', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'broken');
    const link = `diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n`;
    const through = `${link}diff --git a/link/x b/link/x\nnew file mode 100644\n--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+x\n`;
    const made = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
    const module = `diff --git a/lib b/lib\nnew file mode 160000\n--- /dev/null\n+++ b/lib\n@@ -0,0 +1 @@\n+Subproject commit ${'1'.repeat(40)}\n`;
    const outside = join(tmpdir(), 'faultline-escaped');
    const diffs = [
      link,
      through,
      made('../../escaped'),

      made('.git/hooks/post-checkout'),
      module,
    ];
    const more = [
      made('.env'),
      made('deploy/id_rsa'),
      made('.github/workflows/ci.yml'),
      made('test/sum.js'),
      made('a.snap'),
    ];
    const found = await tryIt([...diffs, ...more]);
    expect(found.attempts.map(({ verdict }) => verdict)).toEqual([...diffs, ...more].map(() => 'refused'));
    expect(found.attempts.map(({ refused }) => refused).slice(5)).toEqual([
      '.env may hold secrets',
      'deploy/id_rsa may hold secrets',
      expect.stringContaining('--allow-workflows'),
      expect.stringContaining('--allow-tests'),
      expect.stringContaining('--allow-tests'),
    ]);
    // Its path is taken to begin in the repository.
    expect(await tryIt([made(outside).replace('b/', '/')])).toMatchObject({ verdict: 'not-fixed' });
    expect([existsSync(outside), existsSync(join(repository.folder, '.git/hooks/post-checkout'))]).toEqual([
      false,
      false,
    ]);
    repository.git('branch', 'taken');
    await expect(tryIt([RIGHT_DIFF], { branch: 'taken' })).rejects.toThrow('There is a branch taken already');
    await expect(tryIt([RIGHT_DIFF], { branch: '--force' })).rejects.toThrow('is no name for a branch');
  });

  test('is abandoned at once on abort, and no worktree remains', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'broken');
    // Of this test alone: others make worktrees at the same time.
    const own = mkdtempSync(join(tmpdir(), 'faultline-own-'));
    vi.stubEnv('TMPDIR', own);
    const stop = new AbortController();
    const options = {
      argv: NODE_TEST,
      cwd: repository.folder,
      env: process.env,
      tests: [],
      rules: [],
      check: null,
      runs: 3,
      limitMs: 120_000,
    };
    const fix = {
      proposals: [{ source: 'fix', diff: RIGHT_DIFF }],
      allowed: { tests: false, workflows: false },
    };
    const onRun = (source: string | null) => (source === null ? undefined : stop.abort());
    await expect(tryFix({ ...options, ...fix }, { read, onRun }, stop.signal)).rejects.toThrow();
    const part = await tryFix(
      { ...options, ...fix, keepsPart: true },
      { read, onRun },
      new AbortController().signal,
    );
    expect(part.verdict).toBe('fixed');
    expect(worktrees()).toBe(1);
    expect(readdirSync(own).filter((name) => name.startsWith('faultline-'))).toEqual([]);
    vi.unstubAllEnvs();
    rmSync(own, { recursive: true });
  });
});

describe('a fix by rule', () => {
  /** Programs of a project that represent those of an npm package. */
  const installed = (name: string, script: string) => {
    mkdirSync(join(repository.folder, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(repository.folder, 'node_modules/.bin', name), `#!${process.execPath}\n${script}`, {
      mode: 0o755,
    });
  };

  test('runs the formatter of the project, which changes only tracked files', async () => {
    const check = `const { readFileSync } = require('node:fs'); if (/ $/m.test(readFileSync('sum.js', 'utf8'))) { console.error('error: sum.js is not formatted'); process.exit(1); }`;
    repository.commit(
      { 'sum.js': 'exports.sum = 1; \n', 'check.js': check, '.gitignore': 'node_modules\n' },
      'broken',
    );
    installed(
      'prettier',
      `const fs = require('node:fs'); fs.writeFileSync('sum.js', 'exports.sum = 1;\\n'); fs.writeFileSync('junk', '');`,
    );
    const found = await tryIt([], {
      argv: [process.execPath, 'check.js'],
      rules: ['format', 'lint', 'lock', 'snapshot'],
    });
    expect(found).toMatchObject({
      verdict: 'fixed',
      attempts: [
        {
          source: expect.stringMatching(/^format: node_modules\/\.bin\/prettier --write/),
          files: ['sum.js'],
        },
      ],
    });
  });

  test('updates snapshots only if that is allowed', async () => {
    const snapshot =
      '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`adds 1`] = `6`;\n';
    const source = `import { expect, test } from 'vitest';\ntest('adds', () => { expect(2 + 3).toMatchSnapshot(); });\n`;
    symlinkSync(join(process.cwd(), 'node_modules'), join(repository.folder, 'node_modules'), 'dir');
    repository.commit(
      { '.gitignore': 'node_modules', 'sum.test.js': source, '__snapshots__/sum.test.js.snap': snapshot },
      'old snapshot',
    );
    const argv = [join(process.cwd(), 'node_modules/.bin/vitest'), 'run', 'sum.test.js'];
    expect((await tryIt([], { argv, rules: ['snapshot'] })).attempts).toMatchObject([
      { verdict: 'refused', refused: expect.stringContaining('--allow-tests') },
    ]);
    const allowed = { tests: true, workflows: false };
    expect(await tryIt([], { argv, rules: ['snapshot'], allowed })).toMatchObject({
      verdict: 'fixed',
      attempts: [{ files: ['__snapshots__/sum.test.js.snap'] }],
    });
  });
});

describe('a diff', () => {
  test('is found in an answer and in the output of git', () => {
    const said = `Turn the sum around.\n\nNot tried:\n\n\`\`\`diff\n${RIGHT_DIFF}\`\`\`\nThen run the tests.`;
    expect(findDiff(said)).toBe(RIGHT_DIFF);
    expect(findDiff(`diff --git a/a b/a\n${RIGHT_DIFF}`)).toBe(`diff --git a/a b/a\n${RIGHT_DIFF}`);
    expect(findDiff('Turn --- the sum around.')).toBeNull();
  });

  const change = (path: string, added = 1) => ({
    path,
    modes: ['100644', '100644'],
    added,
    deleted: 0,
    diff: '',
  });
  const nothing = { tests: false, workflows: false };
  test.each([
    ['src/edit.ts', null],
    ['src/latest/index.ts', null],
    ['.env.example', null],
    ['package-lock.json', null],
    ['src/contest.ts', null],
    ['.env.production', 'secrets'],
    ['config/secrets.yml', 'secrets'],
    ['.npmrc', 'secrets'],
    ['tls/server.key', 'secrets'],
    ['.gitlab-ci.yml', 'workflows'],
    ['ci/Jenkinsfile', 'workflows'],
    ['.gitea/workflows/ci.yaml', 'workflows'],
    ['.husky/pre-commit', 'workflows'],
    ['src/sum.test.ts', 'tests'],
    ['sum_test.go', 'tests'],
    ['tests/test_sum.py', 'tests'],
    ['src/SumTest.java', 'tests'],
    ['vitest.config.ts', 'tests'],
    ['src/__snapshots__/a.snap', 'tests'],
    ['.gitmodules', 'submodule'],
  ])('of %s is tried or not: %s', (path, why) => {
    expect(refuseChanges([change(path)], nothing)).toEqual(
      why === null ? [] : [expect.stringContaining(why)],
    );
    const isAskedFor = why === 'tests' || why === 'workflows' || why === null;
    expect(refuseChanges([change(path)], { tests: true, workflows: true })).toHaveLength(isAskedFor ? 0 : 1);
  });

  test('of many lines or files is not tried, except for lock files', () => {
    expect(refuseChanges([change('a.ts', 600)], nothing)).toEqual(['it changes 600 lines, more than 500']);
    expect(refuseChanges([change('web/yarn.lock', 6000)], nothing)).toEqual([]);
    const many = Array.from({ length: 31 }, (_, at) => change(`${at}.ts`));
    expect(refuseChanges(many, nothing)).toEqual(['it changes 31 files, more than 30']);
    expect(refuseChanges([], nothing)).toEqual(['it changes nothing']);
  });
});
