import { readSources } from '../../log/read-sources.ts';
import { failuresOf } from '../../log/recognise/failures.ts';
import { isUnknown } from '../../log/recognise/fingerprint.ts';
import { likenessOf } from '../../log/recognise/likeness.ts';
import type { CaseTexts } from './case.ts';
import type { Comparable } from './near-duplicates.ts';

/** An excerpt as short as this is the failure already: it is compared as it stands. */
const SHORT_LINES = 30;
const SHORT_TEXT = 2_000;
/** Tokens of a long log that its failure is read from. */
const BUDGET = 1_000;
/** What is held of each; likeness looks at no more. */
const MAX_LINES = 40;
const MAX_LINE = 300;

/** What a case is compared by with others: its text where that is an excerpt, else its first failure, as it is read from the log. */
export function comparableOf(id: string, { sources }: Pick<CaseTexts, 'sources'>): Comparable {
  const text = sources[0]?.text ?? '';
  const lines = text.length <= SHORT_TEXT ? text.split('\n') : [];
  if (sources.length === 1 && text.length <= SHORT_TEXT && lines.length <= SHORT_LINES) {
    return { id, parts: { test: null, message: null, frames: [], lines: bounded(lines) }, fingerprint: null };
  }
  const [failure] = failuresOf(readSources(sources, { budgetTokens: BUDGET }));
  if (failure === undefined) return { id, parts: { test: null, message: null, frames: [], lines: bounded(lines) }, fingerprint: null };
  const { test, message, frames, lines: around } = likenessOf(failure);
  const known = !failure.generic && !isUnknown(failure.fingerprint);
  const parts = { test, message: message?.slice(0, SHORT_TEXT) ?? null, frames, lines: bounded(around) };
  return { id, parts, fingerprint: known ? failure.fingerprint.value : null };
}

/** Copied, so that a piece of a long log does not hold all of it in memory. */
function bounded(lines: readonly string[]): string[] {
  return lines.slice(0, MAX_LINES).map((line) => Buffer.from(line.slice(0, MAX_LINE)).toString());
}
