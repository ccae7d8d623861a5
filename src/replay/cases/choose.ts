import { createHash } from 'node:crypto';
import { findMax } from '../../lib/collections.ts';
import type { BadCase, CaseOutcome, ReplayCase } from './case.ts';

/**
 * Samples `most` cases: those whose ids have the smallest hashes, each category in proportion (and with at
 * least one case, if there is room). The same cases in another order give the same sample; another seed gives
 * another sample. Cases with errors are kept. The result is in the order of the lines; the chosen cases, and
 * as many candidates of each category, are in memory.
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

/** Returns the same evenly distributed number for the same text: sixteen hexadecimal digits. */
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
  // Twice as many, so that sorting is rare.
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
  // One for each of many small categories may be more than asked for: the largest pays.
  while (sum() > most) shares[shares.indexOf(findMax(shares))] = findMax(shares) - 1;
  return shares;
}
