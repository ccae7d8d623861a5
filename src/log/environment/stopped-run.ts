import type { StoppedRun } from '../../domain/environment.ts';
import { extractJobAndStep } from '../lines/clean.ts';
import type { LogText } from '../lines/lines.ts';
import type { Structure } from '../sections.ts';

/** Literals of {@link STOPPED}. They are searched in the whole log. */
export const STOP_LITERALS: readonly string[] = [
  'was cancel',
  'been cancel',
  'was aborted',
  'been aborted',
  'job canceled',
  'job cancelled',
  'terminated',
  'exit code 143',
];
/** Lines that say that the run was stopped from outside, without saying why. */
const STOPPED = new RegExp(
  String.raw`^(?:##\[error\]|\W{0,4}(?:error|fatal): )?(?:(?:the |this )?` +
    String.raw`(?:operation|job|build|run|task|step|pipeline|execution) ` +
    String.raw`(?:was|has been) (?:cancell?ed|aborted)|job cancell?ed|terminated|` +
    String.raw`.{0,80}exit(?:ed with)? (?:code|status):? 143)\W*$`,
  'i',
);
/** The number of lines from the beginning, and back from the end, that are searched for a time stamp. */
const LOOKED_THROUGH = 60;
/**
 * The maximum length of a line's prefix that holds a time stamp, including the columns of a downloaded log.
 */
const MAX_PREFIX = 320;
const DATED = /(?<!\d)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)/;
const CLOCK = /^\[?(\d\d):(\d\d):(\d\d)(?:[.,]\d{1,6})?\]?(?=[\s[]|$)/;
const DAY_SECONDS = 86_400;

/**
 * Measures how long the run and its last step had taken when the run was stopped, and how long nothing had
 * been printed. Returns null if the log has no time stamps, or if the run was not stopped.
 */
export function readStoppedRun(
  log: LogText,
  lines: readonly number[],
  { failedSections }: Pick<Structure, 'failedSections'>,
): StoppedRun | null {
  const line = lines.findLast((number) => STOPPED.test(log.line(number).trim()));
  if (line === undefined) return null;
  const step = failedSections.findLast(({ lineStart, lineEnd }) => lineStart <= line && line <= lineEnd + 1);
  const end = readTime(log.raw(line));
  const before = findTime(log, line - 1, -1);
  if (end === null || before === null) return null;
  const jobBegin = isOneJob(log, line) ? findTime(log, 1, 1) : null;
  const stepBegin = step === undefined ? null : findTime(log, step.lineStart, 1);
  return {
    at: { source: log.name, line },
    jobSeconds: jobBegin === null ? null : countSeconds(jobBegin, end),
    stepSeconds: stepBegin === null ? null : countSeconds(stepBegin, end),
    silentSeconds: countSeconds(before, end),
  };
}

/** Tells whether a log that holds several jobs begins with the job that was stopped. */
function isOneJob(log: LogText, line: number): boolean {
  return extractJobAndStep(log.raw(1))?.job === extractJobAndStep(log.raw(line))?.job;
}

/** Finds the time stamp nearest to a line, in one direction. */
function findTime(log: LogText, from: number, direction: 1 | -1): number | null {
  for (let away = 0; away < LOOKED_THROUGH; away++) {
    const time = readTime(log.raw(from + away * direction));
    if (time !== null) return time;
  }
  return null;
}

/** Returns the time of a line's time stamp in seconds: since 1970, or since midnight if it has no date. */
function readTime(raw: string): number | null {
  const prefix = raw.slice(0, MAX_PREFIX);
  const [, day, time] = DATED.exec(prefix) ?? [];
  if (day !== undefined && time !== undefined) return Date.parse(`${day}T${time.replace(',', '.')}Z`) / 1000;
  const [, hours, minutes, seconds] = CLOCK.exec(prefix) ?? [];
  return hours === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/** Returns the seconds between two times. Times without a date may have passed midnight. */
function countSeconds(begin: number, end: number): number {
  const isClock = begin < DAY_SECONDS && end < DAY_SECONDS;
  return Math.max(0, Math.round(end - begin + (isClock && end < begin ? DAY_SECONDS : 0)));
}
