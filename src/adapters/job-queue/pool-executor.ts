/** The part of a pg pool that the queue uses. */
export interface QueuePool {
  connect(): Promise<QueueClient>;
}

interface QueueClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
  release(): void;
}

/** What pg-boss asks of a database. */
export interface PoolExecutor {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: object[] }>;
}

/**
 * Lets pg-boss run its SQL on our pool, one statement or block at a time. On PGlite's single connection that keeps it out
 * of everybody's open transaction; a block that fails half-way is rolled back, or the connection would stay in it.
 */
export function poolExecutor(pool: QueuePool): PoolExecutor {
  return {
    executeSql: async (text, values) => {
      const client = await pool.connect();
      try {
        return { rows: rowsOf(await client.query(text, values)) };
      } catch (error) {
        await client.query('ROLLBACK').catch(() => undefined);
        throw error;
      } finally {
        client.release();
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
