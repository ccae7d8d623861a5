import { createHash } from 'node:crypto';
import { findMax } from '../../lib/collections.ts';
import type { BadCase, CaseOutcome, ReplayCase } from './case.ts';

/**
 * Samples `most` cases: those whose ids have the smallest hashes, each category in proportion, and with at
 * least one case if there is room. The sample does not depend on the order of the cases, only on the seed.
 * Cases with errors are kept. The result is in the order of the lines. The chosen cases, and as many
 * candidates of each category, are kept in memory.
 */
export async function* sampleCases(
  outcomes: AsyncIterable<CaseOutcome>,
  most: number,
  seed = 'sample',
): AsyncGenerator<CaseOutcome> {
  const strata = new Map<string, Stratum>();
  const bad: BadCase[] = [];
  for await (const outcome of outcomes) {
    if ('error' in outcome) bad.push(outcome);
    else {
      const category = outcome.one.row.category ?? '';
      const stratum = strata.get(category) ?? { count: 0, kept: [] };
      strata.set(category, stratum);
      keep(
        stratum,
        { line: outcome.line, one: outcome.one, order: hashText(seed, outcome.one.row.id) },
        most,
      );
    }
  }
  const named = [...strata].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, stratum]) => stratum);
  const counts = named.map(({ count }) => count);
  const shares = allocateShares(counts, most);
  const chosen = named.flatMap(({ kept }, at) => kept.sort(compareHash).slice(0, shares[at]));
  yield* [...bad, ...chosen.map(({ line, one }) => ({ line, one }))].sort(
    (left, right) => left.line - right.line,
  );
}

/**
 * Returns an evenly distributed number of sixteen hexadecimal digits, which is always the same for the same
 * text.
 */
export function hashText(seed: string, id: string): string {
  return createHash('sha256').update(`${seed}\u0001${id}`).digest('hex').slice(0, 16);
}

interface Candidate {
  readonly line: number;
  readonly one: ReplayCase;
  readonly order: string;
}

interface Stratum {
  count: number;
  kept: Candidate[];
}

function keep(stratum: Stratum, candidate: Candidate, most: number): void {
  stratum.count++;
  stratum.kept.push(candidate);
  // The list may grow to twice the size, so that it is rarely sorted.
  if (stratum.kept.length > 2 * most) stratum.kept = stratum.kept.sort(compareHash).slice(0, most);
}

function compareHash(left: Candidate, right: Candidate): number {
  return left.order < right.order ? -1 : 1;
}

/**
 * Allocates `most` in proportion to the counts, as whole numbers that are never above their count. The
 * largest remainders get the rest.
 */
function allocateShares(counts: readonly number[], most: number): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= most) return [...counts];
  const least = most >= counts.length ? 1 : 0;
  const exact = counts.map((count) => (count * most) / total);
  const shares = exact.map((share) => Math.max(least, Math.floor(share)));
  const order = exact
    .map((share, at) => ({ at, rest: share - Math.floor(share) }))
    .sort((left, right) => right.rest - left.rest);
  const sum = () => shares.reduce((left, right) => left + right, 0);
  for (const { at } of order)
    if (sum() < most && (shares[at] ?? 0) < (counts[at] ?? 0)) shares[at] = (shares[at] ?? 0) + 1;
  // One case for each of many small categories may exceed the total, so the largest share is reduced.
  while (sum() > most) shares[shares.indexOf(findMax(shares))] = findMax(shares) - 1;
  return shares;
}
