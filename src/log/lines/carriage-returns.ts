import type { LogPosition } from '../../domain/failure.ts';
import type { Extraction } from '../extract/extraction.ts';
import type { LineIndex } from '../scan/line-index.ts';
import type { LogBytes } from './log-bytes.ts';

/** Lone carriage returns to one line feed from which on a log is taken to use them as line ends. */
const MANY = 20;
const SAMPLE = 1_000_000;
/** Bytes a line; where lines are shorter on average, no twenty returns with something between them fit in. */
const SHORT_LINE = 60;
const RETURN = 13;
const FEED = 10;

/** Whether a log's lines were joined by lone carriage returns, as some CI systems' downloads are. */
export function isOverwritten(bytes: LogBytes, lineCount: number): boolean {
  if (bytes.size < lineCount * SHORT_LINE) return false;
  const sample = bytes.slice(0, SAMPLE);
  let lone = 0;
  for (let at = sample.indexOf(RETURN); at !== -1; at = sample.indexOf(RETURN, at + 1)) if (sample[at + 1] !== FEED) lone++;
  if (lone <= MANY) return false;
  let feeds = 0;
  for (let at = sample.indexOf(FEED); at !== -1; at = sample.indexOf(FEED, at + 1)) feeds++;
  return lone > MANY * (feeds + 1);
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
