import { takeFirstOfEach } from '../../../lib/collections.ts';
import type { ReplayedCase } from '../../run/replay.ts';
import {
  computeRatioInterval,
  type Figure,
  type FigureSection,
  listIds,
  shareFigure,
  withInterval,
} from '../figure.ts';
import { countPossiblePairs } from '../groups.ts';
import { countNamed } from '../reading.ts';
import { type ScoredBuild, type ScoredFailure, scoreBuildCases } from './score-failures.ts';

/**
 * A share of items in builds, such as of their failures: how many satisfy the condition, and of how many, in
 * each build.
 */
interface Share {
  readonly name: string;
  readonly count: (build: ScoredBuild) => readonly [held: number, of: number];
  /**
   * The builds that count against the figure: those in which an item does not satisfy the condition, or those
   * in which one does.
   */
  readonly against: 'missing' | 'held';
  /** True if the share needs answers, so that reading the logs is not enough. */
  readonly needsAnswers: boolean;
}

const SHARES: readonly Share[] = [
  getFailureShare(
    'answered',
    ({ answer }) => answer !== null,
    'missing',
    () => true,
  ),
  getFailureShare(
    'own message',
    ({ isOwn }) => isOwn,
    'missing',
    () => true,
  ),
  getFailureShare(
    'bleed',
    ({ mentionsOtherCause }) => mentionsOtherCause,
    'held',
    ({ answer, isFinding }) => answer !== null && !isFinding,
  ),
  getFailureShare(
    'shared title',
    ({ hasSharedTitle }) => hasSharedTitle,
    'held',
    ({ answer, isFinding }) => answer !== null && !isFinding,
  ),
  getFailureShare(
    'category',
    ({ isRight }) => isRight,
    'missing',
    ({ isFinding }) => !isFinding,
  ),
  { name: 'pairs precision', count: countSameAnswer, against: 'missing', needsAnswers: true },
  { name: 'pairs recall', count: countSameCause, against: 'missing', needsAnswers: true },
  { name: 'tests precision', count: countNamedTests, against: 'missing', needsAnswers: false },
  { name: 'tests recall', count: countFoundTests, against: 'missing', needsAnswers: false },
  { name: 'green called green', count: countGreen, against: 'missing', needsAnswers: false },
  { name: 'published wrong', count: countPublishedWrong, against: 'held', needsAnswers: true },
];

/**
 * Scores builds whose failures are all labeled: over all of them, then a row for each runner and for each
 * split. Returns none if there is no such build.
 *
 * - `answered`, `own message`, `category`: of all failures; those without an answer count as missing.
 *
 * - `bleed`, `shared title`: of the answered failures. The second counts failures whose answer has the same
 * title as the answer to another cause.
 *
 * - `pairs precision`: of the pairs of failures with one answer, those that share a cause; `pairs recall`: of
 * the pairs that share a cause, those with one answer. Findings of linters and compilers have one cause for
 * each step of a log.
 *
 * - `tests precision`, `tests recall`: of all failing tests that were named or are labeled, including those
 * of passed runs. A test that is labeled in several logs counts in each. A file or suite that is labeled as
 * failed as a whole may be named.
 *
 * - `published wrong`: of the published answers, those whose category is right for none of the failures that
 * they name, or that bleed for all of them. An answer that names none is wrong; one that names only findings
 * is left out.
 *
 * Findings are left out of `bleed`, `shared title`, `category` and `published wrong`.
 */
export function scoreBuilds(cases: readonly ReplayedCase[]): FigureSection[] {
  const builds = scoreBuildCases(cases);
  if (builds.length === 0) return [];
  return [
    { title: 'failures of builds', figures: scoreShares(builds) },
    {
      title: 'failures of builds, by runner',
      figures: scoreRows(builds, ({ row }) => row.runner ?? null, ''),
    },
    {
      title: 'failures of builds, by split',
      figures: scoreRows(builds, ({ row }) => row.split ?? null, 'split '),
    },
  ];
}

function scoreShares(builds: readonly ScoredBuild[]): Figure[] {
  const isAnswered = builds.some(({ one }) => one.result.analyst !== null);
  const shares = SHARES.filter(({ needsAnswers }) => isAnswered || !needsAnswers);
  return shares.map((share) => scoreShare(share, builds)).filter(({ cases }) => cases > 0);
}

function scoreShare({ name, count, against }: Share, builds: readonly ScoredBuild[]): Figure {
  let [correct, of] = [0, 0];
  const counted = builds.map((build) => ({ one: build.one, counts: count(build) }));
  for (const { counts } of counted) [correct, of] = [correct + counts[0], of + counts[1]];
  const worse = counted.filter(({ counts: [some, all] }) => (against === 'held' ? some > 0 : some < all));
  const figure = shareFigure(`failures: ${name}`, correct, of, listIds(worse));
  return withInterval(
    figure,
    computeRatioInterval(counted, ({ counts }) => counts),
  );
}

