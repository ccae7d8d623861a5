import { stripVTControlCharacters } from 'node:util';
import type { Arm, Experiment } from '../domain/experiment.ts';
import {
  countRuns,
  dependsOnSuite,
  failsAfterOthers,
  isMixed,
  judgeRuns,
} from '../domain/experiment-verdict.ts';
import type { FailingTest } from '../domain/failure.ts';
import { findBase, openWorktree, type Worktree } from './base-worktree.ts';
import { type Bench, type CommandOptions, createBench } from './bench.ts';
import { MAX_CACHED } from './caches.ts';
import { type Checkout, withCheckout } from './checkout.ts';
import { findStrayArgument, findWorkFolder, type WorkFolder } from './checkout-paths.ts';
import type { Condition } from './conditions.ts';
import { type Dependence, findDependence } from './dependence.ts';
import { isSameTest, type Narrowed, narrow, testList } from './narrow.ts';
import { createSignature, formatTestName, type Outcome, type OutputReader } from './outcome.ts';

/** The options of `confirm`. `runs` and `install` apply to each arm. */
export interface ConfirmOptions extends CommandOptions {
  /**
   * The commit, branch or tag that is compared, at the point where HEAD branched off from it. If absent, the
   * default branch; if null, nothing is compared.
   */
  readonly base: string | null | undefined;
  /** True to search for the seed, time, time zone or network on which the failure depends. */
  readonly conditions: boolean;
}

export interface ConfirmDeps {
  /** Masks and reads the output of a run. */
  readonly read: OutputReader;
  /** Receives each run when it ends. */
  readonly onRun?: (arm: Arm, outcome: Outcome, milliseconds: number) => void;
}

/**
 * Runs a failing command again, here and on the base, until its counts determine the kind of the failure.
 * Only the failing tests are run if the command's tool can select them. The verdict `flaky` requires a pass
 * and the same failure without any change between them. With n runs of each arm, `this-change` is wrong for a
 * test that fails at random at most once in 4^n. No worktree and no process remains. Throws `invalid-input`
 * for a command that cannot be started and a base that does not exist, and `cancelled` on abort.
 */
export async function confirm(
  options: ConfirmOptions,
  deps: ConfirmDeps,
  signal: AbortSignal,
): Promise<Experiment> {
  return await withCheckout(options, (need) => confirmIn(need, options, deps, signal));
}

async function confirmIn(
  need: () => Checkout,
  options: ConfirmOptions,
  deps: ConfirmDeps,
  signal: AbortSignal,
): Promise<Experiment> {
  const { argv, tests } = options;
  const here = findWorkFolder(options.cwd);
  const bench = createBench(options, deps.read, signal);
  const trial: Trial = {
    need,
    options,
    deps,
    bench,
    here,
    arms: [],
    notes: [],
    base: null,
    excerpt: null,
    output: '',
    dependsOnOthers: null,
    narrowed: narrow(argv, tests, here),
  };
  // Nothing is run if the base cannot be found.
  const base = options.base === null ? null : await findBase(need(), options.base);
  let polluters: string[] = [];
  let dependence: Awaited<ReturnType<typeof detectDependence>> = null;
  try {
    const chosen = await reproduce(trial);
    if (chosen !== null && base !== null) await compare(trial, chosen, base);
    if (chosen !== null) await runInTurn(trial, [[getArm(trial, 'here', chosen.what), chosen]]);
    if (trial.dependsOnOthers === true) polluters = await findPolluters(trial);
    else if (options.conditions) dependence = await detectDependence(trial);
  } catch (error) {
    if (!bench.isCut()) throw error;
    trial.notes.push('Interrupted before all runs were made.');
  }
  const { narrowed, notes, excerpt } = trial;
  const plain = trial.arms.filter((arm) => countRuns(arm) + (arm.cached ?? 0) > 0);
  const dependsOnOthers = trial.dependsOnOthers === true ? dependsOnSuite(plain) : trial.dependsOnOthers;
  const facts = {
    command: [...argv],
    narrowed: narrowed === null ? null : [...narrowed.argv],
    tests: [...(bench.failure?.names ?? [])],
    arms: [...plain, ...(dependence?.arms ?? [])],
    dependsOnOthers,
    polluters: dependsOnOthers === true ? polluters : [],
    ...(dependence === null ? {} : { dependsOn: dependence.on }),
  };
  return { ...facts, ...judgeRuns(facts), notes, excerpt };
}

