import type { ReplayedCase } from '../replay.ts';
import type { Figure } from './figure.ts';

/** Over all pairs of cases: how many with one fingerprint are one failure, and how many of one failure have one fingerprint. */
export function scoreGroups(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((one) => one.row?.group != null);
  if (labelled.length === 0) return [];
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
