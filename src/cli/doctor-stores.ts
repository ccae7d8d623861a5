import { probeDatabase, probeMongodb, probeRedis, probeVectorIndex } from '../app/probes.ts';
import { createApp } from '../app.ts';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import { clockFindings, type Examination, type Finding, note, ok, wrong } from '../ports/examination.ts';
import { silentLogger } from '../ports/telemetry.ts';

const EMBEDDED_MS = 30_000;
const MIN_POSTGRES = 13;
const MIN_REDIS = [6, 2] as const;

/** The services that keep what Faultline keeps, as configured. */
export function examineStores(config: Config): Examination[] {
  return [databaseExamination(config), ...queueExaminations(config), ...archiveExaminations(config), ...indexExaminations(config)];
}

function databaseExamination(config: Config): Examination {
  const { database } = config;
  if (database.driver === 'pglite') {
    const mend = 'make the data directory writable, or choose another with --data';
    return { name: 'database', mend, limitMs: EMBEDDED_MS, ask: () => embeddedFindings(config) };
  }
  return {
    name: 'database',
    mend: 'check FAULTLINE_DATABASE_URL: is the server running there, can this machine reach it, and are the user, password and database correct?',
    ask: async () => {
      const { version, aheadMs, pending, refused, newer, megabytes } = await probeDatabase(database.url, database.ownerUrl);
      const findings: Finding[] = [];
      const major = Number.parseInt(version, 10);
      if (major < MIN_POSTGRES)
        findings.push(wrong('database', `PostgreSQL ${version} is too old`, `use PostgreSQL ${MIN_POSTGRES} or newer`));
      if (newer.length > 0)
        findings.push(
          wrong('database', `a newer Faultline has changed the schema (${newer.join(', ')})`, 'run that version or a newer one'),
        );
      if (refused !== null) findings.push(wrong('database', 'the schema cannot be brought up to date', refused));
      else if (pending.length > 0)
        findings.push(
          note(
            'database',
            `${pending.length} schema ${pending.length === 1 ? 'change is' : 'changes are'} pending`,
            'run "faultline migrate", or let the next start apply them',
          ),
        );
      const all = [...findings, ...clockFindings('database clock', aheadMs)];
      return all.length > 0 ? all : ok('database', `PostgreSQL ${version}, ${Math.round(megabytes)} MB, schema up to date`);
    },
  };
}

/** Opened as the service opens it. Where the service runs, it holds the directory, and that is as it should be. */
async function embeddedFindings(config: Config): Promise<Finding[]> {
  try {
    const app = await createApp(config, silentLogger);
    try {
      await app.loadKnowledge();
      const { backends } = await app.readiness();
      return ['database', 'jobQueue', 'archive', 'vectorIndex'].flatMap((name) => {
        const health = backends[name];
        if (health === undefined) return [];
        return health.state === 'ok'
          ? ok(name, health.says)
          : wrong(name, health.says, 'the data directory may be damaged: restore it from a backup');
      });
    } finally {
      await app.close({ drainMs: 1_000 });
    }
  } catch (error) {
    if (error instanceof TriageError && error.code === 'locked') return [ok('database', `in use: ${error.message}`)];
    throw error;
  }
}

function queueExaminations({ jobQueue }: Config): Examination[] {
  if (jobQueue.driver !== 'bullmq') return [];
  const name = 'redis';
  return [
    {
      name,
      mend: 'check FAULTLINE_REDIS_URL: is the server running there, and is the password correct? Until then, each job waits a few seconds for the sweeper',
      ask: async () => {
        const { version, maxmemoryPolicy, role } = await probeRedis(jobQueue.url);
        if (role !== 'master') return wrong(name, 'this is a replica, which accepts no writes', 'set FAULTLINE_REDIS_URL to the primary');
        if (maxmemoryPolicy !== 'noeviction')
          return wrong(
            name,
            `maxmemory-policy is ${maxmemoryPolicy}: jobs may be evicted`,
            'set "maxmemory-policy noeviction" in redis.conf, and immediately with CONFIG SET',
          );
        const [major = 0, minor = 0] = version.split('.').map(Number);
        const old = major < MIN_REDIS[0] || (major === MIN_REDIS[0] && minor < MIN_REDIS[1]);
        if (old) return wrong(name, `version ${version} is too old`, `use Redis ${MIN_REDIS.join('.')} or newer`);
        return ok(name, `Redis ${version}, ${maxmemoryPolicy}`);
      },
    },
  ];
}

function archiveExaminations({ buildArchive }: Config): Examination[] {
  if (buildArchive.driver !== 'mongodb') return [];
  const name = 'mongodb';
  return [
    {
      name,
      mend: 'check FAULTLINE_MONGODB_URL: is the server running there, and are the user and password correct? Until then, logs are stored in the database',
      ask: async () => {
        const { version, writable } = await probeMongodb(buildArchive.url, buildArchive.database);
        if (!writable) return wrong(name, 'this member accepts no writes', 'list the whole replica set in FAULTLINE_MONGODB_URL');
        return ok(name, `MongoDB ${version}`);
      },
    },
  ];
}

function indexExaminations(config: Config): Examination[] {
  if (config.vectorIndex.driver !== 'pinecone') return [];
  const mend =
    'check PINECONE_API_KEY and FAULTLINE_PINECONE_INDEX: the index needs the cosine metric and as many dimensions as the embedder produces. Until then, there is no semantic search';
  return [{ name: 'pinecone', mend, ask: async (signal) => ok('pinecone', await probeVectorIndex(config, signal)) }];
}
