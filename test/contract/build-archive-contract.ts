import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SourceText } from '../../src/domain/build.ts';
import type { BuildArchive } from '../../src/ports/build-archive.ts';
import { runs } from '../support/thorough.ts';

export interface BuildArchiveUnderTest {
  readonly archive: BuildArchive;
  dispose(): Promise<void>;
}

/** What every build archive promises. */
export function buildArchiveContract(name: string, open: () => Promise<BuildArchiveUnderTest>): void {
  describe(`build archive: ${name}`, () => {
    let under: BuildArchiveUnderTest;
    let archive: BuildArchive;
    let buildId: string;
    let count = 0;

    beforeAll(async () => {
      under = await open();
      archive = under.archive;
    });
    afterAll(async () => under.dispose());
    beforeEach(() => {
      count += 1;
      buildId = `bld_${count}`;
    });

    function log(text: string, change: Partial<SourceText> = {}): SourceText {
      return { name: 'build.log', kind: 'log', text, notes: [], ...change };
    }

    it('returns what was stored, with its description', async () => {
      await archive.put(buildId, log('one\ntwo ü\r\nthree', { notes: ['cut at 200 MB'] }));
      await archive.put(buildId, log('<testsuite/>', { name: 'reports/junit.xml', kind: 'report' }));

      expect(await archive.read(buildId, 'build.log')).toBe('one\ntwo ü\r\nthree');
      expect(await archive.list(buildId)).toEqual([
        { name: 'build.log', kind: 'log', lines: 3, bytes: 17, notes: ['cut at 200 MB'] },
        { name: 'reports/junit.xml', kind: 'report', lines: 1, bytes: 12, notes: [] },
      ]);
    });

    it('returns nothing for unknown builds and names', async () => {
      await archive.put(buildId, log('one'));

      expect(await archive.list('bld_other')).toEqual([]);
      expect(await archive.read('bld_other', 'build.log')).toBeNull();
      expect(await archive.read(buildId, 'other.log')).toBeNull();
      expect(await archive.lines(buildId, 'other.log', 1, 2)).toBeNull();
    });

    it('replaces a text with the same name completely', async () => {
      await archive.put(buildId, log(Array.from({ length: 3000 }, (_, line) => `old ${line}`).join('\n')));
      await archive.put(buildId, log('new', { notes: ['again'] }));

      expect(await archive.read(buildId, 'build.log')).toBe('new');
      expect(await archive.list(buildId)).toEqual([
        { name: 'build.log', kind: 'log', lines: 1, bytes: 3, notes: ['again'] },
      ]);
      expect(await archive.lines(buildId, 'build.log', 1, 2000)).toEqual({ lineStart: 1, lines: ['new'] });
    });

    it('keeps one of two texts that are stored at the same time', async () => {
      const texts = ['a', 'b'].map((letter) => `${letter}\n`.repeat(2500));

      await Promise.all(texts.map((text) => archive.put(buildId, log(text))));

      expect(texts).toContain(await archive.read(buildId, 'build.log'));
    });

    it('removes one build and nothing else', async () => {
      await archive.put(buildId, log('one'));
      await archive.put(`${buildId}-other`, log('two'));

      await archive.remove(buildId);
      await archive.remove('bld_unknown');

      expect(await archive.list(buildId)).toEqual([]);
      expect(await archive.read(buildId, 'build.log')).toBeNull();
      expect(await archive.read(`${buildId}-other`, 'build.log')).toBe('two');
    });

    it('ends a line only at a newline', async () => {
      await archive.put(buildId, log('10%\r20%\r100%\ndone\u2028still\n'));

      expect(await archive.lines(buildId, 'build.log', 1, 9)).toEqual({
        lineStart: 1,
        lines: ['10%\r20%\r100%', 'done\u2028still', ''],
      });
    });

    it('has one empty line for an empty text', async () => {
      await archive.put(buildId, log(''));

      expect(await archive.read(buildId, 'build.log')).toBe('');
      expect(await archive.lines(buildId, 'build.log', 1, 5)).toEqual({ lineStart: 1, lines: [''] });
      expect((await archive.list(buildId))[0]).toMatchObject({ lines: 1, bytes: 0 });
    });

    it('replaces characters that a database cannot store', async () => {
      await archive.put(buildId, log('a\0b\n\ud800c', { notes: ['n\0'] }));

      expect(await archive.read(buildId, 'build.log')).toBe('a\uFFFDb\n\uFFFDc');
      expect((await archive.list(buildId))[0]).toMatchObject({ lines: 2, bytes: 10 });
    });

    it('limits a window to the text and to 2,000 lines', async () => {
      const lines = Array.from({ length: 4500 }, (_, index) => `line ${index + 1}`);
      await archive.put(buildId, log(lines.join('\n')));
      const window = async (from: number, to: number) => await archive.lines(buildId, 'build.log', from, to);

      expect(await window(999, 1002)).toEqual({
        lineStart: 999,
        lines: ['line 999', 'line 1000', 'line 1001', 'line 1002'],
      });
      expect(await window(-5, 2)).toEqual({ lineStart: 1, lines: ['line 1', 'line 2'] });
      expect(await window(4499, 9000)).toEqual({ lineStart: 4499, lines: ['line 4499', 'line 4500'] });
      expect((await window(1, 4500))?.lines).toEqual(lines.slice(0, 2000));
      expect((await window(1500, 4500))?.lines).toEqual(lines.slice(1499, 3499));
      expect(await window(5000, 5010)).toEqual({ lineStart: 5000, lines: [] });
      expect(await window(4600, 4700)).toEqual({ lineStart: 4600, lines: [] });
      expect(await window(10, 9)).toEqual({ lineStart: 10, lines: [] });
      expect(await window(1001, 1000)).toEqual({ lineStart: 1001, lines: [] });
    });

    async function scanPieces(id: string, name: string): Promise<{ lineStart: number; text: string }[]> {
      const pieces: { lineStart: number; text: string }[] = [];
      for await (const piece of archive.pieces(id, name))
        pieces.push({ lineStart: piece.lineStart, text: piece.bytes.toString('utf8') });
      return pieces;
    }

    it('streams the whole text in order, in pieces of whole lines', async () => {
      const lines = Array.from({ length: 45_500 }, (_, index) => `line ${index + 1} \r ü`);
      await archive.put(buildId, log(lines.join('\n')));

      const pieces = await scanPieces(buildId, 'build.log');

      expect(pieces.map(({ text }) => text).join('\n')).toBe(lines.join('\n'));
      expect(pieces.every(({ lineStart, text }) => text.startsWith(`line ${lineStart} `))).toBe(true);
      expect(Math.max(...pieces.map(({ text }) => text.length))).toBeLessThan(100_000);
      expect(await scanPieces(buildId, 'other.log')).toEqual([]);
      expect(await scanPieces('bld_other', 'build.log')).toEqual([]);
    });

    it('streams an empty text as one empty piece', async () => {
      await archive.put(buildId, log(''));

      expect(await scanPieces(buildId, 'build.log')).toEqual([{ lineStart: 1, text: '' }]);
    });

    it('allows the reader to stop within a text', async () => {
      await archive.put(buildId, log('x\n'.repeat(100_000)));

      for await (const { lineStart } of archive.pieces(buildId, 'build.log')) if (lineStart > 1) break;

      expect(await archive.lines(buildId, 'build.log', 1, 1)).toEqual({ lineStart: 1, lines: ['x'] });
    });

    it('never mixes a text with its replacement', async () => {
      await archive.put(buildId, log('old\n'.repeat(100_000)));
      const read: string[] = [];
      const reading = async () => {
        for await (const { bytes } of archive.pieces(buildId, 'build.log')) {
          if (read.length === 0) await archive.put(buildId, log('new\n'.repeat(100_000)));
          read.push(bytes.toString('utf8'));
        }
      };

      const ended = await reading().catch((error: unknown) => error);

      expect(read.join('\n')).not.toContain('new');
      if (ended === undefined) expect(read.join('\n')).toBe('old\n'.repeat(100_000));
      else expect(ended).toMatchObject({ code: 'storage-failed', retryable: true });
    });

    it('returns the same lines as split for any text and window', async () => {
      const piece = fc.oneof(
        fc.constantFrom('\n', '\r', '\r\n', '\0', 'x'),
        fc.string({ unit: 'grapheme', maxLength: 5 }),
      );
      const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
      await fc.assert(
        fc.asyncProperty(
          text,
          fc.integer({ min: 1, max: 30 }),
          fc.integer({ min: 0, max: 30 }),
          async (value, from, more) => {
            await archive.put(buildId, log(value));
            const expected = value.replaceAll('\0', '\uFFFD').split('\n');
            expect(await archive.read(buildId, 'build.log')).toBe(expected.join('\n'));
            expect(await archive.lines(buildId, 'build.log', from, from + more)).toEqual({
              lineStart: from,
              lines: expected.slice(from - 1, from + more),
            });
          },
        ),
        { numRuns: runs(60) },
      );
    });

    it('returns any window of a log of 300,000 lines', async () => {
      const lines = Array.from(
        { length: 300_000 },
        (_, index) => `2026-03-01T10:00:00.000Z step ${index + 1}: compiling src/module-${index % 977}.c`,
      );
      await archive.put(buildId, log(lines.join('\n')));
      for (let probe = 0; probe < 40; probe += 1) {
        const from = 1 + ((probe * 7919) % 299_000);
        const window = await archive.lines(buildId, 'build.log', from, from + 399);
        expect(window?.lines).toEqual(lines.slice(from - 1, from + 399));
      }

      expect(await archive.read(buildId, 'build.log')).toBe(lines.join('\n'));
    });
  });
}
