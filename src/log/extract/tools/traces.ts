import type { StackFrame } from '../../../domain/failure.ts';
import { isForeignFile, readFrame } from '../../frames.ts';
import {
  findBlockEnd,
  findLineAbove,
  findLineBelow,
  type LogText,
  listLinesBetween,
} from '../../lines/lines.ts';
import type { Extractor, Findings, Groups } from '../extraction.ts';

const HEAD = new RegExp(
  String.raw`^(?:Exception in thread "[^"]{1,200}" |\[(?:ERROR|error|WARN)\] |Caused by: |Uncaught |` +
    String.raw`Unhandled exception\. |error: Uncaught |[A-Z][\w ]{1,40}: (?=[A-Z]\w{0,60}(?:Error|` +
    String.raw`Exception):)|E {1,8}|.{0,60}?(?=\b(?:java|org|com|javax|kotlin|scala)\.))?` +
    String.raw`(?<type>(?:[A-Za-z_$][\w$]{0,80}[.:\\]{1,2}){0,12}(?:[A-Z][\w$]{0,80})?(?:Error|` +
    String.raw`Exception|Failure|Fault|Interrupt|Exit|Throwable|Timeout)(?: \[\w{1,60}\])?)` +
    '(?:: ?(?<message>.{0,600})|$)',
);
const MAX_FRAMES = 60;
const MAX_TRACES = 300;
const MAX_MESSAGE_LINES = 40;
/** Lines of a logger, a runner or a build tool. They are not part of an exception's message. */
const OTHER_OUTPUT = new RegExp(
  String.raw`^\s{0,4}(?:\[\w{1,12}\]|\d{2,4}[-:/]\d{2}|(?:INFO|WARN|ERROR|DEBUG|TRACE)\b|` +
    String.raw`Tests run|Running |[=*-]{8}|> Task|\d{1,5}\) )`,
);

/** Tracebacks of Python. The exception is below its frames, and the last one of a chain is the outermost. */
export const pythonTraceback: Extractor = {
  name: 'python',
  literals: [
    'Traceback (most recent call last)',
    'During handling of the above',
    'SyntaxError: ',
    'ModuleNotFoundError',
    'ImportError: ',
  ],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines.slice(0, MAX_TRACES)) {
      if (line <= end || !/Traceback \(most recent call last\):?\s{0,4}$/.test(log.line(line))) continue;
      const isChained =
        end > 0 &&
        line - end <= 4 &&
        listLinesBetween(log, end + 1, line - 1).some((text) => CHAINED.test(text));
      const before = found.exceptions.length;
      end = readTraceback(log, line, found);
      if (isChained && found.exceptions.length > before) joinChain(log, found);
    }
  },
};

const CHAINED = /(?:The above exception was the direct cause|During handling of the above exception)/;

/**
 * Merges the exceptions of a Python traceback, which prints the deepest cause first, into one chain. The text
 * of each later exception is kept as a message.
 */
function joinChain(log: LogText, found: Findings): void {
  const outer = found.exceptions.pop();
  const cause = found.exceptions.pop();
  if (outer === undefined || cause === undefined) return;
  const outerFrames = [...(cause.outerFrames ?? []), ...outer.frames].slice(0, MAX_FRAMES);
  found.exceptions.push({ ...cause, chain: [outer.type, ...cause.chain], outerFrames });
  const text = `${outer.type}: ${outer.message}`.slice(0, 500);
  const start = outer.at?.line ?? 0;
  found.message(
    findLineBelow(log, start + 1, MAX_FRAMES * 3 - 1, (below) => below.endsWith(text)) ?? start,
    text,
    72,
  );
}

