import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInlineHeader, readByteRange, readTextBytes } from '../../../src/console/logs/raw.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';

describe('byte ranges', () => {
  it.each([
    ['bytes=0-99', { first: 0, last: 99 }],
    ['bytes=900-', { first: 900, last: 999 }],
    ['bytes=-100', { first: 900, last: 999 }],
    ['bytes=-5000', { first: 0, last: 999 }],
    ['bytes=500-5000', { first: 500, last: 999 }],
    ['bytes=1000-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    [undefined, null],
    ['bytes=5-4', null],
    ['bytes=0-1,5-6', null],
    ['bytes=-', null],
    ['lines=0-1', null],
    ['bytes=a-b', null],
  ])('are parsed for 1,000 bytes: %s', (header, expected) => {
    expect(readByteRange(header, 1000)).toEqual(expected);
  });

  it('of an empty text cannot be satisfied', () => {
    expect(readByteRange('bytes=0-', 0)).toBe('unsatisfiable');
  });
});

describe('the bytes of a text', () => {
  it('are the stored ones, whichever of them are requested', async () => {
    const text = Array.from({ length: 2_500 }, (_, at) => `zeile ${at} ü`).join('\n');
    const whole = Buffer.from(text);
    const archive = createMemoryArchive();
    await archive.put('bld_1', { name: 'build.log', kind: 'log', text, notes: [] });
    const ends = fc.integer({ min: 0, max: whole.length - 1 });
    await fc.assert(
      fc.asyncProperty(ends, ends, async (left, right) => {
        const [first, last] = [Math.min(left, right), Math.max(left, right)];
        const read: Buffer[] = [];
        for await (const bytes of readTextBytes(
          archive,
          { buildId: 'bld_1', name: 'build.log' },
          { first, last },
        ))
          read.push(bytes);
        expect(Buffer.concat(read).equals(whole.subarray(first, last + 1))).toBe(true);
      }),
      { numRuns: 30, examples: [[0, whole.length - 1]] },
    );
  });
});

describe('the name of a displayed file', () => {
  it.each([
    ['build.log', `inline; filename="build.log"; filename*=UTF-8''build.log`],
    ['reports/junit ü.xml', `inline; filename="junit__.xml"; filename*=UTF-8''junit%20%C3%BC.xml`],
    [
      'a"b\r\nSet-Cookie: x',
      `inline; filename="a_b__Set-Cookie__x.txt"; filename*=UTF-8''a%22b%0D%0ASet-Cookie%3A%20x`,
    ],
    ['', `inline; filename="log.txt"; filename*=UTF-8''log`],
    ['\ud800', `inline; filename="_.txt"; filename*=UTF-8''%EF%BF%BD`],
  ])('is safe: %j', (name, expected) => {
    expect(formatInlineHeader(name)).toBe(expected);
  });
});
