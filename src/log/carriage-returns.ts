import type { LogPosition } from '../domain/failure.ts';
import type { Extraction } from './extract/extraction.ts';
import type { LogBytes } from './log-bytes.ts';
import type { LineIndex } from './scan/line-index.ts';

/** Lone carriage returns to one line feed from which on a log is taken to use them as line ends. */
const MANY = 20;
const SAMPLE = 1_000_000;

/** Whether a log's lines were joined by lone carriage returns, as some CI systems' downloads are. */
export function isOverwritten(bytes: LogBytes): boolean {
  const sample = bytes.slice(0, SAMPLE).toString('latin1');
  if (!sample.includes('\r')) return false;
  return count(sample, '\r') - count(sample, '\r\n') > MANY * (count(sample, '\n') + 1);
}

/**
 * Puts what was found in the form with returns as line ends (`split`) back onto the stored lines (`stored`); no byte has moved. Blocks are
 * dropped: they would no longer be whole lines.
 */
export function foldReturns(found: Extraction, split: LineIndex, stored: LineIndex): Extraction {
  const move = <T extends { readonly at: LogPosition | null }>(items: readonly T[]): T[] =>
    items.map((item) =>
      item.at === null ? item : { ...item, at: { source: item.at.source, line: stored.lineAt(split.startOf(item.at.line)) } },
    );
  return {
    ...found,
    blocks: [],
    failingTests: move(found.failingTests),
    diagnostics: move(found.diagnostics),
    exceptions: move(found.exceptions),
    messages: move(found.messages),
  };
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found++;
  return found;
}
