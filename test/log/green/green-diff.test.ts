import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../../src/domain/build.ts';
import type { Reading } from '../../../src/domain/reading.ts';
import { collectGreenTemplates } from '../../../src/log/green/green-diff.ts';
import { extractTemplates } from '../../../src/log/green/templates.ts';
import { stripEscapes } from '../../../src/log/lines/clean.ts';
import { readSources } from '../../../src/log/read-sources.ts';
import { trimStoredLine } from '../../../src/log/reduce/reduce.ts';
import { countTokens } from '../../../src/log/reduce/tokens.ts';
import { readCpuMs } from '../../support/cpu-time.ts';

const log = (text: string, name = 'build.log'): SourceText => ({ name, kind: 'log', text, notes: [] });
const read = (text: string, greenText: string, budgetTokens = 400): Reading =>
  readSources([log(text)], { budgetTokens, greenText });

const SETUP = [
  '$ make check',
  'fetching 17 packages in 3.2s',
  'error: cache directory is read-only, going on without',
  'warning: unused variable: x',
  'bash: line 97: bc: command not found',
].join('\n');
const GREEN = `${SETUP}\ncompiled 120 files\nall is well\n`;
const RED = `${SETUP}\ncompiled 98 files\nerror: linker ran out of memory\nstopped half way\n`;

