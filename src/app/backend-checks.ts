import type { Config } from '../config/schema.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Database } from '../ports/database.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { VectorIndex } from '../ports/vector-index.ts';
import { checkVectorIndex } from './open-adapters.ts';
import { outsideChecks } from './outside-checks.ts';
import type { BackendCheck } from './readiness.ts';

export interface Backends {
  readonly config: Config;
  readonly database: Database;
  readonly jobQueue: JobQueue;
  readonly archive: BuildArchive;
  readonly vectorIndex: VectorIndex;
}

/** Probes come every few seconds from more than one side. */
const DATABASE_MS = 1_000;
const SERVICE_MS = 5_000;
const CLOUD_MS = 30_000;

/** Every backend of an installation, by the names that `/readyz` and the metrics use. Only the database is needed. */
export function backendChecks({ config, database, jobQueue, archive, vectorIndex }: Backends): BackendCheck[] {
  const isHere = vectorIndex.driver !== 'pinecone';
  return [
    { name: 'database', needed: true, freshMs: DATABASE_MS, ask: () => askDatabase(database) },
    { name: 'jobQueue', freshMs: SERVICE_MS, ask: async () => `${jobQueue.driver}: ${await jobQueue.depth()} waiting or running` },
    { name: 'archive', freshMs: SERVICE_MS, ask: async () => `${archive.driver}: ${(await archive.check?.()) ?? 'in the database'}` },
    {
      name: 'vectorIndex',
      freshMs: isHere ? SERVICE_MS : CLOUD_MS,
      ask: async (signal) =>
        isHere ? `${vectorIndex.driver}: ${await vectorIndex.count('knowledge')} entries` : await checkVectorIndex(config, signal),
    },
    ...outsideChecks(config),
  ];
}

async function askDatabase(database: Database): Promise<string> {
  await database.query('select 1');
  return `${database.driver} answers`;
}
