import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { shortenCommit } from '../../domain/build.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { type Arm, Bisection, type Experiment } from '../../domain/experiment.ts';
import type { FailingTest } from '../../domain/failure.ts';
import { bisect } from '../../experiments/bisect.ts';
import { findNetworkOff } from '../../experiments/conditions.ts';
import { type ConfirmOptions, confirm } from '../../experiments/confirm.ts';
import { FIX_RULES } from '../../experiments/fix-rules.ts';
import { type FollowUps, followUp } from '../../experiments/follow-up.ts';
import type { Commit } from '../../experiments/history.ts';
import {
  armName,
  formatProgressLine,
  type Outcome,
  type OutputReader,
  outputReader,
  SHOWN,
} from '../../experiments/outcome.ts';
import { splitArguments } from '../../experiments/run-command.ts';
import { append } from '../../lib/collections.ts';
import { parseJson } from '../../lib/text.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { describeCommit, listNamedLines } from '../../notifications/experiment-lines.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { maskExperiment } from '../../service/experiments.ts';
import { loadTerminalConfig, resolveService, type ServerOptions } from '../command-parts.ts';
import { askServer } from '../server-client.ts';
import { createInterruptSignal, EXIT, printResult, say } from '../terminal.ts';
import { readInput } from '../triage/input.ts';
import { readProposal } from './proposals.ts';

/** The options that `confirm`, `bisect`, and `try-fix` share. */
export interface RunOptions {
  readonly log?: string;
  readonly runs: number;
  readonly minutes: number;
  readonly install?: string;
  /** False if the command is run without the network. */
  readonly network: boolean;
}

export interface ConfirmCommandOptions extends ServerOptions, RunOptions {
  /** The build to which the outcome is reported. */
  readonly report?: string;
  /** The base to compare with. If false, nothing is compared. */
  readonly base?: string | boolean;
  /** False if the conditions of the failure are not searched for. */
  readonly conditions: boolean;
  /** The first commit of the bisection; the base if true. */
  readonly bisect?: string | true;
  /** A file with a diff; the suggestions of the rules if true. */
  readonly tryFix?: string | true;
  /** True to show the change that fixes it in the pull request. */
  readonly suggest?: boolean;
  /** The date or build whose dependencies are installed. If absent, the current ones are used. */
  readonly asOf?: string;
}

/**
 * Runs `faultline confirm -- COMMAND…`. Exits with 5 if the failure did not recur, and with 10 if the runs
 * are inconclusive.
 */
export async function runConfirm(argv: readonly string[], options: ConfirmCommandOptions): Promise<void> {
  const read = outputReader();
  const { log, base, runs, minutes, install, conditions, json } = options;
  const within = options.network ? undefined : await withoutNetwork();
  const onRun = (arm: Arm, outcome: Outcome, milliseconds: number) => {
    if (json !== true) say(formatProgressLine(arm, outcome, milliseconds));
  };
  const until = performance.now() + minutes * 60_000;
  const how: ConfirmOptions = {
    argv,
    cwd: process.cwd(),
    env: process.env,
    runs,
    limitMs: minutes * 60_000,
    conditions,
    tests: await readFailingTests(log, read),
    base: base === false ? null : base === true ? undefined : base,
    // A reported outcome is reported in part, too.
    keepsPart: options.report !== undefined,
    ...(within === undefined ? {} : { within }),
    ...(install === undefined ? {} : { install: splitArguments(install) }),
  };
  const signal = createInterruptSignal();
  const next = await readFollowUps(options);
  const confirmed = await confirm(how, { read, onRun }, signal);
  const experiment = await followUp(
    confirmed,
    next,
    { ...how, until },
    { read },
    (text) => (json === true ? undefined : say(text)),
    signal,
  );
  await printResult(options, { schema: 1, ...experiment }, renderExperiment(experiment));
  if (options.report !== undefined) await report(experiment, options.report, options);
  if (experiment.verdict === 'not-reproduced') process.exitCode = EXIT.noFailure;
  if (experiment.verdict === 'inconclusive') process.exitCode = EXIT.needsPerson;
}

async function readFollowUps({ bisect, tryFix, suggest = false }: ConfirmCommandOptions): Promise<FollowUps> {
  const proposals = typeof tryFix === 'string' ? [await readProposal(tryFix)] : [];
  return {
    bisect: bisect === undefined ? null : { good: bisect === true ? null : bisect, bad: 'HEAD' },
    fix: tryFix === undefined ? null : { proposals, rules: tryFix === true ? FIX_RULES : [], suggest },
  };
}

/**
 * Returns the command prefix that disables the network. Throws `invalid-config` if this machine cannot do
 * that.
 */
export async function withoutNetwork(): Promise<readonly string[]> {
  const words = await findNetworkOff();
  if (words !== null) return words;
  throw new TriageError(
    'invalid-config',
    'The network cannot be taken from a command here: install bubblewrap, or allow user namespaces ' +
      'to unshare.',
  );
}

const Reported = z.object({ buildId: z.string(), analyses: z.array(z.string()) });

