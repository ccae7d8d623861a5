import { z } from 'zod';
import { SourceKind } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { TextPiece } from '../../ports/build-archive.ts';
import { piecesOfChunks } from './chunks.ts';
import type { MongodbCollections, PieceDocument } from './mongodb-client.ts';

/** Of one question, where a text is read in order. */
const BATCH_CHUNKS = 40;
/** A reader whose text is replaced meanwhile begins anew. */
const TRIES = 4;

export const Source = z.object({
  name: z.string(),
  kind: SourceKind,
  lines: z.int(),
  bytes: z.int(),
  notes: z.array(z.string()),
  chunks: z.int(),
  generation: z.string(),
});
const Piece = z.object({ chunk: z.int(), part: z.int(), parts: z.int(), bytes: z.instanceof(Buffer) });

export type StoredSource = z.infer<typeof Source>;
export type FindSource = (buildId: string, name: string) => Promise<StoredSource | null>;

/** Chunks, inclusive; none where `last` is before `first`. */
export interface ChunkRange {
  readonly first: number;
  readonly last: number;
}

/** Reads chunks of one generation, all of them or, where it is replaced meanwhile, of the next one. Null where there is no such text. */
export async function readWhole<Result>(
  { collections: { within }, find }: { readonly collections: MongodbCollections; readonly find: FindSource },
  { buildId, name }: { readonly buildId: string; readonly name: string },
  chunksOf: (source: StoredSource) => ChunkRange,
  use: (bytes: Buffer[]) => Promise<Result>,
): Promise<Result | null> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const source = await find(buildId, name);
    if (source === null) return null;
    const bytes = await readChunks(within, { buildId, name, generation: source.generation }, chunksOf(source));
    if (bytes !== null) return await use(bytes);
  }
  throw new TriageError('storage-failed', `${name} of build ${buildId} is incomplete in the archive.`);
}

/** One batch is asked for while the one before is read; all are of one generation. */
export async function* readPieces(
  { collections: { within }, find }: { readonly collections: MongodbCollections; readonly find: FindSource },
  buildId: string,
  name: string,
): AsyncGenerator<TextPiece> {
  const source = await find(buildId, name);
  if (source === null) return;
  const ask = (first: number) => {
    const last = Math.min(first + BATCH_CHUNKS, source.chunks) - 1;
    const asked = readChunks(within, { buildId, name, generation: source.generation }, { first, last });
    // Whoever leaves early waits for nothing, and is told of nothing.
    asked.catch(() => undefined);
    return asked;
  };
  let next = ask(0);
  for (let first = 0; first < source.chunks; first += BATCH_CHUNKS) {
    const stored = await next;
    if (stored === null) throw new TriageError('storage-failed', `${name} was replaced or removed while it was read.`, { retryable: true });
    next = ask(first + BATCH_CHUNKS);
    yield* piecesOfChunks(stored, first);
  }
}

/** These chunks of one generation; null where not all of them are there. */
async function readChunks(
  within: MongodbCollections['within'],
  of: Pick<PieceDocument, 'buildId' | 'name' | 'generation'>,
  { first, last }: ChunkRange,
): Promise<Buffer[] | null> {
  if (last < first) return [];
  const wanted = { ...of, chunk: { $gte: first, $lte: last } };
  const found = await within(({ pieces }, signal) => pieces.find(wanted, { signal }).sort({ chunk: 1, part: 1 }).toArray());
  const bytes = joined(found.map((piece) => Piece.parse(piece)));
  return bytes.length === last - first + 1 ? bytes : null;
}

/** The bytes of each chunk that has all its parts; pieces come in order. */
function joined(found: readonly z.infer<typeof Piece>[]): Buffer[] {
  const chunks: Buffer[] = [];
  let parts: Buffer[] = [];
  for (const [index, piece] of found.entries()) {
    if (piece.part === 0) parts = [];
    parts.push(piece.bytes);
    const isLast = piece.part === piece.parts - 1 && found[index + 1]?.chunk !== piece.chunk;
    if (isLast && parts.length === piece.parts) chunks.push(parts.length === 1 ? piece.bytes : Buffer.concat(parts));
  }
  return chunks;
}
