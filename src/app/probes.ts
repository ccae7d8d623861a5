import { readdir } from 'node:fs/promises';
import { z } from 'zod';
import type { MongodbFacts } from '../adapters/probe/mongodb-probe.ts';
import type { RedisFacts } from '../adapters/probe/redis-probe.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { Logger } from '../ports/telemetry.ts';
import { checkVectorIndex, openNamedEmbedder } from './open-adapters.ts';

/** What doctor asks each service: one cheap question over a connection of its own. All of them throw what is wrong. */

const DatabaseRow = z.object({
  version: z.string(),
  now: z.number(),
  migrated: z.boolean(),
  megabytes: z.number(),
});

export interface DatabaseFacts {
  readonly version: string;
  /** How far its clock is ahead of ours, in milliseconds. */
  readonly aheadMs: number;
  /** Schema changes that this version brings and the database has not seen. */
  readonly pending: readonly string[];
  /** Why they could not be applied, and what mends it; null where they could. */
  readonly refused: string | null;
  /** Schema changes that a newer version made. */
  readonly newer: readonly string[];
  readonly megabytes: number;
}

/** `ownerUrl` is that of the role that migrates, where it is another. */
export async function probeDatabase(url: string, ownerUrl: string | null = null): Promise<DatabaseFacts> {
  const { openPostgres, rehearseMigrations } = await import('../stores/database/postgres.ts');
  const { MIGRATIONS_FOLDER } = await import('../stores/database/run-migrations.ts');
  const database = await openPostgres({ url, poolSize: 2 });
  try {
    const row = DatabaseRow.parse((await database.query(FACTS))[0]);
    const names = row.migrated ? await database.query<{ name: string }>('select name from schema_migrations') : [];
    const applied = new Set(names.map(({ name }) => name));
    const known = (await readdir(MIGRATIONS_FOLDER)).filter((name) => name.endsWith('.sql')).map((name) => name.slice(0, -4));
    const pending = known.filter((name) => !applied.has(name));
    return {
      version: row.version,
      aheadMs: row.now - Date.now(),
      pending,
      refused: pending.length === 0 ? null : await rehearseMigrations(ownerUrl ?? url).then(() => null, messageOf),
      newer: [...applied].filter((name) => !known.includes(name)),
      megabytes: row.megabytes,
    };
  } finally {
    await database.close();
  }
}

const FACTS = `
  select current_setting('server_version') as version, (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
    to_regclass('schema_migrations') is not null as migrated, (pg_database_size(current_database()) / 1048576)::float8 as megabytes`;

export async function probeRedis(url: string): Promise<RedisFacts> {
  return (await import('../adapters/probe/redis-probe.ts')).probeRedis(url);
}

export async function probeMongodb(url: string, database: string): Promise<MongodbFacts> {
  return (await import('../adapters/probe/mongodb-probe.ts')).probeMongodb(url, database);
}

/** A sentence about the index. */
export async function probeVectorIndex(config: Config, signal: AbortSignal): Promise<string> {
  return checkVectorIndex(config, signal);
}

/** Embeds one word; says the model and how long its vectors are. */
export async function probeEmbedder(config: Config, logger: Logger, signal: AbortSignal): Promise<string> {
  const embedder = await openNamedEmbedder(config, logger);
  const [vector] = await embedder.embed(['ready'], signal);
  if (vector === undefined) throw new TriageError('invalid-input', 'The embedding server returned no vector');
  return `${embedder.name}, ${vector.length} dimensions`;
}
