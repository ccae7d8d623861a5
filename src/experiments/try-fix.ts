import { basename, resolve } from 'node:path';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { FixAttempt, FixTrial } from '../domain/experiment.ts';
import type { Allowed } from '../domain/fix-refusals.ts';
import { describeAttempt, describeTrial, isFixed, judgeAttempt, judgeTrial } from '../domain/fix-verdict.ts';
import { append } from '../lib/collections.ts';
import { formatCount } from '../lib/text.ts';
import { openWorktree, type Worktree } from './base-worktree.ts';
import { type Bench, type CommandOptions, createBench } from './bench.ts';
import { MAX_CACHED } from './caches.ts';
import { type Checkout, withCheckout } from './checkout.ts';
import { commitChange, type Fix } from './fix-diff.ts';
import { type FixRule, listRuleCommands, type RuleCommand } from './fix-rules.ts';
import { type Narrowed, narrow, updatingSnapshots } from './narrow.ts';
import { judge, type Outcome, type OutputReader, type Signature } from './outcome.ts';
import { explainUnseen, runWithReport, type Seen } from './test-report.ts';

/** A diff that a person or a program proposes. */
export interface Proposal {
  readonly source: string;
  readonly diff: string;
}

/**
 * The options of a trial of changes. The failing tests run as often without a change as with each. `install`
 * is run if a change of a lock file requires it.
 */
export interface FixOptions extends CommandOptions {
  /** The diffs, which are tried first. */
  readonly proposals: readonly Proposal[];
  /** The rules whose tools the project uses. They are tried after the diffs. */
  readonly rules: readonly FixRule[];
  readonly allowed: Allowed;
  /** The wider check, which shows what a change broke. Null for the whole command. */
  readonly check: readonly string[] | null;
  /** The name of the local branch to create with the change that fixes the command. */
  readonly branch?: string;
}

export interface FixDeps {
  readonly read: OutputReader;
  /** Receives each run of the failing tests when it ends. `source` is null without a change. */
  readonly onRun?: (source: string | null, outcome: Outcome, milliseconds: number) => void;
}

const MAX_ATTEMPTS = 20;

/**
 * Tries proposed changes in a worktree, one after the other, until one fixes the command. For each change,
 * the failing tests are run as often as without it, followed by the wider check. The checkout stays as it is,
 * nothing is pushed, and no worktree and no process remains. A change that is too large or touches forbidden
 * files counts as a refused attempt. Throws `invalid-input` for a command that cannot be started, a missing
 * checkout, and a branch that cannot be created; throws `cancelled` on abort.
 */
export async function tryFix(options: FixOptions, deps: FixDeps, signal: AbortSignal): Promise<FixTrial> {
  return await withCheckout(options, (need) => tryFixIn(need(), options, deps, signal));
}

async function tryFixIn(
  checkout: Checkout,
  options: FixOptions,
  deps: FixDeps,
  signal: AbortSignal,
): Promise<FixTrial> {
  const { branch } = options;
  const { commit, isCommitted } = await checkout.currentState();
  if (branch !== undefined) await requireBranch(checkout, branch, isCommitted);
  const worktree = await openWorktree(checkout, commit);
  const bench = createBench(options, deps.read, signal);
  const trial: Trial = {
    checkout,
    options,
    deps,
    bench,
    worktree,
    narrowed: null,
    seenBefore: null,
    checkBefore: null,
    attempts: [],
    before: { passed: 0, failed: 0, exitCodes: [] },
    branch: null,
    notes: isCommitted ? [] : ['Tried with your uncommitted changes of tracked files.'],
  };
  try {
    await prepare(trial, worktree.unshared);
    await reproduce(trial);
    if (trial.before.failed > 0) await tryAll(trial);
  } catch (error) {
    if (!bench.isCut()) throw error;
    trial.notes.push('Interrupted before all changes were tried.');
  }
  return conclude(trial);
}

