import { z } from 'zod';
import { getErrorMessage, TriageError, type TriageErrorCode } from '../../domain/errors.ts';
import { counted } from '../../lib/text.ts';
import { ArchivedSource, type BuildArchive, type SettledTexts, type TextPiece } from '../../ports/build-archive.ts';
import type { Database } from '../../ports/database.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { all, first } from '../sql.ts';
import type { MongodbArchive } from './mongodb.ts';
import { createPostgresArchive } from './postgres.ts';

export interface SpillingOptions {
  readonly primary: MongodbArchive;
  /** The database that records which texts exist, and stores texts while the primary is unavailable. */
  readonly database: Database;
  readonly logger: Logger;
  /** Milliseconds for which a primary that did not respond is not called. */
  readonly restMs?: number;
}

const REST_MS = 5_000;
const REMOVALS_AT_ONCE = 50;
/** Errors that the other store would also return. */
const NOT_ELSEWHERE: readonly TriageErrorCode[] = ['too-large', 'invalid-input', 'cancelled', 'internal', 'invalid-config'];

/**
 * Creates an archive that stores texts in MongoDB, and in the database while MongoDB is unavailable, full or
 * refuses a text. `put` returns only after a durable write to either store, and the list of a build's texts
 * is always available. While MongoDB is unavailable, `read` and `lines` throw `storage-failed` (retryable)
 * for texts that only MongoDB has, immediately once the outage is known. `settle` moves waiting texts to
 * MongoDB, and deletes texts there whose removal is pending.
 */
export function createSpillingArchive({ primary, database, logger, restMs = REST_MS }: SpillingOptions): BuildArchive {
  const fallback = createPostgresArchive(database);
  const ledger = createTextLedger(database);
  // Whether it answers, and whether it takes texts: a full disk can still be read.
  const [answers, takes] = [createPause(restMs), createPause(restMs)];

  const { ask, tryPrimary } = primaryWithin({ primary, logger }, answers, takes);

  const readFrom = async <Result>(
    buildId: string,
    name: string,
    read: (archive: BuildArchive) => Promise<Result | null>,
  ): Promise<Result | null> => {
    const { place } = await ledger.standing(buildId, name);
    if (place === null) return null;
    return place === 'database' ? read(fallback) : ask(() => read(primary));
  };

  return {
    driver: primary.driver,

    put: async (buildId, source) => {
      const { place, removalPending } = await ledger.standing(buildId, source.name);
      // What waits is replaced where it waits, or the one that is being moved could win.
      const kept = place !== 'database' && !removalPending ? await tryPrimary(buildId, source) : null;
      if (kept === null) await fallback.put(buildId, source);
      else await ledger.markAway(buildId, kept);
    },

    list: (buildId) => ledger.list(buildId),
    read: (buildId, name) => readFrom(buildId, name, (archive) => archive.read(buildId, name)),
    lines: (buildId, name, from, to) => readFrom(buildId, name, (archive) => archive.lines(buildId, name, from, to)),

    pieces: async function* (buildId, name) {
      const { place } = await ledger.standing(buildId, name);
      if (place !== null) yield* place === 'database' ? fallback.pieces(buildId, name) : heedingFirst(primary.pieces(buildId, name), ask);
    },

    remove: async (buildId) => {
      const removal = await ledger.requestRemoval(buildId);
      try {
        await ask(() => primary.remove(buildId));
      } catch (error) {
        logger.warn({ buildId, error: getErrorMessage(error) }, 'MongoDB did not delete texts; they will be deleted later');
        return;
      }
      await ledger.removalDone(removal);
    },

    check: async () => {
      const state = await ask(() => primary.check()).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
      const { texts, removals } = await ledger.left();
      const said = [
        state instanceof Error ? `MongoDB is unavailable (${state.message}); the database stores new texts` : state,
        texts === 0 ? '' : `${counted(texts, 'text')} waiting`,
        removals === 0 ? '' : `${counted(removals, 'deletion')} waiting`,
      ];
      const sentence = said.filter((part) => part !== '').join('; ');
      if (state instanceof Error) throw new TriageError('storage-failed', sentence, { retryable: true, cause: state });
      return sentence;
    },

    settle: async (signal) => {
      const done = { moved: 0, removed: 0 };
      const isUp = await primary.check().then(
        () => true,
        () => false,
      );
      if (isUp) {
        answers.answered();
        try {
          done.removed = await removePending(primary, ledger, signal);
          done.moved = await moveTexts({ primary, fallback, ledger, logger }, signal);
          await primary.tidy();
        } catch (error) {
          if (isAway(error)) answers.failed();
          logger.warn({ error: getErrorMessage(error) }, 'texts could not be moved to MongoDB; will retry');
        }
      }
      const { texts, removals } = await ledger.left();
      return { ...done, waiting: texts, pending: removals } satisfies SettledTexts;
    },

    close: () => primary.close(),
  };
}

