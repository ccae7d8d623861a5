import type { DatasetRow } from '../cases/case.ts';
import { createLookup, findIdentifiers, type Identifier } from './identifiers.ts';
import type { CaseResult } from './results.ts';

/**
 * The names in the advice of a case, compared with the known fix and with the evidence at hand. All values
 * occur in the advice.
 */
export type AdviceCheck = NonNullable<CaseResult['advice']>;

/** Kinds of names on which no one can act if they do not exist. */
const MUST_EXIST: ReadonlySet<Identifier['kind']> = new Set(['path', 'version', 'variable']);

/** Tells whether an answer advises nothing. */
export function isSilent(advice: string | null): boolean {
  return advice === null || /^\s*(?:$|No fix found\b)/i.test(advice);
}

/**
 * Checks the advice of a row whose fix is known; returns null if it is not. `texts`: the available logs,
 * reports and names of files. A name in the fix counts only if these contain it, because no one can be
 * expected to know any other.
 */
export function checkAdvice(
  { fix }: DatasetRow,
  advice: string | null,
  texts: readonly string[],
): AdviceCheck | null {
  if (fix == null) return null;
  const isAtHand = createLookup(texts);
  const findable = findIdentifiers(fix).filter(isAtHand);
  if (isSilent(advice)) return { findable: findable.length, keyed: [], invented: [] };
  const isSaid = createLookup([advice ?? '']);
  const invented = findIdentifiers(advice ?? '').filter(
    (identifier) => MUST_EXIST.has(identifier.kind) && !isAtHand(identifier),
  );
  return {
    findable: findable.length,
    keyed: findable.filter(isSaid).map(({ value }) => value),
    invented: invented.map(({ value }) => value),
  };
}
