import { z } from 'zod';
import { listOwnSecrets } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { digestOfToken } from '../domain/access.ts';
import { getErrorMessage } from '../domain/errors.ts';
import { formatCount } from '../lib/text.ts';
import { type Check, type Finding, findClockSkew, note, ok, wrong } from '../ports/health.ts';
import type { ShownSecret } from '../stores/builds.ts';
import { checkVectorIndex } from './open-adapters.ts';

const REMEDY_SCHEMA =
  'restore the file if it was changed here; otherwise back up, then run "faultline migrate --repair"';
const MIN_POSTGRES = 13;

export const REMEDY_DIRECTORY = 'the data directory may be damaged: restore it from a backup';
export const REMEDY_SERVER =
  'check FAULTLINE_DATABASE_URL: is the server running there, can this machine reach it, and are ' +
  'the user, password and database correct?';
export const REMEDY_REDIS =
  'check FAULTLINE_REDIS_URL: is the server running there, and is the password correct? Until ' +
  'then, workers look for builds in the database';
export const REMEDY_MONGODB =
  'check FAULTLINE_MONGODB_URL: is the server running there, and are the user and password ' +
  'correct? Until then, new logs are stored in PostgreSQL and stay there';
export const REMEDY_INDEX =
  'check PINECONE_API_KEY and FAULTLINE_PINECONE_INDEX: the index needs the cosine metric and as ' +
  'many dimensions as the embedder produces. Until then, there is no semantic search';

/**
 * Lists the checks of the configured servers that store Faultline's data. Each check uses its own connection.
 */
export function listServerChecks(config: Config): Check[] {
  const { database, jobQueue, buildArchive, vectorIndex } = config;
  const checks: Check[] = [];
  if (database.driver === 'postgres') {
    const { url, ownerUrl } = database;
    checks.push({
      name: 'database',
      remedy: REMEDY_SERVER,
      ask: () => checkPostgres({ url, ownerUrl }, config),
    });
  }
  if (jobQueue.driver === 'bullmq') {
    const ask = async () => (await import('../work/drivers/redis-check.ts')).checkRedisServer(jobQueue.url);
    checks.push({ name: 'redis', remedy: REMEDY_REDIS, ask });
  }
  if (buildArchive.driver === 'mongodb') {
    const { url, database: name } = buildArchive;
    const ask = async () =>
      (await import('../stores/archive/mongodb-check.ts')).checkMongodbServer(url, name);
    checks.push({ name: 'mongodb', remedy: REMEDY_MONGODB, ask });
  }
  if (vectorIndex.driver === 'pinecone') {
    const ask = async (signal: AbortSignal) => ok('pinecone', await checkVectorIndex(config, signal));
    checks.push({ name: 'pinecone', remedy: REMEDY_INDEX, ask });
  }
  return checks;
}

async function checkPostgres(
  place: { readonly url: string; readonly ownerUrl: string | null },
  config: Config,
): Promise<Finding[]> {
  const { version, aheadMs, pending, refused, newer, changed, megabytes, shown } = await probeDatabase(
    place.url,
    place.ownerUrl,
  );
  const name = 'database';
  const findings: Finding[] = [];
  if (Number.parseInt(version, 10) < MIN_POSTGRES)
    findings.push(wrong(name, `PostgreSQL ${version} is too old`, `use PostgreSQL ${MIN_POSTGRES} or newer`));
  if (newer.length > 0)
    findings.push(
      wrong(
        name,
        `a newer Faultline has changed the schema (${newer.join(', ')})`,
        'run that version or a newer one',
      ),
    );
  if (changed !== null) findings.push(wrong(name, changed, REMEDY_SCHEMA));
  if (refused !== null) findings.push(wrong(name, 'the schema cannot be brought up to date', refused));
  else if (pending.length > 0) {
    const says = `${formatCount(pending.length, 'schema change is', 'schema changes are')} pending`;
    findings.push(note(name, says, 'run "faultline migrate", or let the next start apply them'));
  }
  const all = [...findings, ...findClockSkew('database clock', aheadMs)];
  const well = ok(name, `PostgreSQL ${version}, ${Math.round(megabytes)} MB, schema up to date`);
  return [...(all.length > 0 ? all : [well]), ...findShownSecrets(shown, listOwnSecrets(config))];
}

