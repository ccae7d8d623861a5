import { z } from 'zod';
import type { VectorItem } from '../../ports/vector-index.ts';

interface PineconeVector {
  readonly id: string;
  readonly values: number[];
  readonly metadata: Record<string, string | number | boolean>;
}

/** A record holds its text in its metadata, under a name that no item uses. */
const TEXT = 'faultline_text';
/** The maximum size of a record's metadata in bytes. Pinecone's limit is 40 KB. */
const MAX_METADATA_BYTES = 40_000;
/**
 * The first limit of a metadata string in bytes. Strings other than the text are cut only if they would leave
 * no room for it.
 */
const FIRST_CUT_BYTES = 8_000;
const ROOM_FOR_TEXT = 8_000;

const Metadata = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/**
 * Converts an item to a Pinecone record. A vector is padded with zeros, which does not change a cosine, and
 * is never all zeros, because that has no direction.
 */
export function toRecord(
  { id, text, metadata }: VectorItem,
  vector: Float32Array,
  dimension: number,
): PineconeVector {
  return { id, values: toValues(vector, dimension), metadata: fitMetadata(text, metadata) };
}

export function toValues(vector: Float32Array, dimension: number): number[] {
  const values = Array.from({ length: dimension }, (_, index) => {
    const value = vector[index] ?? 0;
    return Number.isFinite(value) ? Number(value.toPrecision(8)) : 0;
  });
  return values.some((value) => value !== 0) ? values : values.map((_, index) => (index === 0 ? 1 : 0));
}

/** Reads the stored metadata: the item's own metadata, and its text as far as it fitted. */
export function readMetadata(stored: unknown): Pick<VectorItem, 'text' | 'metadata'> {
  const { [TEXT]: text = '', ...metadata } = Metadata.catch({}).parse(stored);
  return { text: String(text), metadata };
}

function fitMetadata(text: string, metadata: VectorItem['metadata']): PineconeVector['metadata'] {
  const kept = Object.entries(metadata).filter(
    ([, value]) => typeof value !== 'number' || Number.isFinite(value),
  );
  let fields = Object.fromEntries(kept);
  for (
    let most = FIRST_CUT_BYTES;
    countBytes(fields) > MAX_METADATA_BYTES - ROOM_FOR_TEXT && most >= 1;
    most /= 2
  ) {
    fields = Object.fromEntries(
      kept.map(([name, value]) => [name, typeof value === 'string' ? cut(value, most) : value]),
    );
  }
  const room = MAX_METADATA_BYTES - countBytes({ ...fields, [TEXT]: '' });
  return { ...fields, [TEXT]: cut(text.toWellFormed(), room) };
}

/** Returns the longest prefix that fits into `most` bytes as JSON; never splits a character. */
function cut(text: string, most: number): string {
  if (countBytes(text) - 2 <= most) return text;
  let fits = 0;
  let tooLong = Math.min(text.length, Math.ceil(most) + 1);
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (countBytes(text.slice(0, middle)) - 2 <= most) fits = middle;
    else tooLong = middle;
  }
  const code = text.charCodeAt(fits - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? fits - 1 : fits);
}

export function countBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