/** Returns a line without the prefix of a problem matcher. */
function unmark(text: string): string {
  return text.replace(/^##\[error\]/, '');
}

function readTraceback(log: LogText, start: number, found: Findings): number {
  const indent = log.line(start).indexOf('Traceback');
  const prefix = log.line(start).slice(0, indent);
  const frames: StackFrame[] = [];
  let end = start;
  for (let line = start + 1; line <= Math.min(log.lineCount, start + MAX_FRAMES * 3); line++) {
    const text = unmark(log.line(line)).slice(prefix.length);
    end = line;
    if (!/^\s/.test(text) && text !== '') break;
    const frame = readFrame(text);
    if (frame !== null) frames.unshift(frame);
  }
  const [type = '', ...rest] = unmark(log.line(end)).slice(prefix.length).trim().split(': ');
  if (!/^[\w.]{1,200}$/.test(type)) return start;
  found.exception(start, type, rest.join(': '), frames);
  found.block(start, end, 70, 'Python traceback');
  found.block(Math.max(start, end - 4), Math.min(log.lineCount, end + 2), 78, 'Python exception');
  return end;
}

/**
 * Traces of the JVM, JavaScript, .NET and Ruby. The exception is above its frames, and the deepest cause
 * comes last.
 */
export const stackTrace: Extractor = {
  name: 'stack-trace',
  literals: ['Error', 'Exception', 'Caused by: ', 'Failure: '],
  extract: (log, lines, found) => {
    let end = 0;
    let traces = 0;
    for (const line of lines) {
      if (line <= end || traces >= MAX_TRACES) continue;
      const groups = HEAD.exec(unmark(log.line(line)).trimStart())?.groups;
      if (groups === undefined) continue;
      const first = findFirstFrame(log, line);
      if (first === 0) continue;
      traces++;
      end = readTrace(log, line, first, groups.type ?? '', groups.message ?? '', found);
    }
  },
};

/**
 * Finds the first frame. A message of several lines may precede it: up to a dozen lines, or more if nothing
 * else begins in between.
 */
function findFirstFrame(log: LogText, line: number): number {
  for (let at = line + 1; at <= Math.min(log.lineCount, line + MAX_MESSAGE_LINES); at++) {
    const text = log.line(at);
    if (at > line + 12 && OTHER_OUTPUT.test(text)) return 0;
    if (/^\s{1,20}(?:at |from |❯ )|^\s{0,8}at /.test(text) && readFrame(text) !== null) return at;
    if (HEAD.test(text.trimStart()) && !WAITED.test(text) && !WAITED.test(log.line(at - 1))) return 0;
  }
  return 0;
}

/** The limit of a wait of Playwright, above the reason why it failed ("Error: element(s) not found"). */
const WAITED = /^\s{0,12}Timeout: {1,4}\d{1,9}ms$/;

/** .NET's inner exception, which has its own line. */
const INNER = new RegExp(
  String.raw`^\s{0,12}---> (?:\(Inner Exception #\d{1,3}\) )?(?<type>(?:[A-Za-z_]\w{0,80}\.){0,10}` +
    String.raw`[A-Z]\w{0,80}(?:Exception|Error))(?:: (?<message>.{0,500}))?$`,
);

/** Lines between frames: parts of the trace, and the source code that Vitest prints below a frame. */
const GOES_ON =
  /^\s{0,20}(?:\.\.\. \d{1,4} |at |Suppressed: |\[CIRCULAR|--- End of)|^\s{2,12}(?:\d{1,6})?\|(?:\s|$)/;

function readTrace(
  log: LogText,
  start: number,
  first: number,
  type: string,
  message: string,
  found: Findings,
): number {
  const chain = [type];
  let cause = { type, message, line: start };
  let frames: StackFrame[] = [];
  let outer: StackFrame[] = [];
  let end = first;
  for (let line = start + 1; line < first; line++) {
    const inner = INNER.exec(log.line(line))?.groups;
    if (inner === undefined) continue;
    cause = { type: inner.type ?? '', message: inner.message ?? '', line };
    chain.push(cause.type);
  }
  let deepest: StackFrame[] | null = null;
  for (let line = first; line <= Math.min(log.lineCount, first + 400); line++) {
    const text = log.line(line);
    const frame = readFrame(text);
    if (frame !== null) frames.push(frame);
    else if (/^\s{0,20}--- End of inner exception/.test(text) && chain.length > 1 && deepest === null) {
      deepest = frames;
      frames = [];
    } else if (/^\s{0,20}(?:Caused by: |\[cause\]: )/.test(text)) {
      const groups = HEAD.exec(text.trimStart().replace(/^\[cause\]: /, ''))?.groups;
      cause = { type: groups?.type ?? text.trim().slice(11, 100), message: groups?.message ?? '', line };
      chain.push(cause.type);
      outer = [...frames, ...outer];
      frames = [];
    } else if (!GOES_ON.test(text)) break;
    end = line;
  }
  if (deepest !== null) [frames, outer] = [deepest, frames];
  const outerFrames = outer.length === 0 ? {} : { outerFrames: outer.slice(0, MAX_FRAMES) };
  found.exception(start, cause.type, cause.message, frames.slice(0, MAX_FRAMES), { chain, ...outerFrames });
  found.block(start, Math.min(end, start + 40), 70, 'stack trace');
  found.block(start, Math.min(end, first + 2), 76, 'exception');
  if (cause.line !== start) found.block(cause.line, Math.min(end, cause.line + 6), 80, 'deepest cause');
  return end;
}

const RUBY =
  /^(?:\S{1,60}: )?(?<file>[^\s:]{1,300}\.rb):(?<line>\d{1,7}):in [`'](?<fn>[^'\n]{1,200})': (?<message>.{0,500}?) \((?<type>(?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60})\)$/;
const PHP = new RegExp(
  String.raw`^(?:PHP )?Fatal error: {1,2}Uncaught (?<type>[\w\\]{1,200}): (?<message>.{0,500}?)` +
    String.raw` in (?<file>\S{1,300}\.php):(?<line>\d{1,7})$`,
);
const ELIXIR = /^\s{0,8}\*\* \((?<type>[A-Z][\w.]{1,100}|exit|throw)\) (?<message>.{1,500})$/;
/**
 * Languages that report an exception on one line, each with the form of the frames below. Elixir also reports
 * without frames.
 */
const ONE_LINE: readonly {
  readonly pattern: RegExp;
  readonly frames: RegExp;
  readonly needsFrames?: boolean;
}[] = [
  { pattern: RUBY, frames: /^\s{1,20}(?:\d{1,4}: )?from / },
  { pattern: PHP, frames: /^(?:PHP )?(?:Stack trace:|\s{0,4}#?\d{1,4}\.? )/ },
  {
    pattern: ELIXIR,
    frames: /^\s{4,12}(?:\([\w.]{1,60} [\w.+-]{1,40}\) |\S{1,200}\.exs?:\d)/,
    needsFrames: true,
  },
];
const MAX_OTHER_LINES = 600;

/** Traces of Ruby, PHP, Elixir and Dart, and the cause lists of Rust's error reports. */
export const moreTraces: Extractor = {
  name: 'stack-trace',
  literals: [
    'error)',
    'exception)',
    ': uncaught ',
    ':  uncaught ',
    '** (',
    'unhandled exception:',
    'caused by:',
  ],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines.slice(0, MAX_OTHER_LINES))
      if (line > end) end = Math.max(end, readAny(log, line, log.line(line), found));
  },
};

function readAny(log: LogText, line: number, text: string, found: Findings): number {
  for (const { pattern, frames, needsFrames } of ONE_LINE) {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const below = readFramesBelow(log, line, frames);
    return needsFrames === true && below.frames.length === 0 ? 0 : add(line, groups, below, found);
  }
  if (/^Unhandled exception:$/.test(text)) {
    const message = log.line(line + 1);
    const [type = 'Exception', ...rest] = /^[\w ]{1,60}: /.test(message)
      ? message.split(': ')
      : ['Exception', message];
    return add(
      line,
      { type, message: rest.join(': ') },
      readFramesBelow(log, line + 1, /^#\d{1,4} {2,10}\S/),
      found,
    );
  }
  return /^\s{0,4}Caused by:$/.test(text) ? readCauses(log, line, found) : 0;
}

function readFramesBelow(
  log: LogText,
  line: number,
  belongs: RegExp,
): { readonly frames: readonly StackFrame[]; readonly end: number } {
  const end = findBlockEnd(log, line, MAX_FRAMES, (text) => belongs.test(text));
  return { frames: listLinesBetween(log, line + 1, end).flatMap((text) => readFrame(text) ?? []), end };
}

function add(
  line: number,
  groups: Groups,
  { frames, end }: ReturnType<typeof readFramesBelow>,
  found: Findings,
): number {
  const { type = '', message = '', file, fn = null } = groups;
  const first = file === undefined ? null : readFrame(`\tfrom ${file}:${groups.line}:in '${fn ?? 'main'}'`);
  const ownFrame =
    first ??
    (file === undefined
      ? null
      : { file, line: Number(groups.line), function: fn, own: !/\/vendor\//.test(file) });
  const all = ownFrame === null ? frames : [{ ...ownFrame, function: fn }, ...frames];
  found.exception(line, type, message, all.slice(0, MAX_FRAMES));
  found.block(line, end, 70, 'stack trace');
  found.block(line, Math.min(end, line + 3), 76, 'exception');
  return end;
}

/**
 * Reads the list of causes that anyhow, eyre and similar libraries of Rust print, numbered or indented. The
 * deepest cause is last.
 */
function readCauses(log: LogText, line: number, found: Findings): number {
  const end = findBlockEnd(log, line, 20, (text) => /^\s{2,12}\S/.test(text));
  const deepest = log
    .line(end)
    .trim()
    .replace(/^\d{1,3}: /, '');
  if (end === line || deepest === '') return 0;
  const start =
    findLineAbove(log, line, 3, (text) => /^\s{0,4}(?:Error|error|×|thread)\b/.test(text)) ??
    Math.max(1, line - 3);
  found.message(end, deepest, 76);
  found.block(start, end, 74, 'chain of causes');
  return end;
}

const ACCESS = /^\s{0,8}(?<previous>Previous )?(?<what>[Rr]ead|[Ww]rite|[Aa]tomic \w{4,8}) at 0x/;
const PLACE = /^\s{1,24}(?<file>\/?[^\s:]{1,300}\.go):(?<line>\d{1,7})(?: \+0x[0-9a-f]{1,16})?$/;
/** The message of a panic in Rust. Its text is in quotes on the line (before Rust 1.73), or below it. */
export const RUST_PANIC = new RegExp(
  String.raw`^.{0,200}?thread '(?<thread>[^']{0,300})' (?:\(\d{1,10}\) )?panicked at ` +
    String.raw`(?:'(?<old>.{0,600})', )?(?<file>[^\s:']{1,300}):(?<line>\d{1,7}):\d{1,6}:?`,
);

