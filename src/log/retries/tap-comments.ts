import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';

/** ASCII literals, case ignored; a line without any of them starts no test of a TAP stream. */
export const TAP_LITERALS: readonly string[] = ['# Subtest: '];

const SUBTEST = /^(?<indent>\s{0,40})# Subtest: (?<name>\S.{0,400})$/;
const COMMENT = /^\s{0,40}#(?: (?!Subtest: )|$)/;
const MAX_ABOVE = 500;

/**
 * Finds what passing tests of Node.js printed: the comments of a TAP stream above the name of a test that is
 * reported as ok on the next line.
 */
export function readCommentsOfPassing(log: LogText, lines: readonly number[]): LineRange[] {
  return lines.flatMap((line) => {
    const { indent = '', name } = SUBTEST.exec(log.line(line).trimEnd())?.groups ?? {};
    if (name === undefined) return [];
    const verdict = log.line(line + 1).trimEnd();
    if (!verdict.startsWith(`${indent}ok `) || !verdict.endsWith(` - ${name}`)) return [];
    let start = line;
    while (start > 1 && line - start < MAX_ABOVE && COMMENT.test(log.line(start - 1))) start -= 1;
    return start === line ? [] : [{ start, end: line - 1 }];
  });
}
