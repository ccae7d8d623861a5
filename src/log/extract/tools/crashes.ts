import type { StackFrame } from '../../../domain/failure.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { deepestOwn, readNativeStack } from './stacks.ts';

/** Windows exit codes that say how a process died, as unsigned numbers. */
const WINDOWS_CODES: ReadonlyMap<number, string> = new Map([
  [0xc0000005, 'access violation'],
  [0xc000001d, 'illegal instruction'],
  [0xc0000017, 'out of memory'],
  [0xc0000094, 'integer division by zero'],
  [0xc00000fd, 'stack overflow'],
  [0xc0000135, 'a DLL was not found'],
  [0xc0000139, 'an entry point was not found in a DLL'],
  [0xc000013a, 'ended by Ctrl+C'],
  [0xc0000142, 'a DLL could not be initialised'],
  [0xc0000374, 'heap corruption'],
  [0xc0000409, 'stack buffer overrun'],
  [0x80000003, 'breakpoint reached'],
]);

interface Reader {
  readonly pattern: RegExp;
  readonly read: (log: LogText, line: number, groups: Readonly<Record<string, string | undefined>>, found: Extraction) => void;
}

const READERS: readonly Reader[] = [
  { pattern: /^#\s{1,4}A fatal error has been detected by the Java Runtime Environment/, read: readHotspot },
  { pattern: /^#\s{1,4}There is insufficient memory for the Java Runtime Environment/, read: readMemory },
  {
    pattern:
      /^(?:Thread \S{1,12} .{0,80})?[Pp]rogram (?:received signal|terminated with signal) (?<signal>SIG\w{2,8}), (?<message>.{1,100}?)\.?$/,
    read: readGdb,
  },
  { pattern: /^Thread \d{1,6}.{0,80} received signal (?<signal>SIG\w{2,8}), (?<message>.{1,100}?)\.?$/, read: readGdb },
  { pattern: /^Crash reason:\s{1,12}(?<message>.{1,200})/, read: readMinidump },
  {
    pattern:
      /(?<message>(?:Out of memory|Memory cgroup out of memory): Killed process \d{1,9} \(.{1,60}\).{0,200}|oom-kill:constraint=.{1,200})/,
    read: readKernel,
  },
  { pattern: /(?<message>\S{1,60}\[\d{1,9}\]: segfault at .{1,200})/, read: readKernel },
  {
    pattern:
      /(?:exit(?:ed)? (?:with )?(?:code|status)|return(?:ed)? (?:code|value)|ExitCode)[ :=]{1,3}'?(?<code>-?\d{9,10}|0x[0-9a-fA-F]{8})\b/i,
    read: readWindowsCode,
  },
  { pattern: /(?<message>\b(?<!may be )hang(?:ing|s)? at shutdown[;,:] .{1,200})/, read: readHang },
  {
    pattern: /^(?<message>(?:FATAL ERROR: .{1,120} )?(?:Allocation failed - JavaScript heap out of memory|Reached heap limit).{0,120})/,
    read: readKernel,
  },
];

const MAX_READ = 60;

/** Processes that died: the JVM's fatal errors, gdb's and minidumps' stacks, the kernel's out-of-memory killer, exit codes of Windows. */
export const crashes: Extractor = {
  name: 'crashes',
  literals: [
    'a fatal error has been detected by',
    'insufficient memory for the java',
    'received signal sig',
    'terminated with signal sig',
    'crash reason:',
    'killed process ',
    'oom-kill:',
    ': segfault at ',
    'at shutdown; attempting',
    'code 3221',
    'code -1073',
    'code: 3221',
    'code: -1073',
    'code: 0xc000',
    'code 0xc000',
    'code=0xc000',
    'javascript heap out of memory',
  ],
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, MAX_READ)) {
      const text = log.line(line);
      for (const { pattern, read } of READERS) {
        const match = pattern.exec(text);
        if (match === null) continue;
        read(log, line, match.groups ?? {}, found);
        break;
      }
    }
  },
};

