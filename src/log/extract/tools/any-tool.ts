import { isForeignFile, readFrame } from '../../frames.ts';
import { classifyRole } from '../../line-roles.ts';
import { findBlockEnd, type LogText, listLinesBetween } from '../../lines/lines.ts';
import type { Extractor, Findings } from '../extraction.ts';
import { isFile, nameTool, type Placed, parseNumber, parseSeverity, readHead, readPlaced } from './place.ts';

/** The name of a tool that is unknown; only the form of its output was recognized. */
export const UNKNOWN_TOOL = 'tool';

const SOURCES = (
  'c cc cpp cxx h hpp m mm cs fs vb go rs java kt kts scala groovy clj swift dart zig nim hs lhs ml ' +
  'mli ex exs erl hrl rb rake gemspec php pl pm lua r jl py pyi ipynb js jsx ts tsx mjs cjs mts cts ' +
  'vue svelte astro css scss less html md yml yaml json toml tf sql sh bash proto graphql sol v sv ' +
  'vhd cr elm purs nix bzl cmake gradle xml'
)
  .split(' ')
  .map((extension) => `.${extension}:`);

/**
 * Literals of places and messages: a digit, a bracket or the word "line" before a message, and the words for
 * severities.
 */
const LITERALS = [...'0123456789']
  .map((digit) => `${digit}: `)
  .concat(SOURCES, ['error', 'warning', 'fatal', ' line ', '--> ', '): ', '✖', '✘', '×', '└─', '┌─', '╭─']);

/**
 * Reads findings of tools that are recognized by their files, codes and words, in any notation of a place.
 */
export const namedTools = createPlacesReader(true);

/** Reads findings of unknown tools, on lines that no other reader has claimed. */
export const anyTool = createPlacesReader(false);

function createPlacesReader(isNamed: boolean): Extractor {
  return {
    name: 'places',
    literals: LITERALS,
    extract: (log, lines, found) => readAll(log, lines, found, isNamed),
  };
}

/**
 * Matches everything that may be a place: an extension or a known name, then a number. Only these lines are
 * tried with the expensive patterns.
 */
