import type { StackFrame } from '../../../domain/failure.ts';
import { isForeignFile } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction } from '../extraction.ts';

const MAX_LINES = 60;
const ACCESS = /^\s{0,8}(?<previous>Previous )?(?<what>[Rr]ead|[Ww]rite|[Aa]tomic \w{4,8}) at 0x/;
const PLACE = /^\s{1,12}(?<file>\/?[^\s:]{1,300}\.go):(?<line>\d{1,7})(?: \+0x[0-9a-f]{1,16})?$/;

/** A race detector's report that begins on `line`: who reads, who writes, and where. Answers its last line. */
export function readRace(log: LogText, line: number, found: Extraction): number {
  const end = endOf(log, line, (text) => /^={10,}$/.test(text));
  const accesses = range(line, end).flatMap((at) => ACCESS.exec(log.line(at))?.groups?.what?.toLowerCase() ?? []);
  const [first = 'access', second = 'access'] = accesses;
  found.exceptions.push({
    type: 'DATA RACE',
    message: `a ${first} and a ${second} of the same memory without a lock between them`,
    chain: ['DATA RACE'],
    frames: framesOf(log, line, end),
    at: { source: log.name, line },
  });
  return end;
}

/** A panic's message, and the stack of the goroutine that panicked. */
export function readGoPanic(log: LogText, line: number, text: string, found: Extraction): void {
  const message = /^(?:panic: |fatal error: )(?<said>.{1,500}?)(?: \[recovered.{0,20})?$/.exec(text)?.groups?.said;
  const start = range(line, Math.min(log.lineCount, line + 12)).find((at) => /^goroutine \d{1,9} \[/.test(log.line(at)));
  if (message === undefined || start === undefined) return;
  const end = endOf(log, start, (one) => one.trim() === '' || /^(?:goroutine |exit status|FAIL\b)/.test(one));
  const frames = framesOf(log, start, end);
  if (frames.length > 0) found.exceptions.push({ type: 'panic', message, chain: ['panic'], frames, at: { source: log.name, line } });
}

function endOf(log: LogText, line: number, isEnd: (text: string) => boolean): number {
  const last = Math.min(log.lineCount, line + MAX_LINES);
  return range(line + 1, last).find((at) => isEnd(log.line(at))) ?? last;
}

/** Go prints a frame on two lines: the function, and below it the place. */
function framesOf(log: LogText, start: number, end: number): StackFrame[] {
  return range(start + 1, end).flatMap((at) => {
    const place = PLACE.exec(log.line(at))?.groups;
    if (place?.file === undefined) return [];
    return [{ file: place.file, line: Number(place.line), function: functionOf(log.line(at - 1)), own: !isForeignFile(place.file) }];
  });
}

/** `  example.test/shop.(*Cart).Add(0xc0000140a0)` → `(*Cart).Add`. */
function functionOf(line: string): string | null {
  const call = line
    .trim()
    .replace(/^created by /, '')
    .replace(/ in goroutine \d{1,9}$/, '')
    .replace(/\([^()]{0,300}\)$/, '');
  const name = call.slice(call.lastIndexOf('/') + 1).replace(/^[\w-]{1,100}\./, '');
  return /^[\w.*()[\]·{}-]{1,200}$/.test(name) ? name : null;
}

function range(start: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - start + 1) }, (_, i) => start + i);
}