const line = fc.oneof(
  fc.constantFrom(
    ...SETUP.split('\n'),
    'error: x',
    'FAILED',
    'Traceback (most recent call last):',
    '  File "a.py", line 3, in f',
    '',
  ),
  fc.constantFrom(
    '##[error]Process completed with exit code 1.',
    'FAIL src/a.test.js',
    '  ● a › b',
    'ValueError: no',
    '\u001b[31mred',
    'a\rb',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const text = fc.array(line, { maxLength: 60 }).map((lines) => lines.join('\n'));

describe('a log compared with that of a passed build', () => {
  it('shows what is new, without the errors that the passed build also has', () => {
    const { messages, excerpts } = read(RED, GREEN);
    expect(messages.map((message) => message.text)).toEqual(['error: linker ran out of memory']);
    expect(excerpts.find((excerpt) => excerpt.text.includes('linker'))?.reason).toContain(
      'new since the green build',
    );
  });

  it('uses templates read in the same way as the log', () => {
    const fromText = read(RED, GREEN);
    expect(readSources([log(RED)], { budgetTokens: 400, green: extractTemplates(GREEN) })).toEqual(fromText);
  });

  it('spends a small budget on new lines', () => {
    const noise = Array.from(
      { length: 300 },
      (_, i) => `error: cannot read optional file ${'abcdefghij'[i % 10]}`,
    ).join('\n');
    const { excerpts } = read(
      `${noise}\nerror: linker ran out of memory\n${noise}\n`,
      `${noise}\nall is well\n`,
      40,
    );
    expect(excerpts.map((excerpt) => excerpt.text).join('\n')).toContain('linker ran out of memory');
  });

  it('keeps all findings if nothing is new, with a note', () => {
    const without = readSources([log(RED)], { budgetTokens: 400 });
    const beside = read(RED, RED);
    expect({ ...beside, notes: [] }).toEqual({ ...without, notes: [] });
    expect(beside.notes).toEqual(['Nothing is new since the green build: its log was left aside.']);
  });

  it('keeps known errors if no new line is one, with a note', () => {
    const { messages, notes } = read(`${SETUP}\nquiet words nobody reads\n`, GREEN);
    expect(messages.length).toBeGreaterThan(0);
    expect(notes).toEqual(['All errors found are in the log of the green build too; other lines are new.']);
  });

  it.each([
    [RED, 'Nothing is new since build 1234: its log was left aside.'],
    [
      'words of quite another job',
      'The log of build 1234 has no line in common with this build: it was left aside.',
    ],
    [
      RED.replace('stopped half way', ''),
      'All errors found are in the log of build 1234 too; other lines are new.',
    ],
  ])('names the passed build if it is known', (green, note) => {
    const logs = new Map([['build.log', { name: 'build 1234', templates: [extractTemplates(green)] }]]);
    expect(readSources([log(RED)], { budgetTokens: 400, green: collectGreenTemplates(logs) }).notes).toEqual([
      note,
    ]);
  });

  it('shows new lines that no reader recognizes', () => {
    const filler = Array.from({ length: 400 }, (_, i) => `compiled unit ${i}`).join('\n');
    const { excerpts } = read(`${filler}\nthe moon was in the way\n${filler}\n`, `${filler}\n`, 120);
    const shown = excerpts.find((excerpt) => excerpt.text.includes('the moon was in the way'));
    expect(shown?.reason).toBe('new since the green build');
  });

  it('keeps a failing test that the passed build also has, because it may have been retried there', () => {
    const failing = 'FAILED tests/test_a.py::test_one - AssertionError: assert 1 == 2';
    const summary = `=== short test summary info ===\n${failing}\n`;
    const { failingTests, excerpts } = read(
      `${summary}=== 1 failed in 0.10s ===\nsomething new\n`,
      `${summary}=== 1 passed in 0.10s ===\n`,
    );
    expect(failingTests.map(({ name }) => name)).toContain('test_one');
    expect(excerpts.map((excerpt) => excerpt.text).join('\n')).toContain(failing);
  });

  it('keeps the lines of such a test before new lines that no reader recognizes', () => {
    const known = Array.from({ length: 12 }, (_, i) => `    assert ${'abcdefghijkl'[i]} == other`).join('\n');
    const test = `=== FAILURES ===\n____ test_one ____\n\n${known}\nE   AssertionError: assert 1 == 2\n\ntest_a.py:7: AssertionError\n`;
    const fresh = Array.from(
      { length: 200 },
      (_, i) => `word ${'abcdefghij'[i % 10]} ${'klmnopqrst'[Math.floor(i / 20)]} said`,
    ).join('\n');
    const { excerpts } = read(`${fresh}\n${test}error: boom\n`, `${test}fine\n`, 150);
    expect(excerpts.map((excerpt) => excerpt.text).join('\n')).toContain('E   AssertionError: assert 1 == 2');
  });

  it('keeps how the job ended even if the passed build has a step that ended in the same way', () => {
    const end = '##[error]Process completed with exit code 1.';
    const { exits } = read(
      `##[group]Run make\nerror: boom happened\n${end}\n`,
      `##[group]Run make\n${end}\nfine\n`,
    );
    expect(exits.map(({ code }) => code)).toEqual([1]);
  });
});

describe('the log of any passed build', () => {
  it('leaves literal excerpts within the budget, the same each time', () => {
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 300 }), (red, green, budgetTokens) => {
        const reading = read(red, green, budgetTokens);
        const lines = red.split('\n');
        for (const { text: shown, lineStart, lineEnd } of reading.excerpts)
          expect(shown.split('\n')).toEqual(lines.slice(lineStart - 1, lineEnd).map(trimStoredLine));
        expect(reading.tokens).toBe(
          reading.excerpts.reduce((sum, excerpt) => sum + countTokens(stripEscapes(excerpt.text)), 0),
        );
        expect(reading.tokens).toBeLessThanOrEqual(budgetTokens);
        expect(read(red, green, budgetTokens)).toEqual(reading);
      }),
    );
  });

  it('never removes an error that only the failed log has', () => {
    fc.assert(
      fc.property(text, text, fc.nat({ max: 60 }), (red, green, at) => {
        const lines = red.split('\n');
        lines.splice(at, 0, 'error: the flux capacitor overheated');
        const without = readSources([log(lines.join('\n'))], { budgetTokens: 4_000 });
        const beside = read(lines.join('\n'), green, 4_000);
        const says = (reading: Reading) =>
          JSON.stringify([reading.messages, reading.diagnostics]).includes('flux capacitor');
        expect(says(beside)).toBe(says(without));
        expect(beside.excerpts.some((excerpt) => excerpt.text.includes('flux capacitor'))).toBe(true);
      }),
    );
  });

  it('never leaves a failure without findings', () => {
    fc.assert(
      fc.property(text, text, (red, green) => {
        const found = ({ failingTests, diagnostics, exceptions, messages }: Reading) =>
          failingTests.length + diagnostics.length + exceptions.length + messages.length;
        const without = readSources([log(red)], { budgetTokens: 100 });
        const beside = read(red, green, 100);
        expect(found(beside) > 0).toBe(found(without) > 0);
        expect(beside.failingTests).toEqual(without.failingTests);
      }),
    );
  });

  it.each([
    ['empty', ''],
    [
      'binary-like',
      Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 197) % 256)).toString('latin1'),
    ],
    ['one line of 10 MB', 'x1 '.repeat(3_500_000)],
    ['full of wildcards', '<*> <*> <*> <*> <*>\n<*>\n'.repeat(1_000)],
    ['only line ends', '\n'.repeat(200_000)],
  ])('is ignored if it is %s', (_, green) => {
    const start = readCpuMs();
    const { messages } = read(RED, green);
    expect(messages.map((message) => message.text)).toContain('error: linker ran out of memory');
    expect(readCpuMs() - start).toBeLessThan(3_000);
  });
});
