import type pg from 'pg';

/**
 * Limits so that no statement, lock, forgotten transaction or silent server holds others up for ever, in milliseconds. A caller waits
 * at most `connectionTimeoutMillis` for a connection of a pool that is busy, and is then told to come back.
 */
export const LIMITS = {
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  statement_timeout: 60_000,
  // ours, for a server that says nothing any more: its own limit comes first where it still lives
  query_timeout: 65_000,
  lock_timeout: 20_000,
  idle_in_transaction_session_timeout: 60_000,
} satisfies pg.PoolConfig;

/** A migration may take its time, and waits for another process's. Nothing is served on its connection. */
export const MIGRATION_LIMITS = {
  connectionTimeoutMillis: 10_000,
  statement_timeout: 0,
  lock_timeout: 300_000,
  keepAlive: true,
} satisfies pg.ClientConfig;

/** Callers in line for a connection, for each connection, before the next one is refused at once. */
export const LINE_PER_CONNECTION = 50;
