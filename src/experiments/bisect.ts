import { computeProbabilities, describeBisection, judgeBisection, SURE } from '../domain/bisection.ts';
import type { Bisection } from '../domain/experiment.ts';
import { openWorktree, type Worktree } from './base-worktree.ts';
import { type Bench, type CommandOptions, createBench } from './bench.ts';
import { MAX_CACHED } from './caches.ts';
import { type Checkout, withCheckout } from './checkout.ts';
import { findStrayArgument } from './checkout-paths.ts';
import { type Commit, readHistory } from './history.ts';
import { type Narrowed, narrow } from './narrow.ts';
import type { Outcome, OutputReader } from './outcome.ts';

/**
 * The options of a bisection. If the command exits with code 125, the commit is skipped, as with
 * `git bisect run`. Without `install`, commits whose dependencies differ are skipped.
 */
export interface BisectOptions extends CommandOptions {
  /** The commit at which the command passed. If absent, the commit at which the branch began. */
  readonly good: string | undefined;
  readonly bad: string;
  /** The command that is run first at each commit. If it fails, the commit is skipped. */
  readonly build?: readonly string[];
  /**
   * Limits the search to every `of`th commit from the `part`th on, in addition to the bad one. This is the
   * share of one of several machines.
   */
  readonly only?: { readonly part: number; readonly of: number };
  /** The results that other machines found between the same commits. */
  readonly results?: readonly Bisection[];
}

export interface BisectDeps {
  readonly read: OutputReader;
  /** Receives each run when it ends. */
  readonly onRun?: (commit: Commit, outcome: Outcome, milliseconds: number) => void;
}

const MAX_RUNS = 500;
/** The number of runs with another failure after which a commit is skipped. */
const MAX_OTHER = 3;

/**
 * Finds the commit that broke a command by a Bayesian search. Each run updates the probability that a commit
 * is the first bad one, averaged over the rates at which the command may fail from there on. The next run is
 * made at the commit that splits the probability most evenly. A failure that always happens takes about one
 * run per step; an intermittent one takes more. No worktree and no process remains. Results of other machines
 * count as runs; if they suffice, nothing is run. Throws `invalid-input` for commits that do not exist and
 * commands that cannot be started, and `cancelled` on abort.
 */
export async function bisect(
  options: BisectOptions,
  deps: BisectDeps,
  signal: AbortSignal,
): Promise<Bisection> {
  return await withCheckout(options, (need) => bisectIn(need(), options, deps, signal));
}

async function bisectIn(
  checkout: Checkout,
  options: BisectOptions,
  deps: BisectDeps,
  signal: AbortSignal,
): Promise<Bisection> {
  const commits = await readHistory(checkout, options.good, options.bad);
  const points = commits.map((commit) => toPoint(commit, options.results ?? []));
  const last = commits.length - 1;
  const worktree = await openWorktree(checkout, commits[last]?.id ?? '');
  const bench = createBench(options, deps.read, signal);
  const search: Search = {
    options,
    deps,
    bench,
    points,
    worktree,
    at: null,
    narrowed: null,
    isNarrowingTried: false,
  };
  try {
    await tryOften(search, last);
    if (search.points[last]?.failed === 0) return conclude(search, 'not-reproduced', []);
    if (options.only !== undefined) return await tryPart(search, options.only);
    if (!canSay(search.points[0])) await tryAt(search, 0);
    for (let run = 0; run < MAX_RUNS && bench.isOpen(); run += 1) {
      if (judgeBisection(toMeasurements(points)).share >= SURE) break;
      const next = findNextToTry(points);
      if (next === null) break;
      // A failure that only other machines have seen must first be reproduced here; until then, a pass
      // proves nothing.
      await tryAt(search, bench.failure === null ? last : next);
    }
    const { verdict, share, from, to } = judgeBisection(toMeasurements(points));
    return conclude(search, verdict, to === 0 ? [] : points.slice(from, to + 1), share);
  } catch (error) {
    if (!bench.isCut()) throw error;
    const { share, from, to } = judgeBisection(toMeasurements(points));
    return conclude(
      search,
      'inconclusive',
      canSay(points[last]) && to > 0 ? points.slice(from, to + 1) : [],
      share,
    );
  }
}

/** Runs the command at a commit until it has `options.runs` results, including those of other machines. */
async function tryOften(search: Search, index: number): Promise<void> {
  const point = search.points[index];
  if (point === undefined) return;
  for (let run = point.passed + point.failed; run < search.options.runs && isOpen(search, index); run += 1)
    await tryAt(search, index);
}

/** Tries the commits of one machine. Every machine tries the bad commit, which determines the failure. */
async function tryPart(
  search: Search,
  { part, of }: { readonly part: number; readonly of: number },
): Promise<Bisection> {
  for (let index = part - 1; index < search.points.length - 1; index += of) await tryOften(search, index);
  return conclude(search, 'part', []);
}

/**
 * Collects the results of other machines at a commit. A commit is skipped only if no machine could try it.
 */
function toPoint(commit: Commit, results: readonly Bisection[]): Point {
  const there = results.flatMap(({ tried }) => tried.filter((point) => point.commit === commit.id));
  const [passed, failed] = [sum(there, 'passed'), sum(there, 'failed')];
  const exitCodes = there.flatMap((point) => point.exitCodes);
  const other = there.reduce((total, point) => total + point.other, 0);
  const why =
    results.flatMap(({ skipped }) => skipped.filter((point) => point.commit === commit.id))[0]?.why ?? null;
  return { commit, passed, failed, other, cached: 0, exitCodes, skipped: passed + failed > 0 ? null : why };
}

