import { z } from 'zod';
import { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { formatVersionChange } from '../../domain/version-changes.ts';
import { type DatedExperiment, type DatedRuns, runByDate } from '../../experiments/by-date.ts';
import { outputReader } from '../../experiments/outcome.ts';
import { splitArguments } from '../../experiments/run-command.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { resolveService, type ServerOptions } from '../command-parts.ts';
import { askServer } from '../server-client.ts';
import { createInterruptSignal, EXIT, printResult, say } from '../terminal.ts';
import {
  type BisectCommandOptions,
  type ConfirmCommandOptions,
  type RunOptions,
  readFailingTests,
  runBisect,
  runConfirm,
  withoutNetwork,
} from './experiment-commands.ts';

interface DatedCommandOptions extends RunOptions, ServerOptions {
  /** A date, or a build of the service. */
  readonly good: string;
  readonly bad: string | null;
  readonly search: boolean;
}

/**
 * Runs `faultline confirm -- COMMAND…`: with --as-of, with the dependencies of that time; otherwise in the
 * checkout and on the base.
 */
export async function confirmBy(argv: readonly string[], options: ConfirmCommandOptions): Promise<void> {
  if (options.asOf === undefined) return await runConfirm(argv, options);
  requireAlone(options);
  await runDated(argv, { ...options, good: options.asOf, bad: null, search: false });
}

/** Runs `faultline bisect -- COMMAND…`: by date with --by date, else by commit. */
export async function bisectBy(argv: readonly string[], options: BisectCommandOptions): Promise<void> {
  if (options.by === 'commit') return await runBisect(argv, options);
  await runDated(argv, { ...options, ...readDates(options), search: true });
}

/** Throws `invalid-input` if --as-of is combined with an option that excludes it. */
function requireAlone({ report, bisect, tryFix }: ConfirmCommandOptions): void {
  const given = Object.entries({ '--report': report, '--bisect': bisect, '--try-fix': tryFix });
  const [other] = given.find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined)
    throw new TriageError('invalid-input', `--as-of compares versions, and does not go with ${other}.`);
}

/** Returns the dates of a search by date. Throws `invalid-input` if the first one is missing. */
function readDates({ good, bad }: BisectCommandOptions): { good: string; bad: string | null } {
  if (good === undefined)
    throw new TriageError('invalid-input', 'Name a date or build at which it passed with --good.');
  return { good, bad: bad === 'HEAD' ? null : bad };
}

/**
 * Runs a command with the dependencies of two times. Exits with 5 if it passes now, and with 10 if the runs
 * are inconclusive.
 */
async function runDated(argv: readonly string[], options: DatedCommandOptions): Promise<void> {
  const { good, bad, search, install, log, runs, minutes, json } = options;
  if (install === undefined)
    throw new TriageError(
      'invalid-input',
      'Name the command that installs the dependencies with --install, such as --install "uv sync".',
    );
  const read = outputReader();
  const within = options.network ? undefined : await withoutNetwork();
  const found = await runByDate(
    {
      argv,
      cwd: process.cwd(),
      env: process.env,
      runs,
      limitMs: minutes * 60_000,
      tests: await readFailingTests(log, read),
      install: splitArguments(install),
      good: await readTime(good, options),
      bad: bad === null ? null : await readTime(bad, options),
      search,
      ...(within === undefined ? {} : { within }),
    },
    { read, onDate: (date) => (json === true ? undefined : say(`Runs ${describeRuns(date)}`)) },
    createInterruptSignal(),
  );
  await printResult(options, { schema: 1, ...found }, render(found));
  if (found.verdict === 'not-reproduced') process.exitCode = EXIT.noFailure;
  if (found.verdict === 'inconclusive') process.exitCode = EXIT.needsPerson;
}

/** Parses a date, a time, or a build (its id, or `github:812`), of which the start time is used. */
async function readTime(text: string, options: ServerOptions): Promise<Date> {
  const isDate = /^\d{4}-\d\d-\d\d(?:T[\d:.]{4,12}(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text);
  const isBuild = /^(?:bld_\w|[a-z]{3,20}:.)/.test(text);
  const time = isDate || !isBuild ? Date.parse(text) : await readStart(text, options);
  if (Number.isFinite(time) && time < Date.now()) return new Date(time);
  throw new TriageError(
    'invalid-input',
    `${toVisibleLine(text)} is no date in the past such as 2026-11-01, and no build such as github:812.`,
  );
}

const Found = z.object({ build: Build });

async function readStart(id: string, options: ServerOptions): Promise<number> {
  const path = `/api/builds/${encodeURIComponent(id)}`;
  const { build } = await askServer(await resolveService(options), 'GET', path, Found);
  return Date.parse(build.startedAt ?? build.receivedAt);
}

function describeRuns({ at, passed, failed, other, why }: DatedRuns): string {
  const more = other === 0 ? '' : `, ${other} in another way`;
  return `${at}: ${why === null ? `${failed} failed${more}, ${passed} passed` : toVisibleLine(why)}`;
}

const MAX_SHOWN = 10;

function render({ sentence, changes, runs, notes }: DatedExperiment): string {
  return [
    `Result\t${toVisibleLine(sentence)}`,
    ...changes.slice(0, MAX_SHOWN).map((change) => {
      const word = change.link === null ? 'Changed' : 'Cause';
      return `${word}\t${toVisibleLine(formatVersionChange(change))}`;
    }),
    ...(changes.length > MAX_SHOWN ? [`Changed\t… ${changes.length - MAX_SHOWN} more`] : []),
    ...runs.map((run) => `Runs\t${describeRuns(run)}`),
    ...notes.map((note) => `Note\t${note}`),
  ].join('\n');
}
