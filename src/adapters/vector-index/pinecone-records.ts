import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { VectorItem, VectorNamespace } from '../../ports/vector-index.ts';

export interface PineconeVector {
  readonly id: string;
  readonly values: number[];
  readonly metadata: Record<string, string | number | boolean>;
}

/** A record holds its text in its metadata, under a name that no item uses. */
const TEXT = 'faultline_text';
/** Pinecone takes 40 KB of metadata a record. */
const MAX_METADATA_BYTES = 40_000;
/** Strings other than the text are cut only where they would leave no room for it, to no less than this at first. */
const FIRST_CUT_BYTES = 8_000;
const ROOM_FOR_TEXT = 8_000;
/** Pinecone takes 2 MB a request, and recommends no more than 100 vectors. */
const MAX_BATCH = 100;
const MAX_BATCH_BYTES = 1_900_000;

const Metadata = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** Vectors of different embedders lie in different namespaces, so that they are never compared. */
export function namespaceOf(namespace: VectorNamespace, embedder: string): string {
  return `${namespace}.${slugOf(embedder)}`;
}

/** Whether a namespace of the index is one of ours and belongs to none of these embedders. */
export function isOfOthers(name: string, embedders: readonly string[]): boolean {
  const ours = /^(?:knowledge|team_knowledge|error_library)\.(.+)$/.exec(name);
  return ours !== null && !embedders.some((embedder) => slugOf(embedder) === ours[1]);
}

function slugOf(embedder: string): string {
  const slug = embedder.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 100);
  return slug === embedder ? slug : `${slug}-${createHash('sha256').update(embedder).digest('hex').slice(0, 8)}`;
}

/** A record as Pinecone takes it: never a vector of zeros, which has no direction; filled up with zeros, which changes no cosine. */
export function recordOf({ id, text, metadata }: VectorItem, vector: Float32Array, dimension: number): PineconeVector {
  return { id, values: valuesOf(vector, dimension), metadata: fitted(text, metadata) };
}

export function valuesOf(vector: Float32Array, dimension: number): number[] {
  const values = Array.from({ length: dimension }, (_, index) => {
    const value = vector[index] ?? 0;
    return Number.isFinite(value) ? Number(value.toPrecision(8)) : 0;
  });
  return values.some((value) => value !== 0) ? values : values.map((_, index) => (index === 0 ? 1 : 0));
}

/** What was stored: the item's own metadata, and its text as far as it had room. */
export function readMetadata(stored: unknown): Pick<VectorItem, 'text' | 'metadata'> {
  const { [TEXT]: text = '', ...metadata } = Metadata.catch({}).parse(stored);
  return { text: String(text), metadata };
}

function fitted(text: string, metadata: VectorItem['metadata']): PineconeVector['metadata'] {
  const kept = Object.entries(metadata).filter(([, value]) => typeof value !== 'number' || Number.isFinite(value));
  let fields = Object.fromEntries(kept);
  for (let most = FIRST_CUT_BYTES; bytesOf(fields) > MAX_METADATA_BYTES - ROOM_FOR_TEXT && most >= 1; most /= 2) {
    fields = Object.fromEntries(kept.map(([name, value]) => [name, typeof value === 'string' ? cut(value, most) : value]));
  }
  const room = MAX_METADATA_BYTES - bytesOf({ ...fields, [TEXT]: '' });
  return { ...fields, [TEXT]: cut(text.toWellFormed(), room) };
}

/** The longest beginning that takes no more bytes as JSON; never half a character. */
function cut(text: string, most: number): string {
  if (bytesOf(text) - 2 <= most) return text;
  let fits = 0;
  let tooLong = Math.min(text.length, Math.ceil(most) + 1);
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (bytesOf(text.slice(0, middle)) - 2 <= most) fits = middle;
    else tooLong = middle;
  }
  const code = text.charCodeAt(fits - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? fits - 1 : fits);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Pieces of a request's size. */
export function* batchesOf(records: readonly PineconeVector[]): Generator<PineconeVector[]> {
  let batch: PineconeVector[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = bytesOf(record) + 1;
    if (batch.length === MAX_BATCH || (batch.length > 0 && bytes + size > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(record);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Ids of requests that carry them in their address. */
export function* idsOf(ids: readonly string[]): Generator<string[]> {
  const MOST = 100;
  const MOST_CHARACTERS = 4_000;
  let piece: string[] = [];
  let characters = 0;
  for (const id of ids) {
    const length = encodeURIComponent(id).length + 5;
    if (piece.length === MOST || (piece.length > 0 && characters + length > MOST_CHARACTERS)) {
      yield piece;
      piece = [];
      characters = 0;
    }
    piece.push(id);
    characters += length;
  }
  if (piece.length > 0) yield piece;
}
