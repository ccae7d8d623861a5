import { buildMatcher } from '../scan/matcher.ts';
import { type LineIndex, scanLog } from '../scan/scan-log.ts';
import { type LogBytes, toLogBytes } from './bytes.ts';
import { cleanLine, stripEscapes } from './clean.ts';

/**
 * A log with access to its lines. Lines are 1-based over `text.split('\n')`; a lone `\r` does not end one.
 */
export interface LogText {
  readonly name: string;
  readonly lineCount: number;
  /**
   * Returns a line as stored. Of a line longer than {@link MAX_RAW} bytes, returns only the beginning, up to
   * a whole character. Empty if out of range.
   */
  raw(line: number): string;
  /** Returns the length of a line as stored, in bytes. */
  length(line: number): number;
  /**
   * Returns a line as a terminal displays it: no escapes, no prefix of a CI system or parallel branch, no
   * overwritten progress; at most 2,000 characters. Empty if out of range.
   */
  line(line: number): string;
  /**
   * Tells whether a line is left out because it belongs to another failure. If absent, no line is left out.
   */
  readonly hides?: (line: number) => boolean;
}

/** The maximum number of characters of a line that rules are tried on. */
const MAX_LINE = 2_000;
/**
 * The number of bytes at the end of a line that are cleaned. If progress was overwritten, the last text is at
 * the end.
 */
const MAX_CLEANED = 16_000;
/** The maximum number of bytes of a line that are converted to a string. */
export const MAX_RAW = 262_144;
/** The number of lines that are cached in each of two generations. */
const REMEMBERED = 8_192;

/** Opens the lines of a text. The text is not searched for the literals of readers. */
export function openText(text: string): LogText {
  const bytes = toLogBytes(text);
  const scan = scanLog(bytes, buildMatcher([BRANCH_LITERALS]));
  return openLog('', bytes, scan.index, scan.hits[0] ?? []);
}

/** Opens the lines of a log. `branchLines` are the lines in which the scan found {@link BRANCH_LITERALS}. */
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

/** Returns the offset at which the character begins that contains the byte at `place`. */
function findBoundary(bytes: LogBytes, place: number): number {
  const last = bytes.slice(place - 3, place + 1);
  const back = [0, 1, 2, 3].find((at) => ((last[3 - at] ?? 0) & 0xc0) !== 0x80) ?? 0;
  return place - back;
}

/**
 * Caches the last few thousand lines, because most readers read the same ones. The result is empty for lines
 * out of range.
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
 * The literals that {@link findParallelMarks} needs. Scripts of packages are found by the names that they
 * usually have.
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
 * Lines that begin an output that runs in parallel with others: a branch in Jenkins, the script of a package
 * in pnpm or Turborepo, a workspace in Yarn.
 */
const BEGUN: readonly { readonly pattern: RegExp; readonly toMark: (name: string) => string }[] = [
  { pattern: /\[Pipeline\] \{ \(Branch: ([^\n)]{1,100})\)/g, toMark: (name) => `[${name}] ` },
  { pattern: /^([^\s:$]{1,100} [\w:.-]{1,60})\$ \S/gm, toMark: (name) => `${name}: ` },
  { pattern: /^([^\s:]{1,100}:[\w:.-]{1,60}): cache (?:miss|bypass), /gm, toMark: (name) => `${name}: ` },
  { pattern: /^(\[[^\]\n]{1,100}\]): Process started$/gm, toMark: (name) => `${name}: ` },
];

/** Finds the prefixes of the lines of outputs that run in parallel. */
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
 * Returns the nearest line at or above `from` that satisfies the condition, at most `limit` lines up and not
 * above `first`. Returns null if there is none.
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

/**
 * Returns the nearest line at or below `from` that satisfies the condition, at most `limit` lines down.
 * Returns null if there is none.
 */
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

/** Returns the text of the lines `start` to `end`, at most `limit` of them. */
export function listLinesBetween(log: LogText, start: number, end: number, limit = 60): string[] {
  return Array.from({ length: Math.max(0, Math.min(end - start + 1, limit)) }, (_, i) => log.line(start + i));
}
