import type { ExitMark, Section } from '../domain/failure.ts';
import { JENKINS_LITERALS, jenkinsFailure } from './jenkins.ts';
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
  '##[section]',
  'step_script',
  'exited with',
  'exit code',
  'section_start:',
  'section_end:',
  'travis_fold:',
  'travis_time:',
  ...JENKINS_LITERALS,
  'exit status',
  'command failed',
  'signal',
  'returned exit',
  'with code',
] as const; // prettier-ignore

const EXIT =
  /(?:exited with|exit(?:ed with)?(?: (?:code|status))?|script returned exit code|returned exit code|with code)[: ]{1,3}'?(\d{1,3})\b/i;
const SIGNAL = /\b(SIG(?:SEGV|KILL|ABRT|TERM|BUS|ILL|FPE|PIPE|INT))\b/;
const STEP_START =
  /^(?:\$ |##\[group\]Run |##\[command\]|##\[section\]Starting: )|travis_time:start|travis_fold:start|section_start:|^\[Pipeline\] (?:sh|stage|bat)\b/;

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
    const opened = openedStep(log, line, text);
    if (opened !== null) {
      start = line;
      name = opened || name;
    }
  }
  const stage = failedSections.length === 0 ? jenkinsFailure(log, lines) : null;
  if (stage !== null) return { failedSections: [stage], exits, end: stage.lineEnd };
  return { failedSections, exits, end };
}

/** The name of the step that a line opens, empty where it has none, or null. GitLab hides its mark behind a carriage return. */
function openedStep(log: LogText, line: number, text: string): string | null {
  const gitlab = /section_start:\d{1,12}:([\w.-]{1,100})/.exec(log.raw(line).slice(0, 500))?.[1];
  if (gitlab !== undefined) return gitlab;
  return STEP_START.test(text) ? text.replace(/^.{0,200}?(?:\$ |##\[group\]|##\[section\]Starting: )/, '').slice(0, 120) : null;
}

function isStepEnd(text: string, exit: ExitMark | null): boolean {
  if (
    /^##\[error\](?:Process completed with exit code [1-9]|.{1,80} exited with code '?[1-9])|^Exited with code exit status [1-9]|Error: The command exited with status [1-9]/.test(
      text,
    )
  )
    return true;
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
  if (code === '0' || Number(code) > 255) return null;
  return { code: code === undefined ? null : Number(code), signal: signal ?? null, source: log.name, line };
}
