import type { ExitMark, Section } from '../domain/failure.ts';
import type { LogText } from './lines.ts';

/** What the CI system's own marks say: the steps that failed, and where each failing command ended. */
export interface Structure {
  readonly failedSections: readonly Section[];
  readonly exits: readonly ExitMark[];
  /** Lines after which the log is only clean-up; `lineCount` where nothing says so. */
  readonly end: number;
}

/** Literals whose lines {@link readStructure} needs. */
export const STRUCTURE_LITERALS = [
  '##[error]',
  '##[group]',
  'exited with',
  'exit code',
  'section_start:',
  'section_end:',
  'travis_fold:',
  'travis_time:',
  'finished: ',
  '[pipeline]',
  'exit status',
  'command failed',
  'signal',
  'returned exit',
  'with code',
] as const; // prettier-ignore

const EXIT =
  /(?:exited with|exit(?:ed with)?(?: (?:code|status))?|script returned exit code|returned exit code|status code|with code)[: ]{1,3}(\d{1,3})\b/i;
const SIGNAL = /\b(SIG(?:SEGV|KILL|ABRT|TERM|BUS|ILL|FPE|PIPE|INT))\b/;
const STEP_START =
  /^(?:\$ |##\[group\]Run |##\[command\])|travis_time:start|travis_fold:start|section_start:|^\[Pipeline\] (?:sh|stage|bat)\b/;

/** Reads the CI system's marks from the lines that hold one of {@link STRUCTURE_LITERALS}. */
export function readStructure(log: LogText, lines: readonly number[]): Structure {
  const exits: ExitMark[] = [];
  const failedSections: Section[] = [];
  let start = 1;
  let name = 'log';
  let end = log.lineCount;
  for (const line of lines) {
    const text = log.line(line);
    const exit = readExit(log, line, text);
    if (exit !== null && exits.length < 200) exits.push(exit);
    if (isStepEnd(text, exit)) {
      failedSections.push({ source: log.name, name, lineStart: Math.min(start, line), lineEnd: line, failed: true });
      end = line;
    }
    if (STEP_START.test(text)) {
      start = line;
      name = text.replace(/^.{0,200}?(?:\$ |##\[group\])/, '').slice(0, 120) || name;
    }
  }
  return { failedSections, exits, end };
}

function isStepEnd(text: string, exit: ExitMark | null): boolean {
  if (/^##\[error\]Process completed with exit code [1-9]/.test(text)) return true;
  return (
    exit?.code !== null &&
    exit?.code !== 0 &&
    /^The command ".{1,1000}" (?:exited with|failed and exited with) [1-9]|^ERROR: Job failed/.test(text)
  );
}

function readExit(log: LogText, line: number, text: string): ExitMark | null {
  const code = EXIT.exec(text)?.[1];
  const signal = SIGNAL.exec(text)?.[1];
  if (code === undefined && signal === undefined) return null;
  if (code === '0') return null;
  return { code: code === undefined ? null : Number(code), signal: signal ?? null, source: log.name, line };
}
