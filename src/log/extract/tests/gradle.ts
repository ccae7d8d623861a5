import { splitExpectation } from '../../expectation.ts';
import { readFrame } from '../../frames.ts';
import type { LogText } from '../../lines.ts';
import type { Extraction, Extractor } from '../extraction.ts';
import { failingTest } from '../extraction.ts';

const FAILED = /^(?<path>[\w$.][^\n]{0,400}) > (?<name>[^\n]{1,400}?) FAILED$/;
const MAX_LINES = 60;

/** Gradle: failing tests, failing tasks, and its own account of what went wrong. */
export const gradle: Extractor = {
  name: 'gradle',
  literals: [' FAILED', 'FAILURE: Build', '* What went wrong', 'BUILD FAILED', ' tests completed, '],
  extract: (log, lines, found) => {
    let nth = 0;
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const groups = FAILED.exec(text)?.groups;
      if (groups !== undefined && !/^(?:Task|FAIL\b)/.test(groups.path ?? ''))
        readTest(log, line, groups.path ?? '', groups.name ?? '', found, nth++);
      else if (text.startsWith('* What went wrong')) readAccount(log, line, found);
      else if (/^(?:> Task )?:[\w:-]{1,200} FAILED$/.test(text)) taskFailed(log, line, found);
      else if (/^\d{1,6} tests completed, \d{1,6} failed/.test(text))
        found.blocks.push({ start: line, end: line, weight: 55, reason: 'gradle test totals' });
    }
  },
};

function readTest(log: LogText, line: number, path: string, title: string, found: Extraction, nth: number): void {
  let end = line;
  while (end < Math.min(log.lineCount, line + MAX_LINES) && /^\s{1,20}\S/.test(log.line(end + 1))) end++;
  const body = Array.from({ length: Math.min(end - line, 40) }, (_, i) => log.line(line + 1 + i));
  const full = /^[\w$]{1,100}(?:\.[\w$]{1,100}){2,20}(?:\[.{1,200})?$/.test(title);
  const dot = title.search(/\.[\w$]{1,200}(?:\[.{1,200})?$/);
  const suite = full ? title.slice(0, dot) : path;
  const simple =
    suite
      .split(/[.$ >]/)
      .filter((part) => part !== '')
      .at(-1) ?? suite;
  const frames = body.map(readFrame);
  const frame = frames.find((one) => one?.file.startsWith(`${simple}.`)) ?? frames.find((one) => one?.own === true);
  const name = full ? title.slice(dot + 1) : title;
  const at = / at (?<file>\w{1,100}\.\w{1,8}):(?<line>\d{1,6})$/.exec(body[0] ?? '')?.groups;
  const place = { file: frame?.file ?? at?.file ?? null, line: frame?.line ?? (at === undefined ? null : Number(at.line)) };
  found.failingTests.push(
    failingTest(log, line, 'gradle', {
      name,
      suite,
      ...place,
      message: body[0]?.trim() ?? null,
      ...splitExpectation(body.slice(0, 12).join('\n')),
    }),
  );
  const less = Math.min(nth, 30) * 0.4;
  found.blocks.push({ start: line, end, weight: 87 - less, reason: 'gradle test failure' });
  found.blocks.push({ start: line, end: Math.min(end, line + 6), weight: 91 - less, reason: 'gradle test failure' });
}

function readAccount(log: LogText, line: number, found: Extraction): void {
  let end = line;
  while (end < Math.min(log.lineCount, line + 40) && !/^\* (?:Try|Exception|Get more)/.test(log.line(end + 1))) end++;
  while (end > line && log.line(end).trim() === '') end--;
  found.blocks.push({ start: line, end: Math.min(end, line + 12), weight: 72, reason: 'what went wrong, says gradle' });
  const reason = log.line(Math.min(end, line + 2)).trim();
  const text = /^[>]\s/.test(reason) ? reason.slice(2) : log.line(line + 1).trim();
  found.messages.push({
    text,
    at: { source: log.name, line: line + 1 },
    weight: /There were failing tests|Compilation failed/.test(text) ? 30 : 72,
  });
}

/** What a failing task printed stands below its name, compilers' findings among it. */
function taskFailed(log: LogText, line: number, found: Extraction): void {
  found.toolchains.add('gradle');
  found.blocks.push({ start: line, end: line, weight: 58, reason: 'failing gradle task' });
  let end = line;
  while (end < Math.min(log.lineCount, line + 25) && !/^(?:> Task|FAILURE:|\d{1,5} actionable)/.test(log.line(end + 1))) end++;
  if (end > line) found.blocks.push({ start: line, end, weight: 56, reason: 'output of the failing gradle task' });
}
