import { defineRules, type RuleRow } from '../rule.ts';
import { MISSING_THINGS } from './symptoms.ts';

/** Rules for files of the checkout whose encoding or merge conflicts make them unreadable. */
export const SCRIPT_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'script-carriage-return': {
    kind: 'environment',
    strength: 4.8,
    patterns: [
      /\$'[^'\n]{0,200}\\r'\S{0,3}: (?:command not found|No such file|Not a directory|invalid|not a valid)/,
      /syntax error near unexpected token `\$'[^'\n]{0,80}\\r''/,
      /: bad interpreter: .{0,80}\^M/,
    ],
    reads: [
      /^(?:\S{0,200}\/)?(?<script>[\w.-]{1,80}): (?:line )?\d{1,6}: /,
      /\$'(?<word>[^'\n\\]{1,80})\\r'/,
    ],
    title: ['{script} has Windows line endings', 'A script has Windows line endings'],
    cause: [
      'A line of {script} ends with a carriage return, and the shell reads it as a part of “{word}”.',
      'A line of a script ends with a carriage return, and the shell reads it as a part of “{word}”.',
      'A line of a script ends with a carriage return, and the shell reads it as a command.',
    ],
    fix: [['code', 'Commit the script with LF line endings, and set `*.sh text eol=lf` in .gitattributes.']],
    outranks: [...MISSING_THINGS, 'script-syntax-error'],
    matches: ["./ci/weigh.sh: line 3: cd: $'scales\\r': No such file or directory"],
    ignores: ["+ printf $'\\r' > pears.txt"],
    says: [
      {
        log: "./ci/weigh.sh: line 3: cd: $'scales\\r': No such file or directory",
        title: 'weigh.sh has Windows line endings',
        cause:
          'A line of weigh.sh ends with a carriage return, and the shell reads it as a part of “scales”.',
        fix: 'Commit the script with LF line endings, and set `*.sh text eol=lf` in .gitattributes.',
      },
      {
        log: "./ci/weigh.sh: line 2: $'\\r': command not found",
        title: 'weigh.sh has Windows line endings',
        cause: 'A line of a script ends with a carriage return, and the shell reads it as a command.',
      },
    ],
  },
  'script-byte-order-mark': {
    kind: 'environment',
    strength: 4.8,
    patterns: [/\uFEFF\S{1,60}: (?:(?:command )?not found|No such file)/],
    reads: [/^(?:\S{0,200}\/)?(?<script>[\w.-]{1,80}): (?:line )?\d{1,6}: /],
    title: ['{script} begins with a byte order mark', 'A script begins with a byte order mark'],
    cause: [
      '{script} begins with a byte order mark, and the shell reads it as a part of the first command.',
      'A script begins with a byte order mark, and the shell reads it as a part of the first command.',
    ],
    fix: [
      ['code', 'Save {script} as UTF-8 without a byte order mark and commit it.'],
      ['code', 'Save the script as UTF-8 without a byte order mark and commit it.'],
    ],
    outranks: MISSING_THINGS,
    matches: ['./ci/weigh.sh: line 1: \uFEFFset: command not found'],
    ignores: ['./ci/weigh.sh: line 1: scales: command not found'],
    says: [
      {
        log: 'ci/weigh.sh: line 1: \uFEFFset: command not found',
        title: 'weigh.sh begins with a byte order mark',
        fix: 'Save weigh.sh as UTF-8 without a byte order mark and commit it.',
      },
    ],
  },
  'interpreter-missing': {
    kind: 'environment',
    strength: 4.6,
    patterns: [/: cannot execute: required file not found/, /: bad interpreter: (?!.{0,80}\^M)No such file/],
    reads: [
      /(?<script>[\w./-]{1,200}): (?<interpreter>\/[\w./-]{1,160}): bad interpreter/,
      /(?<script>[\w./-]{1,200}): (?:cannot execute: required file not found|bad interpreter)/,
    ],
    title: '{script} needs an interpreter that is not installed',
    cause: [
      'The first line of {script} names {interpreter}, which is not installed in the job.',
      'The first line of {script} names an interpreter, or {script} needs a loader, that is not ' +
        'installed in the job.',
    ],
    fix: [
      ['configuration', 'Install {interpreter} in the job, or correct the first line of {script}.'],
      [
        'configuration',
        'Install the interpreter that the first line of {script} names, or correct that line.',
      ],
    ],
    outranks: MISSING_THINGS,
    matches: ['./ci/weigh.sh: line 2: bin/scales: cannot execute: required file not found'],
    ignores: ['✓ explains a bad interpreter'],
    says: [
      {
        log: 'bash: ./ci/weigh: /usr/bin/scalescript: bad interpreter: No such file or directory',
        title: './ci/weigh needs an interpreter that is not installed',
        fix: 'Install /usr/bin/scalescript in the job, or correct the first line of ./ci/weigh.',
      },
      {
        log: './ci/weigh.sh: line 2: bin/scales: cannot execute: required file not found',
        fix: 'Install the interpreter that the first line of bin/scales names, or correct that line.',
      },
    ],
  },
  'merge-conflict': {
    kind: 'process_gate',
    strength: 4.8,
    patterns: [
      /^CONFLICT \([\w/ -]{1,40}\): /,
      /^Automatic merge failed; fix conflicts/,
      /^error: could not apply [0-9a-f]{7,40}\b/,
    ],
    reads: [
      /^CONFLICT \([\w/ -]{1,40}\): Merge conflict in (?<conflicting>\S{1,200})/,
      /^CONFLICT \([\w/ -]{1,40}\): (?<conflicting>\S{1,200}) (?:deleted|renamed|added)/,
    ],
    title: ['Git could not merge {conflicting}', 'Git could not merge the two sides'],
    cause: [
      'Both sides changed {conflicting} in the same place, and Git could not merge them.',
      'Both sides changed the same lines, and Git could not merge them.',
    ],
    fix: [
      ['code', 'Merge or rebase the branch by hand, resolve the conflict in {conflicting}, and push it.'],
      ['code', 'Merge or rebase the branch by hand, resolve the conflicts, and push it.'],
    ],
    matches: ['CONFLICT (content): Merge conflict in pears.conf'],
    ignores: ['Auto-merging pears.conf', '✓ shows a CONFLICT (content): Merge conflict'],
    says: [
      {
        log:
          'Auto-merging pears.conf\nCONFLICT (content): Merge conflict in pears.conf\nAutomatic ' +
          'merge failed; fix conflicts and then commit the result.',
        title: 'Git could not merge pears.conf',
        fix: 'Merge or rebase the branch by hand, resolve the conflict in pears.conf, and push it.',
      },
      {
        log: 'error: could not apply 97323b0... Deepen the channel',
        fix: 'Merge or rebase the branch by hand, resolve the conflicts, and push it.',
      },
    ],
  },
});
