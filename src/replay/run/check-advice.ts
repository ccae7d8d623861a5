import type { DatasetRow } from '../cases/case.ts';
import { createLookup, findIdentifiers, type Identifier } from './identifiers.ts';
import type { CaseResult } from './results.ts';

/**
 * The names in the advice of a case, compared with the known fix and with the available evidence. All listed
 * values occur in the advice.
 */
export type AdviceCheck = NonNullable<CaseResult['advice']>;

/** The kinds of names that are useless if they do not exist. */
const MUST_EXIST: ReadonlySet<Identifier['kind']> = new Set(['path', 'version', 'variable']);

/** Checks whether an answer contains no advice. */
export function isSilent(advice: string | null): boolean {
  return advice === null || /^\s*(?:$|No fix found\b)/i.test(advice);
}

/**
 * Checks the advice of a row with a known fix. Returns null if none is known. `texts` are the logs, reports
 * and names of files. A name in the fix counts only if they contain it, because no other name can be known.
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
