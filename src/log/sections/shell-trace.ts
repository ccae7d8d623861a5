import type { ExitMark, Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import { failedSection, lineAbove } from './system.ts';

/** `set -x` puts `+` before each command, once for each level of the shell; settings of variables may come first. */
const TRACE = /^\+{1,4} ((?:[A-Za-z_]\w{0,40}=\S{0,100} ){0,5}["'$~]?[A-Za-z_./[][\w./~$'"@:[-]{0,200}(?: .{0,300})?)$/;
/** Commands that set up, test or tidy; they are seldom what failed, and a trap runs them after it. */
const TRIVIAL =
  /^(?:exit|return|local|:|source|\.|set|trap|rm|echo|printf|true|false|export|declare|unset|shift|popd|cd|kill|wait|cat|test|mkdir|sleep)(?: |$)|^'?\[{1,2}'?(?: |$)|^(?:\w{1,40}=\S{0,200}$)/;
/** pnpm and terraform list additions behind the same sign. */
const LISTED = /^\+ @?[\w./-]{1,100} \(?v?\d{1,5}\.|^\+ (?:resource|module|data|output) "/;
const COMPLAINT = /\b(?:error|fatal|fail(?:ed|ure)?|exception|not found|denied|killed|cannot|unable)\b/i;
const SUCCESS = /^(?:Finished: SUCCESS|Job succeeded|Build succeeded|The command ".{1,300}" exited with 0)/i;
const MAX_OUTPUT = 2_000;
const MAX_TAIL = 300;

/**
 * The command that a traced shell ran last before it gave up: from its trace to its exit, or to the end of the log. Null unless at least
 * two traced commands stand in the lines looked at, so that a line of a diff is not taken for one. A command that printed nothing is passed over: it is
 * seldom what people look for.
 */
export function traceFailure(log: LogText, exits: readonly ExitMark[]): Section | null {
  const exit = exits.findLast(({ code }) => code !== null);
  const from = exit?.line ?? log.lineCount;
  const first = Math.max(1, from - MAX_OUTPUT);
  let traces = 0;
  let blamed: number | null = null;
  for (let line = from; line >= first && (traces < 2 || blamed === null); line--) {
    const command = tracedCommand(log, line);
    if (command === null) continue;
    traces++;
    if (blamed === null && line < from && !TRIVIAL.test(command) && !log.line(line + 1).startsWith('+')) blamed = line;
  }
  if (blamed === null || traces < 2 || (exit === undefined && !isComplaining(log, blamed))) return null;
  return failedSection(log, [tracedCommand(log, blamed) ?? ''], blamed, from);
}

function tracedCommand(log: LogText, line: number): string | null {
  const text = log.line(line);
  if (!text.startsWith('+')) return null;
  if (LISTED.test(text) || isDiff(log.line(line - 1)) || isDiff(log.line(line + 1))) return null;
  return TRACE.exec(text)?.[1]?.trim() ?? null;
}

function isDiff(text: string): boolean {
  return /^(?:@@|-(?![-\w]{1,20}[ =])|\+\+\+ |--- )/.test(text);
}

/** Where no exit is told, what the command printed must complain, and the end must not say that all went well. */
function isComplaining(log: LogText, from: number): boolean {
  return (
    lineAbove(log, log.lineCount, 20, (text) => SUCCESS.test(text)) === null &&
    lineAbove(log, log.lineCount, MAX_TAIL, (text) => COMPLAINT.test(text), from) !== null
  );
}