interface Trial {
  readonly checkout: Checkout;
  readonly options: FixOptions;
  readonly deps: FixDeps;
  readonly bench: Bench;
  readonly worktree: Worktree;
  readonly attempts: FixAttempt[];
  readonly before: FixTrial['before'];
  readonly notes: string[];
  narrowed: Narrowed | null;
  /** The report of the failing tests without a change. */
  seenBefore: Seen;
  /** The result of the wider check without a change. Null until it is known. */
  checkBefore: Checked | null;
  branch: string | null;
}

/** The result of the wider check. */
interface Checked {
  readonly failure: Signature | 'passed';
  readonly exitCode: number | null;
}

async function requireBranch({ git }: Checkout, branch: string, isCommitted: boolean): Promise<void> {
  if (!isCommitted)
    throw new TriageError(
      'invalid-input',
      'Commit or stash your changes first: a branch with the fix would include them.',
    );
  await git('check-ref-format', '--branch', branch).catch((cause: unknown) => {
    throw new TriageError('invalid-input', `${branch} is no name for a branch.`, { cause });
  });
  const taken = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => null);
  if (taken !== null)
    throw new TriageError(
      'invalid-input',
      `There is a branch ${branch} already: name another with --branch.`,
    );
}

/** Installs the dependencies that differ from the checkout's. Throws `invalid-input` if it cannot. */
async function prepare(
  { options: { install }, bench, worktree }: Trial,
  unshared: readonly string[],
): Promise<void> {
  if (unshared.length === 0) return;
  const what = `the dependencies in ${unshared.join(' and ')} differ`;
  if (install === undefined)
    throw new TriageError('invalid-input', `${what}: name the command that installs them with --install`);
  if ((await bench.prepare(install, worktree.cwd)).exitCode !== 0)
    throw new TriageError('invalid-input', `${what}, and ${install.join(' ')} fails`);
}

interface Ran {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
}

/** Runs the failing tests once, or the whole command. The first run that fails determines the failure. */
async function runOnce(trial: Trial, source: string | null): Promise<Ran> {
  const { options, deps, bench, worktree, narrowed } = trial;
  const ended = await bench.run(narrowed?.argv ?? options.argv, worktree.cwd);
  const { outcome } = await bench.judge(ended, narrowed?.ran ?? null);
  deps.onRun?.(source, outcome, ended.milliseconds);
  return { outcome, exitCode: ended.exitCode };
}

/**
 * Runs the failing tests without a change, or the whole command if they cannot be selected or do not fail
 * alone.
 */
async function reproduce(trial: Trial): Promise<void> {
  const { options, before, bench } = trial;
  const isWholeCheck = options.check === null;
  const count = ({ outcome, exitCode }: Ran) => {
    if (outcome === 'cached')
      trial.notes.push(
        'A cache answered for the command, which is no run: turn the cache off in the command.',
      );
    if (outcome !== 'passed' && outcome !== 'failed') return;
    before[outcome] += 1;
    before.exitCodes.push(exitCode);
  };
  trial.narrowed = narrow(options.argv, options.tests, trial.worktree);
  let last: Ran | null = null;
  if (trial.narrowed === null) {
    last = await runOnce(trial, null);
    const failure = last.outcome === 'passed' ? 'passed' : bench.failure;
    if (isWholeCheck && failure !== null) trial.checkBefore = { failure, exitCode: last.exitCode };
    if (last.outcome !== 'failed') return count(last);
    trial.narrowed = narrow(options.argv, bench.failure?.tests ?? [], trial.worktree);
  }
  if (trial.narrowed !== null) {
    last = await runOnce(trial, null);
    if (last.outcome !== 'failed') {
      trial.narrowed = null;
      last = await runOnce(trial, null);
      if (last.outcome !== 'failed') return count(last);
    }
  }
  if (last !== null) count(last);
  while (before.failed + before.passed < options.runs && bench.isOpen()) {
    const next = await runOnce(trial, null);
    count(next);
    if (next.outcome === 'other' || next.outcome === 'cached') break;
  }
}