interface Trial {
  readonly need: () => Checkout;
  readonly options: ConfirmOptions;
  readonly deps: ConfirmDeps;
  readonly bench: Bench;
  readonly here: WorkFolder;
  readonly arms: Arm[];
  readonly notes: string[];
  narrowed: Narrowed | null;
  dependsOnOthers: boolean | null;
  base: Worktree | null;
  excerpt: string | null;
  /** The output of the last run. */
  output: string;
}

const MAX_EXCERPT = 4_000;

/** The command that is run repeatedly: the whole command, or only its failing tests. */
interface Chosen {
  readonly what: Arm['what'];
  readonly argv: readonly string[];
  /** Variables in addition to those of the trial. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Finds the smallest command that fails here. Returns null if there is nothing to compare. */
async function reproduce(trial: Trial): Promise<Chosen | null> {
  const suite: Chosen = { what: 'suite', argv: trial.options.argv };
  const [whole, single] = [getArm(trial, 'here', 'suite'), getArm(trial, 'here', 'alone')];
  const given = toAloneCommand(trial);
  if (given !== null && (await runIn(trial, single, given)) === 'failed') return given;
  const first = await runIn(trial, whole, suite);
  if (first === 'passed' || first === 'cached') {
    await runInTurn(trial, [[whole, suite]]);
    return null;
  }
  trial.narrowed ??= narrow(suite.argv, trial.bench.failure?.tests ?? [], trial.here);
  const alone = toAloneCommand(trial);
  if (alone === null) return suite;
  if (given === null && (await runIn(trial, single, alone)) === 'failed') {
    trial.dependsOnOthers = false;
    return alone;
  }
  if (single.other > 0) {
    trial.notes.push(
      'The failing tests could not be selected with the filter of their tool, so the whole command was run.',
    );
    trial.arms.splice(trial.arms.indexOf(single), 1);
    trial.narrowed = null;
    return suite;
  }
  await runInTurn(trial, [
    [whole, suite],
    [single, alone],
  ]);
  if (isMixed(whole) || isMixed(single)) return null;
  trial.dependsOnOthers = dependsOnSuite([whole, single]);
  return suite;
}

function toAloneCommand({ narrowed }: Trial): Chosen | null {
  return narrowed === null ? null : { what: 'alone', argv: narrowed.argv };
}

async function compare(trial: Trial, chosen: Chosen, commit: string): Promise<void> {
  const { options, notes, bench } = trial;
  trial.base = await openWorktree(trial.need(), commit);
  const { unshared, cwd } = trial.base;
  const differing = `The dependencies in ${unshared.join(' and ')} differ on the base`;
  if (unshared.length > 0 && options.install === undefined) {
    notes.push(`${differing}: name the command that installs them with --install to compare with it.`);
    return;
  }
  if (unshared.length > 0 && options.install !== undefined) {
    const { exitCode } = await bench.prepare(options.install, cwd);
    if (exitCode !== 0) {
      notes.push(`${differing}, and ${options.install.join(' ')} failed there.`);
      return;
    }
  }
  const stray = findStrayArgument(trial.base, chosen.argv);
  if (stray !== null) {
    notes.push(
      `It was not compared: on the base, ${stray} is a symbolic link to a place outside of its worktree.`,
    );
    return;
  }
  await runInTurn(trial, [
    [getArm(trial, 'here', chosen.what), chosen],
    [getArm(trial, 'base', chosen.what), chosen],
  ]);
}

/** The maximum number of tests among which dependencies of another test are searched. */
const MAX_LISTED = 10_000;

/**
 * Runs parts of the suite before one failing test until the smallest set with which it fails is found. Runs
 * that set as often as every arm.
 */
async function findPolluters(trial: Trial): Promise<string[]> {
  const { options, deps, bench, here, notes } = trial;
  const list = testList(options.argv);
  const cannot = (why: string) => {
    notes.push(`Which tests they depend on was not found: ${why}.`);
    return [];
  };
  if (list === null) return cannot('the tool cannot list its tests in their order');
  const { output } = await bench.run(list.argv, options.cwd);
  const listed = list.read(stripVTControlCharacters(output), here.cwd);
  const at = listed.findIndex((test) => bench.failure?.tests.some((failing) => isSameTest(failing, test)));
  const victim = listed[at];
  if (victim === undefined || listed.length > MAX_LISTED)
    return cannot('the failing test is not in the list of tests');
  const probe = createArm('here', 'after', null);
  const buildCommand = (before: readonly FailingTest[]) =>
    narrow(options.argv, [...before, victim], here, MAX_LISTED);
  const failsAfter = async (before: readonly FailingTest[]): Promise<boolean> => {
    const argv = buildCommand(before)?.argv;
    if (argv === undefined || !bench.isOpen()) return false;
    const run = await bench.run(argv, options.cwd);
    const fails = (await deps.read(run.output)).failingTests.some((test) => isSameTest(test, victim));
    probe.exitCodes.push(run.exitCode);
    deps.onRun?.(probe, fails ? 'failed' : 'passed', run.milliseconds);
    return fails;
  };
  const found = await findFewest(listed.slice(0, at), failsAfter);
  if (!bench.isOpen())
    return cannot(`the time limit of ${Math.round(options.limitMs / 60_000)} min was reached`);
  const argv = found === null ? undefined : buildCommand(found)?.argv;
  if (found === null || argv === undefined)
    return cannot('the failing test passed behind all tests that the tool lists before it');
  const after = getArm(trial, 'here', 'after');
  bench.failure = createSignature([victim]);
  await runInTurn(trial, [[after, { what: 'after', argv }]]);
  return failsAfterOthers([after]) ? found.map(formatTestName) : cannot('it did not fail every time');
}

/**
 * Finds the smallest subset of these tests, in their order, for which `fails` holds together with the tests
 * in `kept`. Returns null if it does not hold for all of them. Halves the list as often as possible; if
 * neither half is sufficient, both contain a part of the cause.
 */
async function findFewest<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
): Promise<Item[] | null> {
  const search = async (some: readonly Item[], kept: ReadonlySet<Item>): Promise<Item[]> => {
    if (some.length <= 1) return [...some];
    const halves = [some.slice(0, some.length / 2), some.slice(some.length / 2)] as const;
    for (const half of halves) {
      const chosen = new Set([...half, ...kept]);
      if (await fails(items.filter((item) => chosen.has(item)))) return await search(half, kept);
    }
    const first = await search(halves[0], new Set([...kept, ...halves[1]]));
    return [...first, ...(await search(halves[1], new Set([...kept, ...first])))];
  };
  return (await fails(items)) ? await search(items, new Set()) : null;
}

