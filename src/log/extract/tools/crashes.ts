import type { StackFrame } from '../../../domain/failure.ts';
import { readFrame } from '../../frames.ts';
import { findBlockEnd, findLineBelow, type LogText, listLinesBetween } from '../../lines/lines.ts';
import type { Extractor, Findings, Groups } from '../extraction.ts';

/** Windows exit codes of crashed processes, as unsigned numbers. */
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

/**
 * A form of a process's last message, with its reader. If the line itself is the message, only `said` is set.
 */
interface Sign {
  readonly pattern: RegExp;
  readonly read?: (log: LogText, line: number, groups: Groups, found: Findings) => void;
  readonly said?: { readonly weight: number; readonly block: number; readonly reason: string };
}

const KILLED = { weight: 84, block: 82, reason: 'process killed' };

// biome-ignore format: one row for each sign
const SIGNS: readonly Sign[] = [
  { pattern: /^#\s{1,4}A fatal error has been detected by the Java Runtime Environment/, read: readHotspot },
  { pattern: /^#\s{1,4}There is insufficient memory for the Java Runtime Environment/, read: readMemory },
  { pattern: new RegExp(
      String.raw`^(?:Thread \S{1,12} .{0,80})?[Pp]rogram (?:received signal|terminated with signal)` +
      String.raw` (?<signal>SIG\w{2,8}), (?<message>.{1,100}?)\.?$`,
    ), read: readGdb },
  { pattern: /^Thread \d{1,6}.{0,80} received signal (?<signal>SIG\w{2,8}), (?<message>.{1,100}?)\.?$/,
    read: readGdb },
  { pattern: /^Crash reason:\s{1,12}(?<message>.{1,200})/, read: readMinidump },
  { pattern: new RegExp(
      '(?<message>(?:Out of memory|Memory cgroup out of memory)' +
      String.raw`: Killed process \d{1,9} \(.{1,60}\).{0,200}|oom-kill:constraint=.{1,200})`,
    ), said: KILLED },
  { pattern: /(?<message>\S{1,60}\[\d{1,9}\]: segfault at .{1,200})/, said: KILLED },
  { pattern: new RegExp(
      '(?:exit(?:ed)? (?:with )?(?:code|status)|return(?:ed)? (?:code|value)|' +
      String.raw`ExitCode)[ :=]{1,3}'?(?<code>-?\d{9,10}|0x[0-9a-fA-F]{8})\b`,
      'i',
    ), read: readWindowsCode },
  { pattern: /(?<message>\b(?<!may be )hang(?:ing|s)? at shutdown[;,:] .{1,200})/,
    said: { weight: 56, block: 62, reason: 'process that does not end' } },
  { pattern: new RegExp(
      String.raw`^(?<message>g?make(?:\[\d{1,3}\])?: \*{3} \[[^\]\n]{1,300}\] (?:Segmentation fault|Abort|` +
      String.raw`Bus error|Floating point exception|Illegal instruction|Killed)\b.{0,60})$`,
    ), said: { weight: 50, block: 60, reason: 'command ended by a signal' } },
  { pattern: new RegExp(
      '^(?<message>(?:FATAL ERROR: .{1,120} )?' +
      '(?:Allocation failed - JavaScript heap out of memory|Reached heap limit).{0,120})',
    ), said: KILLED },
];

const MAX_READ = 60;

/**
 * Crashed processes: fatal errors of the JVM, stacks of gdb and minidumps, the kernel's out-of-memory killer,
 * and exit codes of Windows.
 */
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
    'javascript heap out of memory',
    '] segmentation fault',
    '] abort',
    '] bus error',
    '] floating point exception',
    '] illegal instruction',
    '] killed',
    'code 3221',
    'code -1073',
    'code: 3221',
    'code: -1073',
    'code: 0xc000',
    'code 0xc000',
    'code=0xc000',
  ],
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, MAX_READ)) {
      const text = log.line(line);
      const sign = SIGNS.find(({ pattern }) => pattern.test(text));
      const groups = sign?.pattern.exec(text)?.groups ?? {};
      sign?.read?.(log, line, groups, found);
      if (sign?.said === undefined) continue;
      found.message(line, (groups.message ?? '').trim(), sign.said.weight);
      found.block(line, line, sign.said.block, sign.said.reason);
    }
  },
};

