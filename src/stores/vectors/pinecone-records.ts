import { z } from 'zod';
import type { VectorItem } from '../../ports/vector-index.ts';

interface PineconeRecord {
  readonly id: string;
  readonly values: number[];
  readonly metadata: Record<string, string | number | boolean>;
}

/** The metadata field of a record that holds its text. No item has a field of this name. */
const TEXT_FIELD = 'faultline_text';
/** The maximum size of a record's metadata in bytes. Pinecone's limit is 40 KB. */
const MAX_METADATA_BYTES = 40_000;
/** The bytes of the metadata that are reserved for the text. */
const ROOM_FOR_TEXT_BYTES = 8_000;
/**
 * The maximum size of another string in bytes, if the strings leave less than {@link ROOM_FOR_TEXT_BYTES}. It
 * is halved until they fit.
 */
const FIRST_CUT_BYTES = 8_000;

const Metadata = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** Converts an item to a Pinecone record. */
export function toRecord(
  { id, text, metadata }: VectorItem,
  vector: Float32Array,
  dimension: number,
): PineconeRecord {
  return { id, values: toValues(vector, dimension), metadata: fitMetadata(text, metadata) };
}

/**
 * Converts a vector to the values of a record. The vector is padded with zeros, which does not change a
 * cosine. In a zero vector, which has no direction, the first element becomes 1.
 */
export function toValues(vector: Float32Array, dimension: number): number[] {
  const values = Array.from({ length: dimension }, (_, index) => {
    const value = vector[index] ?? 0;
    return Number.isFinite(value) ? Number(value.toPrecision(8)) : 0;
  });
  return values.some((value) => value !== 0) ? values : values.map((_, index) => (index === 0 ? 1 : 0));
}

/**
 * Reads an item's text, which may have been cut, and its metadata from those of a record. Both are empty if a
 * value is neither text, a number nor a boolean.
 */
export function readMetadata(stored: unknown): Pick<VectorItem, 'text' | 'metadata'> {
  const { [TEXT_FIELD]: text = '', ...metadata } = Metadata.catch({}).parse(stored);
  return { text: String(text), metadata };
}

function fitMetadata(text: string, metadata: VectorItem['metadata']): PineconeRecord['metadata'] {
  const kept = Object.entries(metadata).filter(
    ([, value]) => typeof value !== 'number' || Number.isFinite(value),
  );
  let fields = Object.fromEntries(kept);
  for (
    let most = FIRST_CUT_BYTES;
    countJsonBytes(fields) > MAX_METADATA_BYTES - ROOM_FOR_TEXT_BYTES && most >= 1;
    most /= 2
  ) {
    fields = Object.fromEntries(
      kept.map(([name, value]) => [name, typeof value === 'string' ? cut(value, most) : value]),
    );
  }
  const room = MAX_METADATA_BYTES - countJsonBytes({ ...fields, [TEXT_FIELD]: '' });
  return { ...fields, [TEXT_FIELD]: cut(text.toWellFormed(), room) };
}

/**
 * Returns the longest prefix whose JSON, without its quotes, has at most `maxBytes` bytes. Never splits a
 * character.
 */
function cut(text: string, maxBytes: number): string {
  if (countJsonBytes(text) - 2 <= maxBytes) return text;
  let fits = 0;
  let tooLong = Math.min(text.length, Math.ceil(maxBytes) + 1);
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (countJsonBytes(text.slice(0, middle)) - 2 <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  const code = text.charCodeAt(fits - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? fits - 1 : fits);
}

/** Counts the bytes of a value as JSON. */
export function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
