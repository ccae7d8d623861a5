import { bootstrapWeights, type Interval } from '../../lib/statistics.ts';
import { createNearMatchIndex, type LikenessParts } from '../../log/fingerprint/likeness.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { CaseResult } from '../run/results.ts';
import { type Figure, groupMean, shareFigure, withInterval } from './figure.ts';

const NEAREST = 5;
/**
 * The maximum number of cases in a near-match search, chosen evenly, because the time grows with the square
 * of their number.
 */
const MAX_SEARCHED = 5000;

interface Grouped {
  readonly one: ReplayedCase;
  readonly group: string;
}

/**
 * Scores how well the same failure is recognized on other days: by its fingerprint, and by near-match search.
 */
export function scoreGroups(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.flatMap((replayedCase): Grouped[] =>
    replayedCase.row?.group == null ? [] : [{ one: replayedCase, group: replayedCase.row.group }],
  );
  return labelled.length === 0 ? [] : [...scorePairs(labelled), ...scoreNearest(pickSpread(labelled))];
}

/**
 * Scores all pairs of cases: how many with the same fingerprint are the same failure, and how many of the
 * same failure have the same fingerprint.
 */
function scorePairs(labelled: readonly Grouped[]): Figure[] {
  const keyed = labelled.map(({ one, group }) => ({ group, key: one.result.fingerprint }));
  const { both, sameKey, sameGroup } = countPairs(keyed);
  const [precision, recall] = pairIntervals(keyed);
  const figure = (name: string, of: number, against: readonly string[]): Figure => {
    const { interval: _perPair, ...plain } = shareFigure(name, both, of, against);
    return { ...plain, cases: labelled.length };
  };
  return [
    withInterval(
      figure('same fingerprint: pair precision', sameKey, listStrays(labelled, getFingerprint, getGroup)),
      precision,
    ),
    withInterval(
      figure('same fingerprint: pair recall', sameGroup, listStrays(labelled, getGroup, getFingerprint)),
      recall,
    ),
  ];
}

/**
 * Returns the cases that are in a group by one key, but have another value of the other key than most of that
 * group.
 */
function listStrays(labelled: readonly Grouped[], together: KeyOf, apart: KeyOf): string[] {
  const buckets = Map.groupBy(labelled, together);
  return [...buckets].flatMap(([key, members]) => {
    if (key === null) return [];
    const parts = [...Map.groupBy(members, apart)].sort(([, left], [, right]) => right.length - left.length);
    const [usual] = parts;
    const outside = parts.filter(([name], at) => name === null || (at > 0 && name !== usual?.[0]));
    return members.length < 2 ? [] : outside.flatMap(([, ones]) => ones.map(({ one }) => one.result.id));
  });
}

type KeyOf = (entry: Grouped) => string | null;

function getFingerprint({ one }: Grouped): string | null {
  return one.result.fingerprint;
}

function getGroup({ group }: Grouped): string {
  return group;
}

/**
 * Scores the cases that are not alone in their group: whether another one is among the five nearest, and how
 * many of the possible five are.
 */
function scoreNearest(labelled: readonly Grouped[]): Figure[] {
  const sizes = new Map<string, number>();
  for (const { group } of labelled) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const parts = labelled.map(({ one }) => toLikenessParts(one.result));
  const index = createNearMatchIndex(parts.map((part, at) => ({ id: String(at), parts: part })));
  const asked = labelled.flatMap(({ one, group }, at) => {
    const others = (sizes.get(group) ?? 1) - 1;
    const [part] = parts.slice(at, at + 1);
    if (others === 0 || part === undefined) return [];
    const nearest = index.search(part, NEAREST + 1).filter(({ id }) => id !== String(at));
    const found = nearest.slice(0, NEAREST).filter(({ id }) => labelled[Number(id)]?.group === group).length;
    return [{ one, group, share: found / Math.min(NEAREST, others) }];
  });
  if (asked.length === 0) return [];
  const missed = asked.filter(({ share }) => share === 0).map(({ one }) => one.result.id);
  const figure = (name: string, worth: (share: number) => number): Figure => {
    const { value, interval } = groupMean(
      asked.map(({ group, share }) => ({ cluster: group, value: worth(share) })),
    );
    return withInterval(
      { name, value, cases: asked.length, ...(missed.length === 0 ? {} : { against: missed }) },
      interval,
    );
  };
  return [
    figure('near match: recall@5', (share) => Number(share > 0)),
    figure('near match: share of the group in the first 5', (share) => share),
  ];
}

