import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrapBytes } from '../../../src/log/lines/bytes.ts';
import type { LogInPieces } from '../../../src/log/read-log.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';

buildArchiveContract('memory', async () => ({
  archive: createMemoryArchive(),
  dispose: async () => undefined,
}));

function maskInPieces(text: string): LogInPieces {
  return { name: 'build.log', kind: 'log', bytes: wrapBytes(Buffer.from(text)), notes: ['large'] };
}

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('\n', '\r\n', '\0', 'x', 'Error', '\u001b[31m'),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    {
      maxLength: 40,
    },
  )
  .map((pieces) => pieces.join('').toWellFormed());

describe('a log in pieces', () => {
  it('is described and shown by its lines like a text, without being held in memory', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyText,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 30 }),
        async (text, from, more) => {
          const archive = createMemoryArchive();
          await archive.putPieces('pieces', maskInPieces(text));
          await archive.put('text', { name: 'build.log', kind: 'log', text, notes: ['large'] });

          expect((await archive.list('pieces'))[0]?.lines).toBe((await archive.list('text'))[0]?.lines);
          expect(await archive.lines('pieces', 'build.log', from, from + more)).toEqual(
            await archive.lines('text', 'build.log', from, from + more),
          );
          expect(await archive.read('pieces', 'build.log')).toBeNull();
        },
      ),
      { numRuns: 60 },
    );
  });

  it('shows only the beginning of a very long line', async () => {
    const archive = createMemoryArchive();
    await archive.putPieces('bld', maskInPieces(`first\n${'y'.repeat(3_000_000)}\nlast`));

    const window = await archive.lines('bld', 'build.log', 1, 3);
    expect(window?.lines.map(({ length }) => length)).toEqual([5, 262_144, 4]);
  });
});

describe('searching for literals', () => {
  const linesWith = async (text: string, literals: readonly string[]) => {
    const archive = createMemoryArchive();
    await archive.put('bld', { name: 'build.log', kind: 'log', text, notes: [] });
    return [...archive.linesWith!('bld', 'build.log', literals)].flat();
  };

  it('returns the lines that contain one, in any case and despite colors', async () => {
    expect(await linesWith('a\nFatal: no\nb fa\u001b[1mtal\u001b[0m\r\nend', ['fatal', 'END'])).toEqual([
      { line: 2, text: 'Fatal: no' },
      { line: 3, text: 'b fa\u001b[1mtal\u001b[0m\r' },
      { line: 4, text: 'end' },
    ]);
  });

  it('returns every line of a text if nothing is searched for, across chunks', async () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => `${index + 1} ${'ü'.repeat(10)}`);
    const found = await linesWith(lines.join('\n'), []);

    expect(found.map(({ text }) => text)).toEqual(lines);
    expect(found.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
  });

  it('finds nothing in a text that does not exist', () => {
    expect([...createMemoryArchive().linesWith!('bld', 'none.log', ['x'])]).toEqual([]);
  });
});