interface Point {
  readonly commit: Commit;
  passed: number;
  failed: number;
  other: number;
  /** The number of passes that a cache returned. */
  cached: number;
  readonly exitCodes: (number | null)[];
  /** The reason why the commit cannot be tried. Null if it can. */
  skipped: string | null;
}

interface Search {
  readonly options: BisectOptions;
  readonly deps: BisectDeps;
  readonly bench: Bench;
  /** The good commit, followed by the commits after it. */
  readonly points: readonly Point[];
  readonly worktree: Worktree;
  /** Index of the commit that is checked out and built. Null if there is none. */
  at: number | null;
  narrowed: Narrowed | null;
  /** True once it is known whether the failing tests also fail on their own. */
  isNarrowingTried: boolean;
}

function isOpen({ points, bench }: Search, index: number): boolean {
  return points[index]?.skipped === null && bench.isOpen();
}

async function tryAt(search: Search, index: number): Promise<void> {
  const { options, deps, points, worktree, bench } = search;
  const point = points[index];
  if (point === undefined) return;
  point.skipped = await prepare(search, index);
  if (point.skipped !== null) return;
  if (!search.isNarrowingTried) search.narrowed = narrow(options.argv, bench.failure?.tests ?? [], worktree);
  const run = await bench.run(search.narrowed?.argv ?? options.argv, worktree.cwd);
  // A run that the time limit of the whole search cut short says nothing about the commit.
  if (run.timedOut) return;
  if (run.exitCode === 125) {
    point.skipped = 'the command ended with exit code 125';
    return;
  }
  const { outcome } = await bench.judge(run, search.narrowed?.ran ?? null);
  deps.onRun?.(point.commit, outcome, run.milliseconds);
  if (search.narrowed !== null && !search.isNarrowingTried) {
    search.isNarrowingTried = true;
    if (outcome !== 'failed') {
      search.narrowed = null;
      return;
    }
  }
  if (outcome === 'cached') {
    point.cached += 1;
    if (point.cached >= MAX_CACHED) point.skipped = 'a cache answered for the command';
    return;
  }
  point[outcome] += 1;
  point.exitCodes.push(run.exitCode);
  if (point.other >= MAX_OTHER || (point.other > 0 && point.passed + point.failed === 0)) {
    point.skipped =
      run.exitCode === 0 ? 'the failing tests are not there' : 'the command fails in another way';
  }
}

/** Checks out a commit and builds it. Returns the reason why it cannot be tried, or null. */
async function prepare(search: Search, index: number): Promise<string | null> {
  const { options, worktree, points, bench } = search;
  if (search.at === index) return null;
  search.at = null;
  const unshared = await worktree.moveTo(points[index]?.commit.id ?? '');
  if (unshared.length > 0 && options.install === undefined)
    return `the dependencies in ${unshared.join(' and ')} differ there`;
  const steps = [unshared.length > 0 ? options.install : undefined, options.build].filter(
    (step) => step !== undefined,
  );
  for (const step of steps) {
    const { exitCode } = await bench.prepare(step, worktree.cwd);
    if (exitCode !== 0) return `${step.join(' ')} fails there`;
  }
  const stray = findStrayArgument(worktree, search.narrowed?.argv ?? options.argv);
  if (stray !== null) return `${stray} is a symbolic link to a place outside of the worktree there`;
  search.at = index;
  return null;
}

function toMeasurements(points: readonly Point[]) {
  return points.map(({ passed, failed, skipped }) => ({ passed, failed, isSkipped: skipped !== null }));
}

function canSay(point: Point | undefined): boolean {
  return point !== undefined && point.passed + point.failed > 0;
}

/**
 * Returns the index of the commit at which a run splits the probability most evenly. Returns null if no
 * commit can be tried.
 */
function findNextToTry(points: readonly Point[]): number | null {
  let [next, distance]: [number | null, number] = [null, 1];
  let share = 0;
  for (const [index, probability] of computeProbabilities(toMeasurements(points)).entries()) {
    share += probability;
    if (points[index]?.skipped !== null || index === points.length - 1 || Math.abs(share - 0.5) >= distance)
      continue;
    [next, distance] = [index, Math.abs(share - 0.5)];
  }
  return next;
}

function sum(points: readonly Pick<Point, 'passed' | 'failed'>[], outcome: 'passed' | 'failed'): number {
  return points.reduce((total, point) => total + point[outcome], 0);
}

function conclude(
  { options, points, narrowed, bench }: Search,
  verdict: Bisection['verdict'],
  candidates: readonly Point[],
  confidence = 0,
): Bisection {
  const notes = bench.isOpen() ? [] : [bench.limitNote];
  const [only] = candidates;
  if (verdict === 'found' && only !== undefined && only.commit.parents.length > 1) {
    const [good = '', bad = ''] = only.commit.parents;
    notes.push(
      `It is a merge. To search what it brought: --good ${good.slice(0, 9)} --bad ${bad.slice(0, 9)}`,
    );
  }
  const found = {
    command: [...options.argv],
    narrowed: narrowed === null ? null : [...narrowed.argv],
    tests: [...(bench.failure?.names ?? options.results?.[0]?.tests ?? [])],
    commits: points.length - 1,
    tried: points.flatMap(({ commit, passed, failed, other, exitCodes }, at) =>
      passed + failed === 0
        ? []
        : [{ commit: commit.id, at, passed, failed, other, exitCodes: [...exitCodes] }],
    ),
    skipped: points.flatMap(({ commit, skipped }, at) =>
      skipped === null ? [] : [{ commit: commit.id, at, why: skipped }],
    ),
    verdict,
    confidence,
    candidates: candidates.map(({ commit: { id, author, subject } }) => ({ commit: id, author, subject })),
    notes,
  };
  return { ...found, sentence: describeBisection(found) };
}
