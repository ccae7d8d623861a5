import { basename, resolve } from 'node:path';
import { messageOf, TriageError } from '../domain/errors.ts';
import { type FixAttempt, type FixTrial, MIN_RUNS } from '../domain/experiment.ts';
import { openWorktree, type Worktree } from './base-worktree.ts';
import { type Bench, type CommandOptions, createBench } from './bench.ts';
import { type Checkout, withCheckout } from './checkout.ts';
import { type Allowed, commitChange, type Fix } from './fix-diff.ts';
import { type FixRule, type RuleCommand, ruleCommands } from './fix-rules.ts';
import { type Narrowed, narrow, updatingSnapshots } from './narrow.ts';
import { judge, type Outcome, type OutputReader, type Signature } from './outcome.ts';
import { runWithReport, type Seen, whyNotSeen } from './test-report.ts';
import { MOST_CACHED } from './verdict.ts';

/** A diff that somebody or something proposes. */
export interface Proposal {
  readonly source: string;
  readonly diff: string;
}

/** The failing tests run as often without a change as with each; what is installed is what a change of a lock file asks for. */
export interface FixOptions extends CommandOptions {
  /** Diffs, tried first. */
  readonly proposals: readonly Proposal[];
  /** Rules whose tools the project uses, tried after them. */
  readonly rules: readonly FixRule[];
  readonly allowed: Allowed;
  /** Says what else broke; null: the command itself, whole. */
  readonly check: readonly string[] | null;
  /** Local branch to make of the change that fixes it. */
  readonly branch?: string;
}

export interface FixDeps {
  readonly read: OutputReader;
  /** Told of each run of the failing tests when it ends; `source` is null without a change. */
  readonly onRun?: (source: string | null, outcome: Outcome, milliseconds: number) => void;
}

const MOST_ATTEMPTS = 20;

/**
 * Tries proposed changes in a worktree, one after the other until one fixes the command: the failing tests with it, as often as without, and then
 * the wider check. The checkout stays as it is, nothing is pushed, and no worktree and no process stays behind. A change that is too large or
 * touches what it must not is an attempt that was refused. Throws `invalid-input` for a command that cannot be started, no checkout and a
 * branch that cannot be made, `cancelled` on abort.
 */
export async function tryFix(options: FixOptions, deps: FixDeps, signal: AbortSignal): Promise<FixTrial> {
  return await withCheckout(options, (need) => tryFixIn(need(), options, deps, signal));
}

async function tryFixIn(checkout: Checkout, options: FixOptions, deps: FixDeps, signal: AbortSignal): Promise<FixTrial> {
  const { branch } = options;
  const { commit, isCommitted } = await checkout.currentState();
  if (branch !== undefined) await requireBranch(checkout, branch, isCommitted);
  const worktree = await openWorktree(checkout, commit);
  const bench = createBench(options, deps.read, signal);
  const trial: Trial = {
    ...{ checkout, options, deps, bench, worktree, narrowed: null, seenBefore: null, checkBefore: null, attempts: [] },
    ...{ before: { passed: 0, failed: 0 }, branch: null },
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
  return conclusion(trial);
}

interface Trial {
  readonly checkout: Checkout;
  readonly options: FixOptions;
  readonly deps: FixDeps;
  readonly bench: Bench;
  readonly worktree: Worktree;
  readonly attempts: FixAttempt[];
  readonly before: { passed: number; failed: number };
  readonly notes: string[];
  narrowed: Narrowed | null;
  /** What the tool of the failing tests reports without a change. */
  seenBefore: Seen;
  /** How the wider check went without a change, once that is known. */
  checkBefore: Signature | 'passed' | null;
  branch: string | null;
}

async function requireBranch({ git }: Checkout, branch: string, isCommitted: boolean): Promise<void> {
  if (!isCommitted) throw new TriageError('invalid-input', 'Commit or stash your changes first: a branch with the fix would include them.');
  await git('check-ref-format', '--branch', branch).catch((cause: unknown) => {
    throw new TriageError('invalid-input', `${branch} is no name for a branch.`, { cause });
  });
  const taken = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => null);
  if (taken !== null) throw new TriageError('invalid-input', `There is a branch ${branch} already: name another with --branch.`);
}

/** Installs what differs from the checkout. Throws `invalid-input` where it cannot. */
async function prepare({ options: { install }, bench, worktree }: Trial, unshared: readonly string[]): Promise<void> {
  if (unshared.length === 0) return;
  const what = `the dependencies in ${unshared.join(' and ')} differ`;
  if (install === undefined) throw new TriageError('invalid-input', `${what}: name the command that installs them with --install`);
  if ((await bench.prepare(install, worktree.cwd)).exitCode !== 0)
    throw new TriageError('invalid-input', `${what}, and ${install.join(' ')} fails`);
}

