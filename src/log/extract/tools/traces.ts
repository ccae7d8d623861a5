import type { StackFrame } from '../../../domain/failure.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';

const HEAD =
  /^(?:Exception in thread "[^"]{1,200}" |\[(?:ERROR|error|WARN)\] |Caused by: |Uncaught |Unhandled exception\. |error: Uncaught |[A-Z][\w ]{1,40}: (?=[A-Z]\w{0,60}(?:Error|Exception):)|E {1,8}|.{0,60}?(?=\b(?:java|org|com|javax|kotlin|scala)\.))?(?<type>(?:[A-Za-z_$][\w$]{0,80}[.:\\]{1,2}){0,12}(?:[A-Z][\w$]{0,80})?(?:Error|Exception|Failure|Fault|Interrupt|Exit|Throwable|Timeout)(?: \[\w{1,60}\])?)(?:: ?(?<message>.{0,600})|$)/;
const MAX_FRAMES = 60;
const MAX_TRACES = 300;
const MAX_MESSAGE_LINES = 40;
/** Lines of a logger, a runner or a build tool: no part of an exception's message. */
const OTHER_OUTPUT =
  /^\s{0,4}(?:\[\w{1,12}\]|\d{2,4}[-:/]\d{2}|(?:INFO|WARN|ERROR|DEBUG|TRACE)\b|Tests run|Running |[=*-]{8}|> Task|\d{1,5}\) )/;

/** Python tracebacks: the exception stands below its frames, and the last of a chain is the outermost. */
export const pythonTraceback: Extractor = {
  name: 'python',
  literals: ['Traceback (most recent call last)', 'During handling of the above', 'SyntaxError: ', 'ModuleNotFoundError', 'ImportError: '],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines.slice(0, MAX_TRACES)) {
      if (line <= end || !/Traceback \(most recent call last\):?\s{0,4}$/.test(log.line(line))) continue;
      const isChained = end > 0 && line - end <= 4 && follows(log, end, line);
      const before = found.exceptions.length;
      end = readTraceback(log, line, found);
      if (isChained && found.exceptions.length > before) joinChain(log, found);
    }
  },
};

const CHAINED = /(?:The above exception was the direct cause|During handling of the above exception)/;

function follows(log: LogText, end: number, line: number): boolean {
  for (let at = end + 1; at < line; at++) if (CHAINED.test(log.line(at))) return true;
  return false;
}

/** Python tells the deepest cause first: what was raised because of it joins its chain, and keeps its words as a message. */
function joinChain(log: LogText, found: Extraction): void {
  const outer = found.exceptions.pop();
  const cause = found.exceptions.pop();
  if (outer === undefined || cause === undefined) return;
  const outerFrames = [...(cause.outerFrames ?? []), ...outer.frames].slice(0, MAX_FRAMES);
  found.exceptions.push({ ...cause, chain: [outer.type, ...cause.chain], outerFrames });
  const text = `${outer.type}: ${outer.message}`.slice(0, 500);
  const line = outer.at === null ? null : lineBelow(log, outer.at.line, text);
  found.messages.push({ text, at: line === null ? outer.at : { source: log.name, line }, weight: 72 });
}

function lineBelow(log: LogText, start: number, text: string): number | null {
  for (let at = start + 1; at <= Math.min(log.lineCount, start + MAX_FRAMES * 3); at++) if (log.line(at).endsWith(text)) return at;
  return null;
}

