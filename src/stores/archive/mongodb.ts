import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { splitIntoBatches } from '../../lib/collections.ts';
import { ArchivedSource, type BuildArchive, type TextPiece } from '../../ports/build-archive.ts';
import {
  readLinesOfChunks,
  readPiecesInBatches,
  readTextOfChunks,
  toChunkNumber,
  toChunks,
  toWindow,
} from './chunks.ts';
import {
  isDuplicate,
  type MongodbCollections,
  openCollections,
  type PieceDocument,
  type SourceDocument,
} from './mongodb-client.ts';

export interface MongodbArchiveOptions {
  /** The URL in the form mongodb://user:password@host:port. */
  readonly url: string;
  readonly database: string;
  /** The time limit of one operation on the server in milliseconds. */
  readonly limitMs?: number;
  /** The number of milliseconds for which an unresponsive server is not called. */
  readonly restMs?: number;
  /** The maximum size of one text in bytes, before compression. */
  readonly maxBytes?: number;
  /** The number of days after which the server deletes a text by itself; 0 for never. */
  readonly keepDays?: number;
}

export interface MongodbArchive extends BuildArchive {
  /** Stores a text like `put`, and returns the description of the stored text. */
  keep(buildId: string, source: SourceText): Promise<ArchivedSource>;
  check(): Promise<string>;
  /**
   * Deletes the pieces of writes that were interrupted at least `olderThanMs` ago, and returns the number of
   * such writes.
   */
  tidy(olderThanMs?: number): Promise<number>;
  close(): Promise<void>;
}

type Within = MongodbCollections['within'];

const LIMIT_MS = 10_000;
const REST_MS = 5_000;
/** The maximum size of a text in bytes: the longest string that JavaScript can hold. */
const MAX_BYTES = 512 * 1024 * 1024;
/** Maximum bytes of one piece document. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** Limits of one insert, in pieces and bytes; the server's own limit is 48 MB. */
const INSERT = { most: 100, room: 8 * 1024 * 1024 };
/** The maximum number of attempts. Concurrent writers of one text start over. */
const TRIES = 4;
const DRAFT_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Creates an archive of logs and reports in MongoDB, stored as gzip chunks of 1,000 lines. A new text is
 * written next to the old one, which readers see until a majority has acknowledged all of the new text.
 * Throws `storage-failed` (retryable if the server does not respond), `upstream-auth`, and `too-large`.
 */
export function createMongodbArchive(options: MongodbArchiveOptions): MongodbArchive {
  const { url, database, limitMs = LIMIT_MS, restMs = REST_MS, maxBytes = MAX_BYTES, keepDays = 0 } = options;
  const collections = openCollections(url, database, { limitMs, restMs });
  const { within } = collections;
  const keep: MongodbArchive['keep'] = async (buildId, source) => {
    const { chunks, lines, bytes } = await toChunks(source.text);
    if (bytes > maxBytes)
      throw new TriageError(
        'too-large',
        `${source.name} has ${bytes} bytes; the archive accepts at most ${maxBytes}.`,
      );
    const described = { name: source.name, kind: source.kind, lines, bytes, notes: [...source.notes] };
    const storedAt = new Date();
    const expiry = keepDays === 0 ? {} : { expiresAt: new Date(storedAt.getTime() + keepDays * DAY_MS) };
    const generation = randomUUID();
    const document = { buildId, ...described, chunks: chunks.length, generation, storedAt, ...expiry };
    const parts = chunks.flatMap((chunk) =>
      splitChunk(chunk, { buildId, name: source.name, generation, ...expiry }),
    );
    await store(collections, document, parts);
    return described;
  };

  return {
    driver: 'mongodb',

    put: async (buildId, source) => void (await keep(buildId, source)),
    keep,

    list: async (buildId) => {
      const found = await within(({ sources }, signal) =>
        sources.find({ buildId }, { signal }).sort({ storedAt: 1, name: 1 }).toArray(),
      );
      return found.map((withId) => ArchivedSource.parse(withId));
    },

    read: async (buildId, name) => {
      const bytes = await readWhole(within, buildId, name, ({ chunks }) => ({ first: 0, last: chunks - 1 }));
      return bytes === null ? null : await readTextOfChunks(bytes);
    },

    lines: async (buildId, name, from, to) => {
      const { first, last } = toWindow(from, to);
      const range = { first: toChunkNumber(first), last: toChunkNumber(last) };
      const bytes = await readWhole(within, buildId, name, ({ chunks }) => ({
        ...range,
        last: Math.min(range.last, chunks - 1),
      }));
      return bytes === null
        ? null
        : { lineStart: first, lines: await readLinesOfChunks(bytes, range.first, first, last) };
    },

    pieces: (buildId, name) => readPieces(within, buildId, name),

    remove: async (buildId) => {
      await within(({ sources }) => sources.deleteMany({ buildId }));
      await within(({ pieces }) => pieces.deleteMany({ buildId }));
    },

    check: async () => {
      await collections.ping();
      return 'ok';
    },

    tidy: (olderThanMs = DRAFT_MS) => tidy(within, new Date(Date.now() - olderThanMs)),
    close: () => collections.close(),
  };
}