async function tryAll(trial: Trial): Promise<void> {
  const { options, worktree, bench, attempts } = trial;
  const updating = updatingSnapshots(trial.narrowed?.argv ?? options.argv, bench.failure?.tests ?? []);
  const commands = listRuleCommands(worktree.cwd, options.env.PATH ?? '', options.rules, updating);
  const changes = [...options.proposals, ...commands].slice(0, MAX_ATTEMPTS);
  if (changes.length > 0 && (bench.failure?.tests.length ?? 0) > 0)
    trial.seenBefore = (await see(trial)).seen;
  for (const change of changes) {
    if (!bench.isOpen()) {
      trial.notes.push(bench.limitNote);
      return;
    }
    const fix = await createFix(trial, change);
    const attempt = 'refused' in fix ? createRefusedAttempt(fix) : await tryOne(trial, fix);
    attempts.push(attempt);
    if (attempt.verdict !== 'fixed' || 'refused' in fix) continue;
    if (options.branch !== undefined) {
      await trial.checkout.createBranch(options.branch, fix.commit);
      trial.branch = options.branch;
    }
    return;
  }
}

interface NamedFix extends Fix {
  readonly source: string;
}

interface RefusedFix {
  readonly source: string;
  readonly refused: string;
}

/**
 * Creates a commit of the change on the original state of the worktree. Returns the reason if the change is
 * refused.
 */
async function createFix(trial: Trial, change: Proposal | RuleCommand): Promise<NamedFix | RefusedFix> {
  const { worktree, options, bench } = trial;
  const source = 'diff' in change ? change.source : `${change.rule}: ${change.argv.join(' ')}`;
  try {
    await worktree.moveTo(worktree.commit);
    if ('argv' in change) {
      if (change.rule === 'snapshot' && !options.allowed.tests)
        return { source, refused: 'it says anew what the tests expect; allow it with --allow-tests' };
      await bench.prepare(change.argv, worktree.cwd);
    }
    const fix = await commitChange(
      worktree,
      'diff' in change ? change.diff : null,
      source.split(':')[0] ?? '',
      options.allowed,
    );
    const script = options.allowed.tests
      ? undefined
      : fix.files.find((file) => isStartedBy(options, worktree, file));
    if (script !== undefined)
      return { source, refused: `${script} says how the tests run; allow it with --allow-tests` };
    await prepare(trial, await worktree.moveTo(fix.commit));
    return { ...fix, source };
  } catch (error) {
    bench.signal.throwIfAborted();
    return { source, refused: getErrorMessage(error) };
  }
}

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'pwsh'];

/**
 * Checks whether the command or the wider check starts this file of the worktree, as its program or as a
 * script of a shell.
 */
function isStartedBy({ argv, check }: FixOptions, { folder, cwd }: Worktree, file: string): boolean {
  const started = [argv, check ?? []].flatMap(([program = '', ...words]) =>
    SHELLS.includes(basename(program)) ? [program, ...words] : [program],
  );
  return started.some((word) => resolve(cwd, word) === resolve(folder, file));
}

function createRefusedAttempt({ source, refused }: RefusedFix): FixAttempt {
  const nothing = {
    files: [],
    added: 0,
    deleted: 0,
    passed: 0,
    failed: 0,
    other: 0,
    exitCodes: [],
    checkExitCodes: [],
    broke: [],
  };
  return { source, refused, ...nothing, diff: null, verdict: 'refused', sentence: 'Not tried.' };
}

async function tryOne(trial: Trial, fix: NamedFix): Promise<FixAttempt> {
  const { options, before, bench } = trial;
  const { source, files, added, deleted, diff } = fix;
  const attempt: FixAttempt = {
    source,
    files: [...files],
    added,
    deleted,
    diff,
    verdict: 'inconclusive',
    sentence: '',
    passed: 0,
    failed: 0,
    other: 0,
    exitCodes: [],
    checkExitCodes: [],
    broke: [],
  };
  let cached = 0;
  while (
    attempt.passed < options.runs &&
    attempt.failed + attempt.other === 0 &&
    cached < MAX_CACHED &&
    bench.isOpen()
  ) {
    const { outcome, exitCode } = await runOnce(trial, source);
    if (outcome === 'cached') {
      cached += 1;
      continue;
    }
    attempt[outcome] += 1;
    attempt.exitCodes.push(exitCode);
  }
  if (cached > 0)
    trial.notes.push(
      `${source}: a cache answered for ${formatCount(cached, 'run')}, ` +
        `which ${cached === 1 ? 'does' : 'do'} not count.`,
    );
  if (isFixed(before, attempt) && (await isSeen(trial, attempt))) await checkWider(trial, fix, attempt);
  const whole = {
    before,
    tests: [...(bench.failure?.names ?? [])],
    checkExitCodes: listExitCodes(trial.checkBefore),
  };
  attempt.verdict = judgeAttempt(attempt, whole);
  attempt.sentence = describeAttempt(attempt, whole);
  return attempt;
}