function readHotspot(log: LogText, line: number, _: unknown, found: Findings): void {
  const end = findBlockEnd(log, line, 40, (text) => text.startsWith('#'));
  const report = listLinesBetween(log, line + 1, end);
  const kinds = report.map(
    (text) =>
      /^#\s{1,4}(?<kind>SIG\w{2,8}|EXCEPTION_\w{1,40}|Internal Error|Out of Memory Error)/.exec(text)?.groups
        ?.kind,
  );
  const type = kinds.findLast((kind) => kind !== undefined) ?? 'JVM crash';
  const at = report.findLastIndex((text) => /^# Problematic frame:/.test(text));
  const frame = at === -1 ? null : readHotspotFrame(log.line(line + 2 + at));
  const message = `the Java runtime died${frame === null ? '' : ` in ${frame.function ?? frame.file}`}`;
  found.exception(line, type, message, frame === null ? [] : [frame]);
  found.block(line, end, 84, 'crash of the Java runtime');
}

/**
 * Reads a frame of a HotSpot crash: `# C [libpixels.so+0x1139] Java_x_Pixels_read+0x9`, `# J 42 c2
 * org.x.Scale.weigh()V …`, `# V [libjvm.so+0x…]`.
 */
function readHotspotFrame(text: string): StackFrame | null {
  const native =
    /^# (?<kind>[CVv])\s{1,4}\[(?<file>[^\]+]{1,120})[^\]]{0,40}\](?:\s{1,4}(?<fn>[^\s+]{1,200}))?/.exec(
      text,
    )?.groups;
  if (native !== undefined) {
    const isOwnFrame = native.kind === 'C' && !/^(?:libc|libpthread|libjvm|ld-)[.-]/.test(native.file ?? '');
    return { file: native.file ?? '', line: null, function: native.fn ?? null, own: isOwnFrame };
  }
  const java = /^# [Jj]\s{1,4}\d{1,8}%?\s{1,4}(?:c[12]\s{1,4})?(?<fn>[\w.$]{1,200})/.exec(text)?.groups?.fn;
  return java === undefined
    ? null
    : { file: '', line: null, function: java, own: !/^(?:java|jdk|sun)\./.test(java) };
}