function splitChunk(
  { chunk, firstLine, bytes }: { chunk: number; firstLine: number; bytes: Buffer },
  of: Pick<PieceDocument, 'buildId' | 'name' | 'generation' | 'expiresAt'>,
): PieceDocument[] {
  const parts = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES));
  return Array.from({ length: parts }, (_, part) => {
    const piece = bytes.subarray(part * PIECE_BYTES, (part + 1) * PIECE_BYTES);
    return { ...of, chunk, part, parts, firstLine, bytes: piece };
  });
}

/**
 * Writes the parts, makes them valid, and deletes the previous ones. If it is interrupted at any point,
 * either the old or the new text is complete.
 */
async function store(
  { within, indexed }: MongodbCollections,
  source: SourceDocument,
  parts: readonly PieceDocument[],
): Promise<void> {
  const { buildId, name, generation } = source;
  const forget = async (old: string) => {
    await within(({ pieces }) => pieces.deleteMany({ buildId, name, generation: old }));
    await within(({ drafts }) => drafts.deleteOne({ generation }));
  };
  await indexed();
  await within(({ drafts }) => drafts.insertOne({ generation, buildId, name, startedAt: source.storedAt }));
  let replaced: string | null;
  try {
    for (const batch of splitIntoBatches(parts, INSERT, ({ bytes }) => bytes.length))
      await within(({ pieces }) => pieces.insertMany(batch));
    replaced = await makeValid(within, source);
  } catch (error) {
    // If the server answered, its space is freed now. Otherwise `tidy` does it.
    if (!(error instanceof TriageError) || error.details.state !== undefined || error.code === 'conflict')
      await forget(generation).catch(() => undefined);
    throw error;
  }
  // The new text is valid. If this deletion fails, `tidy` removes the rest of the old one.
  await forget(replaced ?? '').catch(() => undefined);
}

/**
 * Makes a generation valid with compare-and-set, so that each of two concurrent writers sees the generation
 * it replaces. Returns the generation that was valid before.
 */
async function makeValid(within: Within, source: SourceDocument): Promise<string | null> {
  const { buildId, name, generation } = source;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const old = await within(({ sources }, signal) => sources.findOne({ buildId, name }, { signal }));
    if (old === null) {
      const isFirst = await within(async ({ sources }) => {
        try {
          await sources.insertOne({ ...source });
          return true;
        } catch (error) {
          if (isDuplicate(error)) return false;
          throw error;
        }
      });
      if (isFirst) return null;
    } else {
      // This is recorded first, so that cleanup after a crash knows which other pieces may be left.
      await within(({ drafts }) => drafts.updateOne({ generation }, { $set: { replaces: old.generation } }));
      const { matchedCount } = await within(({ sources }) =>
        sources.updateOne({ _id: old._id, generation: old.generation }, { $set: { ...source } }),
      );
      if (matchedCount === 1) return old.generation;
    }
  }
  throw new TriageError('conflict', `${name} was replaced by another process in the meantime.`, {
    retryable: true,
  });
}

