import type { StackFrame } from '../../../domain/failure.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';

const RUBY =
  /^(?:\S{1,60}: )?(?<file>[^\s:]{1,300}\.rb):(?<line>\d{1,7}):in [`'](?<fn>[^'\n]{1,200})': (?<message>.{0,500}?) \((?<type>(?:[A-Z]\w{0,60}::){0,6}[A-Z]\w{0,60})\)$/;
const PHP =
  /^(?:PHP )?Fatal error: {1,2}Uncaught (?<type>[\w\\]{1,200}): (?<message>.{0,500}?) in (?<file>\S{1,300}\.php):(?<line>\d{1,7})$/;
const ELIXIR = /^\s{0,8}\*\* \((?<type>[A-Z][\w.]{1,100}|exit|throw)\) (?<message>.{1,500})$/;
const DART = /^Unhandled exception:$/;
const MAX_TRACES = 60;
const MAX_FRAMES = 60;

/** Traces of Ruby, PHP, Elixir and Dart, and the causes that Rust's error reports list. */
export const moreTraces: Extractor = {
  name: 'stack-trace',
  literals: ['error)', 'exception)', ': uncaught ', ':  uncaught ', '** (', 'unhandled exception:', 'caused by:'],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines.slice(0, MAX_TRACES * 10)) {
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
