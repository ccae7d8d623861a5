import { statfs } from 'node:fs/promises';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Database } from '../ports/database.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { VectorIndex } from '../ports/vector-index.ts';
import { createDeliveryStore } from '../store/builds.ts';
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
/** A delivery that was received longer ago than this has found no processor, or more came than it can record. */
const LATE_MS = 60_000;
const MEGABYTE = 1024 * 1024;

/** Every backend of an installation, by the names that `/readyz` and the metrics use. Only the database is needed, and the disk that it stands on. */
export function backendChecks({ config, database, jobQueue, archive, vectorIndex }: Backends): BackendCheck[] {
  const isHere = vectorIndex.driver !== 'pinecone';
  return [
    { name: 'database', needed: true, freshMs: DATABASE_MS, ask: () => askDatabase(database) },
    ...diskChecks(config),
    { name: 'deliveries', freshMs: SERVICE_MS, ask: () => askDeliveries(database) },
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

/** Of an embedded database: what it stands on fills up with logs. */
function diskChecks({ database, disk }: Config): BackendCheck[] {
  if (database.driver !== 'pglite') return [];
  const ask = async () => {
    const { bavail, bsize } = await statfs(database.dataDir);
    const free = `${Math.floor((bavail * bsize) / MEGABYTE)} MB free`;
    if (bavail * bsize >= disk.minFreeMegabytes * MEGABYTE) return free;
    throw new TriageError(
      'storage-failed',
      `The data directory has ${free}, less than the minimum of ${disk.minFreeMegabytes} (FAULTLINE_MIN_FREE_MB).`,
    );
  };
  return [{ name: 'disk', needed: true, freshMs: SERVICE_MS, ask }];
}

/** Accepted webhooks of which no build was made: for a moment that is as it should be. */
async function askDeliveries(database: Database): Promise<string | { readonly degraded: string }> {
  const { landed, oldestMs, refused, refusal } = await createDeliveryStore(database).backlog();
  if (refused > 0) return { degraded: `${refused} could not be recorded and must be delivered again: ${refusal ?? 'see the server log'}` };
  if ((oldestMs ?? 0) > LATE_MS)
    return { degraded: `${landed} accepted but not yet recorded, the oldest ${Math.round((oldestMs ?? 0) / 1000)} s ago` };
  return `${landed} in progress`;
}