async function tidy(within: Within, before: Date): Promise<number> {
  const cutOff = await within(({ drafts }, signal) =>
    drafts
      .find({ startedAt: { $lte: before } }, { signal })
      .limit(100)
      .toArray(),
  );
  for (const { buildId, name, generation, replaces } of cutOff) {
    const current = (await find(within, buildId, name))?.generation;
    const dead = [generation, ...(replaces === undefined ? [] : [replaces])].filter(
      (version) => version !== current,
    );
    await within(({ pieces }) => pieces.deleteMany({ buildId, name, generation: { $in: dead } }));
    await within(({ drafts }) => drafts.deleteOne({ generation }));
  }
  return cutOff.length;
}

/** The number of chunks in one query when a text is read in order. */
const BATCH_CHUNKS = 40;

const Source = ArchivedSource.extend({ chunks: z.int(), generation: z.string() });
const Piece = z.object({ chunk: z.int(), part: z.int(), parts: z.int(), bytes: z.instanceof(Buffer) });

type StoredSource = z.infer<typeof Source>;

async function find(within: Within, buildId: string, name: string): Promise<StoredSource | null> {
  const found = await within(({ sources }, signal) => sources.findOne({ buildId, name }, { signal }));
  return found === null ? null : Source.parse(found);
}

/** A range of chunks, inclusive. It is empty if `last` is before `first`. */
interface ChunkRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads all requested chunks from a single generation. If the text is replaced during the read, starts again
 * with the next generation. Returns null if there is no such text.
 */
async function readWhole(
  within: Within,
  buildId: string,
  name: string,
  chunksOf: (source: StoredSource) => ChunkRange,
) {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const source = await find(within, buildId, name);
    if (source === null) return null;
    const bytes = await readChunks(
      within,
      { buildId, name, generation: source.generation },
      chunksOf(source),
    );
    if (bytes !== null) return bytes;
  }
  throw new TriageError('storage-failed', `${name} of build ${buildId} is incomplete in the archive.`);
}

/** Yields the pieces of a text, all from one generation. */
async function* readPieces(within: Within, buildId: string, name: string): AsyncGenerator<TextPiece> {
  const source = await find(within, buildId, name);
  if (source === null) return;
  const of = { buildId, name, generation: source.generation };
  yield* readPiecesInBatches(name, source.chunks, BATCH_CHUNKS, (first, last) =>
    readChunks(within, of, { first, last }),
  );
}

/** Returns the requested chunks of one generation, or null if some are missing. */
async function readChunks(
  within: Within,
  of: Pick<PieceDocument, 'buildId' | 'name' | 'generation'>,
  { first, last }: ChunkRange,
): Promise<Buffer[] | null> {
  if (last < first) return [];
  const wanted = { ...of, chunk: { $gte: first, $lte: last } };
  const found = await within(({ pieces }, signal) =>
    pieces.find(wanted, { signal }).sort({ chunk: 1, part: 1 }).toArray(),
  );
  const bytes = join(found.map((piece) => Piece.parse(piece)));
  return bytes.length === last - first + 1 ? bytes : null;
}

/** Joins the parts of each complete chunk. Expects the pieces in order. */
function join(found: readonly z.infer<typeof Piece>[]): Buffer[] {
  const chunks: Buffer[] = [];
  let parts: Buffer[] = [];
  for (const [index, piece] of found.entries()) {
    if (piece.part === 0) parts = [];
    parts.push(piece.bytes);
    const isLast = piece.part === piece.parts - 1 && found[index + 1]?.chunk !== piece.chunk;
    if (isLast && parts.length === piece.parts)
      chunks.push(parts.length === 1 ? piece.bytes : Buffer.concat(parts));
  }
  return chunks;
}
