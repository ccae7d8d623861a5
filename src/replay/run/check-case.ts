import type { CaseTexts } from '../cases/case.ts';
import type { DatasetRow } from '../cases/row.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { isStepFound } from './find-step.ts';
import type { CaseResult } from './result.ts';

/** What only those can say who have the log of a case. */
export interface CaseChecks {
  /** How many quotations the claims make, and how many stand literally on their line of the log. */
  readonly quotes: { readonly made: number; readonly literal: number };
  /** Tokens of the whole log, where its labelled lines are scored; counted in samples where the log is long. */
  readonly logTokens?: number;
  /** Whether the labelled step is among those that failed. */
  readonly stepFound?: boolean;
  /** How long these checks took, which no triage makes; the clock of the run leaves it out. */
  readonly checkMilliseconds?: number;
}

/** What only those can say who have the log: how many quotations stand in it, and how long it is where that is scored. */
export function checkCase(row: DatasetRow, result: CaseResult, { sources }: CaseTexts): CaseChecks {
  const startedAt = performance.now();
  const quotes = checkQuotes(result, sources);
  const logTokens = row.expected_lines == null ? {} : { logTokens: estimateTokens(sources[0]?.text ?? '') };
  const stepFound = row.step == null ? {} : { stepFound: isStepFound(row.step, result.failedSections, sources) };
  return { quotes, ...logTokens, ...stepFound, checkMilliseconds: performance.now() - startedAt };
}

/** A hidden secret, and what e-mail addresses and hosts are called where they are hidden. */
const HIDDEN = /\*\*\*|<(?:EMAIL|HOST)(?:_\d{1,9})?>/;

/** Quotations are checked against the logs as they came; what was hidden stands for any characters. */
function checkQuotes(result: CaseResult, sources: CaseTexts['sources']): CaseChecks['quotes'] {
  const logs = new Map(sources.map(({ name, text }) => [name, text.split('\n')]));
  const quotes = result.claims.flatMap((claim) => claim.quotes).filter((quote) => logs.has(quote.source));
  const literal = quotes.filter((quote) => stands(quote.text, logs.get(quote.source)?.[quote.line - 1] ?? ''));
  return { made: quotes.length, literal: literal.length };
}

function stands(quote: string, line: string): boolean {
  let at = 0;
  for (const part of quote.split(HIDDEN)) {
    const found = line.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}