/**
 * Finds the condition on which the failure depends, with the arms that show it. Returns null if nothing is
 * found or the verdict gives no reason to search.
 */
async function detectDependence(
  trial: Trial,
): Promise<(Pick<Dependence, 'on'> & { readonly arms: Arm[] }) | null> {
  const { options, arms, narrowed } = trial;
  const counted = arms.filter((arm) => countRuns(arm) > 0);
  const { verdict } = judgeRuns({ arms: counted, dependsOnOthers: null, polluters: [] });
  const here = counted.filter(({ where }) => where === 'here');
  const mixed = here.find(isMixed);
  const isKnown = options.tests.length > 0;
  const isAlways = verdict === 'reproduced' || verdict === 'not-this-change';
  const fails =
    mixed !== undefined
      ? 'sometimes'
      : isAlways
        ? 'always'
        : verdict === 'not-reproduced' && isKnown
          ? 'never'
          : null;
  const what = mixed?.what ?? (narrowed === null ? 'suite' : 'alone');
  const argv = what === 'suite' ? options.argv : narrowed?.argv;
  if (fails === null || argv === undefined) return null;
  const made: Arm[] = [];
  const run = async (condition: Condition) => {
    const found = made.find(({ under }) => under === condition.name);
    const arm = found ?? { ...createArm('here', what, null), under: condition.name };
    if (found === undefined) made.push(arm);
    return await runIn(trial, arm, { what, argv: condition.argv, env: condition.env });
  };
  const hasNetwork = options.within === undefined;
  const found = await findDependence({
    argv,
    output: trial.output,
    runs: options.runs,
    fails,
    hasNetwork,
    run,
    isOpen: trial.bench.isOpen,
  });
  return found === null
    ? null
    : {
        ...found,
        arms: made.filter(({ under }) => found.counts.some(({ condition }) => condition.name === under)),
      };
}

