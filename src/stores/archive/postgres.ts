import { z } from 'zod';
import { ArchivedSource, type BuildArchive, type TextPiece } from '../../ports/build-archive.ts';
import type { Database, Sql } from '../../ports/database.ts';
import { queryAll, queryFirst } from '../sql.ts';
import {
  CHUNK_LINES,
  type Chunk,
  readLinesOfChunks,
  readPiecesInBatches,
  readTextOfChunks,
  toChunkNumber,
  toChunks,
  toWindow,
} from './chunks.ts';

/** The maximum number of chunks in one statement. */
const BATCH = 40;

const Version = z.object({ lines: z.int(), version: z.string() });

/**
 * Creates an archive of logs and reports in the database, stored as gzip chunks of 1,000 lines, so that a
 * window can be read without the rest.
 */
export function createPostgresArchive(db: Database) {
  return {
    driver: 'postgres',

    put: async (buildId, source) => {
      const { name, kind, notes } = source;
      // Texts are compressed before the transaction, because PGlite runs only one transaction at a time.
      const { chunks, lines, bytes } = await toChunks(source.text);
      await db.transaction(async (sql) => {
        await replaceRow(sql, buildId, { name, kind, lines, bytes, notes }, 'postgres');
        for (let start = 0; start < chunks.length; start += BATCH)
          await insertChunks(sql, buildId, name, chunks.slice(start, start + BATCH));
      });
    },

    list: async (buildId) => await queryAll(db, ArchivedSource, LIST, [buildId]),

    read: async (buildId, name) => {
      const source = await findSource(db, buildId, name);
      if (source === null) return null;
      const texts: string[] = [];
      for (let start = 0; start * CHUNK_LINES < source.lines; start += BATCH) {
        const rows = await readChunks(db, buildId, name, start, start + BATCH - 1);
        texts.push(await readTextOfChunks(rows.map(({ bytes }) => bytes)));
      }
      return texts.join('\n');
    },

    lines: async (buildId, name, from, to) => {
      const window = toWindow(from, to);
      const [firstChunk, lastChunk] = [toChunkNumber(window.first), toChunkNumber(window.last)];
      const rows = await readChunks(db, buildId, name, firstChunk, lastChunk);
      if (rows.length === 0)
        return (await findSource(db, buildId, name)) === null ? null : { lineStart: window.first, lines: [] };
      const stored = rows.map((row) => row.bytes);
      return {
        lineStart: window.first,
        lines: await readLinesOfChunks(stored, firstChunk, window.first, window.last),
      };
    },

    pieces: (buildId, name) => readPieces(db, buildId, name),

    remove: async (buildId) => {
      await db.query('delete from build_sources where build_id = $1', [buildId]);
    },
  } satisfies BuildArchive;
}

/** Records the driver that now has a text, and deletes the chunks of the text that it replaces. */
export async function replaceRow(
  sql: Sql,
  buildId: string,
  source: ArchivedSource,
  driver: 'postgres' | 'mongodb',
): Promise<void> {
  const { name, kind, lines, bytes, notes } = source;
  await sql.query(UPSERT_SOURCE, [buildId, name, kind, lines, bytes, notes, driver]);
  await sql.query('delete from build_source_chunks where build_id = $1 and name = $2', [buildId, name]);
}

async function insertChunks(
  sql: Sql,
  buildId: string,
  name: string,
  chunks: readonly Chunk[],
): Promise<void> {
  await sql.query(INSERT_CHUNKS, [
    buildId,
    name,
    chunks.map(({ chunk }) => chunk),
    chunks.map(({ firstLine }) => firstLine),
    chunks.map(({ bytes }) => bytes),
  ]);
}

async function findSource(db: Database, buildId: string, name: string) {
  return await queryFirst(db, ArchivedSource.pick({ lines: true }), FIND, [buildId, name]);
}

async function readChunks(
  db: Database,
  buildId: string,
  name: string,
  first: number,
  last: number,
): Promise<{ bytes: Buffer }[]> {
  return await db.query<{ bytes: Buffer }>(READ_CHUNKS, [buildId, name, first, last]);
}

async function* readPieces(db: Database, buildId: string, name: string): AsyncGenerator<TextPiece> {
  const source = await queryFirst(db, Version, FIND_VERSION, [buildId, name]);
  if (source === null) return;
  yield* readPiecesInBatches(name, Math.ceil(source.lines / CHUNK_LINES), BATCH, async (from, to) => {
    const rows = await db.query<{ bytes: Buffer }>(READ_VERSION, [buildId, name, source.version, from, to]);
    return rows.length > to - from ? rows.map(({ bytes }) => bytes) : null;
  });
}

/** Texts in another store have a row, too, but no chunks. */
const HERE = `driver = 'postgres'`;

const LIST = `select name, kind, lines, bytes, notes from build_sources where build_id = $1 and ${HERE}
  order by stored_at, name`;

const FIND = `select lines from build_sources where build_id = $1 and name = $2 and ${HERE}`;

const UPSERT_SOURCE = `
  insert into build_sources (build_id, name, kind, lines, bytes, notes, driver)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (build_id, name) do update set
    kind = excluded.kind, lines = excluded.lines, bytes = excluded.bytes, notes = excluded.notes,
    stored_at = clock_timestamp(),
    driver = excluded.driver`;

const INSERT_CHUNKS = `
  insert into build_source_chunks (build_id, name, chunk, first_line, bytes)
  select $1, $2, c.chunk, c.first_line, c.bytes
  from unnest($3::int[], $4::int[], $5::bytea[]) as c (chunk, first_line, bytes)`;

const READ_CHUNKS = `
  select bytes from build_source_chunks where build_id = $1 and name = $2 and chunk between $3 and $4
  order by chunk`;

const FIND_VERSION = `select lines, stored_at::text as version from build_sources
  where build_id = $1 and name = $2 and ${HERE}`;

const READ_VERSION = `
  select c.bytes from build_source_chunks c
  join build_sources s on s.build_id = c.build_id and s.name = c.name and s.stored_at::text = $3 and s.${HERE}
  where c.build_id = $1 and c.name = $2 and c.chunk between $4 and $5 order by c.chunk`;
