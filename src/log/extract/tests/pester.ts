import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const FAILED = /^\s{0,20}\[-\] (?<name>\S.{0,300}?) \d[\d.,]{0,10}m?s(?: \(.{1,40}\))?$/;
const PLACE = /(?:^at .{0,300}, |^at |line: ?)(?<file>(?:[A-Za-z]:)?[^\s:]{1,300}\.ps1):(?<line>\d{1,7})/;

/** PowerShell's Pester: `[-] name 12ms` under its `Describing` line. */
export const pester: Extractor = {
  name: 'pester',
  literals: ['[-] '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'pester');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const name = FAILED.exec(text)?.groups?.name;
      if (name === undefined) continue;
      const indent = text.search(/\S/);
      const end = blockEnd(log, line, 30, (next) => next.trim() !== '' && next.search(/\S/) > indent && !/^\s{1,20}\[[+!-]\] /.test(next));
      const body = linesBetween(log, line + 1, end).map((one) => one.trim());
      const place = body.map((one) => PLACE.exec(one)?.groups).find((one) => one !== undefined);
      const suite = lookBack(log, line, 300, (above) => /^\s{0,4}Describing (?<suite>\S.{0,200})$/.exec(above.trimEnd())?.groups?.suite);
      const at = { file: place?.file ?? null, line: place?.line === undefined ? null : Number(place.line) };
      list.add({ name, suite: suite?.value ?? null, ...at, ...valuesOf(body[0] ?? '') }, line, end);
    }
  },
};

function valuesOf(message: string): { expected: string | null; actual: string | null } {
  const values = /^Expected (?:strings to be the same, but|(?<expected>.{1,200}?), but got) (?<actual>.{1,200}?)\.?$/.exec(message)?.groups;
  return { expected: values?.expected ?? null, actual: values?.expected === undefined ? null : (values.actual ?? null) };
}
