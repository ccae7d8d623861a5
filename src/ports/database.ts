import { z } from 'zod';

/** A place to run SQL: `$1` placeholders, values never spliced in. */
export interface Sql {
  /**
   * Runs one statement; rows come back as they are. Throws TriageError `storage-failed` (retryable where the
   * connection broke).
   */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
}

/**
 * The database as a whole. Inside `transaction` use only the `Sql` handed in: on PGlite the outer database
 * would wait for ever.
 */
export interface Database extends Sql {
  readonly driver: 'pglite' | 'postgres';
  /** True if only one process can have the database open. Leases of other processes are then void. */
  readonly exclusive: boolean;
  /**
   * The same data through sessions in which nothing can be written, perhaps of a role that may only read;
   * absent on PGlite.
   */
  readonly reader?: Pick<Database, 'query' | 'transaction'>;
  /**
   * Runs `work` in a transaction, all or nothing. `work` may run again if the database rolled it back to let
   * another transaction proceed.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /**
   * Applies the numbered files of `migrations/`; safe to call from two processes at once. Throws
   * `invalid-config` where the database was migrated with other forms of them.
   */
  migrate(options?: MigrateOptions): Promise<MigrateResult>;
  /**
   * Allocates some megabytes and frees them again, if a statement failed because the disk was full. Throws
   * while there is no room.
   */
  checkRoom?(): Promise<void>;
  /**
   * Calls `hear` with the payload of each notification on a channel until it is closed; absent if no other
   * process can notify. Notifications that are sent while the connection is lost are missed.
   */
  listen?(channel: string, hear: (payload: string) => void): { close(): Promise<void> };
  close(): Promise<void>;
}

export interface MigrateOptions {
  /** True to compare the whole schema with that of the migrations, and to repair it. */
  readonly repair?: boolean;
}

export interface MigrateResult {
  readonly applied: readonly string[];
  /** The objects of the schema that were missing or different, if a repair was requested. */
  readonly repaired?: readonly string[];
}

export interface Page {
  /** 1..200 */
  readonly limit: number;
  readonly offset: number;
}

/** The same as a query says it. */
export const pageQuery = { limit: queryInteger(1, 200, 50), offset: queryInteger(0, 1_000_000, 0) };

/**
 * Creates the schema of a page of items. `next` is the offset of the next page, or null if this page was not
 * full.
 */
export function createListSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), limit: z.int(), offset: z.int(), next: z.int().nullable() });
}

/** Converts the items of this page to the form of `createListSchema`. */
export function toPage<Item>(items: Item[], { limit, offset }: Page) {
  return { items, limit, offset, next: items.length < limit ? null : offset + limit };
}

/**
 * Creates a schema for an integer in a query string: only digits, so that an empty value is not read as zero.
 * The default is `standard`.
 */
export function queryInteger(minimum: number, maximum: number, standard: number) {
  const read = (text: unknown) => (typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text);
  const number = z.preprocess(
    read,
    z.int(`must be a whole number from ${minimum} to ${maximum}, in digits`).min(minimum).max(maximum),
  );
  return number.default(standard).meta({ type: 'integer', minimum, maximum, default: standard });
}

/**
 * The places between two writes where a process may die, in the order in which one failure passes them. The
 * graph's nodes have their own.
 */
type FailpointName =
  /** The lease of a triage job is taken. */
  | 'claimed'
  /** Analysis, review and items of work are written and not committed. */
  | 'concluding'
  /** They are committed. */
  | 'concluded'
  /** The triage job has ended. */
  | 'finished'
  /** An item of work is held, and its handler was not called yet. */
  | 'work-taken'
  /** Its handler is done with it, as when the other side was called, and the row does not say so yet. */
  | 'work-handled'
  /** The row says so. */
  | 'work-finished'
  /** A person's decision is written and not committed. */
  | 'deciding'
  /** It is committed. */
  | 'decided';

/**
 * A failpoint is called when the code reaches a named place, with its subject: the id of a build, or the
 * topic and key of an entry. Only tests set a failpoint, to end the process there.
 */
export type Failpoint = (name: FailpointName, subject: string) => void;
