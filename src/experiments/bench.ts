import type { FailingTest } from '../domain/failure.ts';
import type { Reading } from '../domain/reading.ts';
import { cachesOff, withoutCache } from './caches.ts';
import { findWorkFolder, moveCommand } from './checkout-paths.ts';
import { judge, type Outcome, type OutputReader, type Signature, signature } from './outcome.ts';
import { type CommandRun, runCommand } from './run-command.ts';

/** What every experiment with a failing command is told. */
export interface CommandOptions {
  /** The failing command; run as it is, by no shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Of the command; what configures Faultline is left out. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs of what is measured, at most. */
  readonly runs: number;
  /** Of everything together, in milliseconds. */
  readonly limitMs: number;
  /** Tests that are known to fail, as from a log; empty: the first run tells. */
  readonly tests: readonly FailingTest[];
  /** Installs dependencies where they differ from the checkout's. */
  readonly install?: readonly string[];
  /** Words before the command of each run, such as those that take the network from it; what builds or installs goes without. */
  readonly within?: readonly string[];
  /** Answer with what is known by then where the signal is aborted, instead of throwing. */
  readonly keepsPart?: boolean;
}

/** Where a command is run again and again: in one span of time, and against one failure. */
export interface Bench {
  readonly signal: AbortSignal;
  /** How the command failed first; null as long as it did not. */
  failure: Signature | null;
  isOpen(): boolean;
  /** What is said where the time was over. */
  readonly limitNote: string;
  /** Whether what is known by now is the answer, since the experiment was interrupted. */
  isCut(): boolean;
  /** Runs what prepares a folder. */
  prepare(argv: readonly string[], cwd: string): Promise<CommandRun>;
  /** Runs what is measured, with the caches of its tools off; `env` is beside that of the options. */
  run(argv: readonly string[], cwd: string, env?: NodeJS.ProcessEnv): Promise<CommandRun>;
  /** What a run says of the failure, which the first that fails decides. `ran` proves that a filter selected something. */
  judge(run: CommandRun, ran: RegExp | null): Promise<{ readonly outcome: Outcome; readonly reading: Reading | null }>;
}

export function createBench(options: CommandOptions, read: OutputReader, signal: AbortSignal): Bench {
  const { tests, within = [], limitMs } = options;
  const until = performance.now() + limitMs;
  const here = findWorkFolder(options.cwd);
  const started = (words: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}) => {
    const { argv, env } = moveCommand({ argv: words, env: { ...options.env, ...more } }, here, findWorkFolder(cwd));
    // Installing may copy from the checkout.
    return runCommand(words === options.install ? words : argv, { cwd, env, limitMs: Math.max(1_000, until - performance.now()) }, signal);
  };
  const bench: Bench = {
    signal,
    failure: tests.length === 0 ? null : signature(tests),
    isOpen: () => performance.now() < until,
    limitNote: `Stopped at the time limit of ${Math.round(limitMs / 60_000)} min.`,
    isCut: () => options.keepsPart === true && signal.aborted,
    prepare: started,
    run: (argv, cwd, env) => started([...within, ...withoutCache(argv)], cwd, { ...cachesOff(options.env), ...env }),
    async judge(run, ran) {
      const { outcome, failure, reading } = await judge(run, { ran, failure: bench.failure, read });
      bench.failure = failure;
      return { outcome, reading };
    },
  };
  return bench;
}