const MAYBE_PLACE =
  /(?:\.[A-Za-z_][\w+-]{0,11}|file|BUILD|WORKSPACE)["']?(?::\s?[([]?|\s?[([]|:?,? (?:on )?lines? |\s)\d/;
/** Source files that a configure step compiles only to test the machine. */
const PROBE = /(?:^|[\\/])(?:_?conf(?:ig)?test\.\w{1,4}$|CMakeTmp[\\/]|TryCompile)/;
const COMPLAINS = new RegExp(
  "error|undefined|undeclared|unresolved|expected|invalid|illegal|missing|cannot|can't|" +
    String.raw`could not|couldn't|not |unknown|unused|no such|\bno\b|fail|must|should|mismatch|` +
    'duplicate|redefin|deprecat|denied|conflict|wrong|bad |unbound|unable|attempt|overrid|too ',
  'i',
);
/** The weight from which a block of another reader is reliable. Its lines are not read again. */
const SURE = 60;
const MAX_BLOCK = 40;

function readAll(log: LogText, lines: readonly number[], found: Findings, isNamed: boolean): void {
  const before = found.diagnostics.length;
  const covered = isNamed ? new Set<number>() : listCoveredLines(found);
  for (const line of lines) {
    if (found.isTaken(line) || covered.has(line)) continue;
    const text = log.line(line);
    const hasPlace = MAYBE_PLACE.test(text);
    if (!hasPlace && (isNamed || !/^(?:\s{0,8}[|│┃{]|::|\W{0,8}(?:error|fatal))/i.test(text))) continue;
    const role = classifyRole(text);
    if (role === 'echo' || role === 'passing') continue;
    const wasRead =
      hasPlace &&
      (readPlacedLine(log, line, text, found, isNamed) || readArrow(log, line, text, found, isNamed));
    if (wasRead || isNamed) continue;
    if (hasPlace || !readArrow(log, line + 1, log.line(line + 1), found, isNamed))
      readOther(log, line, text, found);
  }
  found.putRepeatsLast(before);
}

function listCoveredLines(found: Findings): Set<number> {
  const covered = new Set<number>();
  for (const { start, end, weight, loose } of found.blocks)
    if (weight >= SURE && loose !== true) for (let line = start; line <= end; line++) covered.add(line);
  return covered;
}

function readPlacedLine(
  log: LogText,
  line: number,
  text: string,
  found: Findings,
  isNamed: boolean,
): boolean {
  const placed = readPlaced(text);
  if (placed === null || (placed.severity === null && placed.code === null && readFrame(text) !== null))
    return false;
  const end = findEndBelow(log, line, placed.message === '' ? 1 : 0);
  const below = placed.message === '' ? readTextBelow(log, line + 1, end) : null;
  const message =
    placed.message || below?.message || (placed.severity === 'error' ? text.trim() : (placed.code ?? ''));
  const severity = placed.severity ?? below?.severity ?? null;
  return add({ ...placed, severity, message }, text, line, end, found, isNamed);
}

/** A place below its message: `--> file:line:col`, `└─ file:line:col`, `on file line N`. */
const ARROW = new RegExp(
  String.raw`^\s{0,12}(?:[│|]\s{1,8})?(?:-{1,2}>|└─|[┌╭]─{1,4}[>[]?|╰─{1,4}|on(?= \S{1,300} line \d)|` +
    String.raw`at(?= )|\[|(?=\S{1,300}:\d{1,7}:\d{1,6}:$))\s{0,4}(?<place>\S.{3,400}?)[\])]?$`,
);
const MAX_ABOVE = 8;

function readArrow(log: LogText, line: number, text: string, found: Findings, isNamed: boolean): boolean {
  const place = ARROW.exec(text)?.groups?.place;
  const placed =
    place === undefined
      ? null
      : readPlaced(
          place.replace(
            /,? in (?:resource|module|data|provider|variable|output) .*$|: [\w.!?]{1,100}\/\d{1,2}$/,
            '',
          ),
        );
  if (placed === null || /^\S+ \S+/.test(placed.message) || isOneOfMany(log, line)) return false;
  for (let at = line - 1; at >= Math.max(1, line - MAX_ABOVE); at--) {
    const above = log.line(at);
    if (found.isTaken(at)) return false;
    if (/^\s{0,12}\d{0,6}\s?[│|]?\s{0,80}[\^~]{0,80}$|^\s{0,12}\d{0,6}\s?[│|] {2,}/.test(above)) continue;
    const head = readHead(above);
    if ((head.severity === null && head.code === null) || head.message === '') continue;
    const end = Math.max(line, findEndBelow(log, line, 0));
    return add({ ...placed, ...head }, `${above}\n${text}`, at, end, found, isNamed);
  }
  return false;
}

/** Checks whether the line is a stack frame next to another one. Stack traces have their own reader. */
function isOneOfMany(log: LogText, line: number): boolean {
  const isFrame = (at: number) => /^\s{1,20}at /.test(log.line(at)) && readFrame(log.line(at)) !== null;
  return isFrame(line) && (isFrame(line - 1) || isFrame(line + 1));
}

/** Adds a finding if the place and message are one. Returns whether it was added. */
function add(
  placed: Placed,
  text: string,
  start: number,
  end: number,
  found: Findings,
  isNamed: boolean,
): boolean {
  const isPlain = placed.severity === null && placed.code === null;
  // A stack frame names a function before its file.
  if (placed.message === '' || placed.file.includes('(') || PROBE.test(placed.file)) return false;
  if (
    isPlain &&
    (!/^[^›>\s].{0,200}\s\S/.test(placed.message) ||
      (placed.column === null && !COMPLAINS.test(placed.message)))
  )
    return false;
  const name = nameTool(placed, text, found.leftOut);
  const isKnown =
    name !== null &&
    (!isPlain || name.isPlain === 'line' || (name.isPlain === 'column' && placed.column !== null));
  const weight = isKnown ? (name.weight ?? 78) : findWeightOfUnknown(placed);
  const severity = name?.severity ?? placed.severity ?? 'error';
  if ((isNamed && !isKnown) || weight === null || severity === 'none') return false;
  const code = placed.code ?? name?.says?.exec(text)?.groups?.code ?? null;
  const message =
    placed.code === code ? placed.message : placed.message.replace(/\s{1,4}[([][^\s()[\]]{1,80}[)\]]$/, '');
  const tool = name?.tool ?? UNKNOWN_TOOL;
  const { file, line, column } = placed;
  found.finding({ tool, severity, file, line, column, code, message, start, end, weight });
  if (name !== null) found.toolchains.add(tool);
  return true;
}

/**
 * Returns the weight of a finding of an unknown tool, or null if it is not a finding. Without a severity or
 * code, it is one only if it names a column and its message complains. Files of libraries are rarely to
 * blame.
 */
function findWeightOfUnknown({ file, severity, code, column, message }: Placed): number | null {
  if (isForeignFile(file)) return severity === 'error' && column !== null ? 45 : null;
  if (severity !== null) return column !== null || code !== null ? 74 : 66;
  if (code !== null) return 70;
  return column !== null && COMPLAINS.test(message) ? 62 : null;
}

const FRAME_OF_CODE = new RegExp(
  String.raw`^\s{0,12}>{0,3}\s{0,6}\d{0,6}\s{0,4}[|│┊]|^\s{1,200}[\^~]|^>>> |^\.{3}$|^\s{1,12}(?:-->|` +
    String.raw`:::) |: note: (?!.{1,300}\[[A-Z]{2,6}\d{3,5}\]$)|^(?:symbol|location):|` +
    String.raw`^\s{0,8}=?\s?(?:note|help):|^\s{0,8}\[(?:ERROR|error|javac)\]\s{2,200}\S`,
);

/**
 * Returns the last line that belongs to the finding: indented lines and quoted source code. Skips at most
 * `blanks` blank lines.
 */
function findEndBelow(log: LogText, line: number, blanks: number): number {
  const indent = /^\s*/.exec(log.line(line))?.[0].length ?? 0;
  let left = blanks;
  return findBlockEnd(log, line, MAX_BLOCK, (below, at) => {
    if (below === '') return left-- > 0 && /^\s{1,200}\S/.test(log.line(at + 1));
    if (FRAME_OF_CODE.test(below)) return true;
    return (below.search(/\S/) > indent || /^\[error\]\s/.test(below)) && !isFinding(below);
  });
}

function isFinding(text: string): boolean {
  const placed = readPlaced(text);
  return placed !== null && (placed.severity !== null || placed.code !== null);
}

/**
 * Returns the first text below a place without a message, ignoring source code and stack frames, and its
 * severity if a sign before it says that it is a warning.
 */
function readTextBelow(log: LogText, from: number, to: number): Pick<Placed, 'message' | 'severity'> | null {
  for (const line of listLinesBetween(log, from, to)) {
    if (FRAME_OF_CODE.test(line)) continue;
    const { sign, message = '' } =
      /^\s{0,12}(?:(?<sign>[•×✖⚠!*-])\s{1,4})?(?<message>[A-Za-z'"`<].{3,})/.exec(line)?.groups ?? {};
    if (message !== '') return { message, severity: sign === '⚠' ? 'warning' : null };
  }
  return null;
}

function readOther(log: LogText, line: number, text: string, found: Findings): void {
  const placed =
    readAnnotation(text) ??
    readTrailing(text) ??
    readRecord(text) ??
    readRow(text) ??
    readBelow(log, line, text);
  if (placed !== null) add(placed, text, line, findEndBelow(log, line, 0), found, false);
}

/** Reads `::error file=a.py,line=3,col=5::message`, as a tool writes it for the CI system. */
function readAnnotation(text: string): Placed | null {
  const groups =
    /^::(?<word>error|warning) (?<fields>[^:]{0,300}(?::[^:,]{1,200}){0,2})::(?<message>.{1,1000})/.exec(
      text,
    )?.groups;
  if (groups === undefined) return null;
  const fields = groups.fields?.split(',').map((field) => field.split('='));
  const { file, line, col } = Object.fromEntries(
    fields?.map(([name = '', value = '']) => [name.trim(), value]) ?? [],
  );
  if (file === undefined) return null;
  const place = { file, line: parseNumber(line), column: parseNumber(col) };
  return { ...place, severity: parseSeverity(groups.word ?? ''), code: null, message: groups.message ?? '' };
}

const TRAILING = new RegExp(
  String.raw`^(?<said>.{4,600}?),? (?:in|at)(?: file)? "?(?<file>[^\s:"'()<>]{1,300})"?(?:(?:,| on|` +
    String.raw`:)? line (?<line1>\d{1,7})(?:,? col(?:umn)?:? (?<column1>\d{1,6}))?|` +
    String.raw`:(?<line2>\d{1,7})(?::(?<column2>\d{1,6}))?)(?:[.,:]| near .{0,200})?$`,
);

/** Reads `error: message in file on line N` and `message at file line N.` */
function readTrailing(text: string): Placed | null {
  const groups = TRAILING.exec(text)?.groups;
  if (groups === undefined || !isFile(groups.file ?? '') || readFrame(text) !== null) return null;
  const head = readHead(groups.said ?? '');
  if (
    head.severity === null &&
    !/^(?:\w{0,30} )?(?:[\w ]{0,20}[Ee]rror|[Cc]an't|[Cc]annot|[Ii]nvalid|[Uu]ndefined|[Ff]ailed)\b/.test(
      head.message,
    )
  )
    return null;
  const place = {
    line: parseNumber(groups.line1 ?? groups.line2),
    column: parseNumber(groups.column1 ?? groups.column2),
  };
  return { ...head, severity: head.severity ?? 'error', file: groups.file ?? '', ...place };
}

/** Reads a JSON record on one line: a file, a message, and a severity. */
function readRecord(text: string): Placed | null {
  const file = /"(?:file|path|file_?[nN]ame|file_?[pP]ath|uri)"\s?:\s?"(?<file>[^"\s]{1,300})"/.exec(text)
    ?.groups?.file;
  const message = /"(?:message|msg|description|text)"\s?:\s?"(?<said>(?:[^"\\]|\\.){1,500})"/.exec(text)
    ?.groups?.said;
  const word = /"(?:severity|level|kind|type)"\s?:\s?"(?<word>error|fatal|critical|warning)"/i.exec(text)
    ?.groups?.word;
  if (file === undefined || message === undefined || word === undefined || !isFile(file)) return null;
  const number = (pattern: RegExp) => parseNumber(pattern.exec(text)?.groups?.number);
  const line = number(/"(?:line|line_?[nN]umber|startLine|row)"\s?:\s?(?<number>\d{1,7})/);
  const column = number(/"(?:col|column|startColumn)"\s?:\s?(?<number>\d{1,7})/);
  return { file, line, column, severity: parseSeverity(word), code: null, message };
}

