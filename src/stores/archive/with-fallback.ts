import { z } from 'zod';
import { getErrorMessage, TriageError, type TriageErrorCode } from '../../domain/errors.ts';
import { REMOVE_FROM_MONGODB } from '../../domain/work.ts';
import { formatCount } from '../../lib/text.ts';
import { ArchivedSource, type BuildArchive } from '../../ports/build-archive.ts';
import type { Database } from '../../ports/database.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { queryAll, queryFirst } from '../sql.ts';
import type { WorkStore } from '../work.ts';
import type { MongodbArchive } from './mongodb.ts';
import { createPostgresArchive, replaceRow } from './postgres.ts';

export interface FallbackOptions {
  readonly mongodb: MongodbArchive;
  /** The database that records which texts exist, and stores those that MongoDB did not accept. */
  readonly database: Database;
  readonly work: Pick<WorkStore, 'add' | 'find' | 'waiting'>;
  readonly logger: Logger;
}

/** Errors that PostgreSQL would also return. */
const NOT_ELSEWHERE: readonly TriageErrorCode[] = [
  'too-large',
  'invalid-input',
  'cancelled',
  'internal',
  'invalid-config',
];

const Row = z.object({ driver: z.enum(['postgres', 'mongodb']) });
const Count = z.object({ count: z.coerce.number() });

/**
 * Creates an archive that stores texts in MongoDB. A text that MongoDB does not accept is stored in
 * PostgreSQL and stays there. Each text has a row in PostgreSQL, which names its driver, so the list of a
 * build's texts is always available. While MongoDB is unavailable, `read`, `lines` and `pieces` throw
 * `storage-failed` (retryable) for the texts that it has.
 */
export function createArchiveWithFallback({
  mongodb,
  database,
  work,
  logger,
}: FallbackOptions): BuildArchive {
  const postgres = createPostgresArchive(database);

  async function findArchive(buildId: string, name: string): Promise<BuildArchive | null> {
    const row = await queryFirst(database, Row, FIND_DRIVER, [buildId, name]);
    if (row === null) return null;
    return row.driver === 'postgres' ? postgres : mongodb;
  }

  async function tryMongodb(
    buildId: string,
    source: Parameters<BuildArchive['put']>[1],
  ): Promise<ArchivedSource | null> {
    // The pending deletion would also delete this text.
    if ((await work.find(REMOVE_FROM_MONGODB, buildId)) !== null) return null;
    try {
      return await mongodb.keep(buildId, source);
    } catch (error) {
      if (error instanceof TriageError && NOT_ELSEWHERE.includes(error.code)) throw error;
      const fields = { buildId, source: source.name, error: getErrorMessage(error) };
      logger.warn(fields, 'MongoDB did not store a text; it is stored in PostgreSQL');
      return null;
    }
  }

  return {
    driver: mongodb.driver,

    put: async (buildId, source) => {
      const kept = await tryMongodb(buildId, source);
      if (kept === null) return await postgres.put(buildId, source);
      await database.transaction((sql) => replaceRow(sql, buildId, kept, 'mongodb'));
    },

    list: (buildId) => queryAll(database, ArchivedSource, LIST, [buildId]),
    read: async (buildId, name) => (await findArchive(buildId, name))?.read(buildId, name) ?? null,
    lines: async (buildId, name, from, to) =>
      (await findArchive(buildId, name))?.lines(buildId, name, from, to) ?? null,

    pieces: async function* (buildId, name) {
      const archive = await findArchive(buildId, name);
      if (archive !== null) yield* archive.pieces(buildId, name);
    },

    remove: async (buildId) => {
      await database.transaction(async (sql) => {
        await sql.query('delete from build_sources where build_id = $1', [buildId]);
        await work.add([{ topic: REMOVE_FROM_MONGODB, key: buildId }], sql);
      });
    },
    removeElsewhere: (buildId) => mongodb.remove(buildId),

    check: async () => {
      const { count } = Count.parse((await database.query(COUNT_IN_POSTGRES))[0]);
      const removals = (await work.waiting(REMOVE_FROM_MONGODB)).count;
      const here = count === 0 ? '' : `; ${formatCount(count, 'text')} in PostgreSQL`;
      const rest = here + (removals === 0 ? '' : `; ${formatCount(removals, 'deletion')} waiting`);
      const state = await mongodb.check().catch((cause: unknown) => {
        const sentence = `MongoDB is unavailable (${getErrorMessage(cause)}); PostgreSQL stores new texts${rest}`;
        throw new TriageError('storage-failed', sentence, { retryable: true, cause });
      });
      return state + rest;
    },

    tidy: () => mongodb.tidy(),
    close: () => mongodb.close(),
  };
}

const FIND_DRIVER = 'select driver from build_sources where build_id = $1 and name = $2';

const LIST =
  'select name, kind, lines, bytes, notes from build_sources where build_id = $1 order by stored_at, name';

const COUNT_IN_POSTGRES = `select count(*) from build_sources where driver = 'postgres'`;