/** Asks the primary only where it is not left alone, and remembers what came of it. */
function primaryWithin(
  { primary, logger }: Pick<SpillingOptions, 'primary' | 'logger'>,
  answers: ReturnType<typeof createPause>,
  takes: ReturnType<typeof createPause>,
) {
  async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!answers.mayAsk()) throw new TriageError('storage-failed', 'MongoDB did not respond recently and is paused.', { retryable: true });
    try {
      const result = await work();
      answers.answered();
      return result;
    } catch (error) {
      if (isAway(error)) answers.failed();
      else answers.answered();
      throw error;
    }
  }

  /**
   * Tries to store a text in the primary. Returns the description of the stored text, or null if the primary
   * did not accept it.
   */
  async function tryPrimary(buildId: string, source: Parameters<BuildArchive['put']>[1]): Promise<ArchivedSource | null> {
    if (!takes.mayAsk()) return null;
    try {
      const kept = await ask(() => primary.keep(buildId, source));
      takes.answered();
      return kept;
    } catch (error) {
      if (error instanceof TriageError && NOT_ELSEWHERE.includes(error.code)) throw error;
      takes.failed();
      logger.warn(
        { buildId, source: source.name, error: getErrorMessage(error) },
        'MongoDB did not store a text; it stays in the database',
      );
      return null;
    }
  }

  return { ask, tryPrimary };
}

/** Yields the same pieces. Only the request for the first piece updates whether the primary is available. */
async function* heedingFirst(pieces: AsyncGenerator<TextPiece>, ask: ReturnType<typeof primaryWithin>['ask']): AsyncGenerator<TextPiece> {
  try {
    const first = await ask(() => pieces.next());
    if (first.done !== true) yield first.value;
    yield* pieces;
  } finally {
    await pieces.return(undefined);
  }
}

async function removePending(primary: MongodbArchive, ledger: TextLedger, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let found = REMOVALS_AT_ONCE; found === REMOVALS_AT_ONCE && !signal.aborted; ) {
    const removals = await ledger.removals(REMOVALS_AT_ONCE);
    found = removals.length;
    for (const removal of removals) {
      if (signal.aborted) return removed;
      await primary.remove(removal.buildId);
      await ledger.removalDone(removal);
      removed += 1;
    }
  }
  return removed;
}

/** Returns true if the store does not respond, as opposed to a response that refuses the request. */
function isAway(error: unknown): boolean {
  if (!(error instanceof TriageError)) return false;
  return error.code === 'upstream-auth' || (error.code === 'storage-failed' && error.retryable && error.details.full !== true);
}

/**
 * Creates a simple circuit breaker. After a failure, no caller may ask for `restMs`; after that, one caller
 * may try in each such period until there is an answer. This keeps all callers from waiting for a store that
 * is unavailable.
 */
function createPause(restMs: number) {
  let until: number | null = null;
  return {
    mayAsk: (): boolean => {
      if (until === null) return true;
      if (performance.now() < until) return false;
      until = performance.now() + restMs;
      return true;
    },
    answered: (): void => {
      until = null;
    },
    failed: (): void => {
      until = performance.now() + restMs;
    },
  };
}

interface MoveDeps {
  readonly primary: MongodbArchive;
  readonly fallback: BuildArchive;
  readonly ledger: TextLedger;
  readonly logger: Logger;
}

const BATCH = 20;
/** Texts of one round that may be left where they are, before the round ends. */
const MOST_REFUSED = 20;

/**
 * Brings texts that wait in the database to the primary, the oldest first, and says how many. Cut off anywhere, a text is in one place or in
 * both. Throws where the primary goes away; a text that it refuses stays where it is.
 */
async function moveTexts(deps: MoveDeps, signal: AbortSignal): Promise<number> {
  const left = new Set<string>();
  let moved = 0;
  while (!signal.aborted && left.size < MOST_REFUSED) {
    const waiting = await deps.ledger.waiting(BATCH + left.size);
    const texts = waiting.filter((text) => !left.has(toTextKey(text)));
    if (texts.length === 0) break;
    for (const text of texts) {
      if (signal.aborted) return moved;
      if (await moveText(deps, text)) moved += 1;
      else left.add(toTextKey(text));
    }
  }
  return moved;
}

async function moveText({ primary, fallback, ledger, logger }: MoveDeps, { buildId, name }: WaitingText): Promise<boolean> {
  // Asked before the row is read: where another one moves the text, and it is replaced there, this one must not put the old one back.
  const replacing = await primary.generation(buildId, name);
  const text = await ledger.waitingText(buildId, name);
  if (text === null) return false;
  const stored = await fallback.read(buildId, name);
  if (stored === null) return false;
  try {
    await primary.put(buildId, { name, kind: text.kind, notes: [...text.notes], text: stored }, replacing);
  } catch (error) {
    if (!(error instanceof TriageError) || error.code === 'storage-failed') throw error;
    logger.warn({ buildId, source: name, error: getErrorMessage(error) }, 'a text stays in the database');
    return false;
  }
  // A majority has acknowledged it; it is given up here only once it was read there.
  if ((await primary.read(buildId, name)) !== stored) {
    logger.warn({ buildId, source: name }, 'a text was read back differently and stays in the database');
    return false;
  }
  return await ledger.markMoved(text);
}