const DatabaseRow = z.object({
  version: z.string(),
  now: z.number(),
  megabytes: z.number(),
});

/** Probes a database server. `ownerUrl` is the URL of the role that migrates, if it is a different one. */
async function probeDatabase(url: string, ownerUrl: string | null) {
  const { openPostgres, rehearseMigrations } = await import('../stores/database/postgres.ts');
  const { MIGRATIONS_FOLDER, readMigrationFiles } = await import('../stores/database/migration-files.ts');
  const { compareMigrations, describeChanged, readApplied } = await import(
    '../stores/database/applied-migrations.ts'
  );
  const { createStores } = await import('../stores/stores.ts');
  const database = await openPostgres({ url, poolSize: 2 });
  try {
    const row = DatabaseRow.parse((await database.query(FACTS))[0]);
    const status = compareMigrations(
      await readMigrationFiles(MIGRATIONS_FOLDER),
      await readApplied(database),
    );
    const pending = [...status.pending, ...status.unverified].map(({ name }) => name);
    const schemaIsCurrent = pending.length === 0 && status.changed.length === 0;
    return {
      version: row.version,
      /** The milliseconds by which the database's clock is ahead of ours. */
      aheadMs: row.now - Date.now(),
      /** The schema changes of this version that were not applied to the database yet. */
      pending,
      /** The reason why they cannot be applied, and how to fix it. Null if they can be applied. */
      refused:
        pending.length === 0
          ? null
          : await rehearseMigrations(ownerUrl ?? url).then(() => null, getErrorMessage),
      /** The schema changes that a newer version made. */
      newer: status.newer,
      /**
       * A description of the applied schema changes that differ from those of this version. Null if there are
       * none.
       */
      changed: describeChanged(status),
      megabytes: row.megabytes,
      /** The service's own secrets that appeared in logs. */
      shown: schemaIsCurrent ? await createStores(database, { now: Date.now }).builds.shownSecrets() : [],
    };
  } finally {
    await database.close();
  }
}

const FACTS = `
  select current_setting('server_version') as version,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
    (pg_database_size(current_database()) / 1048576)::float8 as megabytes`;

/**
 * Finds our own secrets that are still valid and that a log has exposed. Every reader of that log at its CI
 * can use them.
 */
export function findShownSecrets(
  secrets: readonly ShownSecret[],
  ownSecrets: ReturnType<typeof listOwnSecrets>,
): Finding[] {
  const settings = new Map(ownSecrets.map(({ setting, secret }) => [digestOfToken(secret), setting]));
  return secrets.flatMap(({ digest, token, repository, pipeline, number, builds }) => {
    const setting = settings.get(digest);
    if (setting === undefined && token === null) return [];
    const what = setting === undefined ? `the token ${token}` : `a value of ${setting}`;
    const more = builds > 1 ? ` (and of ${formatCount(builds - 1, 'other build')})` : '';
    const says = `the log of ${repository} ${pipeline} #${number}${more} shows ${what} at its CI: rotate it`;
    return [wrong('secrets in logs', says, adviseRotation(setting, token))];
  });
}

function adviseRotation(setting: string | undefined, token: string | null): string {
  if (setting === undefined)
    return `create another token, give it to the sender, and run "faultline token revoke ${token}"`;
  if (setting === 'FAULTLINE_TOKENS')
    return 'set another one in FAULTLINE_TOKENS, restart, and give it to those who use it';
  const plugin = setting.includes('JENKINS')
    ? '; docs/start/jenkins.md says how to keep the Notification plugin from printing it'
    : '';
  return `set NEW,OLD in ${setting} and restart, set NEW at the sender, then leave OLD out and restart${plugin}`;
}
