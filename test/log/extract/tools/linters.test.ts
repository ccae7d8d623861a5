import { describe, expect, it } from 'vitest';
import { readLines } from './read-lines.ts';

type Row = readonly [tool: string, lines: readonly string[], known: object];

const ROWS: readonly Row[] = [
  [
    'eslint',
    ["src/a.js: line 3, col 5, Error - 'x' is not defined. (no-undef)"],
    { file: 'src/a.js', line: 3, column: 5, code: 'no-undef' },
  ],
  ['eslint', ["src/a.js:3:5: 'x' is not defined. [Error/no-undef]"], { line: 3, code: 'no-undef' }],
  [
    'eslint',
    ['/w/src/a.ts', "##[error]   3:17  error  'x' is never reassigned  prefer-const"],
    { file: '/w/src/a.ts', line: 3, column: 17, code: 'prefer-const', severity: 'error' },
  ],
  [
    'eslint',
    [
      'packages/web lint: /w/src/a.ts',
      "packages/web lint:   3:17  error  'x' is never reassigned  prefer-const",
    ],
    { file: '/w/src/a.ts', line: 3, code: 'prefer-const' },
  ],
  [
    'eslint',
    ['@shop/web:lint: /w/src/a.ts', "@shop/web:lint:   3:17  error  'x' is never reassigned  prefer-const"],
    { file: '/w/src/a.ts' },
  ],
  [
    'stylelint',
    ['src/a.css', ' 3:5  ✖  Unexpected empty block  block-no-empty'],
    { file: 'src/a.css', line: 3, code: 'block-no-empty' },
  ],
  [
    'yamllint',
    ['deploy.yml', '  3:5       error    wrong indentation: expected 2 but found 4  (indentation)'],
    { file: 'deploy.yml', code: 'indentation' },
  ],
  [
    'yamllint',
    ['./deploy.yml:3:5: [error] syntax error: mapping values are not allowed here (syntax)'],
    { code: 'syntax' },
  ],
  [
    'biome',
    ['src/a.ts:3:5 lint/suspicious/noDoubleEquals  FIXABLE  ━━━━━━━━━━', '', '  × Use === instead of ==.'],
    { file: 'src/a.ts', line: 3, code: 'lint/suspicious/noDoubleEquals', message: 'Use === instead of ==.' },
  ],
  [
    'biome',
    ['src/a.ts format ━━━━━━━━━━', '', '  × Formatter would have printed the following content:'],
    { file: 'src/a.ts', code: 'format' },
  ],
  [
    'prettier',
    ['[warn] src/a.js', '[warn] Code style issues found in the above file.'],
    { message: 'src/a.js', file: 'src/a.js' },
  ],
  [
    'pylint',
    ['app/a.py:3:5: W0611: Unused import os (unused-import)'],
    { file: 'app/a.py', line: 3, code: 'W0611', message: 'Unused import os' },
  ],
  [
    'ruff',
    ['F401 [*] `os` imported but unused', ' --> app/a.py:1:8', '  |', '1 | import os'],
    { file: 'app/a.py', line: 1, column: 8, code: 'F401' },
  ],
  [
    'mypy',
    ['app/a.py:3:5: error: Incompatible return value type  [return-value]'],
    { code: 'return-value', line: 3, column: 5 },
  ],
  [
    'pyright',
    ['  /w/app/a.py:3:5 - error: "x" is not defined (reportUndefinedVariable)'],
    { file: '/w/app/a.py', code: 'reportUndefinedVariable' },
  ],
  ['black', ['error: cannot format app/a.py: Cannot parse: 3:5: def'], { file: 'app/a.py' }],
  ['isort', ['ERROR: /w/app/a.py Imports are incorrectly sorted and/or formatted.'], { file: '/w/app/a.py' }],
  [
    'shellcheck',
    ['In run.sh line 3:', 'rm $x', '   ^-- SC2086 (info): Double quote to prevent globbing.'],
    { file: 'run.sh', line: 3, message: 'SC2086 (info): Double quote to prevent globbing.' },
  ],
  [
    'shellcheck',
    ['run.sh:3:5: note: Double quote to prevent globbing. [SC2086]'],
    { file: 'run.sh', line: 3, code: 'SC2086', severity: 'error' },
  ],
  [
    'hadolint',
    ['Dockerfile:3 DL3008 warning: Pin versions in apt get install.'],
    { file: 'Dockerfile', line: 3, code: 'DL3008' },
  ],
  [
    'markdownlint',
    ['README.md:3:81 MD013/line-length Line length [Expected: 80; Actual: 120]'],
    { file: 'README.md', line: 3, code: 'MD013' },
  ],
  [
    'golangci-lint',
    ['cart.go:3:5: Error return value of `f.Close` is not checked (errcheck)', '\tf.Close()', '\t^'],
    { file: 'cart.go', code: 'errcheck' },
  ],
  ['staticcheck', ['cart.go:3:5: this value of err is never used (SA4006)'], { code: 'SA4006' }],
  [
    'rubocop',
    ['lib/a.rb:3:5: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings'],
    { file: 'lib/a.rb', code: 'Style/StringLiterals' },
  ],
  [
    'phpstan',
    [
      ' ------ -----------------------------',
      '  Line   src/Cart.php',
      ' ------ -----------------------------',
      '  12     Undefined variable: $total',
      ' ------ ---',
    ],
    { file: 'src/Cart.php', line: 12, message: 'Undefined variable: $total' },
  ],
  [
    'phpcs',
    ['FILE: /w/src/Cart.php', '-----------', ' 12 | ERROR | [x] Expected 1 space', '-----------'],
    { file: '/w/src/Cart.php', line: 12 },
  ],
  [
    'psalm',
    ['ERROR: UndefinedClass - src/Cart.php:12:5 - Class Total does not exist (see https://psalm.dev/019)'],
    { code: 'UndefinedClass', line: 12 },
  ],
  [
    'luacheck',
    ['    src/a.lua:3:5: (W111) setting non-standard global variable total'],
    { code: 'W111', line: 3 },
  ],
]; // prettier-ignore

describe('linters', () => {
  it.each(ROWS)('are read: %s: %j', (tool, lines, known) => {
    expect(readLines('linting', ...lines).diagnostics[0]).toMatchObject({ tool, ...known });
  });

  it('count warnings as errors only if the number of warnings is the error', () => {
    const lines = [
      '/w/a.js',
      '  3:5  warning  Unexpected console statement  no-console',
      '',
      '✖ 1 problem (0 errors, 1 warning)',
    ];
    expect(readLines(...lines).diagnostics).toMatchObject([{ severity: 'warning' }]);
    expect(readLines(...lines, 'ESLint found too many warnings (maximum: 0).').diagnostics).toMatchObject([
      { severity: 'error' },
    ]);
  });

  it('run by pre-commit keep the output of the failing hook', () => {
    const { messages, excerpts } = readLines(
      'trim trailing whitespace.................................................Passed',
      'check yaml...............................................................Failed',
      '- hook id: check-yaml',
      '- exit code: 1',
      '',
      'found character that cannot start any token',
    );
    expect(messages.map(({ text }) => text)).toContain('check yaml');
    expect(excerpts.some(({ lineStart, lineEnd }) => lineStart <= 3 && lineEnd >= 6)).toBe(true);
  });
});
