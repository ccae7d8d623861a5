import type { FailingTest } from '../../../domain/failure.ts';

/** The heading of a diff of Jest or Playwright. It counts the lines that follow on each side. */
const HEADING = /^ {0,12}- Expected {2}- (?<removed>\d{1,2})\n {0,12}\+ Received {2}\+ (?<added>\d{1,2})\n/m;
/** The number of lines below the heading in which the changed lines are looked for. */
const MAX_LINES = 60;
/** The maximum length of a side, in characters. */
const MAX_SIDE = 300;

/**
 * Reads the values of a diff that changes one place: the removed lines, and directly below them the added
 * ones, each joined to one line. Returns null if there is no such diff, or if it changes several places,
 * whose lines do not belong together.
 */
export function readChangedLines(text: string): Pick<FailingTest, 'expected' | 'actual'> | null {
  const heading = HEADING.exec(text);
  if (heading === null) return null;
  const lines = text.slice(heading.index + heading[0].length).split('\n', MAX_LINES);
  const first = lines.findIndex((line) => CHANGED.test(line));
  const added = first + Number(heading.groups?.removed);
  const end = added + Number(heading.groups?.added);
  const expected = joinLines(lines.slice(first, added), '-');
  const actual = joinLines(lines.slice(added, end), '+');
  return first < 0 || expected === null || actual === null ? null : { expected, actual };
}

const CHANGED = /^ {0,12}[-+] {1,20}\S/;

/** Joins the lines if all of them have the sign. Returns null if one has not, or if the result is long. */
function joinLines(lines: readonly string[], sign: '-' | '+'): string | null {
  if (lines.length === 0 || lines.some((line) => !CHANGED.test(line) || line.trimStart()[0] !== sign))
    return null;
  const joined = lines.map((line) => line.trimStart().slice(1).trim()).join(' ');
  return joined.length > MAX_SIDE ? null : joined.replace(/,$/, '');
}
