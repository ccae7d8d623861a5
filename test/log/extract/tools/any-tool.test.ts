import { describe, expect, it } from 'vitest';
import { Findings } from '../../../../src/log/extract/extraction.ts';
import { createReaders } from '../../../../src/log/extract/tools/diagnostics.ts';
import { readLines } from './read-lines.ts';

type Row = readonly [lines: readonly string[], known: object];

/** Tools that do not exist. */
const ROWS: readonly Row[] = [
  [
    ['src/lamp.glow:3:5: wick is not declared'],
    { file: 'src/lamp.glow', line: 3, column: 5, message: 'wick is not declared' },
  ],
  [
    ['src/lamp.glow:3: error: wick is not declared'],
    { file: 'src/lamp.glow', line: 3, message: 'wick is not declared' },
  ],
  [
    ['src/lamp.glow:3:5: error GL014: wick is not declared'],
    { code: 'GL014', message: 'wick is not declared' },
  ],
  [
    ['glowc: src/lamp.glow:3:5: fatal error: wick is not declared'],
    { file: 'src/lamp.glow', line: 3, column: 5 },
  ],
  [
    ['src/lamp.glow(3,5): error GL014: wick is not declared'],
    { file: 'src/lamp.glow', line: 3, column: 5, code: 'GL014' },
  ],
  [['src/lamp.glow:[3,5] error: wick is not declared'], { line: 3, column: 5 }],
  [
    ['ERROR: src/lamp.glow:3:5 - wick is not declared [no-bare-wick]'],
    { code: 'no-bare-wick', message: 'wick is not declared' },
  ],
  [
    ['✖ src/lamp.glow:3:5 wick is not declared'],
    { file: 'src/lamp.glow', line: 3, message: 'wick is not declared' },
  ],
  [['Error: src/lamp.glow:3:5'.concat(': wick is not declared')], { file: 'src/lamp.glow', column: 5 }],
  [['##[error]src/lamp.glow:3:5: wick is not declared'], { file: 'src/lamp.glow', line: 3 }],
  [
    ['::error file=src/lamp.glow,line=3,col=5,title=Glow::wick is not declared'],
    { file: 'src/lamp.glow', line: 3, column: 5, message: 'wick is not declared' },
  ],
  [
    ['error: wick is not declared', '  --> src/lamp.glow:3:5', '   |', ' 3 | wick'],
    { file: 'src/lamp.glow', line: 3, column: 5, message: 'wick is not declared' },
  ],
  [
    ['error[G014]: wick is not declared', '  ┌─ src/lamp.glow:3:5', '  │'],
    { code: 'G014', line: 3, column: 5 },
  ],
  [
    ['Error: wick is not declared', '', '  on src/lamp.glow line 3, in resource "wick":'],
    { file: 'src/lamp.glow', line: 3 },
  ],
  [['error: wick is not declared', '    at src/lamp.glow:3:5'], { file: 'src/lamp.glow', line: 3 }],
  [
    ['Error: wick is not declared in src/lamp.glow on line 3'],
    { file: 'src/lamp.glow', line: 3, message: 'wick is not declared' },
  ],
  [['Syntax error: wick is not closed at src/lamp.glow line 3.'], { file: 'src/lamp.glow', line: 3 }],
  [
    ['  File "src/lamp.py", line 3', '    wick =', '         ^', 'SyntaxError: invalid syntax'],
    { file: 'src/lamp.py', line: 3, code: 'SyntaxError' },
  ],
  [
    ['src/lamp.glow', '  3:5  error  wick is not declared  no-bare-wick', ''],
    { file: 'src/lamp.glow', line: 3, code: 'no-bare-wick' },
  ],
  [
    ['src/lamp.glow:', '  line 3: error: wick is not declared'],
    { file: 'src/lamp.glow', line: 3, message: 'wick is not declared' },
  ],
  [
    ['{"file":"src/lamp.glow","line":3,"severity":"error","message":"wick is not declared"}'],
    { file: 'src/lamp.glow', line: 3, message: 'wick is not declared' },
  ],
  [
    ['│ src/lamp.glow │ 3 │ error │ wick is not declared │'],
    { file: 'src/lamp.glow', line: 3, message: 'wick is not declared' },
  ],
  [['| error | src/lamp.glow:3:5 | wick is not declared |'], { file: 'src/lamp.glow', line: 3, column: 5 }],
  [['src/lamp.glow:3:5: error:', '    wick is not declared'], { message: 'wick is not declared' }],
]; // prettier-ignore

const NOTHING: readonly (readonly string[])[] = [
  ['12:30:45: starting the lamp'],
  ['2026-11-22 12:30:45: error count reset'],
  ['listening on lamp.example.test:8080: ready'],
  ['connect to db.internal:5432: error expected while it starts'],
  ['GET https://lamp.example.test/a.js:3:5 error page'],
  ['lamp v1.2.3: released'],
  ['ok 3 src/lamp.glow:3:5: error is shown'],
  ['✓ src/lamp.glow:3:5: error is shown (3 ms)'],
  ['src/lamp.glow:3:5: note: wick was declared here'],
  ['[INFO] src/lamp.glow:3:5: wick is not needed'],
  ['+ grep error src/lamp.glow:3:5: missing'],
  ['Compiling src/lamp.glow (3 of 5)'],
  ['    at light (src/lamp.js:3:5)', '    at burn (src/lamp.js:9:1)'],
  ['conftest.c:3:5: error: unknown type name'],
  ['node_modules/wick/index.js:3:5: not pretty'],
];

describe('the message of an unknown tool', () => {
  it.each(ROWS)('is found: %j', (lines, known) => {
    const { diagnostics } = readLines('lighting', ...lines);
    expect(diagnostics).toMatchObject([{ severity: 'error', ...known }]);
  });

  it.each(NOTHING.map((lines) => [lines]))('is absent: %j', (lines) => {
    expect(readLines('lighting', ...lines).diagnostics).toEqual([]);
  });

  it('has a low weight if it blames a library', () => {
    const { excerpts } = readLines(
      'node_modules/wick/index.js:3:5: error: not pretty',
      'src/lamp.glow:3:5: error: wick is not declared',
    );
    const weightAt = (line: number) =>
      Math.max(...excerpts.filter(({ lineStart }) => lineStart === line).map(({ weight }) => weight));
    expect(excerpts.length === 1 || weightAt(1) < weightAt(2)).toBe(true);
  });

  it('is shown before its repetitions', () => {
    const again = Array.from(
      { length: 30 },
      (_, at) => `src/lamp${at}.glow:3:5: error: wick is not declared`,
    );
    const { diagnostics } = readLines(...again, 'src/base.glow:7:1: error: brass is too thin');
    expect(diagnostics).toHaveLength(31);
    expect(diagnostics.slice(0, 2).map(({ message }) => message)).toEqual([
      'wick is not declared',
      'brass is too thin',
    ]);
  });
});

describe('the tables of tools', () => {
  it('create one reader for each tool, by its name', () => {
    const [reader] = createReaders([
      { tool: 'glow', literals: ['wick'], says: [{ pattern: /^no (?<message>wick .{1,80})/ }] },
    ]);
    expect(reader).toMatchObject({ name: 'glow', literals: ['wick'] });
  });

  it('include every tool by name unless it is excluded', () => {
    expect([...new Findings('log').leftOut]).toEqual([]);
    expect(new Findings('log', new Set(['mypy'])).leftOut.has('mypy')).toBe(true);
  });
});
