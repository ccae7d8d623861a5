import type { Build } from '../../domain/build.ts';
import { isRetryable } from '../../domain/errors.ts';
import type { Failure } from '../../domain/failure.ts';
import type { ProvingBuild } from '../../domain/failure-history.ts';
import type { ChangedPath, Outcome } from '../../domain/outcome.ts';
import { describeFailure } from '../../domain/resolution.ts';
import type { ChangedFile, CodeHost } from '../../ports/code-host.ts';
import type { BranchBuild } from '../../stores/grades.ts';
import type { Stores } from '../../stores/stores.ts';

export interface OutcomeDeps {
  readonly stores: { readonly grades: Pick<Stores['grades'], 'testsIn'> };
  readonly codeHost: Pick<CodeHost, 'canRead' | 'compare'>;
}

export interface OutcomeQuestion {
  readonly build: Build;
  readonly fingerprint: string;
  /** The failures of one cause. */
  readonly failures: readonly Failure[];
  readonly others: readonly Failure[];
  /** The builds around it: see `GradeStore.listAround`. */
  readonly around: readonly BranchBuild[];
}

/** Reads the change between two commits; null if it cannot be read. */
export type ChangeReader = (red: string, green: string) => Promise<Outcome['change']>;

/**
 * Reads what happened after a failure. Returns null if no build has passed since. Throws the
 * errors of the stores and of `readChange`.
 */
export async function readOutcome(
  { build, fingerprint, failures, others, around }: OutcomeQuestion,
  { stores }: Pick<OutcomeDeps, 'stores'>,
  readChange: ChangeReader,
): Promise<Outcome | null> {
  const green = around.at(-1);
  if (green === undefined || green.status !== 'passed' || green.id === build.id) return null;
  const reds = around.filter(({ id, has }) => id === build.id || has.includes(fingerprint));
  const red = reds.at(-1) ?? build;
  const commits = reds.flatMap(({ commit }) => commit ?? []);
  const isCompared = red.commit !== null && green.commit !== null && red.commit !== green.commit;
  return {
    red: toProvingBuild(red),
    green: toProvingBuild(green),
    times: reds.length,
    since: (reds[0] ?? build).receivedAt,
    failedAgain: commits.length - new Set(commits).size,
    isRebuiltPullRequest: red.pullRequest !== null && red.number !== green.number,
    clocksDisagree: isEarlier(green, red),
    change: isCompared ? await readChange(red.commit ?? '', green.commit ?? '') : null,
    tests: await readTests(green, failures, stores.grades),
    others: others.map(describeFailure),
  };
}

/** Checks whether one build began before another, according to its CI. */
function isEarlier(entry: Build, other: Build): boolean {
  if (entry.startedAt === null || other.startedAt === null) return false;
  return Date.parse(entry.startedAt) < Date.parse(other.startedAt);
}

function toProvingBuild(build: Build): ProvingBuild {
  const { id, pipeline, number, attempt, url, commit, author, receivedAt } = build;
  return { id, pipeline, number, attempt, url, commit, author, receivedAt };
}

async function readTests(
  green: Build,
  failures: readonly Failure[],
  grades: OutcomeDeps['stores']['grades'],
): Promise<Outcome['tests']> {
  const tests = failures.flatMap(({ test }) => test ?? []);
  if (tests.length === 0) return [];
  const results = await grades.testsIn(
    green.id,
    tests.map(({ name }) => name),
  );
  if (results === null) return tests.map(() => 'unknown');
  return tests.map(({ name, suite }) => {
    const named = results.filter((entry) => entry.name === name);
    const matching = named.filter((entry) => entry.suite === suite);
    const statuses = (matching.length > 0 ? matching : named).map(({ status }) => status);
    if (statuses.length === 0) return 'absent';
    if (statuses.includes('skipped')) return 'skipped';
    // A retried test has both results.
    return statuses.includes('passed') ? 'passed' : 'failed';
  });
}

/**
 * Creates a reader of changes that asks the code host once for each pair of commits. On the last
 * attempt (`isLast`), a retryable error counts as unreadable.
 */
export function createChangeReader(
  codeHost: OutcomeDeps['codeHost'],
  repository: string,
  isLast: boolean,
  signal: AbortSignal,
): ChangeReader {
  const known = new Map<string, Promise<Outcome['change']>>();
  const read = async (red: string, green: string) => {
    try {
      if (!(await codeHost.canRead(repository))) return null;
      return await compareBothWays(codeHost, repository, red, green, signal);
    } catch (error) {
      if (signal.aborted || (isRetryable(error) && !isLast)) throw error;
      return null;
    }
  };
  return (red, green) => {
    const key = `${red} ${green}`;
    const found = known.get(key) ?? read(red, green);
    known.set(key, found);
    return found;
  };
}

/**
 * Compares two commits in both directions. After a force push both sides have changes of their own; only
 * those that differ are the change between them.
 */
async function compareBothWays(
  codeHost: Pick<CodeHost, 'compare'>,
  repository: string,
  red: string,
  green: string,
  signal: AbortSignal,
): Promise<Outcome['change']> {
  const forward = await codeHost.compare({ repository, base: red, head: green }, signal);
  const backward = await codeHost.compare({ repository, base: green, head: red }, signal);
  if (forward === null || backward === null) return null;
  const isRewritten = backward.commits.length > 0;
  const before = new Map(backward.files.map((file) => [file.path, file]));
  const after = new Map(forward.files.map((file) => [file.path, file]));
  const differ = forward.files.filter((file) => !isSameChange(file, before.get(file.path)));
  const dropped = backward.files.filter(({ path }) => !after.has(path));
  return {
    commits: forward.commits.map(({ commit, subject, author }) => ({ commit, subject, author })),
    files: [
      ...differ.map((file) => toChangedPath(file, !before.has(file.path))),
      ...dropped.map((file) => toChangedPath(file, false)),
    ],
    truncated: forward.truncated || backward.truncated,
    isRewritten,
  };
}

function isSameChange(entry: ChangedFile, other: ChangedFile | undefined): boolean {
  return (
    other !== undefined &&
    entry.patch !== null &&
    entry.patch === other.patch &&
    entry.status === other.status
  );
}

/**
 * Converts a changed file. If the first commit has a change of it too, the patch is not the difference
 * between the two commits, so it is omitted.
 */
function toChangedPath(file: ChangedFile, isPatchUsable: boolean): ChangedPath {
  const { path, previousPath, status, patch } = file;
  return isPatchUsable
    ? { path, previousPath, status, patch }
    : { path, previousPath, status: 'modified', patch: null };
}
