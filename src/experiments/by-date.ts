import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { EnvironmentRecord } from '../domain/environment-record.ts';
import { TriageError } from '../domain/errors.ts';
import { formatVersionChange, type VersionChange } from '../domain/version-changes.ts';
import { compareRecords } from '../log/environment/compare-records.ts';
import { linkChanges } from '../log/environment/link-changes.ts';
import { readRecordOfText } from '../log/environment/read-record.ts';
import { openWorktree, type Worktree } from './base-worktree.ts';
import { type Bench, type CommandOptions, createBench } from './bench.ts';
import { withCheckout } from './checkout.ts';
import type { OutputReader } from './outcome.ts';

/**
 * The options of an experiment by date. `install` is required; it is run with each date before the command.
 */
export interface DatedOptions extends CommandOptions {
  readonly install: readonly string[];
  /** The time as of which dependencies are chosen, or at which the command still passed. */
  readonly good: Date;
  /** The time at which it fails. Null for now, without a limit on versions. */
  readonly bad: Date | null;
  /** True to also search for the first day on which it fails. */
  readonly search: boolean;
}

export interface DatedDeps {
  readonly read: OutputReader;
  /** Receives the runs of each date when they end. */
  readonly onDate?: (runs: DatedRuns) => void;
}

/** The runs of a command with dependencies as of one time. */
export interface DatedRuns {
  /** The time in ISO 8601, or "now" without a limit on versions. */
  readonly at: string;
  readonly passed: number;
  readonly failed: number;
  readonly other: number;
  /** The reason why nothing could be run. Null if it could. */
  readonly why: string | null;
}

/**
 * The result. `versions`: the command passes with the dependencies of the earlier time and fails with the
 * later ones. `not-versions`: it fails with both.
 */
export interface DatedExperiment {
  readonly command: readonly string[];
  readonly verdict: 'versions' | 'not-versions' | 'not-reproduced' | 'inconclusive';
  readonly sentence: string;
  readonly runs: readonly DatedRuns[];
  /**
   * The first day with which it fails, and the last with which it passes. Null if they were not searched for.
   */
  readonly day: { readonly lastGood: string; readonly firstBad: string } | null;
  /** The versions that differ where it first fails. Those that the failure concerns come first. */
  readonly changes: readonly VersionChange[];
  readonly notes: readonly string[];
}

const DAY_MS = 86_400_000;
/** The maximum number of dates that are tried. It is enough for 30 years, day by day. */
const MAX_DATES = 16;

/**
 * Runs a failing command in a worktree with dependencies installed as of an earlier time and as of now, and
 * reports whether they make the difference. With `search`, finds the first day on which it fails. Throws
 * `invalid-input` if the installing program cannot choose by time, or if its index does not state when
 * versions were uploaded, because this is never guessed.
 */
export async function runByDate(
  options: DatedOptions,
  deps: DatedDeps,
  signal: AbortSignal,
): Promise<DatedExperiment> {
  const installer = findInstaller(options.install);
  return await withCheckout(options, async (need) => {
    const checkout = need();
    const { commit } = await checkout.currentState();
    const worktree = await openWorktree(checkout, commit);
    const bench = createBench(options, deps.read, signal);
    await installer.check(bench, worktree.cwd);
    const trial: Trial = { options, deps, bench, worktree, commit, installer };
    const late = await tryAt(trial, options.bad);
    if (late.failed === 0) return conclude(trial, [late], null, null);
    const early = await tryAt(trial, options.good);
    if (early.passed === 0 || early.failed > 0 || !options.search)
      return conclude(trial, [late, early], early, late);
    return await searchDay(trial, early, late);
  });
}

interface Trial {
  readonly options: DatedOptions;
  readonly deps: DatedDeps;
  readonly bench: Bench;
  readonly worktree: Worktree;
  readonly commit: string;
  readonly installer: Installer;
}

interface Tried extends DatedRuns {
  readonly time: number;
  readonly record: EnvironmentRecord;
  readonly output: string;
}

async function searchDay(trial: Trial, early: Tried, late: Tried): Promise<DatedExperiment> {
  const all = [late, early];
  let [good, bad] = [early, late];
  while (bad.time - good.time > DAY_MS && all.length < MAX_DATES && trial.bench.isOpen()) {
    const middle = good.time + Math.round((bad.time - good.time) / DAY_MS / 2) * DAY_MS;
    const tried = await tryAt(trial, new Date(Math.min(middle, bad.time - 1)));
    all.push(tried);
    if (tried.passed === 0 && tried.failed === 0) break;
    if (tried.failed > 0) bad = tried;
    else good = tried;
  }
  return conclude(trial, all, good, bad);
}

