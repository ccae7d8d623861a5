import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createArtifactRoom, openArtifact } from '../../../src/log/inventory/open-artifact.ts';
import { redrawPng } from '../../../src/log/inventory/png.ts';
import { makeZip } from '../../support/make-zip.ts';

function createChunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function createHeader(width: number, height: number, rest = [8, 2, 0, 0, 0]): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set(rest, 8);
  return createChunk('IHDR', data);
}

/** Red pixels, three bytes each, with a filter byte before each row. */
function createPixels(width: number, height: number, filter = 0): Buffer {
  const row = Buffer.concat([Buffer.from([filter]), Buffer.alloc(width * 3, 0xc0)]);
  return Buffer.concat(Array.from({ length: height }, () => row));
}

function createPng(parts: readonly Buffer[], end = Buffer.alloc(0)): Buffer {
  return Buffer.concat([SIGNATURE, ...parts, createChunk('IEND', Buffer.alloc(0)), end]);
}

const GOOD = [
  createHeader(4, 3),
  createChunk('tEXt', Buffer.from('Comment\0<script>')),
  createChunk('IDAT', deflateSync(createPixels(4, 3))),
];

describe('an untrusted picture', () => {
  it('is encoded again: the same pixels, and no text or bytes after its end', async () => {
    const drawn = await redrawPng(createPng(GOOD, Buffer.from('<?php')));
    expect([drawn.width, drawn.height]).toEqual([4, 3]);
    const text = Buffer.from(drawn.png).toString('latin1');
    expect(text).not.toContain('script');
    expect(text).not.toContain('php');
    expect((await redrawPng(drawn.png)).png).toEqual(drawn.png);
  });

  it.each([
    ['no PNG', Buffer.from('GIF89a')],
    ['cut', createPng(GOOD).subarray(0, 60)],
    [
      'a wrong checksum',
      Buffer.concat([createPng(GOOD).subarray(0, 30), Buffer.from([1]), createPng(GOOD).subarray(31)]),
    ],
    ['more pixels than a screen has', createPng([createHeader(30_000, 30_000), GOOD[2] ?? Buffer.alloc(0)])],
    ['a bomb', createPng([createHeader(4, 3), createChunk('IDAT', deflateSync(Buffer.alloc(50_000_000)))])],
    [
      'fewer pixels than its header says',
      createPng([createHeader(4, 30), createChunk('IDAT', deflateSync(createPixels(4, 3)))]),
    ],
    [
      'an unknown filter',
      createPng([createHeader(4, 3), createChunk('IDAT', deflateSync(createPixels(4, 3, 9)))]),
    ],
    ['an unknown color', createPng([createHeader(4, 3, [8, 7, 0, 0, 0]), GOOD[2] ?? Buffer.alloc(0)])],
    ['interlaced', createPng([createHeader(4, 3, [8, 2, 0, 0, 1]), GOOD[2] ?? Buffer.alloc(0)])],
    [
      'without its palette',
      createPng([createHeader(4, 3, [8, 3, 0, 0, 0]), createChunk('IDAT', deflateSync(Buffer.alloc(15)))]),
    ],
  ])('is refused with the reason: %s', async (_name, bytes) => {
    await expect(redrawPng(bytes)).rejects.toThrow(/^The picture is not shown: /);
  });

  it('is extracted from an artifact if its name says that it shows a test', async () => {
    const zip = makeZip([
      { name: 'test-results/cart-adds/test-failed-1.png', content: createPng(GOOD) },
      { name: 'test-results/cart-adds/test-failed-2.png', content: Buffer.from('no picture') },
      { name: 'site/logo.png', content: createPng(GOOD) },
    ]);
    const files = await openArtifact('report.zip', zip, createArtifactRoom());
    const drawn = files.filter(({ picture }) => picture !== undefined).map(({ name }) => name);
    expect(drawn).toEqual(['report.zip/test-results/cart-adds/test-failed-1.png']);
    expect(files.find(({ name }) => name.endsWith('test-failed-2.png'))?.notes[0]).toContain(
      'not begin as one',
    );
  });
});
