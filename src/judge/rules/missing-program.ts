import { nameProgram, provideProgram } from '../known-packages.ts';
import type { Wording } from '../sentence.ts';

/** Words for a program that is not there. */
export const MISSING_PROGRAM: Wording = {
  reads: [
    /(?:^|[\s:/])(?<program>[\w+.-]{1,60}): (?:[Cc]ommand )?not found(?!\S)/,
    /make(?:\[\d{1,3}\])?: (?<program>[\w+.-]{1,60}): No such file/,
    /Program(?:\(s\) \[)?[ ']{1,2}(?<program>[\w+.-]{1,60})'?\]? (?:not found|found: NO)/,
    /Can't exec "(?<program>[\w+.-]{1,60})"/,
    /'(?<program>[\w+.-]{1,60})' is not recognized/,
    /exec: "(?<program>[\w+.-]{1,60})": executable file not found/,
    /spawn (?<program>[\w+.-]{1,60}) ENOENT/,
    /Cannot run program "(?<program>[\w+.-]{1,60})"/,
    /env: ['‘"]?(?<program>[\w+.-]{1,60})['’"]?: No such file/,
    /No such file or directory: '(?<program>[\w+-]{1,40})'$/,
    /The term '(?<program>[\w+.-]{1,60})' is not recognized/,
    /env: \$?['‘"]?(?<crlf>[\w+.-]{1,40})(?:\\r|\^M)['’"]?: No such file/,
    /(?<crlf>bad interpreter): .{0,60}\^M/,
    /(?<bom>\uFEFF#!\S{1,60}): (?:No such file|not found)/,
    /^(?:\.\/)?(?<script>[\w-][\w./-]{0,200}\.\w{1,6}): (?:line )?\d{1,6}: /,
    /^(?:> )?> (?:@?[\w./-]{1,80})@\d\S{0,40} (?<npmScript>[\w:.-]{1,60})/,
    /npm (?:error|ERR!) Lifecycle script `(?<npmScript>[\w:.-]{1,60})` failed/,
  ],
  title: [
    '{crlf?}A script has the line ends of Windows',
    '{bom?}A script begins with a byte order mark',
    nameProgram('The job has no command {program}'),
  ],
  cause: [
    '{crlf?}The first line of a script ends with a carriage return, so the system looks for a program of that name.',
    '{bom?}A script begins with a byte order mark, so its first line is not understood.',
    nameProgram('{script} calls {program}, but the job has no such command.'),
    nameProgram('`{command}` needs {program}, but the job has no such command.'),
    nameProgram('The step calls {program}, but the job has no such command.'),
  ],
  fix: [
    ['code', '{crlf?}Commit the script with LF as line end, and set `*.sh text eol=lf` in .gitattributes.'],
    ['code', '{bom?}Save the script as UTF-8 without a byte order mark and commit it.'],
    ['configuration', provideProgram],
  ],
};
