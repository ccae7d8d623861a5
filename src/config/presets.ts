import { join } from 'node:path';
import type { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import type { Environment } from './load.ts';
import { COMMON, type Config } from './schema.ts';

/** One process, one data directory, nothing to install. */
export function embedded(dataDir: string, knowledgeFolder: string) {
  return {
    ...COMMON,
    database: { driver: 'pglite', dataDir: join(dataDir, 'database') },
    jobQueue: { driver: 'pg-boss', concurrency: 2, inServe: true },
    buildArchive: { driver: 'postgres' },
    vectorIndex: { driver: 'pgvector' },
    knowledge: { folder: knowledgeFolder },
  } satisfies Omit<z.input<typeof Config>, 'auth'>;
}

/**
 * Services of their own, so that any number of processes share the work. Their addresses have no default: whoever leaves one
 * out is told its variable.
 */
function server(knowledgeFolder: string): object {
  return {
    ...COMMON,
    database: { driver: 'postgres', readerUrl: null, ownerUrl: null, poolSize: 10 },
    jobQueue: { driver: 'bullmq', concurrency: 4, inServe: false, prefix: 'faultline' },
    buildArchive: { driver: 'mongodb', database: 'faultline' },
    vectorIndex: { driver: 'pgvector', index: 'faultline', baseUrl: null },
    knowledge: { folder: knowledgeFolder },
  };
}

/** The preset that the environment names in FAULTLINE_PRESET; unset, an address of a PostgreSQL server means `server`. */
export function presetOf(environment: Environment, dataDir: string, knowledgeFolder: string): object {
  const name =
    environment.FAULTLINE_PRESET?.trim() ||
    (environment.FAULTLINE_DATABASE_URL || environment.FAULTLINE_DATABASE_URL_FILE ? 'server' : 'embedded');
  if (name === 'embedded') return embedded(dataDir, knowledgeFolder);
  if (name === 'server') return server(knowledgeFolder);
  throw new TriageError('invalid-config', `FAULTLINE_PRESET must be embedded or server, not "${name}"`);
}