/**
 * Picks whole groups until there are enough, evenly spread over their names. A partial group would look
 * smaller than it is.
 */
function pickSpread(labelled: readonly Grouped[]): readonly Grouped[] {
  if (labelled.length <= MAX_SEARCHED) return labelled;
  const groups = [...Map.groupBy(labelled, getGroup)].sort(([left], [right]) => (left < right ? -1 : 1));
  const every = Math.ceil(labelled.length / MAX_SEARCHED);
  const kept = groups.filter((_, at) => at % every === 0).flatMap(([, members]) => members);
  return kept.slice(0, MAX_SEARCHED);
}

function toLikenessParts({ failingTests, messages, excerpts }: CaseResult): LikenessParts {
  const [test] = failingTests;
  return {
    test: test === undefined ? null : [test.suite, test.name].filter(Boolean).join(' '),
    message: messages[0] ?? null,
    frames: [],
    lines: excerpts.flatMap(({ text }) => text.split('\n')),
  };
}

interface Keyed {
  readonly group: string;
  readonly key: string | null;
}

interface PairCounts {
  readonly both: number;
  readonly sameKey: number;
  readonly sameGroup: number;
}

export function countPairs(cases: readonly Keyed[]): PairCounts {
  const { groups, keys } = createCells(cases);
  return countWeighted(groups, keys, null);
}

/**
 * Computes 95% intervals of pair precision and pair recall. Whole groups are drawn with replacement, and a
 * pair across two groups counts as often as both were drawn. A group that is drawn twice is not paired with
 * itself, because its copies would agree trivially.
 */
export function pairIntervals(
  cases: readonly Keyed[],
): [precision: Interval | null, recall: Interval | null] {
  const { groups, keys, cells } = createCells(cases);
  const [precision = null, recall = null] = bootstrapWeights(
    groups.length,
    groups.length + cells,
    (weights) => {
      const { both, sameKey, sameGroup } = countWeighted(groups, keys, weights);
      return [both / sameKey, both / sameGroup];
    },
  );
  return [precision, recall];
}

/** The number of cases of a group that have a key. */
interface Cell {
  readonly group: number;
  readonly count: number;
}

function createCells(cases: readonly Keyed[]): { groups: number[]; keys: Cell[][]; cells: number } {
  const byGroup = [...Map.groupBy(cases, ({ group }) => group)].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  const keys = new Map<string, Cell[]>();
  let cells = 0;
  for (const [group, [, members]] of byGroup.entries()) {
    for (const [key, ones] of Map.groupBy(members, (member) => member.key)) {
      if (key === null) continue;
      const cell = { group, count: ones.length };
      const known = keys.get(key);
      if (known === undefined) keys.set(key, [cell]);
      else known.push(cell);
      cells++;
    }
  }
  return { groups: byGroup.map(([, members]) => members.length), keys: [...keys.values()], cells };
}

function countWeighted(
  groups: readonly number[],
  keys: readonly (readonly Cell[])[],
  weights: Uint32Array | null,
): PairCounts {
  let [both, sameKey, sameGroup] = [0, 0, 0];
  for (const [at, size] of groups.entries()) sameGroup += (weights?.[at] ?? 1) * countPossiblePairs(size);
  for (const cells of keys) {
    let [drawn, squares] = [0, 0];
    for (const { group, count } of cells) {
      const weight = weights?.[group] ?? 1;
      const within = weight * countPossiblePairs(count);
      both += within;
      sameKey += within;
      drawn += weight * count;
      squares += (weight * count) ** 2;
    }
    sameKey += (drawn ** 2 - squares) / 2;
  }
  return { both, sameKey, sameGroup };
}

export function countPossiblePairs(count: number): number {
  return (count * (count - 1)) / 2;
}
