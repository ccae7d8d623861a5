import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { doubtBisection } from '../../src/domain/impossible-runs.ts';
import { type BisectOptions, bisect } from '../../src/experiments/bisect.ts';
import { readMasked } from '../../src/service/triage/read-build.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

const never = new AbortController().signal;
const NODE_TEST = [process.execPath, '--test'];
const read = async (text: string) =>
  readMasked([{ name: 'output', kind: 'log', text, notes: [] }], { budgetTokens: 500, secrets: 0 });
const SUM_TEST = `const { test } = require('node:test');
test('adds', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));
test('is quiet', () => {});
`;
const RIGHT = 'exports.sum = (a, b) => a + b;\n';
const WRONG = 'exports.sum = (a, b) => a - b;\n';

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.remove());

/** Commits beside the matter, from and up to these numbers. */
const others = (from: number, to: number) => {
  for (let number = from; number <= to; number += 1)
    repository.commit({ 'notes.txt': `${number}` }, `note ${number}`);
};
const options = (good: string, changes: Partial<BisectOptions> = {}): BisectOptions => ({
  argv: NODE_TEST,
  cwd: repository.folder,
  env: process.env,
  good,
  bad: 'HEAD',
  runs: 3,
  limitMs: 120_000,
  tests: [],
  ...changes,
});
const worktrees = () => repository.git('worktree', 'list').split('\n').length;

