/**
 * How often `faultline confirm` is wrong, by trying it: a command whose rate of failure is set, run as a real process here and on the base.
 * Or, with `projects`, what confirm, bisect and try-fix say of real projects of many tools. Exit code 1: one of them is wrong.
 * Usage: scripts/bench experiments [trials of each case, default 40]
 *        scripts/bench experiments projects [part of a name] [--cases FILE]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Experiment } from '../../../src/domain/experiment.ts';
import { confirm } from '../../../src/experiments/confirm.ts';
import { readMasked } from '../../../src/service/triage/read-build.ts';
import { benchProjects } from './experiment-projects.ts';

const RUNS = 5;
const TRIALS = Number(process.argv[2] ?? 40);
const COMMAND = ['sh', 'check.sh'];
const never = new AbortController().signal;
const read = async (text: string) =>
  readMasked([{ name: 'output', kind: 'log', text, notes: [] }], { budgetTokens: 500, secrets: 0 });

/**
 * Creates a command that fails in this many of 100 runs, by a new random number in each run.
 */
const check = (percent: number) => `n=$(od -An -N2 -tu2 /dev/urandom)
if [ $((n % 100)) -lt ${percent} ]; then echo "error: the tide table is empty" >&2; exit 1; fi
`;

interface Case {
  readonly name: string;
  /** Failure rates in percent, on the checkout and on the base. */
  readonly here: number;
  readonly base: number;
  readonly wrong: readonly Experiment['verdict'][];
}

const CASES: readonly Case[] = [
  { name: 'broken by the change', here: 100, base: 0, wrong: ['flaky', 'not-this-change', 'not-reproduced'] },
  { name: 'broken before', here: 100, base: 100, wrong: ['flaky', 'this-change', 'not-reproduced'] },
  ...[10, 30, 50, 70, 90].map((rate) => ({
    name: `flaky, fails in ${rate} %`,
    here: rate,
    base: rate,
    wrong: ['this-change'] as const,
  })),
];

const { positionals, values } = parseArgs({ allowPositionals: true, options: { cases: { type: 'string' } } });
if (positionals[0] === 'projects')
  process.exitCode = (await benchProjects(positionals[1], values.cases)) === 0 ? 0 : 1;
else await benchRates();

async function benchRates(): Promise<void> {
  console.log(
    '| failure | trials | this change | not this change | flaky | not reproduced | inconclusive | depends on something | wrong | seconds each |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  for (const experimentCase of CASES) {
    const startedAt = performance.now();
    const counts = await tryCase(experimentCase);
    const count = (verdict: Experiment['verdict'] | 'depends') => counts.get(verdict) ?? 0;
    // Failures at random, always or never depend on none of the conditions.
    const wrong = experimentCase.wrong.reduce((sum, verdict) => sum + count(verdict), count('depends'));
    const shown = (
      ['this-change', 'not-this-change', 'flaky', 'not-reproduced', 'inconclusive', 'depends'] as const
    ).map(count);
    const seconds = ((performance.now() - startedAt) / 1000 / TRIALS).toFixed(2);
    console.log(`| ${[experimentCase.name, TRIALS, ...shown, wrong, seconds].join(' | ')} |`);
  }
}

async function tryCase({ here, base }: Case): Promise<Map<Experiment['verdict'] | 'depends', number>> {
  const cwd = mkdtempSync(join(tmpdir(), 'faultline-bench-'));
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.test', ...args], { cwd });
  const commit = (percent: number, message: string) => {
    writeFileSync(join(cwd, 'check.sh'), check(percent));
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '-m', message);
  };
  try {
    git('init', '--quiet', '--initial-branch=main');
    commit(base, 'base');
    git('checkout', '--quiet', '-b', 'work');
    commit(here, 'change');
    const counts = new Map<Experiment['verdict'] | 'depends', number>();
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const options = {
        argv: COMMAND,
        cwd,
        env: process.env,
        base: 'main',
        runs: RUNS,
        limitMs: 120_000,
        tests: [],
        conditions: true,
      };
      const { verdict, dependsOn } = await confirm(options, { read }, never);
      counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      if (dependsOn !== undefined) counts.set('depends', (counts.get('depends') ?? 0) + 1);
    }
    return counts;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
