import { nameProgram, provideProgram } from '../known-packages.ts';
import type { Wording } from '../sentence.ts';

/** The wording for a missing program. */
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
    '{crlf?}A script has Windows line endings',
    '{bom?}A script begins with a byte order mark',
    nameProgram('The command {program} is not installed in the job'),
  ],
  cause: [
    '{crlf?}The first line of a script ends with a carriage return, so the system looks for a program ' +
      'with that character in its name.',
    '{bom?}A script begins with a byte order mark, so the system does not understand its first line.',
    nameProgram('{script} calls {program}, but that command is not installed in the job.'),
    nameProgram('`{command}` needs {program}, but that command is not installed in the job.'),
    nameProgram('The step calls {program}, but that command is not installed in the job.'),
  ],
  fix: [
    ['code', '{crlf?}Commit the script with LF line endings, and set `*.sh text eol=lf` in .gitattributes.'],
    ['code', '{bom?}Save the script as UTF-8 without a byte order mark and commit it.'],
    ['configuration', provideProgram],
  ],
};
