import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';

/** Literals, case ignored. Every line that begins a test in Node's TAP output contains one of them. */
export const TAP_LITERALS: readonly string[] = ['# Subtest: '];

const SUBTEST = /^(?<indent>\s{0,40})# Subtest: (?<name>\S.{0,400})$/;
const COMMENT = /^\s{0,40}#(?: (?!Subtest: )|$)/;
const MAX_ABOVE = 500;

/**
 * Finds the output of passing tests of Node.js: comments in a TAP stream above the name of a test that is
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
