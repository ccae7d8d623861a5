import type { LogText } from '../lines/lines.ts';
import type { CiSystem, Mark } from './system.ts';
import { failedSection, lineAbove, withConsequences } from './system.ts';

/** How the agent ends a command or hook; other `🚨 Error:` lines are of single calls that a job survives. */
const ENDED =
  /^\W{0,12}Error: (?:running .{1,200}: |Error tearing down .{1,60}: )?The (?:command|.{1,80} hook) exited with status [1-9]|^user command error: (?:exit status [1-9]|.{1,200} exited with status)/;
/** Time stamps stand before each line, in an escape whose own character may be lost. */
const STAMP = /^(?:\u001b?_bk;t=\d{1,16}\u0007)/;
const HEADER = /^(?:---|\+\+\+|~~~) (?!(?:FAIL|PASS|SKIP): )(\S.{0,200})/;
/** Heads of diffs, which have the same signs. */
const DIFF = /^(?:---|\+\+\+) (?:[ab]\/|\/dev\/null|\S{1,200}\t|Expected|Actual|Received)/;
const MAX_OUTPUT = 5_000;

/** Buildkite: `---`, `+++` and `~~~` head the groups of a log, and the agent says how the command ended. */
export const buildkite: CiSystem = {
  name: 'buildkite',
  literals: ['exited with status', 'user command error: '],
  failures: (log, marks) => {
    const ended = marks.filter(({ text }) => ENDED.test(text.replace(STAMP, '')));
    const failed = ended.flatMap((end, i) => {
      const header = headerAbove(log, end, ended[i - 1]?.line ?? 0);
      return header === null ? [] : [failedSection(log, [header.text], header.line, end.line)];
    });
    return withConsequences(failed);
  },
};

function headerAbove(log: LogText, end: Mark, after: number): Mark | null {
  const text = (line: number) => log.line(line).replace(STAMP, '');
  const line = lineAbove(log, end.line, MAX_OUTPUT, (shown) => isHeader(shown.replace(STAMP, '')), after + 1);
  return line === null ? null : { line, text: HEADER.exec(text(line))?.[1] ?? '' };
}

function isHeader(text: string): boolean {
  return HEADER.test(text) && !DIFF.test(text);
}
