import type { StackFrame } from '../../../domain/failure.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { addFinding } from './place.ts';

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

const HEAD =
  /^(?:={2}\d{1,10}={2}\s?)?(?:ERROR|WARNING): (?<tool>(?:HW)?(?:Address|Thread|Memory|Leak|UndefinedBehavior)Sanitizer): (?<kind>[\w -]{1,60}?)(?:\s?[:(]| on | in |$)(?<rest>.{0,300})/;
const RUNTIME_ERROR = /^(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5}): runtime error: (?<message>.{1,400})/;
const VALGRIND =
  /^={2}\d{1,10}={2}\s{1,4}(?<kind>(?:Invalid (?:read|write|free)|Conditional jump|Use of uninitialised|Mismatched free|Syscall param|Source and destination overlap|Jump to the invalid|[\d,]{1,15} (?:\([^)]{1,60}\) )?bytes in [\d,]{1,12} blocks are definitely lost).{0,200})/;
const MAX_REPORT = 120;
const MAX_REPORTS = 40;

/** Reports of AddressSanitizer and its kin, UBSan's one-liners, and valgrind: what happened, and where in our own code. */
export const sanitizers: Extractor = {
  name: 'sanitizers',
  literals: [
    'Sanitizer: ',
    ': runtime error: ',
    '== Invalid ',
    '== Conditional jump',
    '== Use of uninit',
    '== Mismatched free',
    '== Syscall param',
    'definitely lost in',
    '== Jump to',
  ],
  extract: (log, lines, found) => {
    let end = 0;
    let reports = 0;
    for (const line of lines) {
      if (line <= end || reports >= MAX_REPORTS) continue;
      const read = readReport(log, line, found);
      if (read === 0) continue;
      end = read;
      reports++;
    }
  },
};

function readReport(log: LogText, line: number, found: Extraction): number {
  const text = log.line(line);
  const undefinedBehaviour = RUNTIME_ERROR.exec(text)?.groups;
  if (undefinedBehaviour !== undefined) return addRuntimeError(log, line, undefinedBehaviour, found);
  const groups = HEAD.exec(text)?.groups;
  if (groups !== undefined) return addReport(log, line, `${groups.tool}: ${(groups.kind ?? '').trim()}`, (groups.rest ?? '').trim(), found);
  const valgrind = VALGRIND.exec(text)?.groups;
  return valgrind === undefined ? 0 : addReport(log, line, 'valgrind', valgrind.kind ?? '', found);
}

function addReport(log: LogText, line: number, type: string, rest: string, found: Extraction): number {
  const first = firstFrame(log, line);
  const stack = first === 0 ? { frames: [], end: line } : readNativeStack(log, first);
  const own = deepestOwn(stack.frames);
  const summary = summaryOf(log, stack.end);
  const message = [rest, own === null ? '' : `in ${own.function ?? '?'} ${own.file}:${own.line ?? '?'}`]
    .filter((part) => part !== '')
    .join(' ');
  found.exceptions.push({ type, message: message.slice(0, 500), chain: [type], frames: [...stack.frames], at: { source: log.name, line } });
  found.blocks.push({ start: line, end: Math.max(line, Math.min(stack.end, line + 12)), weight: 86, reason: 'sanitizer report' });
  if (stack.end > line + 12) found.blocks.push({ start: line, end: stack.end, weight: 66, reason: 'sanitizer report' });
  if (summary !== 0) found.blocks.push({ start: summary, end: summary, weight: 84, reason: 'sanitizer summary' });
  return Math.max(line, stack.end);
}