function readMemory(log: LogText, line: number, _: unknown, found: Findings): void {
  found.message(line, log.line(line).replace(/^#\s{1,4}/, ''), 82);
  found.block(line, Math.min(log.lineCount, line + 3), 82, 'out of memory');
}

function readGdb(
  log: LogText,
  line: number,
  { signal = 'signal', message = '' }: Groups,
  found: Findings,
): void {
  const { frames, end, place } = readNativeStackFrom(log, line, 30, (text) => /^#0 {1,3}/.test(text));
  found.exception(line, signal, `${message}${place === '' ? '' : ` ${place}`}`, frames);
  found.block(line, Math.min(end, line + 16), 84, 'signal seen by the debugger');
}

function readMinidump(log: LogText, line: number, { message = '' }: Groups, found: Findings): void {
  const first = findLineBelow(log, line + 1, 11, (text) => /^Thread \d{1,6} .{0,80}\(crashed\)/.test(text));
  const stack =
    first === null ? [] : listLinesBetween(log, first + 1, Math.min(log.lineCount, first + 80), 80);
  const frames = stack.flatMap((text): StackFrame[] => {
    const place =
      /^\s{0,4}\d{1,3}\s{1,3}[\w.-]{1,80}!(?<fn>.{1,200}?) \[(?<file>[^\]:]{1,300}):(?<line>\d{1,7})/.exec(
        text,
      )?.groups;
    return place === undefined
      ? []
      : [{ file: place.file ?? '', line: Number(place.line), function: place.fn ?? null, own: true }];
  });
  found.exception(line, /^\S{1,60}/.exec(message)?.[0] ?? 'crash', message, frames.slice(0, 30));
  found.block(line, line, 58, 'crash report');
  if (first !== null) found.block(first, Math.min(log.lineCount, first + 4), 54, 'crashed thread');
}

function readWindowsCode(log: LogText, line: number, groups: Groups, found: Findings): void {
  const code = Number(groups.code) >>> 0;
  const meaning = WINDOWS_CODES.get(code);
  if (meaning === undefined) return;
  found.message(
    line,
    `${log.line(line).trim().slice(0, 400)} (0x${code.toString(16).toUpperCase()}: ${meaning})`,
    76,
  );
  found.block(line, line, 74, 'process died');
}

const HEAD = new RegExp(
  String.raw`^(?:={2}\d{1,10}={2}\s?)?(?:ERROR|WARNING): (?<tool>(?:HW)?(?:Address|` +
    String.raw`Thread|Memory|Leak|UndefinedBehavior)Sanitizer): (?<kind>[\w -]{1,60}?)` +
    String.raw`(?:\s?[:(]| on | in |$)(?<rest>.{0,300})`,
);
const RUNTIME_ERROR =
  /^(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):(?<column>\d{1,5}): runtime error: (?<message>.{1,400})/;
const VALGRIND = new RegExp(
  String.raw`^={2}\d{1,10}={2}\s{1,4}(?<kind>(?:Invalid (?:read|write|free)|Conditional jump|` +
    'Use of uninitialised|Mismatched free|Syscall param|Source and destination overlap|' +
    String.raw`Jump to the invalid|[\d,]{1,15} (?:\([^)]{1,60}\) )?` +
    String.raw`bytes in [\d,]{1,12} blocks are definitely lost).{0,200})`,
);
const MAX_REPORT = 120;
const MAX_REPORTS = 40;

/**
 * Reports of AddressSanitizer and related sanitizers, one-line reports of UBSan, and reports of valgrind:
 * what happened, and where in the project's code.
 */
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
      end = read ?? end;
      reports += read === null ? 0 : 1;
    }
  },
};

/** Reads the report that begins on a line, and returns its last line. Returns null if none begins there. */
function readReport(log: LogText, line: number, found: Findings): number | null {
  const text = log.line(line);
  const undefinedBehaviour = RUNTIME_ERROR.exec(text)?.groups;
  if (undefinedBehaviour !== undefined) return addRuntimeError(log, line, undefinedBehaviour, found);
  const { tool, kind = '', rest = '' } = HEAD.exec(text)?.groups ?? {};
  if (tool !== undefined) return addReport(log, line, `${tool}: ${kind.trim()}`, rest.trim(), found);
  const valgrind = VALGRIND.exec(text)?.groups?.kind;
  return valgrind === undefined ? null : addReport(log, line, 'valgrind', valgrind, found);
}