/** Panics of Go, and reports of its race detector. */
export const goPanics: Extractor = {
  name: 'go',
  literals: ['panic: ', 'fatal error: all goroutines', 'DATA RACE'],
  extract: (log, lines, found) => {
    for (const line of lines) {
      const text = log.line(line);
      // Runners of Go tests indent the output of a test.
      if (!/^\s{0,8}panic: |^fatal error: |^WARNING: DATA RACE/.test(text)) continue;
      const end = findBlockEnd(
        log,
        line,
        40,
        (below) => !/^\s{0,8}(?:FAIL|ok|exit status|={10,})/.test(below),
      );
      found.block(line, end, 82, 'go panic');
      found.block(line, Math.min(end, line + 10), 90, 'go panic');
      found.message(line, text, 82);
      if (text.startsWith('WARNING')) readRace(log, line, found);
      else readGoPanic(log, line, text, found);
    }
  },
};

/** Panics of Rust, in tests and in programs. */
export const rustPanics: Extractor = {
  name: 'cargo',
  literals: ['panicked at'],
  extract: (log, lines, found) => {
    for (const line of lines) {
      const panic = RUST_PANIC.exec(log.line(line))?.groups;
      const end = findBlockEnd(log, line, 6, (text) =>
        /^(?:note:|\s{2,20}(?:left|right):|assertion)/.test(text),
      );
      found.block(line, end, 84, 'panic');
      if (/^stack backtrace:/.test(log.line(end + 1))) {
        const last = findBlockEnd(log, end + 1, MAX_FRAMES, (text) => /^\s{1,40}(?:\d{1,4}:|at )/.test(text));
        found.block(end, last, 60, 'backtrace of a panic');
      }
      const file = panic?.file;
      const frames =
        file === undefined
          ? []
          : [{ file, line: Number(panic?.line), function: null, own: !isForeignFile(file) }];
      found.exception(line, 'panic', panic?.old ?? log.line(line + 1).trim(), frames);
    }
  },
};

