import type { FailingTest } from '../../../domain/failure.ts';
import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { blockEnd, failingTest } from '../extraction.ts';

const MARK =
  /^(?:\[(?:ERROR|INFO|WARNING)\]\s{1,4})?(?<head>\S.{0,500}?)\s{1,4}(?:--\s)?(?:Time elapsed: [\d.,]{1,12} ?s(?:ec)?)\s{1,4}<<< (?:FAILURE|ERROR)!/;
const SUMMARY =
  /^(?:\[ERROR\])?\s{2,8}(?:Run \d{1,3}: )?(?<head>[A-Za-z_$][\w$.]{1,200}(?:[.>][\w$ [\]()=,>.]{1,200})?)(?::(?<line>\d{1,6}))(?:->[\w$.:<>]{1,300}){0,8} (?:»\s?)?(?<message>.{0,400})$/;
const LEGACY = /^(?:\[ERROR\])?\s{2,8}(?<name>[\w$ [\]{}=,.:-]{1,200})\((?<suite>[\w$.[\]]{3,300})\)(?::? (?<message>.{0,400}))?$/;
const MAX_LINES = 60;

/** Maven's Surefire and Failsafe, old and new. */
export const surefire: Extractor = {
  name: 'maven',
  literals: [
    '<<< FAILURE!',
    '<<< ERROR!',
    'Failed tests:',
    'Tests in error:',
    '[ERROR] Failures:',
    '[ERROR] Errors:',
    'Tests run:',
    'Flakes:',
    'Flaked tests:',
    'Failed to execute goal',
    'BUILD FAILURE',
    'COMPILATION ERROR',
  ],
  extract: (log, lines, found) => {
    const own = new Map<string, number>();
    const marked = new Set<string>();
    for (const line of lines) {
      const text = log.line(line);
      if (text.includes('<<<')) readMark(log, line, text, found, own, marked);
      else if (/^(?:\[ERROR\] )?(?:Failed tests|Tests in error|(?:Failures|Errors)):\s{0,4}/.test(text))
        readSummary(log, line, found, own, marked);
      else if (/^(?:\[WARNING\] )?(?:Flakes|Flaked tests):\s{0,4}$/.test(text)) dropFlakes(log, line, found);
      else if (/Failed to execute goal/.test(text))
        found.blocks.push({ start: line, end: goalEnd(log, line), weight: 66, reason: 'maven goal failed' });
      else if (
        /^(?:\[\w{1,8}\] )?Tests run: \d{1,7}, Failures: \d{1,7}, Errors: \d{1,7}/.test(text) &&
        /(?:Failures|Errors): [1-9]/.test(text)
      ) {
        found.blocks.push({ start: line, end: line, weight: 52, reason: 'maven test totals' });
      }
    }
  },
};

function goalEnd(log: LogText, line: number): number {
  let end = line;
  while (end < Math.min(log.lineCount, line + 25) && /^\[ERROR\] (?!(?:To see|Re-run|For more|-> \[Help))\S/.test(log.line(end + 1))) end++;
  return end;
}

function readMark(log: LogText, line: number, text: string, found: Extraction, own: Map<string, number>, marked: Set<string>): void {
  const head = MARK.exec(text)?.groups?.head;
  if (head === undefined || /^Tests run:/.test(head)) {
    if (/Tests run:.{0,200}<<</.test(text)) found.blocks.push({ start: line, end: line, weight: 80, reason: 'failing test class' });
    return;
  }
  const legacy = /^(?<name>.{1,300}?)\((?<suite>[\w$.[\]-]{1,300})\)$/.exec(head)?.groups;
  const dot = /^[\w$.]{1,300}[^\w$.]/.test(head) ? head.lastIndexOf('.', head.search(/[^\w$.]/)) : head.lastIndexOf('.');
  const name = legacy?.name ?? head.slice(dot + 1);
  const suite = legacy?.suite ?? (dot > 0 ? head.slice(0, dot) : null);
  marked.add(suite?.split('.').at(-1) ?? '');
  const end = traceEnd(log, line);
  const nth = own.size;
  add(log, line, found, own, {
    name,
    suite,
    message:
      log
        .line(line + 1)
        .replace(/^\[ERROR\] /, '')
        .trim() || null,
    ...expectationOf(log, line, end),
    ...placeOf(log, line, end, suite),
  }); // prettier-ignore
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start: line, end, weight: 86 - less, reason: 'maven test failure' });
  found.blocks.push({ start: line, end: Math.min(end, line + 5), weight: 92 - less, reason: 'maven test failure' });
}

