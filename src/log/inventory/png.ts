import { promisify } from 'node:util';
import { crc32, deflate, inflate } from 'node:zlib';
import type { Picture } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { formatSize } from '../decode/decode.ts';

const [inflateAside, deflateAside] = [promisify(inflate), promisify(deflate)];

/**
 * The maximum size in bytes of a picture that is read or written, and the maximum number of pixels: those of
 * a 4K screen.
 */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_PIXELS = 3840 * 2160;
const MAX_SIDE = 16_384;

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The number of samples of a pixel, by the color type of the PNG specification (section 11.2.1). */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PALETTE_TYPE = 3;
const FILTER_TYPES = 5;
const MAX_CHUNKS = 10_000;

/**
 * Decodes a PNG and encodes it again, so that no byte of an untrusted file is passed on unchanged. Keeps the
 * header, the palette with its transparency, and the pixels; drops texts, profiles, animations, and
 * everything after the end. Pixels are decompressed outside the event loop, up to the size that the header
 * states. Throws TriageError `invalid-input` if the PNG is invalid, interlaced, or too large.
 */
export async function redrawPng(bytes: Uint8Array): Promise<Picture> {
  if (bytes.length > MAX_BYTES) throw refuse(`it has ${formatSize(bytes.length)}`);
  const chunks = readChunks(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const [header] = chunks;
  if (header?.type !== 'IHDR' || header.data.length !== 13) throw refuse('it has no header');
  const { width, height, rowBytes } = readHeader(header.data);
  const packed = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data);
  const whole = height * (rowBytes + 1);
  const pixels = await unpack(Buffer.concat(packed), whole);
  if (pixels.length !== whole) throw refuse('pixels are missing');
  for (let row = 0; row < height; row++)
    if ((pixels[row * (rowBytes + 1)] ?? FILTER_TYPES) >= FILTER_TYPES) throw refuse('a row is none');
  const colors = chunks.filter(({ type }) => type === 'PLTE' || type === 'tRNS').slice(0, 2);
  if (header.data[9] === PALETTE_TYPE && colors[0]?.type !== 'PLTE') throw refuse('it has no palette');
  const png = Buffer.concat([
    SIGNATURE,
    writeChunk('IHDR', header.data),
    ...colors.map(({ type, data }) => writeChunk(type, data)),
    writeChunk('IDAT', await deflateAside(pixels, { level: 6 })),
    writeChunk('IEND', Buffer.alloc(0)),
  ]);
  if (png.length > MAX_BYTES) throw refuse(`it would take ${formatSize(png.length)}`);
  return { png, width, height };
}

async function unpack(packed: Buffer, bytes: number): Promise<Buffer> {
  try {
    return await inflateAside(packed, { maxOutputLength: bytes });
  } catch (error) {
    throw refuse('its pixels cannot be unpacked', error);
  }
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function readChunks(file: Buffer): Chunk[] {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw refuse('it does not begin as one');
  const chunks: Chunk[] = [];
  let at = SIGNATURE.length;
  while (at + 12 <= file.length && chunks.length < MAX_CHUNKS) {
    const length = file.readUInt32BE(at);
    if (at + 12 + length > file.length) throw refuse('it is cut');
    const type = file.toString('latin1', at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    if (crc32(file.subarray(at + 4, at + 8 + length)) !== file.readUInt32BE(at + 8 + length))
      throw refuse('a checksum is wrong');
    if (type === 'IEND') return chunks;
    chunks.push({ type, data });
    at += 12 + length;
  }
  throw refuse('it has no end');
}

function readHeader(header: Buffer) {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, color = 9, , , interlaced] = header.subarray(8);
  const samples = SAMPLES[color];
  const isKnown = samples !== undefined && [1, 2, 4, 8, 16].includes(depth);
  if (!isKnown || width === 0 || height === 0) throw refuse('its header is wrong');
  if (interlaced !== 0) throw refuse('it is interlaced');
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
    throw refuse(`it has ${width} by ${height} pixels`);
  return { width, height, rowBytes: Math.ceil((width * samples * depth) / 8) };
}

function writeChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

function refuse(why: string, cause?: unknown): TriageError {
  return new TriageError('invalid-input', `The picture is not shown: ${why}.`, { cause });
}