function listExitCodes(checked: Checked | null): (number | null)[] {
  return checked === null ? [] : [checked.exitCode];
}

/** Runs the failing tests so that their tool reports on them, in the current state of the worktree. */
async function see({
  options,
  bench,
  worktree,
  narrowed,
}: Trial): Promise<Awaited<ReturnType<typeof runWithReport>>> {
  const tests = bench.failure?.tests ?? [];
  return await runWithReport(bench, {
    argv: narrowed?.argv ?? options.argv,
    cwd: worktree.cwd,
    env: options.env,
    tests,
  });
}

/**
 * Checks whether the tool's own report shows that the failing tests ran and passed, if any test is named.
 * Adds a note if it does not.
 */
async function isSeen(trial: Trial, attempt: FixAttempt): Promise<boolean> {
  const tests = trial.bench.failure?.tests ?? [];
  if (tests.length === 0) return true;
  const { exitCode, seen } = await see(trial);
  const why = explainUnseen(trial.seenBefore, exitCode === 0 ? seen : null, tests);
  if (why !== null) trial.notes.push(`${attempt.source}: ${why}.`);
  attempt.reported = why === null;
  return attempt.reported;
}

/**
 * Runs the wider check with the change. If it fails, runs it without the change too, and notes the tests that
 * fail only with the change. A cached answer does not count.
 */
async function checkWider(trial: Trial, { commit, source }: NamedFix, attempt: FixAttempt): Promise<void> {
  const { options, worktree, deps, bench } = trial;
  const argv = options.check ?? options.argv;
  const check = async (): Promise<Checked & { readonly isCached: boolean }> => {
    const run = await bench.run(argv, worktree.cwd);
    const { outcome, failure } = await judge(run, { ran: null, failure: null, read: deps.read });
    return { failure: failure ?? 'passed', exitCode: run.exitCode, isCached: outcome === 'cached' };
  };
  const after = await check();
  if (after.isCached) {
    trial.notes.push(`${source}: a cache answered for the wider check, which does not count.`);
    return;
  }
  attempt.checkExitCodes.push(after.exitCode);
  if (after.failure === 'passed') return;
  if (trial.checkBefore === null) {
    await prepare(trial, await worktree.moveTo(worktree.commit));
    trial.checkBefore = await check();
    await prepare(trial, await worktree.moveTo(commit));
  }
  const before = trial.checkBefore.failure;
  const known = before === 'passed' ? new Set<string>() : before.names;
  append(
    attempt.broke,
    [...after.failure.names].filter((name) => !known.has(name)),
  );
  if (after.failure.names.size > 0) return;
  const isSame =
    before !== 'passed' && before.names.size === 0 && before.fingerprint === after.failure.fingerprint;
  if (!isSame) attempt.broke.push(argv.join(' '));
}

function conclude({
  options,
  narrowed,
  bench,
  before,
  checkBefore,
  attempts,
  branch,
  notes,
}: Trial): FixTrial {
  const found = {
    command: [...options.argv],
    narrowed: narrowed === null ? null : [...narrowed.argv],
    tests: [...(bench.failure?.names ?? [])],
    check: [...(options.check ?? options.argv)],
    before,
    checkExitCodes: listExitCodes(checkBefore),
    attempts,
    branch,
    notes,
  };
  const verdict = judgeTrial(found);
  return { ...found, verdict, sentence: describeTrial(found) };
}
