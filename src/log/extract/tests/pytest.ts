import type { LogPosition, StackFrame } from '../../../domain/failure.ts';
import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

interface Seen {
  readonly key: string;
  index: number;
}

/** A long name leaves pytest room for two underscores on either side. */
const HEADER = /^_{2,200} (?:(?<phase>ERROR (?:at (?:setup|teardown) of|collecting)) )?(?<name>\S.{0,300}?) _{2,200}$/;
const BANNER = /^(?:={6,400}|={3,200}\s{0,4}(?<title>[^=\s](?:.{0,200}?[^=\s])?)\s{0,4}={3,200})$/;
const SUMMARY =
  /^(?<outcome>FAILED|ERROR|SUBFAIL(?:ED)?(?:\[[^\]]{0,200}\])?(?: ?\(.{0,300}?\))?) (?<file>[^\s:]{1,300}\.\w{1,5})(?:::(?<rest>.{1,500}?))?(?: - (?<message>.{1,1000})|$)/;
const INLINE =
  /^(?<file>[^\s:]{1,300}\.py)::(?<rest>.{1,400}?) (?:FAILED\b|ERROR\b|(?:\S{0,200}: line \d{1,5}: {1,8}\d{1,8} )?(?:Killed|Segmentation fault|Aborted|Fatal Python error|Terminated)\b)/;
/** What a subtest adds to the name of its test. */
const SUBTEST = / (?:\[[^\]\n]{0,200}\] ?)?\(\w{1,60}=.{0,300}\)$| \[[^\]\n]{1,200}\]$/;
/** How xdist reports each test as it ends. */
const WORKER = /^\[gw\d{1,4}\](?: \[ {0,3}\d{1,3}%\])? (?:FAILED|ERROR) (?<file>[^\s:]{1,300}\.py)::(?<rest>\S.{0,400}?)\s{0,4}$/;
const MAX_FAILURE_LINES = 400;
const MAX_FRAMES = 60;

/** pytest: the failure sections, the short summary, and verbose progress lines. */
export const pytest: Extractor = {
  name: 'pytest',
  literals: [
    '__ ',
    ' __',
    '= FAILURES =',
    '= ERRORS =',
    '= PASSES =',
    '= XPASSES =',
    '= XFAILURES =',
    'warnings summary',
    'FAILED ',
    'ERROR ',
    ' FAILED',
    'short test summary',
    'ERROR collecting',
    'no tests ran',
    ' killed',
    'segmentation fault',
    ' aborted',
    'terminated',
    'fatal python error',
  ],
  extract: (log, lines, found) => {
    const failures = new Map<string, Seen>();
    let inReport = false;
    let end = 0;
    for (const line of lines) {
      const text = log.line(line);
      const banner = BANNER.exec(text)?.groups?.title;
      if (banner !== undefined) inReport = /^(?:FAILURES|ERRORS)$/.test(banner);
      if (line <= end) continue;
      if (inReport && text.startsWith('__')) end = readSection(log, line, found, failures);
      else readSummary(log, line, text, found, failures);
    }
  },
};

function readSection(log: LogText, line: number, found: Extraction, failures: Map<string, Seen>): number {
  const groups = HEADER.exec(log.line(line))?.groups;
  if (groups === undefined) return 0;
  const end = sectionEnd(log, line);
  const { errors, frames } = scanSection(log, line, end);
  const location = frames.find(({ own }) => own);
  const collecting = groups.phase === 'ERROR collecting';
  const title = (groups.name ?? '').replace(SUBTEST, '');
  const path = title.split('.');
  const name = collecting ? title : lastPart(title);
  const suite = collecting || path.length < 2 ? null : title.slice(0, -name.length - 1) || null;
  const message = errors[0] === undefined ? null : log.line(errors[0]).replace(/^E\s{1,40}/, '');
  const whole = errors
    .slice(0, 30)
    .map((at) => log.line(at).replace(/^E\s{0,3}/, ''))
    .join('\n'); // prettier-ignore
  const { expected, actual } = splitExpectation(whole);
  add(log, line, found, failures, {
    name,
    suite,
    file: collecting ? name : (location?.file ?? null),
    line: location?.line ?? null,
    message,
    expected,
    actual,
  }); // prettier-ignore
  addException(found, message, frames, { source: log.name, line: errors[0] ?? line });
  propose(found, line, end, errors, failures.size);
  return end;
}

/** Parametrised names hold dots inside their brackets. */
function lastPart(name: string): string {
  const bracket = name.indexOf('[');
  const head = bracket === -1 ? name : name.slice(0, bracket);
  return name.slice(head.lastIndexOf('.') + 1);
}

function sectionEnd(log: LogText, start: number): number {
  let line = start;
  const last = Math.min(log.lineCount, start + MAX_FAILURE_LINES * 5);
  while (line < last) {
    const next = log.line(line + 1);
    if ((next.startsWith('__') && HEADER.test(next)) || (next.startsWith('===') && BANNER.test(next))) break;
    line++;
  }
  return line;
}

