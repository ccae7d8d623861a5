import { z } from 'zod';

/** A client that runs SQL. Values are passed by `$1` placeholders and never inserted into the text. */
export interface Sql {
  /**
   * Runs one statement and returns its rows unchanged. Throws TriageError `storage-failed`, retryable if the
   * connection broke.
   */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
}

/**
 * The database as a whole. Inside `transaction`, use only the given `Sql`: on PGlite, the outer database
 * would wait forever.
 */
export interface Database extends Sql {
  readonly driver: 'pglite' | 'postgres';
  /** True if only one process can have the database open. Leases of other processes are then void. */
  readonly exclusive: boolean;
  /**
   * A connection to the same data in sessions that cannot write, possibly with a role that may only read.
   * Absent on PGlite.
   */
  readonly reader?: Pick<Database, 'query' | 'transaction'>;
  /**
   * Runs `work` in a transaction. `work` may run again if the database rolled it back to let another
   * transaction proceed.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /**
   * Applies the numbered files of `migrations/`. Two processes may call it at the same time. Throws
   * `invalid-config` if the database was migrated with other versions of these files.
   */
  migrate(options?: MigrateOptions): Promise<MigrateResult>;
  /**
   * Allocates some megabytes and frees them again, after a statement failed because the disk was full. Throws
   * while there is no space.
   */
  checkRoom?(): Promise<void>;
  /**
   * Calls `hear` with the payload of each notification on a channel until it is closed. Absent if no other
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
  /** The maximum number of items, 1 to 200. */
  readonly limit: number;
  readonly offset: number;
}

/** The same fields as query parameters. */
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

/** Takes a page of a list that was read as a whole. */
export function takePage<Item>(all: readonly Item[], page: Page) {
  return toPage(all.slice(page.offset, page.offset + page.limit), page);
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
 * The points between two writes at which a process may die, in the order in which one failure passes them.
 * The graph's nodes have their own.
 */
type FailpointName =
  /** The lease of a triage job was taken. */
  | 'claimed'
  /** The analysis, the review and the items of work were written but not committed. */
  | 'concluding'
  /** They were committed. */
  | 'concluded'
  /** The triage job has ended. */
  | 'finished'
  /** An item of work was taken, and its handler was not called yet. */
  | 'work-taken'
  /**
   * The handler has finished, for example after a call to another system, but the row does not say so yet.
   */
  | 'work-handled'
  /** The row says that the item is finished. */
  | 'work-finished'
  /** A person's decision was written but not committed. */
  | 'deciding'
  /** The decision was committed. */
  | 'decided';

/**
 * A failpoint is called when the code reaches a named place, with its subject: the id of a build, or the
 * topic and key of an entry. Only tests set a failpoint, to end the process there.
 */
export type Failpoint = (name: FailpointName, subject: string) => void;