/** The failing tests once, or the whole command; what failed first says what the failure is. */
async function runOnce(trial: Trial, source: string | null): Promise<Outcome> {
  const { options, deps, bench, worktree, narrowed } = trial;
  const ended = await bench.run(narrowed?.argv ?? options.argv, worktree.cwd);
  const { outcome } = await bench.judge(ended, narrowed?.ran ?? null);
  deps.onRun?.(source, outcome, ended.milliseconds);
  return outcome;
}

/** Runs the failing tests without a change; the whole command where they cannot be selected or do not fail alone. */
async function reproduce(trial: Trial): Promise<void> {
  const { options, before, bench } = trial;
  const isWholeCheck = options.check === null;
  trial.narrowed = narrow(options.argv, options.tests, trial.worktree);
  if (trial.narrowed === null) {
    const first = await runOnce(trial, null);
    if (isWholeCheck) trial.checkBefore = first === 'passed' ? 'passed' : bench.failure;
    if (first !== 'failed') {
      before.passed += first === 'passed' ? 1 : 0;
      return;
    }
    trial.narrowed = narrow(options.argv, bench.failure?.tests ?? [], trial.worktree);
  }
  if (trial.narrowed !== null && (await runOnce(trial, null)) !== 'failed') {
    trial.narrowed = null;
    if ((await runOnce(trial, null)) === 'passed') {
      before.passed += 1;
      return;
    }
  }
  before.failed = 1;
  while (before.failed + before.passed < options.runs && bench.isOpen()) {
    const outcome = await runOnce(trial, null);
    if (outcome === 'other' || outcome === 'cached') break;
    before[outcome] += 1;
  }
}

