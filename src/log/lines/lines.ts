import { buildMatcher } from '../scan/matcher.ts';
import { type LineIndex, scanLog } from '../scan/scan-log.ts';
import { type LogBytes, toLogBytes } from './bytes.ts';
import { cleanLine, stripEscapes } from './clean.ts';

/** A log with its lines at hand. Lines are 1-based over `text.split('\n')`; a lone `\r` never ends one. */
export interface LogText {
  readonly name: string;
  readonly lineCount: number;
  /**
   * Returns a line as stored; only the beginning of a line longer than {@link MAX_RAW} bytes, which ends
   * between two characters. Empty if out of range.
   */
  raw(line: number): string;
  /** Returns the length of a line as stored, in bytes. */
  length(line: number): number;
  /**
   * Returns a line as a person saw it: no escapes, no CI or branch prefix, no overwritten progress; cut to
   * 2,000 characters. Empty if out of range.
   */
  line(line: number): string;
  /** Tells whether a line is left out, because it belongs to another failure. Absent: none is. */
  readonly hides?: (line: number) => boolean;
}

/** Longest part of a line that rules look at, in characters. */
const MAX_LINE = 2_000;
/** Bytes from the end of a line that are cleaned: where progress was overwritten, the end is what stayed. */
const MAX_CLEANED = 16_000;
/** Bytes of a line that are ever made a string. */
export const MAX_RAW = 262_144;
/** Lines remembered in each of two generations. */
const REMEMBERED = 8_192;

/** Opens the lines of a text without searching it for any literals of readers. */
export function openText(text: string): LogText {
  const bytes = toLogBytes(text);
  const scan = scanLog(bytes, buildMatcher([BRANCH_LITERALS]));
  return openLog('', bytes, scan.index, scan.hits[0] ?? []);
}

/** Gives the lines of a log whose scan found `branchLines` to hold {@link BRANCH_LITERALS}. */
export function openLog(
  name: string,
  bytes: LogBytes,
  index: LineIndex,
  branchLines: readonly number[],
): LogText {
  const raw = (line: number) => {
    const [start, end] = [index.getLineStart(line), index.getLineEnd(line)];
    return bytes.text(start, end - start > MAX_RAW ? findBoundary(bytes, start + MAX_RAW) : end);
  };
  const isVisible = (line: number) => {
    const end = index.getLineEnd(line);
    const text = stripEscapes(bytes.text(Math.max(index.getLineStart(line), end - MAX_CLEANED), end));
    return cleanLine(text.slice(-MAX_LINE * 4));
  };
  const marks = findParallelMarks(branchLines.map((line) => isVisible(line)).join('\n'));
  return {
    name,
    lineCount: index.lineCount,
    raw,
    length: (line) => index.getLineEnd(line) - index.getLineStart(line),
    line: rememberLines(index.lineCount, (line) => withoutMark(isVisible(line), marks).slice(0, MAX_LINE)),
  };
}

/** Returns the place at which the character begins that the byte at `place` belongs to. */
function findBoundary(bytes: LogBytes, place: number): number {
  const last = bytes.slice(place - 3, place + 1);
  const back = [0, 1, 2, 3].find((at) => ((last[3 - at] ?? 0) & 0xc0) !== 0x80) ?? 0;
  return place - back;
}

/**
 * Reads lines and remembers the last few thousand: most readers look at the same ones. Empty out of range.
 */
export function rememberLines(lineCount: number, read: (line: number) => string): (line: number) => string {
  let young = new Map<number, string>();
  let old = young;
  return (line) => {
    if (line < 1 || line > lineCount) return '';
    let text = young.get(line);
    if (text !== undefined) return text;
    text = old.get(line) ?? read(line);
    if (young.size >= REMEMBERED) {
      old = young;
      young = new Map();
    }
    young.set(line, text);
    return text;
  };
}

/**
 * Literals whose lines {@link findParallelMarks} needs. The scripts of packages have the names that
 * most projects give them.
 */
export const BRANCH_LITERALS: readonly string[] = [
  '[Pipeline] { (Branch: ',
  'test$ ',
  'build$ ',
  'lint$ ',
  'check$ ',
  'unit$ ',
  'e2e$ ',
  'integration$ ',
  'coverage$ ',
  'compile$ ',
  'format$ ',
  'ci$ ',
  ': cache miss, executing ',
  ': cache bypass, force executing ',
  ']: Process started',
];

const MAX_MARKS = 1_000;
/**
 * Lines that begin one of several outputs that run in parallel: a branch of Jenkins, a script in a package
 * under pnpm and under Turborepo, a workspace of Yarn.
 */
const BEGUN: readonly { readonly pattern: RegExp; readonly toMark: (name: string) => string }[] = [
  { pattern: /\[Pipeline\] \{ \(Branch: ([^\n)]{1,100})\)/g, toMark: (name) => `[${name}] ` },
  { pattern: /^([^\s:$]{1,100} [\w:.-]{1,60})\$ \S/gm, toMark: (name) => `${name}: ` },
  { pattern: /^([^\s:]{1,100}:[\w:.-]{1,60}): cache (?:miss|bypass), /gm, toMark: (name) => `${name}: ` },
  { pattern: /^(\[[^\]\n]{1,100}\]): Process started$/gm, toMark: (name) => `${name}: ` },
];

/** Finds what is before each line of one of several parallel outputs. */
function findParallelMarks(plain: string): ReadonlySet<string> {
  if (plain === '') return new Set();
  const marks = BEGUN.flatMap(({ pattern, toMark }) =>
    Array.from(plain.matchAll(pattern), ([, name]) => toMark(name ?? '')),
  );
  return new Set(marks.slice(0, MAX_MARKS));
}

function withoutMark(line: string, marks: ReadonlySet<string>): string {
  if (marks.size === 0) return line;
  if (marks.has(`${line} `)) return '';
  const end = [': ', '] ']
    .map((text) => line.indexOf(text) + text.length)
    .find((at) => marks.has(line.slice(0, at)));
  return end === undefined ? line : line.slice(end);
}

/**
 * Returns the nearest line at or above `from` that fits, at most `limit` lines up and not above `first`; null
 * if none does.
 */
export function findLineAbove(
  log: LogText,
  from: number,
  limit: number,
  fits: (text: string, line: number) => boolean,
  first = 1,
): number | null {
  const last = Math.max(1, first, from - limit);
  for (let line = from; line >= last; line--) if (fits(log.line(line), line)) return line;
  return null;
}

/** Returns the nearest line at or below `from` that fits, at most `limit` lines down; null if none does. */
export function findLineBelow(
  log: LogText,
  from: number,
  limit: number,
  fits: (text: string) => boolean,
): number | null {
  const last = Math.min(log.lineCount, from + limit);
  for (let line = from; line <= last; line++) if (fits(log.line(line))) return line;
  return null;
}

/**
 * Returns the last line of a block that starts at `start`. The block continues while `belongs` holds, for at
 * most `limit` lines.
 */
export function findBlockEnd(
  log: LogText,
  start: number,
  limit: number,
  belongs: (text: string, line: number) => boolean,
): number {
  let end = start;
  const last = Math.min(log.lineCount, start + limit);
  while (end < last && belongs(log.line(end + 1), end + 1)) end++;
  return end;
}

/** Returns the lines `start` to `end`, at most `limit` of them. */
export function listLinesBetween(log: LogText, start: number, end: number, limit = 60): string[] {
  return Array.from({ length: Math.max(0, Math.min(end - start + 1, limit)) }, (_, i) => log.line(start + i));
}
