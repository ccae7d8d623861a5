import { type Classification, isNotDevelopersFault } from './analysis.ts';

/**
 * The probabilities from which on an answer says that a rerun would pass, and up to which it says that it
 * would fail. Between them it says nothing. On jobs whose source was left out of the training, 1 of 55 jobs
 * that were predicted to pass failed again.
 */
const PASSES_FROM = 0.8;
const FAILS_TO = 0.1;
/**
 * The minimum probability at which an answer that blames the change is sent to a person, because the change
 * does not cause a transient failure.
 */
const MAY_PASS_FROM = 0.3;

/** Predicts whether a rerun passes. Returns null if this is not known. */
export function predictRerun(transient: number | null | undefined): boolean | null {
  if (transient == null) return null;
  if (transient >= PASSES_FROM) return true;
  return transient <= FAILS_TO ? false : null;
}

/**
 * Describes the expected result of a rerun in a sentence. Returns null if the result is uncertain, and for a
 * rerun that would fail and that no one would try, because the answer does not excuse the change.
 */
export function describeRerun(
  transient: number | null | undefined,
  classification: Pick<Classification, 'category' | 'kind'>,
): string | null {
  const passes = predictRerun(transient);
  if (passes === null || transient == null) return null;
  if (passes) return `A re-run would probably pass (${transient.toFixed(2)}).`;
  return isNotDevelopersFault(classification)
    ? `A re-run would probably fail again (${transient.toFixed(2)}).`
    : null;
}

/** Tells whether an answer blames the change although a rerun may pass. */
export function mayPassAnyway(
  transient: number | null | undefined,
  classification: Pick<Classification, 'category' | 'kind'>,
): boolean {
  return (transient ?? 0) >= MAY_PASS_FROM && !isNotDevelopersFault(classification);
}
