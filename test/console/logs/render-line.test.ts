import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areStamped,
  MAX_SHOWN,
  markFound,
  showLines,
  toPlainText,
} from '../../../src/console/logs/render-line.ts';
import { stripEscapes } from '../../../src/log/lines/clean.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/failures');

function textOf(line: string): string {
  const [shown] = showLines([line], 1);
  return shown === undefined ? '' : toPlainText(shown);
}

function classesOf(...lines: string[]): string[][] {
  return showLines(lines, 1).map(({ parts }) => parts.map(({ text, classes }) => `${text}|${classes}`));
}

describe('displayed log lines', () => {
  it('correspond to those of split, one for one, whatever they contain', () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', '\r', '\r\n', '\0', '\u001b[31m', '\u202e', '<b>', '\t'),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 1, max: 400_000 }),
        (pieces, first) => {
          const lines = pieces.join('').toWellFormed().split('\n');
          const shown = showLines(lines, first);
          expect(shown.map(({ number }) => number)).toEqual(lines.map((_, at) => first + at));
          for (const [at, line] of lines.entries()) {
            const plain = line.replace(/\r+$/, '');
            if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(plain)) continue;
            const { stamp } = shown[at] ?? {};
            expect(`${toPlainText(shown[at]!)}`.trim()).toBe(plain.slice(stamp?.length ?? 0).trim());
          }
        },
      ),
    );
  });

  it.each(readdirSync(FIXTURES).filter((slug) => !slug.includes('.')))(
    'are those of the log of %s',
    (slug) => {
      const logs = readdirSync(join(FIXTURES, slug)).filter(
        (name) => name.endsWith('.log') || name.endsWith('.txt'),
      );
      for (const name of logs) {
        const lines = readFileSync(join(FIXTURES, slug, name), 'utf8').split('\n');
        for (const [at, shown] of showLines(lines, 1).entries()) {
          const raw = lines[at] ?? '';
          expect(shown.number).toBe(at + 1);
          if (shown.missing > 0 || shown.overwritten !== null) continue;
          const whole = stripEscapes(raw).replace(/[\r\ufeff]/g, '');
          const said = toPlainText(shown);
          if (/⟦U\+/.test(said)) continue;
          expect(whole.endsWith(said)).toBe(true);
          expect(whole.slice(0, whole.length - said.length).trim()).toBe(shown.stamp ?? '');
        }
      }
    },
  );

  it('are colored by classes: sixteen colors, and the nearest of them for all others', () => {
    expect(classesOf('\u001b[31mred\u001b[0m \u001b[1;92mgo\u001b[m')).toEqual([
      ['red|fg1', ' |', 'go|fg2 bold'],
    ]);
    expect(classesOf('\u001b[38;5;196ma\u001b[38;2;0;0;230mb\u001b[48:2::255:255:255mc')).toEqual([
      ['a|fg1', 'b|fg4', 'c|fg4 bg7'],
    ]);
    expect(classesOf('\u001b[3;4;7;2mx\u001b[23;24;27;22my\u001b[4:3mz')).toEqual([
      ['x|dim ital under inv', 'y|', 'z|under'],
    ]);
    expect(classesOf('\u001b[38;5;999ma\u001b[99999mb\u001b[38mc\u001b[>4;2md\u001b[38;2:xe')).toEqual([
      ['a|', 'b|', 'c|', 'd|', 'e|'],
    ]);
    expect(classesOf('\u001b[8mhidden')).toEqual([['hidden|']]);
  });

  it('keep a color on the next lines, up to a limit', () => {
    const shown = classesOf('\u001b[31mred', 'still', '\u001b[0mplain', 'plain');
    expect(shown).toEqual([['red|fg1'], ['still|fg1'], ['plain|'], ['plain|']]);
    const long = classesOf('\u001b[31mred', ...Array.from({ length: 150 }, () => 'x'));
    expect(long[100]).toEqual(['x|fg1']);
    expect(long[101]).toEqual(['x|']);
  });

  it('apply no other control sequence, and hide no text by it', () => {
    expect(textOf('\u001b[2J\u001b[1;1Ha\u001b[?25lb\u001b]0;title\u0007c\u001b(Bd\u001b=e\u009b31mf')).toBe(
      'abcdef',
    );
    expect(textOf('\u001b]8;;https://evil.example\u001b\\text\u001b]8;;\u001b\\')).toBe('text');
    expect(textOf('\u001b]0;never ended: assertion failed')).toBe('0;never ended: assertion failed');
    expect(textOf('\u001b_bk;t=1700000000000\u0007text')).toBe('text');
  });

  it('show other invisible characters', () => {
    expect(textOf('a\u202eb\u2066c\u200bd\u0007e\u0085f')).toBe(
      'a⟦U+202E⟧b⟦U+2066⟧c⟦U+200B⟧d⟦U+0007⟧e⟦U+0085⟧f',
    );
    expect(textOf('a\0b\tc')).toBe('a\ufffdb\tc');
    expect(textOf('\u{e0041}')).toBe('⟦U+E0041⟧');
    expect(textOf('\ufefffirst')).toBe('first');
  });

  it('are cut after 2,000 characters, with the number of those missing', () => {
    const [line] = showLines([`${'x'.repeat(50_000)}`], 1);
    expect(line).toMatchObject({ missing: 48_000 });
    expect(toPlainText(line!)).toHaveLength(MAX_SHOWN);
    expect(showLines(['x'.repeat(1_000_000)], 1)[0]).toMatchObject({ missing: 998_000 });
    expect(toPlainText(showLines([`${'x'.repeat(1_999)}😀y`], 1)[0]!)).toBe('x'.repeat(1_999));
    expect(showLines([`${'x'.repeat(1_999)}😀y`], 1)[0]?.missing).toBe(2);
  });

  it('show the result of overwriting, with the number of times', () => {
    const [line] = showLines([`${Array.from({ length: 213 }, (_, at) => `${at}%`).join('\r')}`], 7);
    expect(line).toMatchObject({ number: 7, overwritten: { times: 212 } });
    expect(toPlainText(line!)).toBe('212%');
    expect(line?.overwritten?.texts.at(-1)).toBe('211%');
    expect(textOf('done\r')).toBe('done');
    expect(textOf('50%\r100%\r\u001b[K')).toBe('100%');
    expect(textOf('\r\r\r')).toBe('');
    expect(showLines(['done\r\r\r'], 1)[0]?.overwritten).toBeNull();
  });

  it('lose their timestamps only if every line has one', () => {
    const stamped = ['2026-10-12T14:00:00.1234567Z one', '2026-10-12T14:00:01.0000000Z \u001b[31mtwo', ''];
    expect(areStamped(stamped)).toBe(true);
    expect(showLines(stamped, 1).map((line) => [line.stamp, toPlainText(line)])).toEqual([
      ['2026-10-12T14:00:00.1234567Z', 'one'],
      ['2026-10-12T14:00:01.0000000Z', 'two'],
      ['', ''],
    ]);
    expect(showLines([...stamped, 'three'], 1).map((line) => toPlainText(line))[0]).toBe(
      '2026-10-12T14:00:00.1234567Z one',
    );
    expect(showLines(['[14:00:01] one', '[14:00:02] two'], 1).map((line) => toPlainText(line))).toEqual([
      'one',
      'two',
    ]);
  });
});

describe('a search term', () => {
  const found = (line: string, word: string, matchCase = false) =>
    markFound(showLines([line], 1)[0]!, word, matchCase).parts.map(
      ({ text, classes, found }) => `${found === true ? '*' : ''}${text}|${classes}`,
    );

  it('is marked, even if colors interrupt it', () => {
    expect(found('an Error and an error', 'error')).toEqual(['an |', '*Error|', ' and an |', '*error|']);
    expect(found('an Error and an error', 'error', true)).toEqual(['an Error and an |', '*error|']);
    expect(found('\u001b[31mFA\u001b[0mIL', 'fail')).toEqual(['*FA|fg1', '*IL|']);
  });

  it('is not marked where it does not occur', () => {
    expect(found('nothing', 'error')).toEqual(['nothing|']);
    expect(found('nothing', '')).toEqual(['nothing|']);
  });

  it('never changes the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.string({ maxLength: 3 }),
        fc.boolean(),
        (text, word, matchCase) => {
          const [line] = showLines([text.replaceAll('\n', '').toWellFormed()], 1);
          expect(toPlainText(markFound(line!, word, matchCase))).toBe(toPlainText(line!));
        },
      ),
    );
  });
});