async function tryAt(trial: Trial, at: Date | null): Promise<Tried> {
  const { options, deps, bench, worktree, commit, installer } = trial;
  await worktree.moveTo(commit);
  await removeShared(worktree.folder);
  const env = at === null ? {} : installer.environment(at.toISOString());
  const installed = await bench.prepare(options.install, worktree.cwd, env);
  if (installed.exitCode !== 0 && at !== null && installer.withoutTimes.test(installed.output))
    throw withoutTimes(installer, installed.output);
  const counts = { passed: 0, failed: 0, other: 0 };
  let output = '';
  const why =
    installed.exitCode === 0 ? null : `${options.install.join(' ')} fails with the versions of then`;
  for (let run = 0; run < options.runs && why === null && bench.isOpen(); run++) {
    const ran = await bench.run(options.argv, worktree.cwd);
    const { outcome } = await bench.judge(ran, null);
    if (outcome === 'failed') output = ran.output;
    counts[outcome === 'cached' ? 'other' : outcome] += 1;
  }
  const time = at?.getTime() ?? Date.now();
  const listed = await listInstalled(trial, why);
  const record = readRecordOfText('install', `${installed.output}\n${listed}`);
  if (at !== null && why === null && !(await installer.isHeld(bench, worktree.cwd, record)))
    throw withoutTimes(installer, '');
  const runs = { at: at === null ? 'now' : at.toISOString(), ...counts, why };
  deps.onDate?.(runs);
  return { ...runs, time, record, output };
}

function withoutTimes({ name }: Installer, output: string): TriageError {
  const message = `${name} cannot choose versions by time: its index does not say when they were uploaded.`;
  return new TriageError('invalid-input', message, { details: { output: output.slice(-500) } });
}

/**
 * Lists the installed versions by asking the installer. Its output during the installation may be incomplete.
 */
async function listInstalled({ bench, worktree, installer }: Trial, why: string | null): Promise<string> {
  if (why !== null || installer.list === null) return '';
  return (await bench.prepare(installer.list, worktree.cwd)).output;
}

/** Removes links to dependencies of the checkout, because nothing may be written to them. */
async function removeShared(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries)
    if (entry.isSymbolicLink() && /^(?:node_modules|\.?venv|vendor)$/.test(entry.name))
      await rm(join(folder, entry.name));
}

async function conclude(
  { options, deps, bench }: Trial,
  tried: readonly Tried[],
  good: Tried | null,
  bad: Tried | null,
): Promise<DatedExperiment> {
  const inOrder = tried.toSorted((left, right) => left.time - right.time);
  const runs = inOrder.map(
    ({ at, passed, failed, other, why }): DatedRuns => ({ at, passed, failed, other, why }),
  );
  const verdict = judge(tried, good, bad);
  const isFound = verdict === 'versions' && good !== null && bad !== null;
  const changes = isFound ? await compareInstalled(good, bad, deps.read) : [];
  const day = isFound && options.search ? { lastGood: toDay(good), firstBad: toDay(bad) } : null;
  return {
    command: [...options.argv],
    verdict,
    sentence: describe(verdict, good, bad, day, changes),
    runs,
    day,
    changes,
    notes: bench.isOpen() ? [] : [bench.limitNote],
  };
}

function judge(tried: readonly Tried[], good: Tried | null, bad: Tried | null): DatedExperiment['verdict'] {
  if (tried.some(({ why, passed, failed }) => why !== null && passed + failed === 0)) return 'inconclusive';
  if (bad === null || good === null) return tried[0]?.passed === 0 ? 'inconclusive' : 'not-reproduced';
  if (good.failed > 0) return good.passed === 0 && bad.passed === 0 ? 'not-versions' : 'inconclusive';
  return good.passed > 0 && bad.passed === 0 && bad.other === 0 ? 'versions' : 'inconclusive';
}

async function compareInstalled(good: Tried, bad: Tried, read: OutputReader): Promise<VersionChange[]> {
  const reading = await read(bad.output);
  return linkChanges(compareRecords(good.record, bad.record), { ...reading, failures: [] }, true);
}

