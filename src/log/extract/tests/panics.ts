import type { StackFrame } from '../../../domain/failure.ts';
import { isForeignFile } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';

const MAX_LINES = 60;
const ACCESS = /^\s{0,8}(?<previous>Previous )?(?<what>[Rr]ead|[Ww]rite|[Aa]tomic \w{4,8}) at 0x/;
const PLACE = /^\s{1,12}(?<file>\/?[^\s:]{1,300}\.go):(?<line>\d{1,7})(?: \+0x[0-9a-f]{1,16})?$/;
/** How Rust says that a thread panicked, before 1.73 and since: the message quoted on the line, or below it. */
export const RUST_PANIC =
  /^.{0,200}?thread '(?<thread>[^']{0,300})' (?:\(\d{1,10}\) )?panicked at (?:'(?<old>.{0,600})', )?(?<file>[^\s:']{1,300}):(?<line>\d{1,7}):\d{1,6}:?/;

/** Go's panics and its race detector's reports. */
export const goPanics: Extractor = {
  name: 'go',
  literals: ['panic: ', 'fatal error: all goroutines', 'DATA RACE'],
  extract: (log, lines, found) => {
    for (const line of lines) {
      const text = log.line(line);
      if (!/^panic: |^fatal error: |^WARNING: DATA RACE/.test(text)) continue;
      const end = blockEnd(log, line, 40, (below) => !/^(?:FAIL|ok|exit status|={10,})/.test(below));
      found.blocks.push(
        { start: line, end, weight: 82, reason: 'go panic' },
        { start: line, end: Math.min(end, line + 10), weight: 90, reason: 'go panic' },
      );
      found.messages.push({ text: text.slice(0, 500), at: { source: log.name, line }, weight: 82 });
      if (text.startsWith('WARNING')) readRace(log, line, found);
      else readGoPanic(log, line, text, found);
    }
  },
};

/** Rust's panics, in tests and in programs. */
export const rustPanics: Extractor = {
  name: 'cargo',
  literals: ['panicked at'],
  extract: (log, lines, found) => {
    for (const line of lines) {
      const panic = RUST_PANIC.exec(log.line(line))?.groups;
      const end = blockEnd(log, line, 6, (text) => /^(?:note:|\s{2,20}(?:left|right):|assertion)/.test(text));
      found.blocks.push({ start: line, end, weight: 84, reason: 'panic' });
      if (/^stack backtrace:/.test(log.line(end + 1))) {
        const last = blockEnd(log, end + 1, MAX_LINES, (text) => /^\s{1,40}(?:\d{1,4}:|at )/.test(text));
        found.blocks.push({ start: end, end: last, weight: 60, reason: 'backtrace of a panic' });
      }
      const message = (panic?.old ?? log.line(line + 1).trim()).slice(0, 500);
      const file = panic?.file;
      const frames = file === undefined ? [] : [{ file, line: Number(panic?.line), function: null, own: !isForeignFile(file) }];
      found.exceptions.push({ type: 'panic', message, chain: ['panic'], frames, at: { source: log.name, line } });
    }
  },
};

/** A race detector's report that begins on `line`: who reads, who writes, and where. */
function readRace(log: LogText, line: number, found: Extraction): void {
  const end = blockEnd(log, line, MAX_LINES, (text) => !/^={10,}$/.test(text));
  const [first = 'access', second = 'access'] = range(line, end).flatMap(
    (at) => ACCESS.exec(log.line(at))?.groups?.what?.toLowerCase() ?? [],
  );
  const message = `a ${first} and a ${second} of the same memory without a lock between them`;
  const frames = framesOf(log, line, end);
  found.exceptions.push({ type: 'DATA RACE', message, chain: ['DATA RACE'], frames, at: { source: log.name, line } });
}

/** A panic's message, and the stack of the goroutine that panicked. */
function readGoPanic(log: LogText, line: number, text: string, found: Extraction): void {
  const message = /^(?:panic: |fatal error: )(?<said>.{1,500}?)(?: \[recovered.{0,20})?$/.exec(text)?.groups?.said;
  const start = range(line, Math.min(log.lineCount, line + 12)).find((at) => /^goroutine \d{1,9} \[/.test(log.line(at)));
  if (message === undefined || start === undefined) return;
  const end = blockEnd(log, start, MAX_LINES, (one) => one.trim() !== '' && !/^(?:goroutine |exit status|FAIL\b)/.test(one));
  const frames = framesOf(log, start, end);
  if (frames.length > 0) found.exceptions.push({ type: 'panic', message, chain: ['panic'], frames, at: { source: log.name, line } });
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
