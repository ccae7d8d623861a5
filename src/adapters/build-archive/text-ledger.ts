import { z } from 'zod';
import { SourceKind } from '../../domain/build.ts';
import type { ArchivedSource } from '../../ports/build-archive.ts';
import type { Database } from '../../ports/database.ts';

/** A text that is kept in the database until it can be brought to the other store. */
export interface WaitingText {
  readonly buildId: string;
  readonly name: string;
  readonly kind: ArchivedSource['kind'];
  readonly notes: readonly string[];
  /** Changes whenever the text is replaced. */
  readonly version: string;
}

export interface Standing {
  /** Null where the build has no such text. */
  readonly place: 'database' | 'mongodb' | null;
  /** The other store is still to forget what it has of this build. */
  readonly removalOwed: boolean;
}

/** Which texts a build has and where they are, while they may be in two stores. The rows are the truth; what no row names is nobody's. */
export interface TextLedger {
  standing(buildId: string, name: string): Promise<Standing>;
  list(buildId: string): Promise<ArchivedSource[]>;
  /** The other store has this text now; what was here of it goes. */
  markAway(buildId: string, source: ArchivedSource): Promise<void>;
  /** The same for a text that waited; `false` where it was replaced or removed meanwhile: nothing changes. */
  markMoved(text: WaitingText): Promise<boolean>;
  /** The oldest texts that wait; of builds without an owed removal. */
  waiting(limit: number): Promise<WaitingText[]>;
  waitingText(buildId: string, name: string): Promise<WaitingText | null>;
  /** Removes all that is here, and records that the other store is still to do the same. */
  oweRemoval(buildId: string): Promise<Removal>;
  removals(limit: number): Promise<Removal[]>;
  /** Where the removal was owed again meanwhile, it stays owed. */
  removalDone(removal: Removal): Promise<void>;
  /** Texts that wait and removals that are owed. */
  left(): Promise<{ readonly texts: number; readonly removals: number }>;
}

export interface Removal {
  readonly buildId: string;
  readonly version: string;
}

const Found = z.object({ place: z.enum(['database', 'mongodb']).nullable(), removalOwed: z.boolean() });
const Listed = z.object({ name: z.string(), kind: SourceKind, lines: z.int(), bytes: z.int(), notes: z.array(z.string()) });
const Waiting = z.object({ buildId: z.string(), name: z.string(), kind: SourceKind, notes: z.array(z.string()), version: z.string() });
const Owed = z.object({ buildId: z.string(), version: z.string() });
const Left = z.object({ texts: z.coerce.number(), removals: z.coerce.number() });

export function createTextLedger(db: Database): TextLedger {
  return {
    standing: async (buildId, name) => {
      const [row] = await db.query(STANDING, [buildId, name]);
      return Found.parse(row);
    },
    list: async (buildId) => {
      const rows = await db.query(LIST, [buildId]);
      return rows.map((row) => Listed.parse(row));
    },
    markAway: async (buildId, { name, kind, lines, bytes, notes }) => {
      await db.transaction(async (sql) => {
        await sql.query(MARK_AWAY, [buildId, name, kind, lines, bytes, notes]);
        await sql.query(DROP_CHUNKS, [buildId, name]);
      });
    },
    markMoved: async ({ buildId, name, version }) =>
      await db.transaction(async (sql) => {
        const [moved] = await sql.query(MARK_MOVED, [buildId, name, version]);
        if (moved === undefined) return false;
        await sql.query(DROP_CHUNKS, [buildId, name]);
        return true;
      }),
    waiting: async (limit) => (await db.query(WAITING, [limit])).map((row) => Waiting.parse(row)),
    waitingText: async (buildId, name) => {
      const [row] = await db.query(WAITING_TEXT, [buildId, name]);
      return row === undefined ? null : Waiting.parse(row);
    },
    oweRemoval: async (buildId) =>
      await db.transaction(async (sql) => {
        await sql.query('delete from build_sources where build_id = $1', [buildId]);
        const [row] = await sql.query(OWE_REMOVAL, [buildId]);
        return Owed.parse(row);
      }),
    removals: async (limit) => (await db.query(REMOVALS, [limit])).map((row) => Owed.parse(row)),
    removalDone: async ({ buildId, version }) => {
      await db.query('delete from archive_removals where build_id = $1 and owed_at::text = $2', [buildId, version]);
    },
    left: async () => {
      const [row] = await db.query(LEFT);
      return Left.parse(row);
    },
  };
}

const STANDING = `
  select (select place from build_sources where build_id = $1 and name = $2) as place,
    exists (select from archive_removals where build_id = $1) as "removalOwed"`;

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

const OWE_REMOVAL = `
  insert into archive_removals (build_id) values ($1) on conflict (build_id) do update set owed_at = clock_timestamp()
  returning build_id as "buildId", owed_at::text as version`;

const REMOVALS = 'select build_id as "buildId", owed_at::text as version from archive_removals order by owed_at limit $1';

const LEFT = `
  select (select count(*) from build_sources where place = 'database') as texts, (select count(*) from archive_removals) as removals`;
