import { describe, expect, it } from 'vitest';
import { readSources } from '../../../../src/log/read-sources.ts';

const read = (...lines: string[]) =>
  readSources([{ name: 'build.log', kind: 'log', text: lines.join('\n'), notes: [] }], {
    budgetTokens: 2_000,
  });

describe('diagnostics', () => {
  it.each([
    [
      'gcc',
      'src/a.c:3:5: error: expected expression',
      { file: 'src/a.c', line: 3, column: 5, message: 'expected expression' },
    ],
    [
      'gcc',
      "main.cpp:(.text+0x12): undefined reference to `area(Size)'",
      { message: "undefined reference to `area(Size)'" },
    ],
    [
      'rustc',
      'error[E0382]: borrow of moved value: `stops`',
      { code: 'E0382', message: 'borrow of moved value: `stops`' },
    ],
    [
      'javac',
      '[ERROR] /w/src/main/java/A.java:[27,12] cannot find symbol',
      { file: '/w/src/main/java/A.java', line: 27, column: 12, message: 'cannot find symbol' },
    ],
    [
      'javac',
      'src/A.kt:3: error: unresolved reference',
      { file: 'src/A.kt', line: 3, message: 'unresolved reference' },
    ],
    [
      'tsc',
      "src/a.ts(3,5): error TS2345: Argument of type 'a'",
      { file: 'src/a.ts', line: 3, column: 5, code: 'TS2345' },
    ],
    [
      'tsc',
      "src/a.ts:3:5 - error TS2345: Argument of type 'a'",
      { file: 'src/a.ts', line: 3, column: 5, code: 'TS2345' },
    ],
    [
      'msbuild',
      'Program.cs(3,5): error CS1002: ; expected [/w/a.csproj]',
      { file: 'Program.cs', line: 3, code: 'CS1002' },
    ],
    ['go', './main.go:9:2: undefined: x', { file: './main.go', line: 9, message: 'undefined: x' }],
    ['linter', 'app/x.py:3:1: F401 os imported but unused', { file: 'app/x.py', line: 3, code: 'F401' }],
    [
      'mypy',
      'app/x.py:3: error: Incompatible types  [assignment]',
      { code: 'assignment', message: 'Incompatible types' },
    ],
    [
      'pip',
      'ERROR: No matching distribution found for leftpad==9',
      { message: 'No matching distribution found for leftpad==9' },
    ],
    ['make', "make: *** No rule to make target 'x', needed by 'all'.  Stop.", {}],
    ['docker', 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', {}],
  ])('are read: %s: %s', (tool, line, known) => {
    expect(read(line).diagnostics).toMatchObject([
      { tool, severity: 'error', at: { source: 'build.log', line: 1 }, ...known },
    ]);
  });

  it('of ESLint have the file above them', () => {
    const { diagnostics } = read(
      '/w/src/a.js',
      "  1:10  error    'x' is defined but never used  no-unused-vars",
      '  2:1   warning  long line  max-len',
      '',
      '✖ 2 problems (1 error, 1 warning)',
    );
    expect(diagnostics).toMatchObject([
      { file: '/w/src/a.js', line: 1, code: 'no-unused-vars', severity: 'error' },
      { line: 2, severity: 'warning' },
    ]);
  });

  it('of npm have its message, not only its code', () => {
    const { diagnostics } = read(
      'npm error code E503',
      'npm error 503 Service Unavailable - GET https://registry.example.test/x',
      'npm error A complete log of this run can be found in: x',
    );
    expect(diagnostics).toMatchObject([
      { tool: 'npm', code: 'E503', message: '503 Service Unavailable - GET https://registry.example.test/x' },
    ]);
  });
});

describe('exceptions', () => {
  it('in Java have the deepest cause and its own frames', () => {
    const { exceptions } = read(
      'java.lang.RuntimeException: outer',
      '\tat org.x.A.run(A.java:3)',
      '\t... 2 more',
      'Caused by: java.io.IOException: No space left on device',
      '\tat java.io.File.write(File.java:1)',
      '\tat org.x.B.store(B.java:9)',
      '\t... 5 more',
    );
    expect(exceptions).toMatchObject([
      {
        type: 'java.io.IOException',
        message: 'No space left on device',
        chain: ['java.lang.RuntimeException', 'java.io.IOException'],
      },
    ]);
    expect(exceptions[0]?.frames.map(({ file, own }) => [file, own])).toEqual([
      ['File.java', false],
      ['B.java', true],
    ]);
  });

  it('in Python are read from the end of the traceback', () => {
    const { exceptions } = read(
      'Traceback (most recent call last):',
      '  File "/w/app/main.py", line 3, in <module>',
      '    run()',
      '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode',
      '    raise x',
      'json.decoder.JSONDecodeError: Expecting value: line 1',
    );
    expect(exceptions).toMatchObject([
      {
        type: 'json.decoder.JSONDecodeError',
        message: 'Expecting value: line 1',
        frames: [{ own: false }, { file: '/w/app/main.py', line: 3, own: true }],
      },
    ]);
  });

  it('in JavaScript are read with their traces', () => {
    const { exceptions } = read(
      "TypeError: Cannot read properties of undefined (reading 'name')",
      '    at greet (/w/src/greet.js:4:17)',
      '    at Module._compile (node:internal/modules/cjs/loader:1521:14)',
    );
    expect(exceptions).toMatchObject([
      {
        type: 'TypeError',
        frames: [{ file: '/w/src/greet.js', line: 4, function: 'greet', own: true }, { own: false }],
      },
    ]);
  });
});

describe('messages and exits', () => {
  it.each([
    './run.sh: line 7: protoc: command not found',
    'tar: write error: No space left on device',
    'curl: (6) Could not resolve host: fonts.example.test',
    'fatal: repository not found',
    'bash: ./x.sh: Permission denied',
  ])('begin with the most informative: %s', (line) => {
    expect(read('some output', line, '##[error]Process completed with exit code 1.').messages[0]?.text).toBe(
      line,
    );
  });

  it('state how the step ended, and which step it was', () => {
    const { exits, failedSections } = read(
      '##[group]Run make',
      'make',
      'shell: /usr/bin/bash -e {0}',
      '##[endgroup]',
      'boom',
      '##[error]Process completed with exit code 137.',
    );
    expect(exits).toMatchObject([{ code: 137, signal: null, source: 'build.log', line: 6 }]);
    expect(failedSections).toMatchObject([{ name: 'Run make', lineStart: 1, lineEnd: 6, failed: true }]);
  });
});
