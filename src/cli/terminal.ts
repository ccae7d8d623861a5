import { writeFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import { getErrorMessage, TriageError, type TriageErrorCode } from '../domain/errors.ts';
import { toVisibleLines } from '../notifications/visible-text.ts';

/** The exit codes for scripts. `faultline --help` prints them. */
export const EXIT = {
  ok: 0,
  internal: 1,
  usage: 2,
  unreadable: 3,
  refused: 4,
  noFailure: 5,
  needsPerson: 10,
  infrastructure: 11,
  belowBar: 12,
  limitReached: 13,
  interrupted: 130,
} as const;

export const EXIT_HELP = `Exit codes:
  0    success
  1    internal error
  2    wrong usage or configuration
  3    input unreadable, empty or not found
  4    a backend or model refused the request or did not respond
  5    triage, read: no failure was found in the log
  10   with --exit-code: an answer needs review
  11   with --exit-code: every answer is INFRA_ERROR
  12   replay --gate: a figure missed its bar; replay --frozen: a run changed
  13   replay: a limit was reached before all cases were done
  130  interrupted`;

const BY_CODE: Readonly<Record<TriageErrorCode, number>> = {
  'invalid-input': EXIT.unreadable,
  'too-large': EXIT.unreadable,
  'unsupported-type': EXIT.unreadable,
  impossible: EXIT.unreadable,
  'not-found': EXIT.unreadable,
  'wrong-method': EXIT.unreadable,
  'invalid-config': EXIT.usage,
  unauthenticated: EXIT.refused,
  forbidden: EXIT.refused,
  conflict: EXIT.refused,
  'rate-limited': EXIT.refused,
  locked: EXIT.refused,
  timeout: EXIT.refused,
  'quota-exhausted': EXIT.refused,
  'upstream-auth': EXIT.refused,
  'upstream-failed': EXIT.refused,
  'storage-failed': EXIT.refused,
  cancelled: EXIT.interrupted,
  internal: EXIT.internal,
};

/** The message for a log in which nothing failed. */
export const NO_FAILURE = 'No failure was found in this log.';

/** Returns the exit code for a thrown value. */
function toExitCode(error: unknown): number {
  return error instanceof TriageError ? BY_CODE[error.code] : EXIT.internal;
}

/** The output settings: results go to standard output, everything else to standard error. */
export interface OutputStyle {
  /** True if standard output is a terminal with color. */
  readonly color: boolean;
  readonly width: number;
  /** True if requested by `--plain`, NO_COLOR or TERM=dumb. Then nothing is redrawn either. */
  readonly plain: boolean;
  readonly quiet: boolean;
}

export function createOutputStyle(options: {
  readonly plain?: boolean;
  readonly quiet?: boolean;
}): OutputStyle {
  const plain = options.plain === true || refusesColor();
  return {
    color: process.stdout.isTTY === true && !plain,
    plain,
    width: Math.min(process.stdout.columns || 100, 120),
    quiet: options.quiet === true,
  };
}

/** Checks for NO_COLOR (https://no-color.org), or a terminal without color. */
function refusesColor(): boolean {
  return (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb';
}

/** Prints one line to standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * The characters that JSON does not escape but a terminal may interpret or not show: C1 controls, directional
 * marks, and invisible characters.
 */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Formats one object on one line that is safe for terminals. Parsing it returns the same object. */
export function formatJson(value: object): string {
  return JSON.stringify(value).replace(
    UNSEEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Prints the result and waits until it is written. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`, (error) => {
      if (error === null || error === undefined) return resolve();
      leaveOnClosedPipe(error);
      reject(error);
    });
  });
}

/** Prints a result: as one JSON object with `ok` if that was requested, or else in words. */
export function printResult(
  { json }: { readonly json?: boolean },
  data: object,
  words: string,
): Promise<void> {
  return print(json === true ? formatJson({ ok: true, ...data }) : words);
}

/**
 * Writes a file, replacing an existing one; `option` is the option that names it. Throws `storage-failed`.
 */
export async function writeOutput(path: string, text: string, option?: string): Promise<void> {
  await writeFile(path, text).catch((cause: unknown) => {
    const named = option === undefined ? path : `${option}: ${path}`;
    throw new TriageError('storage-failed', `${named} cannot be written: ${getErrorMessage(cause)}.`, {
      cause,
    });
  });
}

/**
 * Ends the process quietly when a reader that has seen enough (`| head -1`) closes the pipe. This is not an
 * error.
 */
export function endQuietlyOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      leaveOnClosedPipe(error);
      throw error;
    });
  }
}

function leaveOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
}

/**
 * Reports any thrown value: one sentence and the exit code, or JSON on standard output if that was requested.
 */
export async function reportError(error: unknown, json: boolean): Promise<void> {
  process.exitCode = toExitCode(error);
  const code = error instanceof TriageError ? error.code : 'internal';
  const details =
    error instanceof TriageError && Object.keys(error.details).length > 0 ? { details: error.details } : {};
  if (json)
    await print(
      formatJson({ ok: false, schema: 1, error: { code, message: getErrorMessage(error), ...details } }),
    );
  const prefix =
    process.stderr.isTTY === true && !refusesColor()
      ? styleText('red', 'error', { validateStream: false })
      : 'error';
  say(`${prefix}: ${toVisibleLines(getErrorMessage(error)).join('\n')}`);
  if (code === 'internal' && error instanceof Error && process.env.FAULTLINE_LOG_LEVEL === 'debug')
    say(error.stack ?? '');
}

let interrupted: AbortController | null = null;

/**
 * Returns the signal of the process that is aborted by Ctrl-C and every other termination signal. A second
 * one exits immediately.
 */
export function createInterruptSignal(): AbortSignal {
  if (interrupted !== null) return interrupted.signal;
  const controller = new AbortController();
  interrupted = controller;
  const stop = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    process.exitCode = EXIT.interrupted;
    controller.abort(new TriageError('cancelled', 'Interrupted'));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, stop);
  return controller.signal;
}