async function report(experiment: Experiment, build: string, options: ServerOptions): Promise<void> {
  const path = `/api/builds/${encodeURIComponent(build)}/experiments`;
  const masked = await maskExperiment(experiment, createMasker());
  const { buildId, analyses } = await askServer(
    await resolveService(options),
    'POST',
    path,
    Reported,
    masked,
  );
  say(
    `Reported to build ${buildId}${analyses.length === 0 ? '; no answer about these tests yet' : `, for ${analyses.join(', ')}`}.`,
  );
}

/** Reads the failing tests that a log names. Returns none without a log. */
export async function readFailingTests(path: string | undefined, read: OutputReader): Promise<FailingTest[]> {
  if (path === undefined) return [];
  const { http } = await loadTerminalConfig();
  const tests: FailingTest[] = [];
  for (const { kind, name, text } of await readInput(path, http.maxLogBytes)) {
    if (kind === 'log') append(tests, (await read(text, name)).failingTests);
  }
  return tests;
}

const MAX_SHOWN = 10;

function renderExperiment(experiment: Experiment): string {
  const { sentence, tests, narrowed, arms, notes } = experiment;
  const rows = arms.map((arm) => {
    const other = arm.other === 0 ? '' : `, ${arm.other} in another way`;
    const cached = arm.cached === undefined ? '' : `, ${arm.cached} answered by a cache`;
    return `Runs\t${armName(arm)}: ${arm.failed} failed${other}, ${arm.passed} passed${cached}`;
  });
  return [
    `Result\t${toVisibleLine(sentence)}`,
    ...tests.slice(0, MAX_SHOWN).map((test) => `Test\t${toVisibleLine(test)}`),
    ...(tests.length > MAX_SHOWN ? [`Test\t… ${tests.length - MAX_SHOWN} more`] : []),
    ...(narrowed === null ? [] : [`Command\t${toVisibleLine(narrowed.join(' '))}`]),
    ...rows,
    ...listNamedLines(experiment).map(({ name, text }) => `${name}\t${toVisibleLine(text)}`),
    ...notes.map((note) => `Note\t${note}`),
  ].join('\n');
}

export interface BisectCommandOptions extends RunOptions, ServerOptions {
  readonly by: 'commit' | 'date';
  readonly good?: string;
  readonly bad: string;
  readonly build?: string;
  readonly only?: { readonly part: number; readonly of: number };
  readonly results?: readonly string[];
  readonly json?: boolean;
}

/**
 * Runs `faultline bisect -- COMMAND…`. Exits with 5 if the bad commit does not fail, and with 10 if no commit
 * is identified.
 */
export async function runBisect(argv: readonly string[], options: BisectCommandOptions): Promise<void> {
  const read = outputReader();
  const { good, bad, build, install, log, runs, minutes, only, json } = options;
  const within = options.network ? undefined : await withoutNetwork();
  const onRun = ({ id, subject }: Commit, outcome: Outcome, milliseconds: number) => {
    if (json !== true)
      say(
        `${shortenCommit(id)} ${toVisibleLine(subject)}: ${SHOWN[outcome]} ` +
          `(${(milliseconds / 1000).toFixed(1)} s)`,
      );
  };
  const found = await bisect(
    {
      argv,
      cwd: process.cwd(),
      env: process.env,
      good,
      bad,
      runs,
      limitMs: minutes * 60_000,
      tests: await readFailingTests(log, read),
      results: await Promise.all((options.results ?? []).map(readResult)),
      ...(only === undefined ? {} : { only }),
      ...(within === undefined ? {} : { within }),
      ...(build === undefined ? {} : { build: splitArguments(build) }),
      ...(install === undefined ? {} : { install: splitArguments(install) }),
    },
    { read, onRun },
    createInterruptSignal(),
  );
  await printResult(options, { schema: 1, ...found }, renderBisection(found));
  if (found.verdict === 'not-reproduced') process.exitCode = EXIT.noFailure;
  else if (found.verdict !== 'found' && found.verdict !== 'part') process.exitCode = EXIT.needsPerson;
}

/** Reads the output that `--only N/M --json` printed on another machine. */
async function readResult(path: string): Promise<Bisection> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TriageError('invalid-input', `${path} cannot be read: ${getErrorMessage(cause)}`, { cause });
  });
  const found = Bisection.safeParse(parseJson(text));
  if (found.success) return found.data;
  throw new TriageError('invalid-input', `${path} is not what faultline bisect --json prints.`);
}

function renderBisection({
  sentence,
  tests,
  narrowed,
  candidates,
  tried,
  skipped,
  notes,
}: Bisection): string {
  return [
    `Result\t${toVisibleLine(sentence)}`,
    ...candidates
      .slice(0, MAX_SHOWN)
      .map((candidate) => `Commit\t${toVisibleLine(describeCommit(candidate))}`),
    ...tests.slice(0, MAX_SHOWN).map((test) => `Test\t${toVisibleLine(test)}`),
    ...(narrowed === null ? [] : [`Command\t${toVisibleLine(narrowed.join(' '))}`]),
    ...tried.map(
      ({ commit, failed, passed }) => `Runs\t${shortenCommit(commit)}: ${failed} failed, ${passed} passed`,
    ),
    ...skipped.map(({ commit, why }) => `Skipped\t${shortenCommit(commit)}: ${toVisibleLine(why)}`),
    ...notes.map((note) => `Note\t${note}`),
  ].join('\n');
}