async function tryAll(trial: Trial): Promise<void> {
  const { options, worktree, bench, attempts } = trial;
  const updating = updatingSnapshots(trial.narrowed?.argv ?? options.argv, bench.failure?.tests ?? []);
  const commands = ruleCommands(worktree.cwd, options.env.PATH ?? '', options.rules, updating);
  const changes = [...options.proposals, ...commands].slice(0, MOST_ATTEMPTS);
  if (changes.length > 0 && (bench.failure?.tests.length ?? 0) > 0) trial.seenBefore = (await see(trial)).seen;
  for (const change of changes) {
    if (!bench.isOpen()) {
      trial.notes.push(bench.limitNote);
      return;
    }
    const fix = await fixOf(trial, change);
    const attempt = 'refused' in fix ? refusedAttempt(fix) : await tryOne(trial, fix);
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

/** The change as a commit, made where the worktree is as it was at the beginning. */
async function fixOf(trial: Trial, change: Proposal | RuleCommand): Promise<NamedFix | RefusedFix> {
  const { worktree, options, bench } = trial;
  const source = 'diff' in change ? change.source : `${change.rule}: ${change.argv.join(' ')}`;
  try {
    await worktree.moveTo(worktree.commit);
    if ('argv' in change) {
      if (change.rule === 'snapshot' && !options.allowed.tests)
        return { source, refused: 'it says anew what the tests expect; allow it with --allow-tests' };
      await bench.prepare(change.argv, worktree.cwd);
    }
    const fix = await commitChange(worktree, 'diff' in change ? change.diff : null, source.split(':')[0] ?? '', options.allowed);
    const script = options.allowed.tests ? undefined : fix.files.find((file) => isStartedBy(options, worktree, file));
    if (script !== undefined) return { source, refused: `${script} says how the tests run; allow it with --allow-tests` };
    await prepare(trial, await worktree.moveTo(fix.commit));
    return { ...fix, source };
  } catch (error) {
    bench.signal.throwIfAborted();
    return { source, refused: messageOf(error) };
  }
}

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'pwsh'];

/** Whether the command, or the wider check, starts this file of the worktree as its program or as a script of a shell. */
function isStartedBy({ argv, check }: FixOptions, { folder, cwd }: Worktree, file: string): boolean {
  const started = [argv, check ?? []].flatMap(([program = '', ...words]) =>
    SHELLS.includes(basename(program)) ? [program, ...words] : [program],
  );
  return started.some((word) => resolve(cwd, word) === resolve(folder, file));
}

function refusedAttempt({ source, refused }: RefusedFix): FixAttempt {
  const nothing = { files: [], added: 0, deleted: 0, passed: 0, failed: 0, broke: [], diff: null };
  return { source, ...nothing, verdict: 'refused', sentence: `${source}: not tried, ${refused}.` };
}

async function tryOne(trial: Trial, fix: NamedFix): Promise<FixAttempt> {
  const { options, before, bench } = trial;
  const { source, files, added, deleted, diff } = fix;
  let [passed, failed, other, cached] = [0, 0, 0, 0];
  while (passed < options.runs && failed + other === 0 && cached < MOST_CACHED && bench.isOpen()) {
    const outcome = await runOnce(trial, source);
    if (outcome === 'passed') passed += 1;
    else if (outcome === 'failed') failed += 1;
    else if (outcome === 'cached') cached += 1;
    else other += 1;
  }
  const attempt = { source, files: [...files], added, deleted, passed, failed, diff };
  const runs = passed + failed + other;
  const without = `${before.failed} of ${before.failed + before.passed} without it`;
  const counts = `fails ${failed + other} of ${runs} with it, ${without}`;
  if (failed > 0) return { ...attempt, broke: [], verdict: 'not-fixed', sentence: `${source}: ${counts}, so it does not fix it.` };
  if (other > 0) return { ...attempt, broke: [], verdict: 'not-fixed', sentence: `${source}: ${counts}, now in another way.` };
  const enough = before.passed === 0 && Math.min(before.failed, passed) >= Math.min(options.runs, MIN_RUNS);
  if (!enough) {
    const few = cached > 0 ? 'and a cache answered for the others, which are no runs' : 'which are too few runs';
    const why = before.passed > 0 ? 'which proves nothing of what fails at random' : few;
    return { ...attempt, broke: [], verdict: 'inconclusive', sentence: `${source}: ${counts}, ${why}.` };
  }
  const unseen = await whyUnseen(trial);
  if (unseen !== null) return { ...attempt, broke: [], verdict: 'inconclusive', sentence: `${source}: ${counts}, ${unseen}.` };
  const { broke, isRed } = await whatBroke(trial, fix);
  if (broke.length > 0) {
    const named = broke.slice(0, 3).map((name) => `"${name}"`);
    const rest = broke.length > named.length ? ` and ${broke.length - named.length} more` : '';
    return { ...attempt, broke, verdict: 'breaks', sentence: `${source}: ${counts}, but it breaks ${named.join(', ')}${rest}.` };
  }
  const wider = isRed ? 'the wider check fails as before' : 'the wider check passes';
  return { ...attempt, broke, verdict: 'fixed', sentence: `${source}: ${counts}, and ${wider}.` };
}

/** What the tool of the failing tests reports in the state of the worktree. */
async function see({ options, bench, worktree, narrowed }: Trial): Promise<Awaited<ReturnType<typeof runWithReport>>> {
  const tests = bench.failure?.tests ?? [];
  return await runWithReport(bench, { argv: narrowed?.argv ?? options.argv, cwd: worktree.cwd, env: options.env, tests });
}

/** Why the tool's own report does not show that the tests that failed ran and passed; null where it does, and where no test was named. */
async function whyUnseen(trial: Trial): Promise<string | null> {
  const tests = trial.bench.failure?.tests ?? [];
  if (tests.length === 0) return null;
  const { exitCode, seen } = await see(trial);
  return whyNotSeen(trial.seenBefore, exitCode === 0 ? seen : null, tests);
}

/** What fails in the wider check with the change and not without it. Without a change it is run only where it fails with it. */
async function whatBroke(trial: Trial, { commit }: Fix): Promise<{ readonly broke: string[]; readonly isRed: boolean }> {
  const { options, worktree, deps, bench } = trial;
  const argv = options.check ?? options.argv;
  const checked = async () =>
    (await judge(await bench.run(argv, worktree.cwd), { ran: null, failure: null, read: deps.read })).failure ?? 'passed';
  const after = await checked();
  if (after === 'passed') return { broke: [], isRed: false };
  if (trial.checkBefore === null) {
    await prepare(trial, await worktree.moveTo(worktree.commit));
    trial.checkBefore = await checked();
    await prepare(trial, await worktree.moveTo(commit));
  }
  const before = trial.checkBefore;
  const known = before === 'passed' ? new Set<string>() : before.names;
  const broke = [...after.names].filter((name) => !known.has(name));
  if (after.names.size > 0) return { broke, isRed: true };
  const isSame = before !== 'passed' && before.names.size === 0 && before.fingerprint === after.fingerprint;
  return { broke: isSame ? [] : [argv.join(' ')], isRed: true };
}

function conclusion({ options, narrowed, bench, before, attempts, branch, notes }: Trial): FixTrial {
  const fixed = attempts.find(({ verdict }) => verdict === 'fixed');
  const verdict = before.failed === 0 ? 'not-reproduced' : fixed === undefined ? 'not-fixed' : 'fixed';
  const tried = attempts.filter((attempt) => attempt.verdict !== 'refused').length;
  const many = (count: number) => (count === 1 ? '1 change' : `${count} changes`);
  const sentences = {
    'not-reproduced': 'The command does not fail in the state that was to be fixed.',
    'not-fixed':
      attempts.length === 0
        ? 'There was no change to try: name one with --patch, or use a project whose tools make one.'
        : `Not fixed: ${many(tried)} tried, ${many(attempts.length - tried)} refused.`,
    fixed: `Fixed by ${fixed?.sentence ?? ''}`,
  };
  return {
    ...{ command: [...options.argv], narrowed: narrowed === null ? null : [...narrowed.argv], tests: [...(bench.failure?.names ?? [])] },
    ...{ check: [...(options.check ?? options.argv)], before, verdict, attempts, branch, sentence: sentences[verdict], notes },
  };
}