/** A test that passed when it ran again did not fail, although its first run was told. */
function dropFlakes(log: LogText, line: number, found: Extraction): void {
  const end = blockEnd(log, line, 400, (text) => /^(?:\[\w{1,8}\] |\s{2})\s{0,8}\S/.test(text));
  const flaked = new Set<string>();
  for (let at = line + 1; at <= end; at++) {
    const path = /^(?:\[\w{1,8}\] )?(?<path>[\w$.]{3,300})(?:\([\w$.]{3,300}\))?\s{0,4}$/.exec(log.line(at))?.groups?.path;
    if (path !== undefined) flaked.add(path);
  }
  const kept = found.failingTests.filter(({ framework, suite, name }) => framework !== 'maven' || !flaked.has(`${suite}.${name}`));
  found.failingTests.splice(0, found.failingTests.length, ...kept);
}

function expectationOf(log: LogText, line: number, end: number): Pick<FailingTest, 'expected' | 'actual'> {
  return splitExpectation(Array.from({ length: Math.min(12, end - line) }, (_, i) => log.line(line + 1 + i)).join('\n'));
}

function placeOf(log: LogText, line: number, end: number, suite: string | null): Pick<FailingTest, 'file' | 'line'> {
  const simple = suite?.split('.').at(-1)?.split('$')[0];
  for (let at = line + 1; at <= end; at++) {
    const frame = readFrame(log.line(at));
    if (frame !== null && simple !== undefined && frame.file.startsWith(`${simple}.`)) return { file: frame.file, line: frame.line };
  }
  return { file: null, line: null };
}

function traceEnd(log: LogText, start: number): number {
  const last = Math.min(log.lineCount, start + MAX_LINES);
  let line = start;
  while (line < last) {
    const next = log.line(line + 1);
    if (next.trim() === '' && !/^\s{1,20}at |^Caused by/.test(log.line(line + 2))) break;
    if (/<<< |^(?:\[\w{1,8}\] )?(?:Tests run:|Running |Results)/.test(next)) break;
    line++;
  }
  return line;
}

function readSummary(log: LogText, line: number, found: Extraction, own: Map<string, number>, marked: ReadonlySet<string>): void {
  const inline = log.line(line).replace(/^(?:\[ERROR\] )?(?:Failed tests|Tests in error|Failures|Errors):/, '');
  let end = line;
  if (inline.trim() !== '') readItem(log, line, `  ${inline.trim()}`, found, own, marked);
  const last = Math.min(log.lineCount, line + 200);
  while (end < last && /^(?:\[ERROR\])?\s{1,8}\S/.test(log.line(end + 1))) {
    end++;
    readItem(log, end, log.line(end), found, own, marked);
  }
  found.blocks.push({ start: line, end: Math.min(end, line + 60), weight: 82, reason: 'maven failure summary' });
}

/** Where a class's failures were shown one by one, the summary adds none: it may name the method that threw instead of the test. */
function readItem(
  log: LogText,
  line: number,
  text: string,
  found: Extraction,
  own: Map<string, number>,
  marked: ReadonlySet<string>,
): void {
  const legacy = LEGACY.exec(text)?.groups;
  if (legacy !== undefined) {
    add(log, line, found, own, { name: legacy.name?.trim() ?? '', suite: legacy.suite ?? null, message: legacy.message ?? null });
    return;
  }
  const groups = SUMMARY.exec(text)?.groups;
  if (groups === undefined || marked.has(groups.head?.split(/[>.]/)[0] ?? '')) return;
  const head = (groups.head ?? '').split('>').at(-1) ?? '';
  const dot = head.lastIndexOf('.', head.search(/[^\w$.]|$/));
  const first = (groups.head ?? '').split(/[>.]/)[0] ?? null;
  add(log, line, found, own, {
    name: head.slice(dot + 1),
    suite: head.includes('.') && !(groups.head ?? '').includes('>') ? head.slice(0, dot) : first,
    message: groups.message || null,
  });
}

type Known = Pick<FailingTest, 'name'> & Partial<FailingTest>;

/** Marks and the summary name the same tests; the summary leaves out the package. */
function add(log: LogText, line: number, found: Extraction, own: Map<string, number>, known: Known): void {
  const key = `${known.suite?.split('.').at(-1) ?? ''}.${known.name.replace(/[([{:].*$/, '')}${/[[(]/.test(known.name) ? known.name.slice(known.name.search(/[[(]/)) : ''}`;
  if (own.has(key)) return;
  own.set(key, found.failingTests.length);
  found.failingTests.push(failingTest(log, line, 'maven', known));
}