/**
 * Reads the report of Go's race detector that begins on `line`: the conflicting accesses and their places.
 */
function readRace(log: LogText, line: number, found: Findings): void {
  const end = findBlockEnd(log, line, MAX_FRAMES, (text) => !/^={10,}$/.test(text));
  const accesses = listLinesBetween(log, line, end, MAX_FRAMES + 1).flatMap(
    (text) => ACCESS.exec(text)?.groups?.what?.toLowerCase() ?? [],
  );
  const [first = 'access', second = 'access'] = accesses;
  const message = `a ${first} and a ${second} of the same memory without a lock between them`;
  found.exception(line, 'DATA RACE', message, readGoFrames(log, line, end));
}

/** Reads a panic's message, and the stack of the goroutine that panicked. */
function readGoPanic(log: LogText, line: number, text: string, found: Findings): void {
  const { type = '', said: message } =
    /^\s{0,8}(?<type>panic|fatal error): (?<said>.{1,500}?)(?: \[recovered.{0,20})?$/.exec(text)?.groups ??
    {};
  const start = findLineBelow(log, line, 12, (below) => /^\s{0,8}goroutine \d{1,9} \[/.test(below));
  if (message === undefined || start === null) return;
  const end = findBlockEnd(
    log,
    start,
    MAX_FRAMES,
    (next) => next.trim() !== '' && !/^\s{0,8}(?:goroutine |exit status|FAIL\b)/.test(next),
  );
  const frames = readGoFrames(log, start, end);
  if (frames.length > 0) found.exception(line, type, message, frames);
}

/** Reads Go's stack frames, which take two lines each: the function, and the place below it. */
function readGoFrames(log: LogText, start: number, end: number): StackFrame[] {
  const lines = listLinesBetween(log, start, end, MAX_FRAMES + 1);
  return lines.slice(1).flatMap((text, i) => {
    const { file, line } = PLACE.exec(text)?.groups ?? {};
    return file === undefined
      ? []
      : [
          {
            file,
            line: Number(line),
            function: extractFunctionName(lines[i] ?? ''),
            own: !isForeignFile(file),
          },
        ];
  });
}

/** Extracts the name of a function: `  example.test/shop.(*Cart).Add(0xc0000140a0)` → `(*Cart).Add`. */
function extractFunctionName(line: string): string | null {
  const call = line
    .trim()
    .replace(/^created by /, '')
    .replace(/ in goroutine \d{1,9}$/, '')
    .replace(/\([^()]{0,300}\)$/, '');
  const name = call.slice(call.lastIndexOf('/') + 1).replace(/^[\w-]{1,100}\./, '');
  return /^[\w.*()[\]·{}-]{1,200}$/.test(name) ? name : null;
}
