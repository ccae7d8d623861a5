import { statfs } from 'node:fs/promises';
import { z } from 'zod';
import type { Config } from '../config/schema.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { type Clock, orAborted } from '../lib/time.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Database } from '../ports/database.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorIndex } from '../ports/vector-index.ts';
import { below, broken, type Probe, type ProbeReply, probe, rejected } from '../providers/probe.ts';
import { createProviders } from '../providers/registry.ts';
import { createDeliveryStore } from '../stores/deliveries.ts';
import { checkVectorIndex, openNamedEmbedder } from './open-adapters.ts';

/** `degraded`: it answers, but not as it should. */
export type BackendState = 'ok' | 'degraded' | 'down';

interface BackendHealth {
  readonly state: BackendState;
  /** One sentence, masked. It may name hosts: for people with a token and for the log. */
  readonly says: string;
  /** Since when it is in this state, as far as this process knows. */
  readonly since: string;
}

export interface Readiness {
  /**
   * True if everything that is needed to accept builds works, which is the database. Other backends may be
   * unavailable, and triage continues without them.
   */
  readonly ok: boolean;
  /** Backends that are away or not as they should be, by name. */
  readonly degraded: readonly string[];
  readonly backends: Readonly<Record<string, BackendHealth>>;
}

export interface BackendCheck {
  readonly name: string;
  /** True if no build can be accepted without this backend. */
  readonly needed?: true;
  /** Milliseconds for which a result is reused. Probes cost the backend nothing in between. */
  readonly freshMs: number;
  /** Time limit of one check in milliseconds; one second by default. */
  readonly limitMs?: number;
  /**
   * Returns the status message of the backend, or `degraded` if the backend reports a problem itself. Throws
   * the reason if it is down.
   */
  ask(signal: AbortSignal): Promise<string | { readonly degraded: string }>;
}

interface ReadinessOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Hides secrets in what backends say of themselves. */
  readonly mask?: (text: string) => Promise<string>;
}

const LIMIT_MS = 1_000;
const MAX_SENTENCE = 300;

interface Known {
  readonly check: BackendCheck;
  health: BackendHealth | null;
  askedAt: number;
  running: Promise<void> | null;
}

/**
 * Checks each backend at most once per `freshMs`; concurrent probes share one check. Only required backends,
 * and those never checked before, are waited for, up to their time limit. For the others the last result is
 * returned while a new check runs, so that a hanging backend delays no probe. Each change of state writes one
 * log line; an unchanged state writes none.
 */
export function createReadiness(checks: readonly BackendCheck[], options: ReadinessOptions): () => Promise<Readiness> {
  const known: Known[] = checks.map((check) => ({ check, health: null, askedAt: Number.NEGATIVE_INFINITY, running: null }));
  return async () => {
    await Promise.all(known.map((one) => fresh(one, options)));
    const all = known.flatMap(({ check, health }) => (health === null ? [] : [{ check, health }]));
    return {
      ok: all.every(({ check, health }) => check.needed !== true || health.state !== 'down'),
      degraded: all.filter(({ health }) => health.state !== 'ok').map(({ check }) => check.name),
      backends: Object.fromEntries(all.map(({ check, health }) => [check.name, health])),
    };
  };
}

async function fresh(one: Known, options: ReadinessOptions): Promise<void> {
  if (performance.now() - one.askedAt < one.check.freshMs) return;
  one.running ??= ask(one, options).finally(() => {
    one.running = null;
  });
  if (one.check.needed === true || one.health === null) await one.running;
}

async function ask(one: Known, options: ReadinessOptions): Promise<void> {
  const { limitMs = LIMIT_MS } = one.check;
  const limit = AbortSignal.timeout(limitMs);
  const { state, says } = await orAborted(one.check.ask(limit), limit).then(
    (said) => (typeof said === 'string' ? { state: 'ok' as const, says: said } : { state: 'degraded' as const, says: said.degraded }),
    (error: unknown) => ({
      state: 'down' as const,
      says: error === limit.reason ? `no answer within ${limitMs} ms` : getErrorMessage(error),
    }),
  );
  await settle(one, state, says, options);
}

