import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { bare, deepestOwn, readNativeStack } from './stacks.ts';

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
  found.diagnostics.push({
    tool: 'ubsan',
    severity: 'error',
    file: groups.file ?? null,
    line: Number(groups.line),
    column: Number(groups.column),
    code: null,
    message: `runtime error: ${groups.message ?? ''}`,
    at: { source: log.name, line },
  });
  found.blocks.push({ start: line, end: Math.max(line, Math.min(end, line + 10)), weight: 82, reason: 'undefined behaviour' });
  return Math.max(line, end);
}
