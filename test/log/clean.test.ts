import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, stripEscapes } from '../../src/log/clean.ts';

describe('stripEscapes', () => {
  it.each([
    ['colours', '\u001b[1;31merror\u001b[0m: x', 'error: x'],
    ['an OSC 8 link', '\u001b]8;;https://example.test\u0007text\u001b]8;;\u0007', 'text'],
    ['cursor moves', '\u001b[2K\u001b[1Gdone', 'done'],
    ['a window title ended by ST', '\u001b]0;title\u001b\\text', 'text'],
  ])('removes %s', (_, text, plain) => {
    expect(stripEscapes(text)).toBe(plain);
  });

  it('keeps the number of lines, whatever the text', () => {
    const piece = fc.constantFrom('\u001b', '\u001b[', '\u001b]', '31m', '\n', '\r', 'x', '\u0007', ';');
    fc.assert(
      fc.property(
        fc.array(piece).map((all) => all.join('')),
        (text) => stripEscapes(text).split('\n').length === text.split('\n').length,
      ),
    );
  });
});

describe('cleanLine', () => {
  it.each([
    ['GitHub', '2024-07-16T20:33:32.4841352Z ##[error]x', '##[error]x'],
    ['GitHub download', 'build\tRun tests\t2021-12-01T13:01:04.3807878Z FAILED', 'FAILED'],
    ['GitLab', '2024-07-16T20:33:32.484135Z 01O hello', 'hello'],
    ['Jenkins', '[2024-07-16T20:33:32.484Z] + make', '+ make'],
    ['a bracketed clock', '[12:30:01] starting', 'starting'],
    ['a test harness', '[task 2025-02-13T21:24:26.555Z] 21:24:26     INFO - TEST-UNEXPECTED-FAIL | a | b', 'TEST-UNEXPECTED-FAIL | a | b'],
  ])("drops %s's prefix", (_, line, clean) => {
    expect(cleanLine(line)).toBe(clean);
  });

  it('shows what stands after the last carriage return', () => {
    expect(cleanLine('  1%\r 50%\r100% done\r')).toBe('100% done');
  });

  it('leaves ordinary text alone', () => {
    expect(cleanLine('  at a (b.js:1:2)')).toBe('  at a (b.js:1:2)');
  });
});
