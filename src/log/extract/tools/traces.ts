import type { StackFrame } from '../../../domain/failure.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines.ts';
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
      end = readTraceback(log, line, found);
    }
  },
};

function readTraceback(log: LogText, start: number, found: Extraction): number {
  const indent = log.line(start).indexOf('Traceback');
  const prefix = log.line(start).slice(0, indent);
  const frames: StackFrame[] = [];
  let end = start;
  for (let line = start + 1; line <= Math.min(log.lineCount, start + MAX_FRAMES * 3); line++) {
    const text = log.line(line).slice(prefix.length);
    end = line;
    if (!/^\s/.test(text) && text !== '') break;
    const frame = readFrame(text);
    if (frame !== null) frames.unshift(frame);
  }
  const [type = '', ...rest] = log.line(end).slice(prefix.length).trim().split(': ');
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
      const groups = HEAD.exec(log.line(line).trimStart())?.groups;
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

function readTrace(log: LogText, start: number, first: number, type: string, message: string, found: Extraction): number {
  const chain = [type];
  let cause = { type, message, line: start };
  let frames: StackFrame[] = [];
  let outer: StackFrame[] = [];
  let end = first;
  for (let line = first; line <= Math.min(log.lineCount, first + 400); line++) {
    const text = log.line(line);
    const frame = readFrame(text);
    if (frame !== null) frames.push(frame);
    else if (/^\s{0,20}Caused by: /.test(text)) {
      const groups = HEAD.exec(text.trimStart())?.groups;
      cause = { type: groups?.type ?? text.trim().slice(11, 100), message: groups?.message ?? '', line };
      chain.push(cause.type);
      outer = [...frames, ...outer];
      frames = [];
    } else if (!/^\s{0,20}(?:\.\.\. \d{1,4} |at |Suppressed: |\[CIRCULAR|--- End of)/.test(text)) break;
    end = line;
  }
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
