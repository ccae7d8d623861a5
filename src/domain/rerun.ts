import { type Classification, isNotDevelopersFault } from './analysis.ts';

/**
 * The limits of what is said about a re-run. From the first on it is told to pass; on jobs of projects and
 * sources that were left out of the training, 1 of 51 such jobs failed again. Up to the second it is told to
 * fail. Between them nothing is said.
 */
const PASSES_FROM = 0.8;
const FAILS_TO = 0.1;
/**
 * From this probability on, an answer that blames the change is not published without a person: what comes
 * and goes by itself must not be told to be somebody's mistake.
 */
const MAY_PASS_FROM = 0.3;

/** Tells whether a re-run would probably pass; null where this is not known. */
export function foretellRerun(transient: number | null | undefined): boolean | null {
  if (transient == null) return null;
  if (transient >= PASSES_FROM) return true;
  return transient <= FAILS_TO ? false : null;
}

/**
 * Says in a sentence what a re-run would bring. Returns null between the limits, and where a re-run would
 * fail and nobody would try one, because the answer does not excuse the change.
 */
export function describeRerun(
  transient: number | null | undefined,
  classification: Pick<Classification, 'category' | 'kind'>,
): string | null {
  const passes = foretellRerun(transient);
  if (passes === null || transient == null) return null;
  if (passes) return `A re-run would probably pass (${transient.toFixed(2)}).`;
  return isNotDevelopersFault(classification)
    ? `A re-run would probably fail again (${transient.toFixed(2)}).`
    : null;
}

/** Tells whether an answer blames the change although a re-run may pass. */
export function mayPassAnyway(
  transient: number | null | undefined,
  classification: Pick<Classification, 'category' | 'kind'>,
): boolean {
  return (transient ?? 0) >= MAY_PASS_FROM && !isNotDevelopersFault(classification);
}