/** Reads a row of a table. One cell holds the file, another the severity, and the longest one the message. */
function readRow(text: string): Placed | null {
  if (!/^\s{0,8}[|│┃].{10,600}[|│┃]/.test(text)) return null;
  const cells = text
    .split(/[|│┃]/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
  const word = cells.find((cell) => /^\W{0,3}(?:error|fatal|critical|high|warning)$/i.test(cell));
  const place = cells.find((cell) => isFile(cell.replace(/:[\d:]{1,16}$/, '')) && !cell.includes(' '));
  const message = cells
    .filter((cell) => cell !== word && cell !== place && cell.includes(' '))
    .sort((a, b) => b.length - a.length)[0];
  if (word === undefined || place === undefined || message === undefined) return null;
  const [file = '', line = cells.find((cell) => /^\d{1,7}$/.test(cell)), column] = place.split(':');
  return {
    file,
    line: parseNumber(line),
    column: parseNumber(column),
    severity: parseSeverity(word),
    code: null,
    message,
  };
}

/**
 * Reads a syntax error of Python, which prints the place above the message: `File "x", line N`, the source
 * line, a caret, `SyntaxError: …`.
 */
function readBelow(log: LogText, line: number, text: string): Placed | null {
  const groups = /^\s{1,8}File "(?<file>[^"\n]{1,300})", line (?<line>\d{1,7})$/.exec(text)?.groups;
  if (groups === undefined) return null;
  const matched = listLinesBetween(log, line + 1, line + 4).map((below) =>
    /^(?<code>\w{1,60}Error): (?<message>.{1,500})/.exec(below),
  );
  const { code = null, message = '' } = matched.find((match) => match !== null)?.groups ?? {};
  return code === null
    ? null
    : {
        file: groups.file ?? '',
        line: parseNumber(groups.line),
        column: null,
        severity: 'error',
        code,
        message,
      };
}