/** Returns a row of a small table for each value, in their order. Returns none if no row names a value. */
function scoreRows(
  builds: readonly ScoredBuild[],
  valueFor: (build: ScoredBuild) => string | null,
  prefix: string,
): Figure[] {
  const named = [...Map.groupBy(builds, valueFor)].sort(([left], [right]) =>
    (left ?? '') < (right ?? '') ? -1 : 1,
  );
  if (named.every(([value]) => value === null)) return [];
  return named.flatMap(([value, members]) => {
    const row = value ?? '(unknown)';
    const cell = (column: string, figure: Figure): Figure => ({
      ...figure,
      name: `failures: ${column}, ${prefix}${row}`,
      cell: { row, column },
    });
    const count = cell('builds', { name: '', value: members.length, cases: members.length, unit: 'count' });
    const shares = scoreShares(members).map(({ interval: _, ...figure }) =>
      cell(figure.name.replace('failures: ', ''), figure),
    );
    return [count, ...shares];
  });
}

function getFailureShare(
  name: string,
  holds: (failure: ScoredFailure) => boolean,
  against: Share['against'],
  isCounted: (failure: ScoredFailure) => boolean,
): Share {
  const count = ({ failures }: ScoredBuild) => {
    const counted = failures.filter(isCounted);
    return [counted.filter(holds).length, counted.length] as const;
  };
  return { name, count, against, needsAnswers: true };
}

function countSameAnswer({ answers, failures }: ScoredBuild): readonly [held: number, of: number] {
  const placed = failures.flatMap((failure) =>
    failure.answer === null ? [] : [{ one: failure, at: answers.indexOf(failure.answer) }],
  );
  return [
    countPairs(placed, ({ one, at }) => `${at} ${getCauseKey(one)}`),
    countPairs(placed, ({ at }) => String(at)),
  ];
}

function countSameCause(build: ScoredBuild): readonly [held: number, of: number] {
  return [countSameAnswer(build)[0], countPairs(build.failures, getCauseKey)];
}

/** Counts the pairs with equal keys. */
function countPairs<Item>(items: readonly Item[], keyFor: (item: Item) => string): number {
  return [...Map.groupBy(items, keyFor).values()].reduce(
    (total, { length }) => total + countPossiblePairs(length),
    0,
  );
}

/**
 * Returns the key of a cause for counting pairs: the labeled cause, or, for findings of a tool, the step of
 * the log that reported them.
 */
function getCauseKey({ failure, isFinding }: ScoredFailure): string {
  return isFinding ? JSON.stringify(['findings', failure.log ?? null, failure.step ?? null]) : failure.cause;
}

/** Counts the correctly named tests, including a file or suite that is labeled as failed as a whole. */
function countNamedTests({ row, one }: ScoredBuild): readonly [held: number, of: number] {
  const whole = (row.failures ?? []).flatMap(({ test, suite }) =>
    test == null && suite != null ? [suite] : [],
  );
  return [
    countNamed([...countLabelledTests(row), ...whole], one.result.failingTests),
    one.result.failingTests.length,
  ];
}

function countFoundTests({ row, one }: ScoredBuild): readonly [held: number, of: number] {
  const labelled = countLabelledTests(row);
  return [countNamed(labelled, one.result.failingTests), labelled.length];
}

/** Lists each failing test once for each log: a test that fails in three jobs counts three times. */
function countLabelledTests({ failures }: ScoredBuild['row']): readonly string[] {
  const named = (failures ?? []).flatMap(({ log, suite, test }) =>
    test == null ? [] : [{ log, name: `${suite ?? ''} ${test}`.trim() }],
  );
  return takeFirstOfEach(named, ({ log, name }) => `${log ?? ''}\u0001${name}`).map(({ name }) => name);
}

function countGreen({ row, one }: ScoredBuild): readonly [held: number, of: number] {
  return row.green === true ? [Number(one.result.failureFound === false), 1] : [0, 0];
}

function countPublishedWrong({ answers, failures }: ScoredBuild): readonly [held: number, of: number] {
  const published = answers.filter(({ action }) => action === 'auto_notify');
  const judged = published
    .map((answer) => failures.filter((failure) => failure.answer === answer))
    .filter((named) => named.length === 0 || named.some(({ isFinding }) => !isFinding))
    .map((named) => named.filter(({ isFinding }) => !isFinding));
  const wrong = judged.filter(
    (named) =>
      named.every(({ isRight }) => !isRight) || named.every(({ mentionsOtherCause }) => mentionsOtherCause),
  );
  return [wrong.length, judged.length];
}