function scanSection(log: LogText, start: number, end: number): { errors: number[]; frames: StackFrame[] } {
  const errors: number[] = [];
  const frames: StackFrame[] = [];
  for (let line = start; line <= end; line++) {
    const text = log.line(line);
    if (/^E(?:\s{2,40}|$)/.test(text)) errors.push(line);
    const frame = readFrame(text);
    if (frame !== null && frames.length < MAX_FRAMES) frames.push(frame);
  }
  return { errors, frames };
}

/** What was raised in the section, its deepest frame first; a bare `assert` is none. */
function addException(found: Extraction, message: string | null, frames: readonly StackFrame[], at: LogPosition): void {
  const [, type, said = ''] =
    /^([A-Za-z_][\w.]{0,150}(?:Error|Exception|Exit|Interrupt|Timeout|Warning))(?:: (.{0,500}))?$/.exec(message ?? '') ?? [];
  if (type === undefined || frames.length === 0) return;
  found.exceptions.push({ type, message: said, chain: [type], frames: [...frames].reverse(), at });
}

function propose(found: Extraction, start: number, end: number, errors: readonly number[], nth: number): void {
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start, end: Math.min(end, start + MAX_FAILURE_LINES), weight: 84 - less, reason: 'pytest failure' });
  if (nth === 1) found.blocks.push({ start, end: Math.min(end, start + 60), weight: 93, reason: 'pytest failure' });
  const first = errors[0];
  if (first === undefined) return;
  const last = errors.find((line, i) => (errors[i + 1] ?? Infinity) > line + 3) ?? first;
  found.blocks.push({ start: Math.max(start, first - 3), end: Math.min(last, first + 40), weight: 92 - less, reason: 'pytest error' });
  found.blocks.push({ start, end: start, weight: 91 - less, reason: 'pytest failure' });
}

function readSummary(log: LogText, line: number, text: string, found: Extraction, failures: Map<string, Seen>): void {
  const groups = SUMMARY.exec(text)?.groups ?? WORKER.exec(text)?.groups ?? INLINE.exec(text)?.groups;
  if (groups !== undefined) {
    const parts = (groups.rest ?? '').split('::');
    const bracket = (groups.rest ?? '').indexOf('[');
    const head = bracket === -1 ? parts : (groups.rest ?? '').slice(0, bracket).split('::');
    const name =
      groups.rest === undefined
        ? (groups.file ?? '')
        : groups.rest.slice(head.slice(0, -1).join('::').length).replace(/^::| <- .{1,300}$/g, '');
    const suite = head.length > 1 ? head.slice(0, -1).join('.') : null;
    add(log, line, found, failures, {
      name,
      suite,
      file: groups.file ?? null,
      message: groups.message ?? null,
      line: null,
      expected: null,
      actual: null,
    });
    found.blocks.push({ start: line, end: line, weight: 66, reason: 'pytest summary' });
  } else if (/^={3,200} .{0,200}\b(?:\d{1,6} (?:failed|errors?)|no tests ran)\b.{0,200}[^=]={3,200}$/.test(text)) {
    found.blocks.push({ start: line, end: line, weight: 55, reason: 'pytest totals' });
  }
}

type Known = Pick<ReturnType<typeof failingTest>, 'name' | 'suite' | 'file' | 'line' | 'message' | 'expected' | 'actual'>;

/** A test is named in its section and again in the summary, which alone knows its file for sure. */
function add(log: LogText, line: number, found: Extraction, failures: Map<string, Seen>, known: Known): void {
  const key = `${known.suite ?? ''}.${known.name}`;
  const seen = failures.get(key);
  const before = seen === undefined ? undefined : found.failingTests[seen.index];
  if (seen === undefined || before === undefined || (isOtherFile(before.file, known.file) && before.framework !== 'pytest')) {
    failures.set(key, { key, index: found.failingTests.length });
    found.failingTests.push(failingTest(log, line, 'pytest', known));
    return;
  }
  found.failingTests[seen.index] = {
    ...before,
    file: before.file !== null && isTestFile(before.file) ? before.file : (known.file ?? before.file),
    line: before.line ?? known.line,
    message: before.message ?? known.message,
    expected: before.expected ?? known.expected,
    actual: before.actual ?? known.actual,
    // The section shows the failure; a progress line only its name.
    at: before.message === null && known.message !== null ? { source: log.name, line } : before.at,
  };
}

function isOtherFile(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && !a.endsWith(b) && !b.endsWith(a);
}

function isTestFile(file: string): boolean {
  return /(?:^|\/)(?:test_[^/]{1,100}|[^/]{1,100}_test|conftest)\.py$/.test(file);
}
