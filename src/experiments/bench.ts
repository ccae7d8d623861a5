import type { FailingTest } from '../domain/failure.ts';
import type { Reading } from '../domain/reading.ts';
import { disableCaches, withoutCache } from './caches.ts';
import { findWorkFolder, moveCommand } from './checkout-paths.ts';
import { createSignature, judge, type Outcome, type OutputReader, type Signature } from './outcome.ts';
import { type CommandRun, runCommand } from './run-command.ts';

/** The options of every experiment with a failing command. */
export interface CommandOptions {
  /** The failing command. It is run as it is, without a shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The environment of the command. Variables that configure Faultline are removed. */
  readonly env: NodeJS.ProcessEnv;
  /** The maximum number of runs of the measured command. */
  readonly runs: number;
  /** The time limit of everything together, in milliseconds. */
  readonly limitMs: number;
  /** The tests that are known to fail, for example from a log. If empty, the first run determines them. */
  readonly tests: readonly FailingTest[];
  /** The command that installs dependencies if they differ from the checkout's. */
  readonly install?: readonly string[];
  /**
   * The words before the command of each run, such as those that turn off the network. Commands that build or
   * install run without them.
   */
  readonly within?: readonly string[];
  /** True to return partial results if the signal is aborted, instead of throwing. */
  readonly keepsPart?: boolean;
}

/**
 * An environment that runs a command repeatedly, within one time limit, and compares each run with one
 * failure.
 */
export interface Bench {
  readonly signal: AbortSignal;
  /** The first failure of the command. Null until it fails. */
  failure: Signature | null;
  isOpen(): boolean;
  /** The note for an experiment that reached the time limit. */
  readonly limitNote: string;
  /** Checks whether the experiment was interrupted and must return its partial results. */
  isCut(): boolean;
  /** Runs a command that prepares a folder; `env` is added to the environment of the options. */
  prepare(argv: readonly string[], cwd: string, env?: NodeJS.ProcessEnv): Promise<CommandRun>;
  /**
   * Runs the command that is measured, with the caches of its tools off. `env` is added to the environment of
   * the options.
   */
  run(argv: readonly string[], cwd: string, env?: NodeJS.ProcessEnv): Promise<CommandRun>;
  /**
   * Judges a run against the failure, which the first failing run determines. `ran` is a pattern that proves
   * that a filter selected something.
   */
  judge(
    run: CommandRun,
    ran: RegExp | null,
  ): Promise<{ readonly outcome: Outcome; readonly reading: Reading | null }>;
}

export function createBench(options: CommandOptions, read: OutputReader, signal: AbortSignal): Bench {
  const { tests, within = [], limitMs } = options;
  const until = performance.now() + limitMs;
  const here = findWorkFolder(options.cwd);
  const started = (words: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}) => {
    const { argv, env } = moveCommand(
      { argv: words, env: { ...options.env, ...more } },
      here,
      findWorkFolder(cwd),
    );
    // Installing may copy from the checkout.
    return runCommand(
      words === options.install ? words : argv,
      { cwd, env, limitMs: Math.max(1_000, until - performance.now()) },
      signal,
    );
  };
  const bench: Bench = {
    signal,
    failure: tests.length === 0 ? null : createSignature(tests),
    isOpen: () => performance.now() < until,
    limitNote: `Stopped at the time limit of ${Math.round(limitMs / 60_000)} min.`,
    isCut: () => options.keepsPart === true && signal.aborted,
    prepare: started,
    run: (argv, cwd, env) =>
      started([...within, ...withoutCache(argv)], cwd, { ...disableCaches(options.env), ...env }),
    async judge(run, ran) {
      const { outcome, failure, reading } = await judge(run, { ran, failure: bench.failure, read });
      bench.failure = failure;
      return { outcome, reading };
    },
  };
  return bench;
}
