import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LogBytes, toLogBytes, withReturnsAsLineEnds, wrapBytes } from '../../../src/log/lines/bytes.ts';
import { stripEscapes } from '../../../src/log/lines/clean.ts';
import { buildMatcher } from '../../../src/log/scan/matcher.ts';
import { MAX_HITS, scanLog } from '../../../src/log/scan/scan-log.ts';

const GROUPS = [
  ['error', 'Fail'],
  ['fai', 'ail'],
  ['✗', 'über'],
];

describe('scanning a log', () => {
  it('finds the same lines as a search in each line, with any case and colors', () => {
    const words = [
      'error',
      'ERROR',
      'fail',
      'FAI',
      '✗',
      'über',
      'x',
      ' ',
      '\u001b[31m',
      '\u001b[0m',
      '\u001b]0;title\u0007',
      '\n',
      '\r',
      'ü',
    ];
    const logs = fc.array(fc.constantFrom(...words), { maxLength: 60 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(logs, (log) => {
        expect(scanText(log)).toEqual(searchText(log));
      }),
    );
  });

  it('finds literals of one group inside terminal escapes too, and others only outside', () => {
    const words = [
      'm',
      'xy',
      'key',
      '\u001b[1m',
      '\u001b]8;;',
      'fail',
      'error',
      '\u0007',
      '\u001b',
      '\n',
      '[',
    ];
    const logs = fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((parts) => parts.join(''));
    const literals = ['mxy', 'key', '1mkey', 'key[x'];
    fc.assert(
      fc.property(logs, (log) => {
        const { hits } = scanLog(toLogBytes(log), buildMatcher([...GROUPS, literals], GROUPS.length));
        const stored = log
          .split('\n')
          .flatMap((line, i) => (literals.some((literal) => line.includes(literal)) ? [i + 1] : []));
        expect(hits.slice(0, GROUPS.length)).toEqual(searchText(log));
        expect(hits[GROUPS.length]).toEqual(expect.arrayContaining(stored));
      }),
    );
  });

  it('finds them at every offset and across chunks', () => {
    const line = `${'.'.repeat(97)}\n`;
    const log = Array.from({ length: 30_000 }, (_, i) => (i % 997 === 0 ? 'an Error here\n' : line)).join('');
    expect(scanText(log)).toEqual(searchText(log));
    expect(scanText(log)[0]).toHaveLength(31);
  });

  it('finds them in a line longer than a chunk', () => {
    const long = `${'.'.repeat(3_000_000)}error${'.'.repeat(2_000_000)}`;
    expect(scanText(`first\n${long}\nerror`)[0]).toEqual([2, 3]);
  });

  it('keeps the first and the last of very many matches', () => {
    const { hits, index } = scanLog(toLogBytes('error\n'.repeat(200_000)), buildMatcher([['error']]));
    const lines = hits[0] ?? [];
    expect(index.lineCount).toBe(200_001);
    expect(lines.length).toBeLessThanOrEqual(2 * MAX_HITS);
    expect(lines.slice(0, MAX_HITS)).toEqual(Array.from({ length: MAX_HITS }, (_, i) => i + 1));
    expect(lines.at(-1)).toBe(200_000);
  });

  it('reports that there are too many literals', () => {
    const literals = Array.from({ length: 9_000 }, (_, i) => `${i}-unlike-${i * 7919}`);
    expect(() => buildMatcher([literals])).toThrow(RangeError);
  });
});

describe('the lines of a log', () => {
  it('are those that splitting by line feeds gives', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'ü') }), (text) => {
        const { index } = scanLog(toLogBytes(text), buildMatcher([]));
        const lines = text.split('\n');
        const bytes = Buffer.from(text);
        expect(index.lineCount).toBe(lines.length);
        expect(
          lines.map((_, i) => bytes.subarray(index.getLineStart(i + 1), index.getLineEnd(i + 1)).toString()),
        ).toEqual(lines);
        for (let at = 0; at < bytes.length; at++)
          expect(index.findLineAt(at)).toBe(bytes.subarray(0, at).toString('latin1').split('\n').length);
      }),
    );
  });

  it('use limited memory, and are still found, if there are millions', () => {
    const bytes = Buffer.alloc(9_500_000, '\n');
    bytes.write('here', 8_000_001);
    const { index } = scanLog(wrapBytes(bytes), buildMatcher([]));
    expect(index.lineCount).toBe(9_500_000 - 4 + 1);
    expect(index.getLineStart(8_000_002)).toBe(8_000_001);
    expect(index.getLineEnd(8_000_002)).toBe(8_000_005);
    expect(index.getLineStart(3)).toBe(2);
    expect(index.findLineAt(8_000_003)).toBe(8_000_002);
  });
});

describe('lone carriage returns as line ends', () => {
  it('change no other byte, wherever the pieces are cut', () => {
    const bytes = withReturnsAsLineEnds(toLogBytes('a\rb\r\nc\n\rd\r'));
    expect(bytes.slice(0, 100).toString()).toBe('a\nb \nc\n\nd\n');
    expect(scanInPieces(bytes, 1)).toBe('a\nb \nc\n\nd\n');
  });
});

function scanInPieces(bytes: LogBytes, step: number): string {
  let text = '';
  for (let at = 0; at < bytes.size; at += step) text += bytes.slice(at, at + step).toString();
  return text;
}

function scanText(log: string): readonly (readonly number[])[] {
  return scanLog(toLogBytes(log), buildMatcher(GROUPS)).hits;
}

function searchText(log: string): number[][] {
  const lines = stripEscapes(log)
    .split('\n')
    .map((line) => line.replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
  return GROUPS.map((group) =>
    lines.flatMap((line, i) =>
      group.some((literal) => line.includes(literal.toLowerCase())) ? [i + 1] : [],
    ),
  );
}