function addReport(log: LogText, line: number, type: string, rest: string, found: Findings): number {
  // The access and the thread are above the first stack, on a few lines at most.
  const { frames, end, place } = readNativeStackFrom(log, line, 8, (text) =>
    /^(?:#\d{1,4} |at 0x)/.test(stripPrefix(text).trim()),
  );
  const summary = findLineBelow(log, end + 1, MAX_REPORT - 1, (text) =>
    /^SUMMARY: \w{1,30}Sanitizer/.test(text),
  );
  found.exception(line, type, [rest, place].filter((part) => part !== '').join(' '), frames);
  found.block(line, Math.max(line, Math.min(end, line + 12)), 86, 'sanitizer report');
  if (end > line + 12) found.block(line, end, 66, 'sanitizer report');
  if (summary !== null) found.block(summary, summary, 84, 'sanitizer summary');
  return Math.max(line, end);
}

function addRuntimeError(
  log: LogText,
  line: number,
  { file = '', line: at, column, message = '' }: Groups,
  found: Findings,
): number {
  const { end } = readNativeStack(log, line + 1);
  const place = { file, line: Number(at), column: Number(column), code: null };
  const last = Math.max(line, Math.min(end, line + 10));
  found.finding({
    tool: 'ubsan',
    severity: 'error',
    ...place,
    message: `runtime error: ${message}`,
    start: line,
    end: last,
    weight: 82,
  });
  return Math.max(line, end);
}

/** The maximum number of lines of one stack that are read. */
const MAX_STACK = 80;
/** Prefixes of a process's lines: valgrind's `==12== `, and those of test harnesses. */
const STACK_PREFIX = /^(?:==\d{1,10}== ?|PID \d{1,9} \| )/;
/**
 * Functions that run before a program's own code, or that report its end. They are not the place of a fault.
 */
const RUNTIME = new RegExp(
  '^(?:__asan|__interceptor|__tsan|__msan|__ubsan|__sanitizer|__libc_start|_start$|' +
    String.raw`raise$|abort$|__GI_|__assert|__cxa_|std::terminate|__gnu_cxx|pthread_|clone\d?$|` +
    'start_thread|malloc$|calloc$|realloc$|free$|operator (?:new|delete))|' +
    '^(?:memcpy|memmove|memset|strlen|strcpy|strdup)$',
);
const FRAME_PLACE = new RegExp(
  String.raw`^(?:#\d{1,4} {1,3}|at |by )?(?:0x[0-9a-fA-F]{1,16}:? )?(?:in )?(?<fn>[^\n]{1,200}?)` +
    String.raw` (?:\([^()\n]{0,200}\) )?(?:at )?\(?(?<file>/?[^\s():]{1,300}\.\w{1,4})` +
    String.raw`:(?<line>\d{1,7})(?::\d{1,5})?\)?$`,
);
const PLACELESS = new RegExp(
  String.raw`^(?:#\d{1,4} {1,3}|at |by )(?:0x[0-9a-fA-F]{1,16}:? )?(?:in )?(?<fn>[^\n(]{1,200}?)` +
    String.raw`(?: ?\(.{0,300}\))?(?: from \S{1,200})?$`,
);

/** The module that sanitizers append to a frame: `(cart+0x4f1a)`, `(BuildId: 3f…)`. */
const MODULE =
  / \((?:[^\s()]{1,300}\+0x[0-9a-f]{1,16}|BuildId: [0-9a-f]{1,64})\)(?: \(BuildId: [0-9a-f]{1,64}\))?$/;

/** Returns a line without the prefix of valgrind or of a harness. */
function stripPrefix(line: string): string {
  return line.replace(STACK_PREFIX, '');
}

/**
 * Reads the stack that begins at most `limit` lines below a line, and formats the deepest place in the
 * project's own code.
 */
function readNativeStackFrom(log: LogText, line: number, limit: number, begins: (text: string) => boolean) {
  const first = findLineBelow(log, line + 1, limit - 1, begins);
  const stack = first === null ? { frames: [], end: line } : readNativeStack(log, first);
  const ownFrame = stack.frames.find((frame) => frame.own);
  return {
    ...stack,
    place:
      ownFrame === undefined ? '' : `in ${ownFrame.function ?? '?'} ${ownFrame.file}:${ownFrame.line ?? '?'}`,
  };
}

/**
 * Reads stack frames from a line on, as sanitizers, valgrind, gdb and lldb print them, and returns the last
 * line that is one.
 */
function readNativeStack(
  log: LogText,
  line: number,
): { readonly frames: readonly StackFrame[]; readonly end: number } {
  const texts = listLinesBetween(log, line, Math.min(log.lineCount, line + MAX_STACK), MAX_STACK + 1).map(
    (text) => stripPrefix(text).trim().replace(MODULE, ''),
  );
  const count = texts.findIndex((text) => !/^(?:#\d{1,4} |at 0x|by 0x|frame #\d)/.test(text));
  const frames = texts.slice(0, count === -1 ? texts.length : count).map(readNativeFrame);
  return { frames, end: line - 1 + frames.length };
}

function readNativeFrame(text: string): StackFrame {
  const place = FRAME_PLACE.exec(text.replace(/^frame /, ''))?.groups;
  if (place !== undefined) {
    const read = readFrame(`    #0 0x0 in f ${place.file}:${place.line}`);
    const name = place.fn ?? null;
    return {
      file: place.file ?? '',
      line: Number(place.line),
      function: name,
      own: (read?.own ?? true) && !RUNTIME.test(name ?? ''),
    };
  }
  return { file: '', line: null, function: PLACELESS.exec(text)?.groups?.fn ?? null, own: false };
}