describe('the commit that broke a command', () => {
  test('is found among 30, two of which do not build, by the failing test alone', async () => {
    const good = repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST, 'build.js': '' }, 'works');
    others(1, 13);
    repository.commit({ 'build.js': 'process.exit(1);' }, 'breaks the build');
    others(15, 15);
    repository.commit({ 'build.js': '' }, 'mends the build');
    others(17, 18);
    const guilty = repository.commit({ 'sum.js': WRONG }, 'turns the sum around', 'Bea');
    others(20, 30);
    const found = await bisect(options(good, { build: [process.execPath, 'build.js'] }), { read }, never);
    expect(found).toMatchObject({
      verdict: 'found',
      commits: 30,
      tests: ['adds'],
      notes: [],
      candidates: [{ commit: guilty, author: 'Bea', subject: 'turns the sum around' }],
      skipped: expect.arrayContaining([
        { commit: expect.any(String), at: 14, why: expect.stringContaining('build.js fails there') },
      ]),
    });
    expect(found.narrowed).toContain('--test-name-pattern=^adds$');
    expect(found.confidence).toBeGreaterThan(0.99);
    expect(found.sentence).toMatch(
      new RegExp(`^Broken by ${guilty.slice(0, 7)} \\(99.*% confidence, \\d+ runs\\)\\.$`),
    );
    expect(doubtBisection(found)).toEqual([]);
    expect(found.tried.reduce((runs, { passed, failed }) => runs + passed + failed, 0)).toBeLessThan(20);
    expect(worktrees()).toBe(1);
  });

  test('is found with more runs if a test fails in only three of four', async () => {
    const counter = JSON.stringify(join(repository.folder, '.git', 'count'));
    const odd = `const fs = require('node:fs'); fs.appendFileSync(${counter}, 'x'); const n = fs.readFileSync(${counter}).length;
      if (n % 4 !== 2) { console.error('error: the tide table is empty'); process.exit(1); }`;
    const good = repository.commit({ 'check.js': '' }, 'works');
    others(1, 5);
    const guilty = repository.commit({ 'check.js': odd }, 'reads the tide');
    others(7, 12);
    const found = await bisect(options(good, { argv: [process.execPath, 'check.js'] }), { read }, never);
    expect(found).toMatchObject({ verdict: 'found', candidates: [{ commit: guilty }] });
    expect(doubtBisection(found)).toEqual([]);
  });

  test('is found by several machines, each of which tries its share of the commits', async () => {
    const good = repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    others(1, 2);
    const guilty = repository.commit({ 'sum.js': WRONG }, 'turns the sum around');
    others(4, 4);
    const parts = [];
    for (const part of [1, 2])
      parts.push(await bisect(options(good, { only: { part, of: 2 } }), { read }, never));
    expect(parts.map(({ verdict, tried }) => [verdict, tried.length])).toEqual([
      ['part', 3],
      ['part', 3],
    ]);
    expect(parts[0]?.sentence).toBe('Tried 3 of 5 commits in 9 runs; add the others with --results.');
    let runs = 0;
    const found = await bisect(options(good, { results: parts }), { read, onRun: () => (runs += 1) }, never);
    expect([...parts, found].flatMap(doubtBisection)).toEqual([]);
    expect(found).toMatchObject({ verdict: 'found', candidates: [{ commit: guilty }], tests: ['adds'] });
    expect(runs).toBe(0);
    const rest = await bisect(options(good, { results: parts.slice(0, 1) }), { read }, never);
    expect(rest).toMatchObject({ verdict: 'found', candidates: [{ commit: guilty }] });
  });

  test('is narrowed to a few if the command skips those between with exit code 125', async () => {
    const good = repository.commit({ 'check.js': '' }, 'works');
    const first = repository.commit({ 'check.js': 'process.exit(125);' }, 'cannot be tried');
    const second = repository.commit(
      { 'check.js': `console.error('error: the tide table is empty'); process.exit(1);` },
      'fails',
    );
    const found = await bisect(options(good, { argv: [process.execPath, 'check.js'] }), { read }, never);
    expect(found).toMatchObject({ verdict: 'one-of', candidates: [{ commit: first }, { commit: second }] });
    expect(doubtBisection(found)).toEqual([]);
    expect(found.skipped).toEqual([{ commit: first, at: 1, why: 'the command ended with exit code 125' }]);
  });

  test('is older than a commit at which the command fails as well', async () => {
    const good = repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'never worked');
    others(1, 3);
    expect(await bisect(options(good), { read }, never)).toMatchObject({
      verdict: 'before',
      candidates: [],
      sentence: expect.stringContaining('--good'),
    });
  });

  test('is not searched for if nothing fails, and a search without commits is refused', async () => {
    const good = repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    others(1, 2);
    expect(await bisect(options(good), { read }, never)).toMatchObject({
      verdict: 'not-reproduced',
      sentence: expect.stringMatching(/^Passes 3 of 3 at the bad commit/),
    });
    await expect(bisect(options('HEAD'), { read }, never)).rejects.toMatchObject({
      message: expect.stringContaining('fetch --unshallow'),
    });
    await expect(bisect(options('--output=x'), { read }, never)).rejects.toMatchObject({
      code: 'invalid-input',
    });
  });

  test('is a merge, with advice on searching its second parent', async () => {
    const good = repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    repository.git('checkout', '-q', '-b', 'work');
    const side = repository.commit({ 'sum.js': WRONG }, 'turns the sum around');
    repository.git('checkout', '-q', 'main');
    others(1, 1);
    repository.git('-c', 'user.name=Ada', 'merge', '-q', '--no-ff', '-m', 'merge work', 'work');
    const merge = repository.git('rev-parse', 'HEAD');
    others(2, 2);
    const found = await bisect(options(good), { read }, never);
    expect(found).toMatchObject({
      verdict: 'found',
      candidates: [{ commit: merge }],
      notes: [expect.stringContaining(`--bad ${side.slice(0, 9)}`)],
    });
  });

  test('is not searched for after an abort, which leaves no worktree', async () => {
    const good = repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    others(1, 3);
    repository.commit({ 'sum.js': WRONG }, 'turns the sum around');
    const temporary = mkdtempSync(join(tmpdir(), 'faultline-own-'));
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(temporary, { recursive: true });
    });
    const stop = new AbortController();
    await expect(bisect(options(good), { read, onRun: () => stop.abort() }, stop.signal)).rejects.toThrow();
    expect(worktrees()).toBe(1);
    expect(readdirSync(temporary).filter((name) => name.startsWith('faultline-base-'))).toEqual([]);
  });
});
