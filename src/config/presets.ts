import { join } from 'node:path';
import type { z } from 'zod';
import { COMMON, type Config } from './schema.ts';

type ConfigInput = z.input<typeof Config>;

/** One process, one data directory, nothing to install. */
export function embedded(dataDir: string, knowledgeFolder: string): ConfigInput {
  return {
    ...COMMON,
    database: { driver: 'pglite', dataDir: join(dataDir, 'database') },
    jobQueue: { driver: 'pg-boss', concurrency: 2 },
    buildArchive: { driver: 'postgres' },
    vectorIndex: { driver: 'pgvector' },
    knowledge: { folder: knowledgeFolder },
  };
}
