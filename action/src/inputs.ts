import { z } from 'zod';
import { Category } from '../../src/domain/category.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { splitArguments } from '../../src/experiments/run-command.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Inputs of the action (`with:`). The names and defaults are those of action.yml. */
export interface Inputs {
  /** Paths and globs. */
  readonly log: readonly string[];
  readonly reports: readonly string[];
  readonly githubToken: string;
  /** Null if the rules answer here. */
  readonly server: { readonly url: string; readonly token: string } | null;
  readonly pipeline: string;
  readonly job: string;
  /** The job passed: there is nothing to answer. */
  readonly passed: boolean;
  readonly waitMs: number;
  readonly failOn: ReadonlySet<string>;
  /** Null if nothing is run again. */
  readonly confirm: Confirmation | null;
}

/** The command to run again, and its limits. */
export interface Confirmation {
  readonly argv: readonly string[];
  /** Below the workspace. */
  readonly directory: string;
  /** A commit, branch or tag; null for the base of the event. */
  readonly base: string | null;
  readonly install: readonly string[] | null;
  readonly runs: number;
  /** Time limit of all repeated runs together, in milliseconds. */
  readonly limitMs: number;
  /** Commit from which the one that broke it is searched, `true` for the base; null: it is not searched. */
  readonly bisect: string | true | null;
  /** Files of diffs to try, `true` for the rules; null: nothing is tried. */
  readonly tryFix: readonly string[] | true | null;
  /** Show the change that fixes it in the pull request. */
  readonly suggest: boolean;
}

const MAX_WAIT_SECONDS = 900;
const MAX_RUNS = 50;
const MAX_MINUTES = 350;
const FAIL_ON = ['never', 'any', 'unanswered', ...Category.options];

/** Reads the inputs as the runner hands them on. Throws `invalid-config` that names the input. */
export function readInputs(environment: Environment): Inputs {
  const input = (name: string) => (environment[`INPUT_${name.toUpperCase()}`] ?? '').trim();
  return {
    log: splitLines(input('log')),
    reports: splitLines(input('reports')),
    githubToken: input('github-token'),
    server: parseServer(input('server-url'), input('token')),
    pipeline: input('pipeline') || 'workflow',
    job: input('job'),
    passed: hasJobPassed(input('job-status') || 'failure'),
    waitMs:
      parseNumber('wait', input('wait') || '120', { min: 0, max: MAX_WAIT_SECONDS, unit: 'seconds' }) * 1000,
    failOn: parseFailOn(input('fail-on')),
    confirm: parseConfirmation(input),
  };
}

/**
 * Returns the values that must not appear in any log. Reads them without validation, so that an invalid input
 * cannot leave a secret unmasked.
 */
export function readSecrets(environment: Environment): string[] {
  return ['INPUT_TOKEN', 'INPUT_GITHUB-TOKEN'].flatMap((name) => (environment[name] ?? '').trim() || []);
}

function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function parseServer(url: string, token: string): Inputs['server'] {
  if (url === '') return null;
  const address = URL.canParse(url) ? new URL(url) : null;
  if (
    address === null ||
    !['http:', 'https:'].includes(address.protocol) ||
    address.username !== '' ||
    address.search !== ''
  )
    throw createInputError('server-url', 'must be a URL such as https://faultline.example.com');
  if (token === '')
    throw createInputError(
      'token',
      'is empty. Pass a secret. Pull requests from forks have no secrets; omit server-url for them',
    );
  return { url: address.href.replace(/\/$/, ''), token };
}

function parseConfirmation(input: (name: string) => string): Confirmation | null {
  const command = input('confirm');
  if (isOff(command)) return null;
  if (command === 'true') throw createInputError('confirm', 'must be the failing command, such as npm test');
  const install = input('confirm-install');
  const [bisect, tryFix] = [input('bisect'), input('try-fix')];
  return {
    argv: splitArguments(command),
    directory: input('confirm-directory'),
    base: input('confirm-base') || null,
    install: install === '' ? null : splitArguments(install),
    bisect: isOff(bisect) ? null : bisect === 'true' || bisect,
    tryFix: isOff(tryFix) ? null : tryFix === 'true' || splitLines(tryFix),
    suggest: input('suggest') === 'true',
    runs: Math.floor(
      parseNumber('confirm-runs', input('confirm-runs') || '5', { min: 1, max: MAX_RUNS, unit: 'runs' }),
    ),
    limitMs:
      parseNumber('confirm-minutes', input('confirm-minutes') || '10', {
        min: 0.1,
        max: MAX_MINUTES,
        unit: 'minutes',
      }) * 60_000,
  };
}

function hasJobPassed(status: string): boolean {
  if (!['success', 'failure', 'cancelled'].includes(status))
    throw createInputError(
      'job-status',
      `accepts success, failure or cancelled, not "${status}". Pass \${{ job.status }}`,
    );
  return status === 'success';
}

function isOff(text: string): boolean {
  return text === '' || text === 'false';
}

function parseNumber(
  name: string,
  text: string,
  { min, max, unit }: { readonly min: number; readonly max: number; readonly unit: string },
): number {
  const number = z.coerce.number().min(min).max(max).safeParse(text);
  if (!number.success) throw createInputError(name, `must be ${min} to ${max} ${unit}`);
  return number.data;
}

function parseFailOn(text: string): Set<string> {
  const given = text.split(',').map((word) => word.trim());
  const words = given.filter((word) => word !== '');
  const unknown = words.find((word) => !FAIL_ON.includes(word));
  if (unknown !== undefined)
    throw createInputError('fail-on', `accepts ${FAIL_ON.join(', ')}, not "${unknown}"`);
  return new Set(words);
}

function createInputError(name: string, what: string): TriageError {
  return new TriageError('invalid-config', `The input "${name}" ${what}.`);
}
