import type { StackFrame } from '../../../domain/failure.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';

/** Frames of native code that stand from `line` on, and the last line that is one. */
export interface NativeStack {
  readonly frames: readonly StackFrame[];
  readonly end: number;
}

/** Most lines of one stack that are looked at. */
const MAX_LINES = 80;
/** valgrind's `==12== `, and what harnesses put before a process's own words. */
const PREFIX = /^(?:==\d{1,10}== ?|PID \d{1,9} \| )/;
/** What runs before a program's own code, or reports its end: a frame there says nothing about the fault. */
const RUNTIME =
  /^(?:__asan|__interceptor|__tsan|__msan|__ubsan|__sanitizer|__libc_start|_start$|raise$|abort$|__GI_|__assert|__cxa_|std::terminate|__gnu_cxx|pthread_|clone\d?$|start_thread|malloc$|calloc$|realloc$|free$|operator (?:new|delete))|^(?:memcpy|memmove|memset|strlen|strcpy|strdup)$/;
const PLACE =
  /^(?:#\d{1,4} {1,3}|at |by )?(?:0x[0-9a-fA-F]{1,16}:? )?(?:in )?(?<fn>[^\n]{1,200}?) (?:\([^()\n]{0,200}\) )?(?:at )?\(?(?<file>\/?[^\s():]{1,300}\.\w{1,4}):(?<line>\d{1,7})(?::\d{1,5})?\)?$/;
const PLACELESS =
  /^(?:#\d{1,4} {1,3}|at |by )(?:0x[0-9a-fA-F]{1,16}:? )?(?:in )?(?<fn>[^\n(]{1,200}?)(?: ?\(.{0,300}\))?(?: from \S{1,200})?$/;

/** What sanitizers put behind a frame: `(cart+0x4f1a)`, `(BuildId: 3f…)`. */
const MODULE = / \((?:[^\s()]{1,300}\+0x[0-9a-f]{1,16}|BuildId: [0-9a-f]{1,64})\)(?: \(BuildId: [0-9a-f]{1,64}\))?$/;

/** A line without what valgrind or a harness puts before it. */
export function bare(line: string): string {
  return line.replace(PREFIX, '');
}

/** Reads frames as sanitizers, valgrind, gdb and lldb print them; ends at the first line that is none. */
export function readNativeStack(log: LogText, line: number): NativeStack {
  const frames: StackFrame[] = [];
  let end = line - 1;
  const last = Math.min(log.lineCount, line + MAX_LINES);
  for (let at = line; at <= last; at++) {
    const text = bare(log.line(at)).trim().replace(MODULE, '');
    if (!/^(?:#\d{1,4} |at 0x|by 0x|frame #\d)/.test(text)) break;
    frames.push(nativeFrame(text));
    end = at;
  }
  return { frames, end };
}

/** The deepest frame of the project's own code. */
export function deepestOwn(frames: readonly StackFrame[]): StackFrame | null {
  return frames.find(({ own }) => own) ?? null;
}

function nativeFrame(text: string): StackFrame {
  const place = PLACE.exec(text.replace(/^frame /, ''))?.groups;
  if (place !== undefined) {
    const read = readFrame(`    #0 0x0 in f ${place.file}:${place.line}`);
    const name = place.fn ?? null;
    return { file: place.file ?? '', line: Number(place.line), function: name, own: (read?.own ?? true) && !RUNTIME.test(name ?? '') };
  }
  return { file: '', line: null, function: PLACELESS.exec(text)?.groups?.fn ?? null, own: false };
}
