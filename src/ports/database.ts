/** A place to run SQL: `$1` placeholders, values never spliced in. */
export interface Sql {
  /** Runs one statement; rows come back as they are. Throws TriageError `storage-failed` (retryable where the connection broke). */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** The database as a whole. Inside `transaction` use only the `Sql` handed in: on PGlite the outer database would wait for ever. */
export interface Database extends Sql {
  readonly driver: 'pglite' | 'postgres';
  /** Only one process can have it open, so whatever is marked as held by another is held by nobody. */
  readonly exclusive: boolean;
  /** The same data through sessions in which nothing can be written, perhaps of a role that may only read; absent on PGlite. */
  readonly reader?: Pick<Database, 'query' | 'transaction'>;
  /** All or nothing. `work` may be run again, where the database rolled it back to let another transaction go on. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Applies the numbered files of `migrations/`; safe to call from two processes at once. */
  migrate(): Promise<{ readonly applied: readonly string[] }>;
  close(): Promise<void>;
}
