import type { ExitMark } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import type { Mark } from './system.ts';

/** Literals of lines that say how a process ended. */
export const EXIT_LITERALS = [
  'exited with',
  'exit code',
  'exit status',
  'with code',
  'returned exit',
  ...['sigsegv', 'sigabrt', 'sigbus', 'sigill', 'sigfpe'],
  ...['signal sig', 'signal: sig', "signal 'sig", "signal: 'sig", 'signal=sig', 'signal (sig', 'by sig', 'with sig', 'received sig'],
] as const;

const EXIT =
  /(?:exited with|exit(?:ed with)?(?: (?:error )?(?:code|status))?|script returned exit code|returned exit code|with code)[: ]{1,3}'?(\d{1,3})\b/i;
/** A crash is one wherever it is named; a stop may only be talked about, so that a word before it must tell. */
const SIGNAL = /\b(SIG(?:SEGV|ABRT|BUS|ILL|FPE)|(?<=\b(?:[Ss]ignal[:=]?|by|with|[Rr]eceived)[ '"(]{0,2})SIG(?:KILL|TERM|PIPE|INT))\b/;
const MAX_EXITS = 200;

/** How processes ended badly, in the order of the log, at most the first 200. */
export function readExits(log: LogText, marks: readonly Mark[]): ExitMark[] {
  const exits: ExitMark[] = [];
  for (const { line, text } of marks) {
    if (exits.length === MAX_EXITS) break;
    const code = EXIT.exec(text)?.[1];
    const signal = SIGNAL.exec(text)?.[1];
    if (code === undefined && signal === undefined) continue;
    if (code === '0' || Number(code) > 255) continue;
    exits.push({ code: code === undefined ? null : Number(code), signal: signal ?? null, source: log.name, line });
  }
  return exits;
}
