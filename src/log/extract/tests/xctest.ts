import type { Extractor } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const ISSUE =
  /^(?<file>[^\s:][^:\n]{0,300}\.(?:swift|mm?)):(?<line>\d{1,7}): error: (?:-\[)?(?<suite>[\w.]{1,200}?)[ .](?<name>\w{1,200})\]? : (?<message>.{1,1000})$/;
const FAILED = /^Test Case '(?:-\[)?(?<suite>[\w.]{1,200}?)[ .](?<name>\w{1,200})\]?' failed \(/;
const SWIFT_ISSUE =
  /^\W{0,8}Test (?<name>"[^"\n]{1,300}"|\w{1,200}\([\w:]{0,200}\)) recorded an issue(?: with \d{1,4} arguments? .{1,300}?)? at (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):\d{1,6}: (?<message>.{1,1000})$/;
const SWIFT_FAILED = /^\W{0,8}Test (?<name>"[^"\n]{1,300}"|\w{1,200}\([\w:]{0,200}\)) (?:with \d{1,6} test cases )?failed after \d/;

/** XCTest through xcodebuild or swift test, and Swift Testing. Known issues are none. */
export const xctest: Extractor = {
  name: 'xctest',
  literals: ['error: -[', ' : XCT', "' failed (", ' recorded an issue ', ' failed after '],
  extract: (log, lines, found) => {
    const classic = openTestList(log, found, 'xctest');
    const swift = openTestList(log, found, 'swift-testing');
    for (const line of lines) {
      const text = log.line(line).trimEnd();
      const test = (ISSUE.exec(text) ?? FAILED.exec(text))?.groups;
      const other = (SWIFT_ISSUE.exec(text) ?? SWIFT_FAILED.exec(text))?.groups;
      const groups = test ?? other;
      if (groups?.name === undefined) continue;
      const at = { file: groups.file ?? null, line: groups.line === undefined ? null : Number(groups.line) };
      const known = { suite: groups.suite ?? null, ...at, message: groups.message ?? null, ...valuesOf(groups.message ?? '') };
      (test === undefined ? swift : classic).add({ name: groups.name.replace(/^"(.*)"$/, '$1'), ...known }, line, line);
      if (groups.message !== undefined) found.blocks.push({ start: line, end: line, weight: 88, reason: 'xctest failure' });
    }
  },
};

function valuesOf(message: string): { expected: string | null; actual: string | null } {
  const values = /\("(?<actual>.{0,250}?)"\) is not equal to \("(?<expected>.{0,250}?)"\)/.exec(message)?.groups;
  return { expected: values?.expected ?? null, actual: values?.actual ?? null };
}
