import type { LikenessParts } from '../../log/recognise/likeness.ts';
import { nearMatchIndex } from '../../log/recognise/near-match.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { CaseResult } from '../run/result.ts';
import type { Figure } from './figure.ts';
import { mean } from './figure.ts';

/** How many of the nearest other cases are looked at. */
const NEAREST = 5;

/** The same failure on other days: by its fingerprint, and by near-match search. */
export function scoreGroups(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => one.row?.group != null);
  return labelled.length === 0 ? [] : [...scorePairs(labelled), ...scoreNearest(labelled)];
}

/** Over all pairs of cases: how many with one fingerprint are one failure, and how many of one failure have one fingerprint. */
function scorePairs(labelled: readonly ReplayedCase[]): Figure[] {
  const pairs = (keyOf: (one: ReplayedCase) => string | null) => {
    const counts = new Map<string, number>();
    for (const one of labelled) {
      const key = keyOf(one);
      if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts.values()].reduce((total, count) => total + (count * (count - 1)) / 2, 0);
  };
  const both = pairs((one) => (one.result.fingerprint === null ? null : `${one.row?.group}\u0001${one.result.fingerprint}`));
  const sameFingerprint = pairs((one) => one.result.fingerprint);
  const sameGroup = pairs((one) => one.row?.group ?? null);
  return [
    { name: 'same fingerprint: pair precision', value: sameFingerprint === 0 ? 0 : both / sameFingerprint, cases: labelled.length },
    { name: 'same fingerprint: pair recall', value: sameGroup === 0 ? 0 : both / sameGroup, cases: labelled.length },
  ];
}

/** Over the cases that have another of their group: is one among the five nearest, and how many of the five that could be are. */
function scoreNearest(labelled: readonly ReplayedCase[]): Figure[] {
  const groups = labelled.map((one) => one.row?.group ?? '');
  const parts = labelled.map((one) => partsOf(one.result));
  const index = nearMatchIndex(parts.map((one, at) => ({ id: String(at), parts: one })));
  const shares: number[] = [];
  for (const [at, part] of parts.entries()) {
    const others = groups.filter((group, other) => group === groups[at] && other !== at).length;
    if (others === 0) continue;
    const nearest = index.search(part, NEAREST + 1).filter(({ id }) => id !== String(at));
    const found = nearest.slice(0, NEAREST).filter(({ id }) => groups[Number(id)] === groups[at]).length;
    shares.push(found / Math.min(NEAREST, others));
  }
  if (shares.length === 0) return [];
  return [
    { name: 'near match: recall@5', value: mean(shares.map((share) => (share > 0 ? 1 : 0))), cases: shares.length },
    { name: 'near match: share of the group in the first 5', value: mean(shares), cases: shares.length },
  ];
}

function partsOf({ failingTests, messages, excerpts }: CaseResult): LikenessParts {
  const [test] = failingTests;
  return {
    test: test === undefined ? null : [test.suite, test.name].filter(Boolean).join(' '),
    message: messages[0] ?? null,
    frames: [],
    lines: excerpts.flatMap(({ text }) => text.split('\n')),
  };
}
