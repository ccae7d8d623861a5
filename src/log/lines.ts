import type { SourceText } from '../domain/build.ts';
import { branchNames } from './branches.ts';
import { cleanLine, stripEscapes } from './clean.ts';
import type { Scan } from './scan.ts';
import { lineStarts } from './scan.ts';

/** A log with its lines at hand. Lines are 1-based over `text.split('\n')`; a lone `\r` never ends one. */
export interface LogText {
  readonly name: string;
  readonly text: string;
  /** `text` without terminal escapes: the same lines, other offsets. */
  readonly plain: string;
  readonly lineCount: number;
  /** A line exactly as stored. */
  raw(line: number): string;
  /** A line as a person saw it: no escapes, no CI or branch prefix, no overwritten progress; cut to 2,000 characters. Empty out of range. */
  line(line: number): string;
}

/** Longest part of a line that rules look at. */
const MAX_LINE = 2_000;

/** Cuts a log into lines, given the scan of its escape-free form (see {@link stripEscapes}). */
export function openLog(source: SourceText, plain: string, scan: Scan): LogText {
  const branches = branchNames(plain).map((name) => `[${name}] `);
  const unbranched = (line: string) => line.slice(branches.find((mark) => line.startsWith(mark))?.length ?? 0);
  const plainStarts = scan.starts;
  const rawStarts = plain === source.text ? plainStarts : lineStarts(source.text);
  return {
    name: source.name,
    text: source.text,
    plain,
    lineCount: plainStarts.length,
    raw: (line) => sliceLine(source.text, rawStarts, line),
    line: (line) => unbranched(cleanLine(sliceLine(plain, plainStarts, line).slice(-MAX_LINE * 4))).slice(0, MAX_LINE),
  };
}

/** The escape-free form of a text, with the same lines. */
export function plainText(text: string): string {
  return stripEscapes(text);
}

function sliceLine(text: string, starts: Uint32Array, line: number): string {
  const start = starts[line - 1];
  if (start === undefined) return '';
  const next = starts[line];
  return text.slice(start, next === undefined ? text.length : next - 1);
}
