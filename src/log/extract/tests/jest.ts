import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines/lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

const JEST_FILE =
  /^(?:\S{1,40}\s{1,8}\|\s?)?\s{0,4}FAIL\s{1,3}(?:(?<project>[\w@/-]{1,60})\s)??(?<file>\S{1,300}\.\w{1,6})(?: \([\d.]{1,12} ?s\))?\s{0,4}$/;
const JEST_TEST = /^(?:\S{1,40}\s{1,8}\|)?\s{1,6}● (?<title>\S.{0,500}?)\s{0,8}$/;
const VITEST =
  /^\s{0,4}FAIL\s{1,3}(?:\|?\s?[\w@/-]{1,60}\|?\s{1,3})??(?<file>\S{1,300}?\.\w{1,6})(?: > (?<title>.{1,500}?))?(?: \[.{1,200}\])?\s{0,8}$/;
const MAX_LINES = 150;

/** Jest (`● suite › test`) and Vitest (`FAIL  file > suite > test`). */
export const jest: Extractor = {
  name: 'jest',
  literals: ['● ', 'FAIL ', 'Test Suites: ', 'Tests  '],
  extract: (log, lines, found) => {
    const seen = new Set<string>();
    let file: string | null = null;
    const unloaded = new Map<string, number>();
    let nth = 0;
    for (const line of lines) {
      const text = log.line(line);
      const vitest = VITEST.exec(text)?.groups;
      const opened = JEST_FILE.exec(text)?.groups?.file ?? vitest?.file;
      if (vitest?.title !== undefined) addVitest(log, line, vitest, found, seen, nth++);
      else if (opened !== undefined) {
        file = opened;
        if (isUnloaded(log, line)) unloaded.set(file, unloaded.get(file) ?? line);
        found.blocks.push({ start: line, end: line, weight: 74 - Math.min(nth, 30) * 0.4, reason: 'failing test file' });
      }
      const title = JEST_TEST.exec(text)?.groups?.title;
      if (title === 'Test suite failed to run' && file !== null) unloaded.set(file, line);
      else if (title !== undefined && isJestFailure(title)) addJest(log, line, title, file, found, seen, nth++);
      if (/^\s{0,8}(?:Test Suites|Tests|Test Files):? {1,8}\d{1,6} failed/.test(text))
        found.blocks.push({ start: line, end: line, weight: 50, reason: 'test totals' });
    }
    addUnloaded(log, unloaded, found, nth);
  },
};

function isJestFailure(title: string): boolean {
  return !/^(?:Console|Cannot log after|Deprecation|Validation Warning|Multiple configs|process\.exit called)/.test(title);
}

function isUnloaded(log: LogText, line: number): boolean {
  return /^(?:\w{1,40}Error|Error|AggregateError)\b/.test(log.line(line + 1));
}

/** A file that could not be loaded is no test: it stands for its tests where none is named, and always has its block. */
function addUnloaded(log: LogText, unloaded: ReadonlyMap<string, number>, found: Extraction, named: number): void {
  let nth = named;
  for (const [file, line] of unloaded) {
    const jest = JEST_TEST.test(log.line(line));
    const end = failureEnd(log, line, jest ? isJestEnd : isVitestEnd);
    const known = { name: file, suite: null, file };
    push(log, line, end, jest ? 'jest' : 'vitest', known, named === 0 ? found : { ...found, failingTests: [] }, nth++);
  }
}

function addJest(log: LogText, line: number, title: string, file: string | null, found: Extraction, seen: Set<string>, nth: number): void {
  if (seen.has(title)) return;
  seen.add(title);
  const path = title.split(' › ');
  const known = { name: path.at(-1) ?? title, suite: path.slice(0, -1).join(' › ') || null, file };
  push(log, line, failureEnd(log, line, isJestEnd), 'jest', known, found, nth);
}

function isJestEnd(text: string): boolean {
  return JEST_TEST.test(text) || JEST_FILE.test(text) || /^\s{0,2}(?:PASS |Test Suites:|Tests: |Snapshot Summary| › )/.test(text);
}

function isVitestEnd(text: string): boolean {
  return VITEST.test(text) || /^⎯{3,200}(?:\[\d{1,5}\/\d{1,5}\]⎯)?|^\s{0,3}Test Files /.test(text);
}

function addVitest(
  log: LogText,
  line: number,
  groups: { [key: string]: string | undefined },
  found: Extraction,
  seen: Set<string>,
  nth: number,
): void {
  const key = `${groups.file} > ${groups.title}`;
  if (seen.has(key)) return;
  seen.add(key);
  const path = groups.title?.split(' > ') ?? [];
  const end = failureEnd(log, line, isVitestEnd);
  const name = path.at(-1) ?? groups.file ?? '';
  push(log, line, end, 'vitest', { name, suite: path.slice(0, -1).join(' > ') || null, file: groups.file ?? null }, found, nth);
}

function failureEnd(log: LogText, start: number, isNext: (line: string) => boolean): number {
  const last = Math.min(log.lineCount, start + MAX_LINES);
  let line = start;
  while (line < last && !isNext(log.line(line + 1))) line++;
  while (line > start && log.line(line).trim() === '') line--;
  return line;
}

function push(
  log: LogText,
  start: number,
  end: number,
  framework: string,
  known: { name: string; suite: string | null; file: string | null },
  found: Extraction,
  nth: number,
): void {
  const body = Array.from({ length: Math.min(end - start, 60) }, (_, i) =>
    log
      .line(start + 1 + i)
      .replace(/^\S{1,40}\s{1,8}\|/, '')
      .trim(),
  ); // prettier-ignore
  const message = body.find((text) => text !== '')?.slice(0, 1_000) ?? null;
  const frame = body
    .map((text) => readFrame(`    ${text}`) ?? pointer(text))
    .find((one) => one?.own === true && (known.file === null || one.file.endsWith(known.file.split('/').at(-1) ?? '')));
  found.failingTests.push(
    failingTest(log, start, framework, { ...known, line: frame?.line ?? null, message, ...splitExpectation(body.join('\n')) }),
  );
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start, end, weight: 85 - less, reason: `${framework} failure` });
  found.blocks.push({ start, end: Math.min(end, start + 14), weight: 91 - less, reason: `${framework} failure` });
}

/** Vitest points with ` ❯ file:line:column`. */
function pointer(text: string): ReturnType<typeof readFrame> {
  const groups = /^❯ (?:(?<fn>\S{1,100}) )?(?<file>[^\s:]{1,300}):(?<line>\d{1,6}):\d{1,5}$/.exec(text)?.groups;
  return groups === undefined ? null : { file: groups.file ?? '', line: Number(groups.line), function: groups.fn ?? null, own: true };
}
