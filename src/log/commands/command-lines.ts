import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';

/** The first line of a script that the CI system prints before running it. */
const HEAD = /^(?:##\[group\]|::group::)Run \S/;
const HEAD_ENDS = /^(?:shell: |with:$|env:$|##\[endgroup\]|::endgroup::)/;
/** A command that a shell or CI system prints before running it. */
const TRACE = /^(?:\+{1,4} (?!~|-{2,}$|\+)\S|\$ \S|\[command\]\S)/;
/** The maximum number of lines of a script, and of lines above the end of a step that are searched. */
const [MAX_SCRIPT, MAX_OUTPUT] = [3, 5_000];

/** Checks whether a cleaned line is a command that was printed before it ran. */
export function isTrace(text: string): boolean {
  return TRACE.test(text);
}

/**
 * Finds the lines that show the command of a step: the beginning of its script, and the last command that was
 * printed before it ran.
 */
export function findCommandLines(log: LogText, lineStart: number, lineEnd: number): LineRange[] {
  const ranges: LineRange[] = [];
  if (HEAD.test(log.line(lineStart))) {
    let end = lineStart;
    while (end < Math.min(lineEnd, lineStart + MAX_SCRIPT) && !HEAD_ENDS.test(log.line(end + 1))) end++;
    ranges.push({ start: lineStart, end });
  }
  for (let line = lineEnd; line > Math.max(lineStart, lineEnd - MAX_OUTPUT); line--) {
    if (!isTrace(log.line(line))) continue;
    ranges.push({ start: line, end: line });
    break;
  }
  return ranges;
}
