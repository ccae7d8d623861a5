import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Experiment } from '../../src/domain/experiment.ts';
import { bisect } from '../../src/experiments/bisect.ts';
import { confirm } from '../../src/experiments/confirm.ts';
import { outputReader } from '../../src/experiments/outcome.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { THOROUGH } from '../support/thorough.ts';

const never = new AbortController().signal;

let repository: GitRepository;
let outside: string;
beforeEach(() => {
  repository = createGitRepository();
  outside = mkdtempSync(join(tmpdir(), 'faultline-counted-'));
});
afterEach(() => {
  repository.remove();
  rmSync(outside, { recursive: true });
});

const confirmed = (argv: readonly string[]): Promise<Experiment> =>
  confirm(
    {
      argv,
      cwd: repository.folder,
      env: process.env,
      base: undefined,
      runs: 3,
      limitMs: 100_000,
      tests: [],
      conditions: false,
    },
    { read: outputReader() },
    never,
  );

const GO = { 'go.mod': 'module shop\n\ngo 1.20\n' };
/** A package that notes each real execution, and fails without a test by which it could be selected. */
const goTest = (code: number) => `package shop

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	noted, _ := os.OpenFile(${JSON.stringify(join(outside, 'executions'))}, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	noted.WriteString("x")
	noted.Close()
	os.Exit(m.Run() + ${code})
}

func TestQuiet(t *testing.T) {}
`;
const executions = () => readFileSync(join(outside, 'executions'), 'utf8').length;
const counted = ({ arms }: Experiment) =>
  arms.reduce((sum, { passed, failed, other }) => sum + passed + failed + other, 0);

describe('a command whose tool has a cache', () => {
  const commands: [string, string[]][] = [
    ['go test', ['go', 'test', './...']],
    ['go test behind make', ['make', '-s', 'check']],
  ];
  test.each(THOROUGH ? commands : commands.slice(1))(
    'is really run each time that counts: %s',
    async (_, argv) => {
      repository.commit({ ...GO, 'shop_test.go': goTest(0), Makefile: 'check:\n\tgo test ./...\n' }, 'works');
      repository.git('checkout', '-q', '-b', 'work');
      repository.commit({ 'shop_test.go': goTest(3) }, 'breaks');
      const found = await confirmed(argv);
      expect([found.verdict, counted(found), executions()]).toEqual(['this-change', 6, 6]);
      expect(found.sentence).not.toContain('cache');
    },
  );

  const stamp = (recipe: string) => ({
    Makefile: `done: sum\n\t@${recipe}\n\t@touch done\n`,
    sum: '1\n',
    '.gitignore': 'done\n',
  });

  test('that cannot be disabled is not counted: nothing is concluded, and the answer says why', async () => {
    repository.commit(stamp('echo 1 passed'), 'works');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit(stamp('echo error: no such harbour; false'), 'breaks');
    const found = await confirmed(['make', 'done']);
    expect(found).toMatchObject({
      verdict: 'inconclusive',
      arms: [
        { where: 'here', failed: 3 },
        { where: 'base', passed: 1, cached: 2 },
      ],
    });
    expect(found.arms[1]?.exitCodes).toEqual([0]);
    expect(found.sentence).toBe(
      'Inconclusive: 3 of 3 runs failed this way here; 0 of 1 runs failed this way on the base. 2 passes were answered by a cache and do not count as runs: turn the cache off in the command.',
    );
  });

  test('and supplied all passes is reported as such', async () => {
    repository.commit(stamp('echo 1 passed'), 'works');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'note.txt': 'one\n' }, 'notes');
    writeFileSync(join(repository.folder, 'done'), '');
    const found = await confirmed(['make', 'done']);
    expect(found).toMatchObject({ verdict: 'inconclusive', arms: [{ passed: 0, cached: 2, exitCodes: [] }] });
    expect(found.sentence).toBe(
      'Inconclusive: nothing was run. All 2 passes were answered by a cache and do not count as runs: turn the cache off in the command.',
    );
  });

  test('is not answered from the cache during a search', async () => {
    repository.commit({ 'README.md': 'one' }, 'one');
    const good = repository.commit({ Makefile: 'check: ;\n' }, 'nothing to do');
    repository.commit({ Makefile: 'check:\n\t@echo error: no such harbour; false\n' }, 'breaks');
    const options = {
      argv: ['make', 'check'],
      cwd: repository.folder,
      env: process.env,
      good,
      bad: 'HEAD',
      runs: 3,
      limitMs: 100_000,
      tests: [],
    };
    const found = await bisect(options, { read: outputReader() }, never);
    expect(found).toMatchObject({
      tried: [{ passed: 0, failed: 3 }],
      skipped: [{ commit: good, why: 'a cache answered for the command' }],
    });
  });
});