function describe(
  verdict: DatedExperiment['verdict'],
  good: Tried | null,
  bad: Tried | null,
  day: DatedExperiment['day'],
  changes: readonly VersionChange[],
): string {
  if (verdict === 'not-reproduced')
    return 'It passes with the versions of now, so there is nothing to compare.';
  if (verdict === 'inconclusive') return 'The runs do not tell whether the versions make the difference.';
  if (verdict === 'not-versions')
    return `It fails with the versions of ${nameTime(good)} as well: they are not the cause.`;
  const named = changes.slice(0, 3).map(formatVersionChange).join(', ');
  const what =
    named === ''
      ? ''
      : ` What changed: ${named}${changes.length > 3 ? ` and ${changes.length - 3} more` : ''}.`;
  if (day !== null)
    return `It fails with the versions from ${day.firstBad} on, not with those of ${day.lastGood}.${what}`;
  return `It passes with the versions of ${nameTime(good)} and fails with those of ${nameTime(bad)}.${what}`;
}

/** Formats a time for people. Midnight is shown as its day. */
function nameTime(tried: Tried | null): string {
  return (tried?.at ?? '').replace(/T00:00:00\.000Z$/, '');
}

function toDay({ at }: Tried): string {
  return at === 'now' ? new Date().toISOString().slice(0, 10) : at.slice(0, 10);
}

/** A program that installs dependencies as of a time, which an environment variable sets. */
interface Installer {
  readonly name: string;
  readonly environment: (at: string) => NodeJS.ProcessEnv;
  /** The message of the program that its index does not know when versions were uploaded. */
  readonly withoutTimes: RegExp;
  /** The command that lists the installed versions; null if the installation prints them. */
  readonly list: readonly string[] | null;
  /**
   * Checks that the index knows when the installed versions were uploaded. Some installers continue without
   * that.
   */
  readonly isHeld: (bench: Bench, cwd: string, record: EnvironmentRecord) => Promise<boolean>;
  /** Throws if the program is too old to choose by time. */
  readonly check: (bench: Bench, cwd: string) => Promise<void>;
}

const UV: Installer = {
  name: 'uv',
  environment: (at) => ({ UV_EXCLUDE_NEWER: at }),
  withoutTimes: /missing an upload (?:date|time)|exclude-newer.{0,200}upload/is,
  list: null,
  isHeld: async () => true,
  check: async () => undefined,
};

const NPM: Installer = {
  name: 'npm',
  environment: (at) => ({ npm_config_before: at }),
  withoutTimes: /ENOVERSIONS|No versions available|with a date before/i,
  list: ['npm', 'ls', '--all'],
  isHeld: async (bench, cwd, { versions }) => {
    const [first] = versions.filter(({ kind }) => kind === 'npm');
    if (first === undefined) return true;
    const { output } = await bench.prepare(['npm', 'view', first.name, 'time', '--json'], cwd);
    return first.version.split(', ').every((version) => output.includes(`"${version}":`));
  },
  check: async () => undefined,
};

/** The first release of pip that supports --uploaded-prior-to. */
const OLDEST_PIP = 26;

function createPip(words: readonly string[]): Installer {
  return {
    name: 'pip',
    environment: (at) => ({ PIP_UPLOADED_PRIOR_TO: at }),
    withoutTimes: /does not provide upload-time|upload[- ]time metadata/i,
    list: null,
    isHeld: async () => true,
    check: async (bench, cwd) => {
      const { output } = await bench.prepare([...words, '--version'], cwd);
      const major = Number(/^pip (\d{1,3})\./m.exec(output)?.[1] ?? 0);
      if (major < OLDEST_PIP)
        throw new TriageError(
          'invalid-input',
          `${words.join(' ')} is older than pip ${OLDEST_PIP}, the first that chooses versions by time. ` +
            'Upgrade pip, or install with uv.',
        );
    },
  };
}

/** The advice for programs that do not choose by time. */
const BY_LOCK: Readonly<Record<string, string>> = {
  cargo: 'Cargo builds what Cargo.lock has: check an older Cargo.lock out, and use faultline bisect',
  go: 'Go builds what go.mod and go.sum have: check older ones out, and use faultline bisect',
  mvn: 'Maven has no versions by time: set them with mvn versions:use-dep-version, or a file of versions',
};

function findInstaller(install: readonly string[]): Installer {
  const [first = '', ...rest] = install;
  const name = basename(first);
  if (name === 'uv') return UV;
  if (name === 'npm') return NPM;
  if (/^pip3?$/.test(name)) return createPip([first]);
  if (/^python3?(?:\.\d{1,2})?$/.test(name) && rest[0] === '-m' && rest[1] === 'pip')
    return createPip([first, '-m', 'pip']);
  const how = BY_LOCK[name] ?? 'Name the command of uv, pip or npm that installs the dependencies';
  throw new TriageError('invalid-input', `${name || 'No program'} cannot choose versions by time. ${how}.`);
}