function toTextKey({ buildId, name }: WaitingText): string {
  return JSON.stringify([buildId, name]);
}

/** A text that is kept in the database until it can be brought to the other store; `version` changes whenever it is replaced. */
const WaitingText = ArchivedSource.pick({ name: true, kind: true, notes: true }).extend({ buildId: z.string(), version: z.string() });
type WaitingText = z.infer<typeof WaitingText>;

/** `place` is null where the build has no such text; `removalPending`: the other store is still to forget what it has of this build. */
const Standing = z.object({ place: z.enum(['database', 'mongodb']).nullable(), removalPending: z.boolean() });
const Removal = z.object({ buildId: z.string(), version: z.string() });
type Removal = z.infer<typeof Removal>;
const Left = z.object({ texts: z.coerce.number(), removals: z.coerce.number() });

type TextLedger = ReturnType<typeof createTextLedger>;

/**
 * Creates the ledger of the texts of a build and their location, as they may be spread over two stores. The
 * rows are authoritative; a stored text without a row belongs to no build.
 */
function createTextLedger(db: Database) {
  return {
    standing: async (buildId: string, name: string) => Standing.parse((await db.query(STANDING, [buildId, name]))[0]),
    list: async (buildId: string) => await all(db, ArchivedSource, LIST, [buildId]),
    /** The other store has this text now; what was here of it goes. */
    markAway: async (buildId: string, { name, kind, lines, bytes, notes }: ArchivedSource) => {
      await db.transaction(async (sql) => {
        await sql.query(MARK_AWAY, [buildId, name, kind, lines, bytes, notes]);
        await sql.query(DROP_CHUNKS, [buildId, name]);
      });
    },
    /**
     * Marks a waiting text as moved. Returns `false` and changes nothing if the text was replaced or removed
     * in the meantime.
     */
    markMoved: async ({ buildId, name, version }: WaitingText) =>
      await db.transaction(async (sql) => {
        const [moved] = await sql.query(MARK_MOVED, [buildId, name, version]);
        if (moved !== undefined) await sql.query(DROP_CHUNKS, [buildId, name]);
        return moved !== undefined;
      }),
    /** The oldest texts that wait; of builds without a pending removal. */
    waiting: async (limit: number) => await all(db, WaitingText, WAITING, [limit]),
    waitingText: async (buildId: string, name: string) => await first(db, WaitingText, WAITING_TEXT, [buildId, name]),
    /** Removes all that is here, and records that the other store is still to do the same. */
    requestRemoval: async (buildId: string) =>
      await db.transaction(async (sql) => {
        await sql.query('delete from build_sources where build_id = $1', [buildId]);
        return Removal.parse((await sql.query(REQUEST_REMOVAL, [buildId]))[0]);
      }),
    removals: async (limit: number) => await all(db, Removal, REMOVALS, [limit]),
    /** If the removal was requested again in the meantime, it stays pending. */
    removalDone: async ({ buildId, version }: Removal) => {
      await db.query('delete from archive_removals where build_id = $1 and owed_at::text = $2', [buildId, version]);
    },
    /** Texts that wait and removals that are pending. */
    left: async () => Left.parse((await db.query(LEFT))[0]),
  };
}

const STANDING = `
  select (select place from build_sources where build_id = $1 and name = $2) as place,
    exists (select from archive_removals where build_id = $1) as "removalPending"`;

const LIST = 'select name, kind, lines, bytes, notes from build_sources where build_id = $1 order by stored_at, name';

const MARK_AWAY = `
  insert into build_sources (build_id, name, kind, lines, bytes, notes, place) values ($1, $2, $3, $4, $5, $6, 'mongodb')
  on conflict (build_id, name) do update set
    kind = excluded.kind, lines = excluded.lines, bytes = excluded.bytes, notes = excluded.notes, stored_at = clock_timestamp(),
    place = 'mongodb'`;

const DROP_CHUNKS = 'delete from build_source_chunks where build_id = $1 and name = $2';

const MARK_MOVED = `
  update build_sources set place = 'mongodb'
  where build_id = $1 and name = $2 and stored_at::text = $3 and place = 'database'
    and not exists (select from archive_removals r where r.build_id = build_sources.build_id)
  returning name`;

const WAITS = `
  select s.build_id as "buildId", s.name, s.kind, s.notes, s.stored_at::text as version from build_sources s
  where s.place = 'database' and not exists (select from archive_removals r where r.build_id = s.build_id)`;

const WAITING = `${WAITS} order by s.stored_at limit $1`;

const WAITING_TEXT = `${WAITS} and s.build_id = $1 and s.name = $2`;

const REQUEST_REMOVAL = `
  insert into archive_removals (build_id) values ($1) on conflict (build_id) do update set owed_at = clock_timestamp()
  returning build_id as "buildId", owed_at::text as version`;

const REMOVALS = 'select build_id as "buildId", owed_at::text as version from archive_removals order by owed_at limit $1';

const LEFT = `
  select (select count(*) from build_sources where place = 'database') as texts, (select count(*) from archive_removals) as removals`;
