import { stripVTControlCharacters } from 'node:util';
import type { Arm } from '../domain/experiment.ts';
import type { FailingTest } from '../domain/failure.ts';
import type { Reading } from '../domain/reading.ts';
import { listFailures } from '../log/fingerprint/failures.ts';
import { createMasker } from '../log/mask/mask.ts';
import { readSources } from '../log/read-sources.ts';
import { isCached } from './caches.ts';
import type { CommandRun } from './run-command.ts';

/**
 * The outcome of a run. `other`: it failed in another way, or none of the selected tests ran, so it says
 * nothing about the failure. `cached`: an earlier result was returned instead of a run.
 */
export type Outcome = 'passed' | 'failed' | 'other' | 'cached';

const BUDGET_TOKENS = 2_000;

export type OutputReader = (text: string, name?: string) => Promise<Reading>;

/** Creates the reader that masks and reads the output of a command. */
export function outputReader(): OutputReader {
  const masker = createMasker();
  return async (text, name = 'output') => {
    const { text: masked, count } = await masker.mask(text);
    return readSources([{ name, kind: 'log', text: masked, notes: [] }], {
      budgetTokens: BUDGET_TOKENS,
      maskedSecrets: count,
    });
  };
}

export const SHOWN: Readonly<Record<Outcome, string>> = {
  passed: 'passed',
  failed: 'failed',
  other: 'failed in another way',
  cached: 'answered by a cache',
};

const WHAT: Readonly<Record<Arm['what'], string>> = {
  suite: 'the whole command',
  alone: 'only the failing tests',
  after: 'a failing test behind others',
};

export function armName({ where, what, under }: Arm): string {
  const condition = under === undefined || under === '' ? '' : `, with ${under}`;
  return `${where === 'here' ? 'here' : 'on the base'}, ${WHAT[what]}${condition}`;
}

/** Formats the line that is printed when a run ends. */
export function formatProgressLine(arm: Arm, outcome: Outcome, milliseconds: number): string {
  const which = outcome === 'cached' ? 'no run' : `run ${arm.exitCodes.length}`;
  return `${which} ${armName(arm)}: ${SHOWN[outcome]} (${(milliseconds / 1000).toFixed(1)} s)`;
}

/** The way in which a command fails, by which two failures are distinguished. */
export interface Signature {
  readonly tests: readonly FailingTest[];
  readonly names: ReadonlySet<string>;
  readonly fingerprint: string | null;
  readonly exitCode: number | null;
}

/** Creates the signature of tests that are known to fail. */
export function createSignature(tests: readonly FailingTest[]): Signature {
  return { tests, names: new Set(tests.map(formatTestName)), fingerprint: null, exitCode: null };
}

export function formatTestName({ suite, name }: FailingTest): string {
  return suite === null ? name : `${suite} › ${name}`;
}

/**
 * Judges a run. The first run that fails determines the failure. `ran` is a pattern that proves that a filter
 * selected something.
 */
export async function judge(
  run: CommandRun,
  known: { readonly ran: RegExp | null; readonly failure: Signature | null; readonly read: OutputReader },
): Promise<{
  readonly outcome: Outcome;
  readonly failure: Signature | null;
  readonly reading: Reading | null;
}> {
  const { ran, failure, read } = known;
  if (isCached(run, ran !== null)) return { outcome: 'cached', failure, reading: null };
  // A filter that selects nothing passes as well.
  if (run.exitCode === 0)
    return {
      outcome: ran === null || ran.test(stripVTControlCharacters(run.output)) ? 'passed' : 'other',
      failure,
      reading: null,
    };
  const reading = await read(run.output);
  const now = readSignature(reading, run);
  return {
    outcome: failure === null || isSame(failure, now) ? 'failed' : 'other',
    failure: failure ?? now,
    reading,
  };
}

function readSignature(reading: Reading, { exitCode }: CommandRun): Signature {
  const [main] = listFailures(reading);
  const fingerprint = main === undefined || main.generic ? null : main.fingerprint.value;
  return { ...createSignature(reading.failingTests), fingerprint, exitCode };
}

/**
 * Checks whether two failures are the same: by their tests, otherwise by their message, otherwise by the exit
 * code if nothing else distinguishes them.
 */
function isSame(failure: Signature, now: Signature): boolean {
  if (failure.names.size > 0) return [...now.names].some((name) => failure.names.has(name));
  if (failure.fingerprint !== null) return failure.fingerprint === now.fingerprint;
  return now.names.size === 0 && now.fingerprint === null && failure.exitCode === now.exitCode;
}
