/** The part of a pg pool that the queue uses. */
export interface QueuePool {
  connect(): Promise<QueueClient>;
}

interface QueueClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
  /** With `true` the connection is thrown away. */
  release(broken?: boolean): void;
}

/** What pg-boss asks of a database. */
export interface PoolExecutor {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: object[] }>;
}

/**
 * Lets pg-boss run its SQL on our pool, one statement or block at a time. On PGlite's single connection that keeps it out
 * of everybody's open transaction; a block that fails half-way is rolled back, or the connection would stay in it. A connection on which
 * not even that works is thrown away: behind a server that went silent whoever got it next would wait in vain.
 */
export function poolExecutor(pool: QueuePool): PoolExecutor {
  return {
    executeSql: async (text, values) => {
      const client = await pool.connect();
      try {
        const rows = rowsOf(await client.query(text, values));
        client.release();
        return { rows };
      } catch (error) {
        const isBroken = await client.query('ROLLBACK').then(
          () => false,
          () => true,
        );
        client.release(isBroken);
        throw error;
      }
    },
  };
}

/** A block of several statements answers with one result for each. */
function rowsOf(result: unknown): object[] {
  if (Array.isArray(result)) return result.flatMap(rowsOf);
  if (typeof result === 'object' && result !== null && 'rows' in result && Array.isArray(result.rows)) return result.rows;
  return [];
}
