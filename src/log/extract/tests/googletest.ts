import type { Extractor } from '../extraction.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const FAILED = /^\[ {2}FAILED {2}\] (?<suite>[\w/]{1,200})\.(?<name>[\w/]{1,200})(?:, where .{1,300}?)?(?: \(\d{1,9} ms\))?$/;
const FAILURE = /^(?<file>[^\s:(]{1,300}|unknown file)(?:[:(](?<line>\d{1,7})\)?)?: (?:Failure|error: ?)$/;

/** GoogleTest: `[  FAILED  ] Suite.Name`, with what went wrong above it. */
export const googletest: Extractor = {
  name: 'gtest',
  literals: ['[  FAILED  ]'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'gtest');
    for (const line of lines) {
      const test = FAILED.exec(log.line(line).trimEnd())?.groups;
      if (test?.name === undefined) continue;
      const run = lookBack(log, line, 300, (text) => (/^\[ (?:RUN {6}| {2,5}OK|-{3,})/.test(text) ? text : null));
      const isOwn = run?.value.trimEnd() === `[ RUN      ] ${test.suite}.${test.name}`;
      const start = run === null || !isOwn ? line : firstFailure(linesBetween(log, run.line, line), run.line);
      const place = FAILURE.exec(log.line(start).trimEnd())?.groups;
      const file = place?.file === 'unknown file' ? null : (place?.file ?? null);
      const at = { file, line: place?.line === undefined ? null : Number(place.line) };
      list.add({ name: test.name, suite: test.suite ?? null, ...at, ...differenceOf(linesBetween(log, start, line)) }, start, line);
    }
  },
};

function firstFailure(body: readonly string[], start: number): number {
  const at = body.findIndex((text) => FAILURE.test(text.trimEnd()));
  return start + Math.max(0, at);
}

function differenceOf(body: readonly string[]): { message: string | null; expected: string | null; actual: string | null } {
  const said = body.slice(1, -1).map((text) => text.trim());
  const end = said.findIndex((text) => FAILURE.test(text));
  const first = said.slice(0, end === -1 ? 8 : Math.min(end, 8));
  const value = (label: string) =>
    first
      .find((text) => text.startsWith(label))
      ?.slice(label.length)
      .trim() ?? null;
  return { message: first.slice(0, 3).join(' ').trim() || null, expected: value('Expected: '), actual: value('Actual: ') };
}