/** Where the first stack begins: within a few lines of the head, which may name the access and the thread first. */
function firstFrame(log: LogText, line: number): number {
  for (let at = line + 1; at <= Math.min(log.lineCount, line + 8); at++) {
    if (/^(?:#\d{1,4} |at 0x)/.test(bare(log.line(at)).trim())) return at;
  }
  return 0;
}

function summaryOf(log: LogText, from: number): number {
  for (let at = from + 1; at <= Math.min(log.lineCount, from + MAX_REPORT); at++)
    if (/^SUMMARY: \w{1,30}Sanitizer/.test(log.line(at))) return at;
  return 0;
}

function addRuntimeError(log: LogText, line: number, groups: Readonly<Record<string, string | undefined>>, found: Extraction): number {
  const { end } = readNativeStack(log, line + 1);
  const place = { file: groups.file ?? null, line: Number(groups.line), column: Number(groups.column), code: null };
  const last = Math.max(line, Math.min(end, line + 10));
  const message = `runtime error: ${groups.message ?? ''}`;
  addFinding(log, { tool: 'ubsan', severity: 'error', ...place, message, start: line, end: last, weight: 82 }, found);
  return Math.max(line, end);
}

/** Frames of native code that stand from `line` on, and the last line that is one. */
interface NativeStack {
  readonly frames: readonly StackFrame[];
  readonly end: number;
}

/** Most lines of one stack that are looked at. */
const MAX_STACK = 80;
/** valgrind's `==12== `, and what harnesses put before a process's own words. */
const STACK_PREFIX = /^(?:==\d{1,10}== ?|PID \d{1,9} \| )/;
/** What runs before a program's own code, or reports its end: a frame there says nothing about the fault. */
const RUNTIME =
  /^(?:__asan|__interceptor|__tsan|__msan|__ubsan|__sanitizer|__libc_start|_start$|raise$|abort$|__GI_|__assert|__cxa_|std::terminate|__gnu_cxx|pthread_|clone\d?$|start_thread|malloc$|calloc$|realloc$|free$|operator (?:new|delete))|^(?:memcpy|memmove|memset|strlen|strcpy|strdup)$/;
const FRAME_PLACE =
  /^(?:#\d{1,4} {1,3}|at |by )?(?:0x[0-9a-fA-F]{1,16}:? )?(?:in )?(?<fn>[^\n]{1,200}?) (?:\([^()\n]{0,200}\) )?(?:at )?\(?(?<file>\/?[^\s():]{1,300}\.\w{1,4}):(?<line>\d{1,7})(?::\d{1,5})?\)?$/;
const PLACELESS =
  /^(?:#\d{1,4} {1,3}|at |by )(?:0x[0-9a-fA-F]{1,16}:? )?(?:in )?(?<fn>[^\n(]{1,200}?)(?: ?\(.{0,300}\))?(?: from \S{1,200})?$/;

/** What sanitizers put behind a frame: `(cart+0x4f1a)`, `(BuildId: 3f…)`. */
const MODULE = / \((?:[^\s()]{1,300}\+0x[0-9a-f]{1,16}|BuildId: [0-9a-f]{1,64})\)(?: \(BuildId: [0-9a-f]{1,64}\))?$/;

/** A line without what valgrind or a harness puts before it. */
function bare(line: string): string {
  return line.replace(STACK_PREFIX, '');
}

/** Reads frames as sanitizers, valgrind, gdb and lldb print them; ends at the first line that is none. */
function readNativeStack(log: LogText, line: number): NativeStack {
  const frames: StackFrame[] = [];
  let end = line - 1;
  const last = Math.min(log.lineCount, line + MAX_STACK);
  for (let at = line; at <= last; at++) {
    const text = bare(log.line(at)).trim().replace(MODULE, '');
    if (!/^(?:#\d{1,4} |at 0x|by 0x|frame #\d)/.test(text)) break;
    frames.push(nativeFrame(text));
    end = at;
  }
  return { frames, end };
}

/** The deepest frame of the project's own code. */
function deepestOwn(frames: readonly StackFrame[]): StackFrame | null {
  return frames.find(({ own }) => own) ?? null;
}

function nativeFrame(text: string): StackFrame {
  const place = FRAME_PLACE.exec(text.replace(/^frame /, ''))?.groups;
  if (place !== undefined) {
    const read = readFrame(`    #0 0x0 in f ${place.file}:${place.line}`);
    const name = place.fn ?? null;
    return { file: place.file ?? '', line: Number(place.line), function: name, own: (read?.own ?? true) && !RUNTIME.test(name ?? '') };
  }
  return { file: '', line: null, function: PLACELESS.exec(text)?.groups?.fn ?? null, own: false };
}
