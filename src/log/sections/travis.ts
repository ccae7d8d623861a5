import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import type { CiSystem, Mark } from './system.ts';
import { failedSection } from './system.ts';

/** The last line of a command of several lines has no head; no colon and one quote only tell it from a tool's `ERROR: "lint" exited with 1.` */
const FAILED = /^(?:The command ".{1,1500}|[^":]{0,300})" (?:failed and )?exited with [1-9]\d{0,2}(?: during (\w{0,30}))?\.\s{0,3}$/;
/** Said instead of an exit code; the command that ran is the one to blame. */
const STOPPED = /^(?:No output has been received in the last |The job exceeded the maximum (?:time|log) )/;

/** Travis: a command is timed or folded where it starts, and its end is told with its code. */
export const travis: CiSystem = {
  name: 'travis',
  literals: [
    'travis_fold:',
    'travis_time:',
    '" exited with ',
    'failed and exited with ',
    'no output has been received',
    'exceeded the maximum ',
  ],
  failures: (log, marks) => {
    const failed: Section[] = [];
    let start = 1;
    let name = 'log';
    for (const { line, text } of marks) {
      const ended = FAILED.exec(text);
      if (ended !== null || (STOPPED.test(text) && start > 1)) failed.push(failedSection(log, [ended?.[1] ?? '', name], start, line));
      const opened = openedCommand(log, { line, text });
      if (opened === null) continue;
      start = line;
      name = opened || name;
    }
    return failed;
  },
};

/** The command that a line starts, empty where it names none, or null. The mark stands before a carriage return. */
function openedCommand(log: LogText, { line, text }: Mark): string | null {
  const isMarked = /travis_(?:time|fold):start/.test(log.raw(line).slice(0, 500));
  if (!isMarked && !text.startsWith('$ ')) return null;
  const shown = text.includes('$ ') || !log.line(line + 1).startsWith('$ ') ? text : log.line(line + 1);
  return /^.{0,200}?\$ (.{0,120})/.exec(shown)?.[1] ?? '';
}