function readHotspot(log: LogText, line: number, _: unknown, found: Extraction): void {
  let type = 'JVM crash';
  let frame: StackFrame | null = null;
  let end = line;
  for (let at = line + 1; at <= Math.min(log.lineCount, line + 40) && log.line(at).startsWith('#'); at++) {
    const text = log.line(at);
    end = at;
    type = /^#\s{1,4}(?<kind>SIG\w{2,8}|EXCEPTION_\w{1,40}|Internal Error|Out of Memory Error)/.exec(text)?.groups?.kind ?? type;
    if (/^# Problematic frame:/.test(text)) frame = hotspotFrame(log.line(at + 1));
  }
  const message = `the Java runtime died${frame === null ? '' : ` in ${frame.function ?? frame.file}`}`;
  found.exceptions.push({ type, message, chain: [type], frames: frame === null ? [] : [frame], at: { source: log.name, line } });
  found.blocks.push({ start: line, end, weight: 84, reason: 'crash of the Java runtime' });
}

/** `# C  [libpixels.so+0x1139]  Java_x_Pixels_read+0x9`, `# J 42 c2 org.x.Scale.weigh()V …`, `# V  [libjvm.so+0x…]`. */
function hotspotFrame(text: string): StackFrame | null {
  const native = /^# (?<kind>[CVv])\s{1,4}\[(?<file>[^\]+]{1,120})[^\]]{0,40}\](?:\s{1,4}(?<fn>[^\s+]{1,200}))?/.exec(text)?.groups;
  if (native !== undefined) {
    const own = native.kind === 'C' && !/^(?:libc|libpthread|libjvm|ld-)[.-]/.test(native.file ?? '');
    return { file: native.file ?? '', line: null, function: native.fn ?? null, own };
  }
  const java = /^# [Jj]\s{1,4}\d{1,8}%?\s{1,4}(?:c[12]\s{1,4})?(?<fn>[\w.$]{1,200})/.exec(text)?.groups?.fn;
  return java === undefined ? null : { file: '', line: null, function: java, own: !/^(?:java|jdk|sun)\./.test(java) };
}

function readMemory(log: LogText, line: number, _: unknown, found: Extraction): void {
  addMessage(log, line, log.line(line).replace(/^#\s{1,4}/, ''), 82, found);
  found.blocks.push({ start: line, end: Math.min(log.lineCount, line + 3), weight: 82, reason: 'out of memory' });
}

function readGdb(log: LogText, line: number, groups: Readonly<Record<string, string | undefined>>, found: Extraction): void {
  const type = groups.signal ?? 'signal';
  let first = 0;
  for (let at = line + 1; at <= Math.min(log.lineCount, line + 30) && first === 0; at++) if (/^#0 {1,3}/.test(log.line(at))) first = at;
  const { frames, end } = first === 0 ? { frames: [], end: line } : readNativeStack(log, first);
  const own = deepestOwn(frames);
  const message = `${groups.message ?? ''}${own === null ? '' : ` in ${own.function ?? '?'} ${own.file}:${own.line ?? '?'}`}`;
  found.exceptions.push({ type, message, chain: [type], frames: [...frames], at: { source: log.name, line } });
  found.blocks.push({ start: line, end: Math.min(end, line + 16), weight: 84, reason: 'signal seen by the debugger' });
}

function readMinidump(log: LogText, line: number, groups: Readonly<Record<string, string | undefined>>, found: Extraction): void {
  let first = 0;
  for (let at = line + 1; at <= Math.min(log.lineCount, line + 12) && first === 0; at++)
    if (/^Thread \d{1,6} .{0,80}\(crashed\)/.test(log.line(at))) first = at;
  const frames: StackFrame[] = [];
  for (let at = first + 1; first !== 0 && at <= Math.min(log.lineCount, first + 80) && frames.length < 30; at++) {
    const frame = /^\s{0,4}\d{1,3}\s{1,3}(?<module>[\w.-]{1,80})!(?<fn>.{1,200}?) \[(?<file>[^\]:]{1,300}):(?<line>\d{1,7})/.exec(
      log.line(at),
    )?.groups;
    if (frame !== undefined) frames.push({ file: frame.file ?? '', line: Number(frame.line), function: frame.fn ?? null, own: true });
  }
  const type = /^\S{1,60}/.exec(groups.message ?? '')?.[0] ?? 'crash';
  found.exceptions.push({ type, message: groups.message ?? '', chain: [type], frames, at: { source: log.name, line } });
  found.blocks.push({ start: line, end: line, weight: 58, reason: 'crash report' });
  if (first !== 0) found.blocks.push({ start: first, end: Math.min(log.lineCount, first + 4), weight: 54, reason: 'crashed thread' });
}

function readKernel(log: LogText, line: number, groups: Readonly<Record<string, string | undefined>>, found: Extraction): void {
  addMessage(log, line, (groups.message ?? '').trim(), 84, found);
  found.blocks.push({ start: line, end: line, weight: 82, reason: 'process killed' });
}

function readHang(log: LogText, line: number, groups: Readonly<Record<string, string | undefined>>, found: Extraction): void {
  addMessage(log, line, (groups.message ?? '').trim(), 56, found);
  found.blocks.push({ start: line, end: line, weight: 62, reason: 'process that does not end' });
}

function readWindowsCode(log: LogText, line: number, groups: Readonly<Record<string, string | undefined>>, found: Extraction): void {
  const code = Number(groups.code) >>> 0;
  const meaning = WINDOWS_CODES.get(code);
  if (meaning === undefined) return;
  addMessage(log, line, `${log.line(line).trim().slice(0, 400)} (0x${code.toString(16).toUpperCase()}: ${meaning})`, 76, found);
  found.blocks.push({ start: line, end: line, weight: 74, reason: 'process died' });
}

function addMessage(log: LogText, line: number, text: string, weight: number, found: Extraction): void {
  found.messages.push({ text: text.slice(0, 500), at: { source: log.name, line }, weight });
}
