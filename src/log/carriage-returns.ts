import type { SourceText } from '../domain/build.ts';
import type { LogPosition } from '../domain/failure.ts';
import type { Extraction } from './extract/extraction.ts';

/** Lone carriage returns to one line feed from which on a log is taken to use them as line ends. */
const MANY = 20;
const SAMPLE = 1_000_000;

/** Whether a log's lines were joined by lone carriage returns, as some CI systems' downloads are. */
export function isOverwritten(text: string): boolean {
  const sample = text.slice(0, SAMPLE);
  if (!sample.includes('\r')) return false;
  return count(sample, '\r') - count(sample, '\r\n') > MANY * (count(sample, '\n') + 1);
}

/** The same log with each carriage return made a line end: for reading only, since lines are counted by line feeds everywhere. */
export function splitReturns(source: SourceText): SourceText {
  return { ...source, text: source.text.replace(/\r\n?/g, '\n') };
}

/** Puts what was found in the split form back onto the stored lines. Blocks are dropped: they would no longer be whole lines. */
export function foldReturns(found: Extraction, source: SourceText): Extraction {
  const lineOf = storedLines(source.text);
  const move = <T extends { readonly at: LogPosition | null }>(items: readonly T[]): T[] =>
    items.map((item) => (item.at === null ? item : { ...item, at: { source: item.at.source, line: lineOf(item.at.line) } }));
  return {
    ...found,
    blocks: [],
    failingTests: move(found.failingTests),
    diagnostics: move(found.diagnostics),
    exceptions: move(found.exceptions),
    messages: move(found.messages),
  };
}

/** From a line of the split form to the stored line it lies on. */
function storedLines(text: string): (line: number) => number {
  const feeds: number[] = [];
  let split = 1;
  for (const match of text.matchAll(/\r\n?|\n/g)) {
    split++;
    if (match[0].endsWith('\n')) feeds.push(split);
  }
  return (line) => 1 + feeds.filter((start) => start <= line).length;
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found++;
  return found;
}