async function settle(one: Known, state: BackendState, said: string, { logger, clock, mask }: ReadinessOptions): Promise<void> {
  const before = one.health;
  const short = said.replaceAll(/\s+/g, ' ').slice(0, MAX_SENTENCE);
  const says = mask === undefined ? short : await mask(short).catch(() => 'its message could not be masked');
  const now = new Date(clock.now()).toISOString();
  one.askedAt = performance.now();
  one.health = { state, says, since: before?.state === state ? before.since : now };
  if (before?.state === state || (before === null && state === 'ok')) return;
  const fields = { backend: one.check.name, state, says };
  if (state === 'ok') logger.info(fields, 'a backend is available again');
  else
    logger.warn(fields, one.check.needed === true ? 'no build can be accepted' : 'a backend is unavailable; triage continues without it');
}

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

/**
 * Lists every backend of an installation, by the names that `/readyz` and the metrics use. Only the database
 * and its disk are required.
 */
export function backendChecks({ config, database, jobQueue, archive, vectorIndex }: Backends): BackendCheck[] {
  const isHere = vectorIndex.driver !== 'pinecone';
  return [
    { name: 'database', needed: true, freshMs: DATABASE_MS, ask: () => askDatabase(database) },
    ...diskChecks(config, database),
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

/** Reports a full disk of the database. A server is asked for room only after it has refused to write. */
function diskChecks({ database, disk }: Config, store: Pick<Database, 'checkRoom'>): BackendCheck[] {
  if (database.driver !== 'pglite') {
    const askServer = async () => {
      await store.checkRoom?.().catch((cause: unknown) => {
        throw new TriageError('storage-failed', `The disk of the database server is full: ${getErrorMessage(cause)}`, { cause });
      });
      return 'the database writes';
    };
    return [{ name: 'disk', needed: true, freshMs: SERVICE_MS, ask: askServer }];
  }
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

/** Checks for accepted webhooks without a build. A short delay is normal. */
async function askDeliveries(database: Database): Promise<string | { readonly degraded: string }> {
  const { landed, oldestMs, refused, refusal } = await createDeliveryStore(database).backlog();
  if (refused > 0) return { degraded: `${refused} could not be recorded and must be delivered again: ${refusal ?? 'see the server log'}` };
  if ((oldestMs ?? 0) > LATE_MS)
    return { degraded: `${landed} accepted but not yet recorded, the oldest ${Math.round((oldestMs ?? 0) / 1000)} s ago` };
  return `${landed} in progress`;
}

/** Others' services are asked rarely: a probe every few seconds must not become a load on them. */
const OUTSIDE_MS = 60_000;
const LIMIT_MS_OUTSIDE = 2_000;

type Said = Awaited<ReturnType<BackendCheck['ask']>>;

/** Services of others, as far as they are configured. None of them is needed to accept a build, and none is asked what costs money. */
function outsideChecks(config: Config): BackendCheck[] {
  const checks: BackendCheck[] = [];
  const add = (name: string, question: Probe, read: (reply: ProbeReply) => Said) => {
    checks.push({ name, freshMs: OUTSIDE_MS, limitMs: LIMIT_MS_OUTSIDE, ask: async (signal) => read(await probe(question, signal)) });
  };
  const model = modelProbe(config);
  if (model !== null) add('analyst', model, readModel);
  for (const { name, health } of createProviders(config.providers))
    if (health !== null) checks.push({ name, freshMs: OUTSIDE_MS, limitMs: LIMIT_MS_OUTSIDE, ask: health });
  const { driver, baseUrl } = config.webSearch;
  // The others have no question that is free.
  if (driver === 'searxng' && baseUrl !== null) add('webSearch', { url: below(baseUrl, 'healthz') }, readSearch);
  return checks;
}

/** Creates the probe of the model server. Listing the models costs nothing. */
function modelProbe({ analyst: { driver, llm } }: Config): Probe | null {
  if (driver === 'rules') return null;
  const bearer = (key: string | null) => (key === null ? {} : { authorization: `Bearer ${key}` });
  if (llm.baseUrl !== null) return { url: below(llm.baseUrl, 'models'), headers: bearer(llm.apiKey) };
  const { endpoint, apiKey } = llm.azure;
  if (endpoint !== null) return { url: below(endpoint, 'openai/models?api-version=2024-10-21'), headers: { 'api-key': apiKey ?? '' } };
  return llm.apiKey === null ? null : { url: 'https://api.openai.com/v1/models', headers: bearer(llm.apiKey) };
}

function readModel({ status }: ProbeReply): Said {
  if (status === 401 || status === 403) throw rejected('The model server', 'the key');
  if (status >= 500) throw broken('The model server', status);
  return 'the model server responds';
}

function readSearch({ status }: ProbeReply): Said {
  if (status >= 500) throw broken('The search engine', status);
  return 'answers';
}

/**
 * The probes of `faultline doctor`: each asks one service a cheap question over a separate connection, and
 * throws if something is wrong.
 */

const DatabaseRow = z.object({
  version: z.string(),
  now: z.number(),
  megabytes: z.number(),
});

/** Probes the database. `ownerUrl` is the URL of the role that migrates, if it is a different one. */
export async function probeDatabase(url: string, ownerUrl: string | null = null) {
  const { openPostgres, rehearseMigrations } = await import('../stores/database/postgres.ts');
  const { MIGRATIONS_FOLDER, readMigrationFiles } = await import('../stores/database/migration-files.ts');
  const { compareMigrations, describeChanged, readApplied } = await import('../stores/database/applied-migrations.ts');
  const { createStores } = await import('../stores/stores.ts');
  const database = await openPostgres({ url, poolSize: 2 });
  try {
    const row = DatabaseRow.parse((await database.query(FACTS))[0]);
    const status = compareMigrations(await readMigrationFiles(MIGRATIONS_FOLDER), await readApplied(database));
    const pending = [...status.pending, ...status.unverified].map(({ name }) => name);
    const schemaIsCurrent = pending.length === 0 && status.changed.length === 0;
    return {
      version: row.version,
      /** How far its clock is ahead of ours, in milliseconds. */
      aheadMs: row.now - Date.now(),
      /** Schema changes that this version brings and the database has not seen. */
      pending,
      /** Why they could not be applied, and what mends it; null where they could. */
      refused: pending.length === 0 ? null : await rehearseMigrations(ownerUrl ?? url).then(() => null, getErrorMessage),
      /** Schema changes that a newer version made. */
      newer: status.newer,
      /** Which schema changes were made in another form than this version has; null where none was. */
      changed: describeChanged(status),
      megabytes: row.megabytes,
      /** Own secrets that logs showed. */
      shown: schemaIsCurrent ? await createStores(database, { now: Date.now }).builds.shownSecrets() : [],
    };
  } finally {
    await database.close();
  }
}

const FACTS = `
  select current_setting('server_version') as version, (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
    (pg_database_size(current_database()) / 1048576)::float8 as megabytes`;

export async function probeRedis(url: string) {
  return (await import('../adapters/probe/redis-probe.ts')).probeRedis(url);
}

export async function probeMongodb(url: string, database: string) {
  return (await import('../adapters/probe/mongodb-probe.ts')).probeMongodb(url, database);
}

/** Embeds one word; says the model and how long its vectors are. */
export async function probeEmbedder(config: Config, logger: Logger, signal: AbortSignal): Promise<string> {
  const embedder = await openNamedEmbedder(config, logger);
  const [vector] = await embedder.embed(['ready'], signal);
  if (vector === undefined) throw new TriageError('invalid-input', 'The embedding server returned no vector');
  return `${embedder.name}, ${vector.length} dimensions`;
}