function getArm({ arms, base }: Trial, where: Arm['where'], what: Arm['what']): Arm {
  const found = arms.find((arm) => arm.where === where && arm.what === what);
  if (found !== undefined) return found;
  const commit = where === 'here' ? null : (base?.commit ?? null);
  const arm = createArm(where, what, commit);
  arms.push(arm);
  return arm;
}

function createArm(where: Arm['where'], what: Arm['what'], commit: string | null): Arm {
  return { where, what, commit, passed: 0, failed: 0, other: 0, exitCodes: [], milliseconds: [] };
}

async function runIn(trial: Trial, arm: Arm, { what, argv, env }: Chosen): Promise<Outcome> {
  const { options, deps, base, bench } = trial;
  const run = await bench.run(argv, arm.where === 'base' && base !== null ? base.cwd : options.cwd, env);
  trial.output = run.output;
  const ran = what === 'suite' ? null : (trial.narrowed?.ran ?? null);
  const { outcome, reading } = await bench.judge(run, ran);
  if (outcome === 'failed') trial.excerpt ??= reading?.excerpts[0]?.text.slice(0, MAX_EXCERPT) ?? null;
  if (outcome === 'cached') {
    arm.cached = (arm.cached ?? 0) + 1;
    deps.onRun?.(arm, outcome, run.milliseconds);
    return outcome;
  }
  arm[outcome] += 1;
  arm.exitCodes.push(run.exitCode);
  arm.milliseconds.push(run.milliseconds);
  deps.onRun?.(arm, outcome, run.milliseconds);
  return outcome;
}

/**
 * Checks whether an arm has run as often as required. An arm whose runs a cache answers is not tried forever.
 */
function isDone(arm: Arm, runs: number): boolean {
  return countRuns(arm) >= runs || (arm.cached ?? 0) >= MAX_CACHED;
}

/**
 * Runs all arms in turn, so that influences that change over time affect each of them. Ends early if an arm
 * both passes and fails.
 */
async function runInTurn(trial: Trial, pairs: readonly (readonly [Arm, Chosen])[]): Promise<void> {
  const { options, bench, notes } = trial;
  const { runs } = options;
  while (pairs.some(([arm]) => !isDone(arm, runs)) && !pairs.some(([arm]) => isMixed(arm))) {
    for (const [arm, chosen] of pairs) {
      if (isDone(arm, runs)) continue;
      if (!bench.isOpen()) {
        notes.push(bench.limitNote);
        return;
      }
      await runIn(trial, arm, chosen);
    }
  }
}