/** A line as the tool printed it, where a problem matcher marked it. */
function unmarked(text: string): string {
  return text.replace(/^##\[error\]/, '');
}

function readTraceback(log: LogText, start: number, found: Extraction): number {
  const indent = log.line(start).indexOf('Traceback');
  const prefix = log.line(start).slice(0, indent);
  const frames: StackFrame[] = [];
  let end = start;
  for (let line = start + 1; line <= Math.min(log.lineCount, start + MAX_FRAMES * 3); line++) {
    const text = unmarked(log.line(line)).slice(prefix.length);
    end = line;
    if (!/^\s/.test(text) && text !== '') break;
    const frame = readFrame(text);
    if (frame !== null) frames.unshift(frame);
  }
  const [type = '', ...rest] = unmarked(log.line(end)).slice(prefix.length).trim().split(': ');
  if (!/^[\w.]{1,200}$/.test(type)) return start;
  found.exceptions.push({ type, message: rest.join(': ').slice(0, 500), chain: [type], frames, at: { source: log.name, line: start } });
  found.blocks.push({ start, end, weight: 70, reason: 'Python traceback' });
  found.blocks.push({ start: Math.max(start, end - 4), end: Math.min(log.lineCount, end + 2), weight: 78, reason: 'Python exception' });
  return end;
}

/** JVM, JavaScript, .NET and Ruby traces: the exception stands above its frames, and the deepest cause comes last. */
export const stackTrace: Extractor = {
  name: 'stack-trace',
  literals: ['Error', 'Exception', 'Caused by: ', 'Failure: '],
  extract: (log, lines, found) => {
    let end = 0;
    let traces = 0;
    for (const line of lines) {
      if (line <= end || traces >= MAX_TRACES) continue;
      const groups = HEAD.exec(unmarked(log.line(line)).trimStart())?.groups;
      if (groups === undefined) continue;
      const first = firstFrame(log, line);
      if (first === 0) continue;
      traces++;
      end = readTrace(log, line, first, groups.type ?? '', groups.message ?? '', found);
    }
  },
};

/** Messages may run over several lines before the first frame: any dozen, and more where nothing else begins in between. */
function firstFrame(log: LogText, line: number): number {
  for (let at = line + 1; at <= Math.min(log.lineCount, line + MAX_MESSAGE_LINES); at++) {
    const text = log.line(at);
    if (at > line + 12 && OTHER_OUTPUT.test(text)) return 0;
    if (/^\s{1,20}(?:at |from )|^\s{0,8}at /.test(text) && readFrame(text) !== null) return at;
    if (HEAD.test(text.trimStart())) return 0;
  }
  return 0;
}

/** .NET's inner exception, on a line of its own. */
const INNER =
  /^\s{0,12}---> (?:\(Inner Exception #\d{1,3}\) )?(?<type>(?:[A-Za-z_]\w{0,80}\.){0,10}[A-Z]\w{0,80}(?:Exception|Error))(?:: (?<message>.{0,500}))?$/;

function readTrace(log: LogText, start: number, first: number, type: string, message: string, found: Extraction): number {
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
    } else if (!/^\s{0,20}(?:\.\.\. \d{1,4} |at |Suppressed: |\[CIRCULAR|--- End of)/.test(text)) break;
    end = line;
  }
  if (deepest !== null) [frames, outer] = [deepest, frames];
  found.exceptions.push({
    type: cause.type,
    message: cause.message.slice(0, 500),
    chain,
    frames: frames.slice(0, MAX_FRAMES),
    ...(outer.length === 0 ? {} : { outerFrames: outer.slice(0, MAX_FRAMES) }),
    at: { source: log.name, line: start },
  });
  found.blocks.push({ start, end: Math.min(end, start + 40), weight: 70, reason: 'stack trace' });
  found.blocks.push({ start, end: Math.min(end, first + 2), weight: 76, reason: 'exception' });
  if (cause.line !== start)
    found.blocks.push({ start: cause.line, end: Math.min(end, cause.line + 6), weight: 80, reason: 'deepest cause' });
  return end;
}

const RUBY =
  /^(?:\S{1,60}: )?(?<file>[^\s:]{1,300}\.rb):(?<line>\d{1,7}):in [`'](?<fn>[^'\n]{1,200})': (?<message>.{0,500}?) \((?<type>(?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60})\)$/;
const PHP =
  /^(?:PHP )?Fatal error: {1,2}Uncaught (?<type>[\w\\]{1,200}): (?<message>.{0,500}?) in (?<file>\S{1,300}\.php):(?<line>\d{1,7})$/;
const ELIXIR = /^\s{0,8}\*\* \((?<type>[A-Z][\w.]{1,100}|exit|throw)\) (?<message>.{1,500})$/;
const DART = /^Unhandled exception:$/;
const MAX_OTHER_LINES = 600;

/** Traces of Ruby, PHP, Elixir and Dart, and the causes that Rust's error reports list. */
export const moreTraces: Extractor = {
  name: 'stack-trace',
  literals: ['error)', 'exception)', ': uncaught ', ':  uncaught ', '** (', 'unhandled exception:', 'caused by:'],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines.slice(0, MAX_OTHER_LINES)) {
      if (line <= end) continue;
      end = Math.max(end, readAny(log, line, log.line(line), found));
    }
  },
};

function readAny(log: LogText, line: number, text: string, found: Extraction): number {
  const ruby = RUBY.exec(text)?.groups;
  if (ruby !== undefined) return add(log, line, ruby, framesBelow(log, line, /^\s{1,20}(?:\d{1,4}: )?from /), found);
  const php = PHP.exec(text)?.groups;
  if (php !== undefined) return add(log, line, php, framesBelow(log, line, /^(?:PHP )?(?:Stack trace:|\s{0,4}#?\d{1,4}\.? )/), found);
  const elixir = ELIXIR.exec(text)?.groups;
  if (elixir !== undefined) {
    const below = framesBelow(log, line, /^\s{4,12}(?:\([\w.]{1,60} [\w.+-]{1,40}\) |\S{1,200}\.exs?:\d)/);
    return below.frames.length === 0 ? 0 : add(log, line, elixir, below, found);
  }
  if (DART.test(text)) {
    const below = framesBelow(log, line + 1, /^#\d{1,4} {2,10}\S/);
    const said = log.line(line + 1);
    const [type = 'Exception', ...rest] = /^[\w ]{1,60}: /.test(said) ? said.split(': ') : ['Exception', said];
    return add(log, line, { type, message: rest.join(': ') }, below, found);
  }
  return /^\s{0,4}Caused by:$/.test(text) ? readCauses(log, line, found) : 0;
}

interface Below {
  readonly frames: readonly StackFrame[];
  readonly end: number;
}

function framesBelow(log: LogText, line: number, belongs: RegExp): Below {
  const frames: StackFrame[] = [];
  let end = line;
  while (end < Math.min(log.lineCount, line + MAX_FRAMES) && belongs.test(log.line(end + 1))) {
    const frame = readFrame(log.line(++end));
    if (frame !== null) frames.push(frame);
  }
  return { frames, end };
}

function add(
  log: LogText,
  line: number,
  groups: Readonly<Record<string, string | undefined>>,
  { frames, end }: Below,
  found: Extraction,
): number {
  const { type = '', message = '', file, fn = null } = groups;
  const first = file === undefined ? null : readFrame(`\tfrom ${file}:${groups.line}:in '${fn ?? 'main'}'`);
  const own = first ?? (file === undefined ? null : { file, line: Number(groups.line), function: fn, own: !/\/vendor\//.test(file) });
  const all = own === null ? [...frames] : [{ ...own, function: fn }, ...frames];
  found.exceptions.push({
    type,
    message: message.slice(0, 500),
    chain: [type],
    frames: all.slice(0, MAX_FRAMES),
    at: { source: log.name, line },
  });
  found.blocks.push({ start: line, end, weight: 70, reason: 'stack trace' });
  found.blocks.push({ start: line, end: Math.min(end, line + 3), weight: 76, reason: 'exception' });
  return end;
}

/** Rust's anyhow and eyre, and what copies them: numbered or indented causes, the deepest last. */
function readCauses(log: LogText, line: number, found: Extraction): number {
  let end = line;
  while (end < Math.min(log.lineCount, line + 20) && /^\s{2,12}\S/.test(log.line(end + 1))) end++;
  const deepest = log
    .line(end)
    .trim()
    .replace(/^\d{1,3}: /, '');
  if (end === line || deepest === '') return 0;
  let start = line;
  while (start > Math.max(1, line - 3) && !/^\s{0,4}(?:Error|error|×|thread)\b/.test(log.line(start))) start--;
  found.messages.push({ text: deepest.slice(0, 500), at: { source: log.name, line: end }, weight: 76 });
  found.blocks.push({ start, end, weight: 74, reason: 'chain of causes' });
  return end;
}
