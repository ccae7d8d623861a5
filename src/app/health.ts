import { statfs } from 'node:fs/promises';
import type { Config } from '../config/schema.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Clock } from '../lib/time.ts';
import { formatSize } from '../log/decode/decode.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Database } from '../ports/database.ts';
import {
  type BackendHealth,
  type Check,
  type Finding,
  note,
  ok,
  type Readiness,
  runCheck,
  wrong,
} from '../ports/health.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorIndex } from '../ports/vector-index.ts';
import type { WakeUp } from '../ports/work.ts';
import { joinPath, OUTSIDE_FRESH_MS, type Probe, probe } from '../providers/check.ts';
import { createProviders } from '../providers/registry.ts';
import { createDeliveryStore } from '../stores/deliveries.ts';
import { checkVectorIndex } from './open-adapters.ts';
import {
  REMEDY_DIRECTORY,
  REMEDY_INDEX,
  REMEDY_MONGODB,
  REMEDY_REDIS,
  REMEDY_SERVER,
} from './store-checks.ts';

/** The backends without which no build can be accepted. */
const NEEDED: readonly string[] = ['database', 'disk'];
const LIMIT_MS = 1_000;
const OUTSIDE_LIMIT_MS = 2_000;
const MAX_SENTENCE = 300;

interface ReadinessOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Masks secrets in messages of backends. */
  readonly mask?: (text: string) => Promise<string>;
}

interface Known {
  readonly check: Check;
  readonly name: string;
  health: BackendHealth | null;
  checkedAt: number;
  running: Promise<void> | null;
}

/**
 * Runs each check at most once per `freshMs`; concurrent requests share one run. Only required backends, and
 * those never checked before, are waited for, up to their time limit. For the others the last result is
 * returned while a new check runs, so that a hanging backend delays no request. Each change of state writes
 * one log line; an unchanged state writes none.
 */
export function createReadiness(
  checks: readonly Check[],
  options: ReadinessOptions,
): () => Promise<Readiness> {
  const known: Known[] = checks.map((check) => ({
    check,
    name: check.backend ?? check.name,
    health: null,
    checkedAt: Number.NEGATIVE_INFINITY,
    running: null,
  }));
  return async () => {
    await Promise.all(known.map((backend) => refresh(backend, options)));
    const all = known.flatMap(({ name, health }) => (health === null ? [] : [{ name, health }]));
    return {
      ok: all.every(({ name, health }) => !NEEDED.includes(name) || health.state !== 'down'),
      degraded: all.filter(({ health }) => health.state !== 'ok').map(({ name }) => name),
      backends: Object.fromEntries(all.map(({ name, health }) => [name, health])),
    };
  };
}

async function refresh(backend: Known, options: ReadinessOptions): Promise<void> {
  if (performance.now() - backend.checkedAt < (backend.check.freshMs ?? 0)) return;
  backend.running ??= renew(backend, options).finally(() => {
    backend.running = null;
  });
  if (NEEDED.includes(backend.name) || backend.health === null) await backend.running;
}

async function renew(backend: Known, { logger, clock, mask }: ReadinessOptions): Promise<void> {
  const { check, name, health: before } = backend;
  const { state, says: all, ...advice } = summarizeFindings(check.name, await runCheck(check));
  const hide = async (text: string) =>
    mask === undefined ? text : await mask(text).catch(() => 'its message could not be masked');
  const says = (await hide(all.replaceAll(/\s+/g, ' '))).slice(0, MAX_SENTENCE);
  const since = before?.state === state ? before.since : new Date(clock.now()).toISOString();
  backend.checkedAt = performance.now();
  const remedy = advice.remedy === undefined ? {} : { remedy: await hide(advice.remedy) };
  backend.health = { state, says, ...remedy, since };
  if (before?.state === state || (before === null && state === 'ok')) return;
  const fields = { backend: name, state, says };
  if (state === 'ok') logger.info(fields, 'a backend is available again');
  else
    logger.warn(
      fields,
      NEEDED.includes(name)
        ? 'no build can be accepted'
        : 'a backend is unavailable; triage continues without it',
    );
}

/** Derives the state from the findings of a check. Other findings, such as a wrong clock, only degrade it. */
function summarizeFindings(
  name: string,
  findings: readonly Finding[],
): Pick<BackendHealth, 'state' | 'says' | 'remedy'> {
  const faults = findings.filter(({ state }) => state !== 'ok');
  const isDown = faults.some((fault) => fault.state === 'wrong' && fault.name === name);
  const reported = faults.length === 0 ? findings : faults;
  return {
    state: isDown ? 'down' : faults.length > 0 ? 'degraded' : 'ok',
    says: reported.map(({ says }) => says).join('; '),
    ...(faults[0]?.remedy === undefined ? {} : { remedy: faults[0].remedy }),
  };
}

export interface Backends {
  readonly config: Config;
  readonly database: Database;
  readonly wakeUp: Pick<WakeUp, 'driver' | 'depth'>;
  readonly archive: BuildArchive;
  readonly vectorIndex: VectorIndex;
}

/** The time limit for the database, in milliseconds. Probes come every few seconds from several clients. */
const DATABASE_MS = 1_000;
const SERVICE_MS = 5_000;
const CLOUD_MS = 30_000;
/**
 * The maximum age of an unprocessed delivery, in milliseconds. If one is older, no processor is running, or
 * deliveries arrive faster than the processor can record them.
 */
const LATE_MS = 60_000;
const MEGABYTE = 1024 * 1024;

/**
 * Lists the checks of every backend that the service repeats, by the names that `/readyz` and the metrics
 * use.
 */
export function listBackendChecks({ config, database, wakeUp, archive, vectorIndex }: Backends): Check[] {
  const store = config.database.driver === 'pglite' ? REMEDY_DIRECTORY : REMEDY_SERVER;
  const isHere = vectorIndex.driver !== 'pinecone';
  const askIndex = async (signal: AbortSignal) =>
    isHere
      ? `${vectorIndex.driver}: ${await vectorIndex.count('knowledge')} entries`
      : await checkVectorIndex(config, signal);
  return [
    createBackendCheck('database', DATABASE_MS, store, () => askDatabase(database)),
    createBackendCheck('disk', SERVICE_MS, 'free some space on that disk', () => askDisk(config, database)),
    {
      name: 'deliveries',
      remedy: store,
      freshMs: SERVICE_MS,
      limitMs: LIMIT_MS,
      ask: () => askDeliveries(database),
    },
    createBackendCheck(
      'jobQueue',
      SERVICE_MS,
      config.jobQueue.driver === 'bullmq' ? REMEDY_REDIS : store,
      async () => {
        return `${wakeUp.driver}: ${await wakeUp.depth()} waiting or running`;
      },
    ),
    createBackendCheck(
      'archive',
      SERVICE_MS,
      config.buildArchive.driver === 'mongodb' ? REMEDY_MONGODB : store,
      async () => {
        return `${archive.driver}: ${(await archive.check?.()) ?? 'in the database'}`;
      },
    ),
    createBackendCheck(
      'vectorIndex',
      isHere ? SERVICE_MS : CLOUD_MS,
      isHere ? store : REMEDY_INDEX,
      askIndex,
    ),
    ...listRepeatedChecks(config).map((check) => ({ ...check, limitMs: OUTSIDE_LIMIT_MS })),
  ];
}

/** Creates the check of a backend that is healthy if its request succeeds. */
function createBackendCheck(
  name: string,
  freshMs: number,
  remedy: string,
  ask: (signal: AbortSignal) => Promise<string>,
): Check {
  return { name, remedy, freshMs, limitMs: LIMIT_MS, ask: async (signal) => ok(name, await ask(signal)) };
}

async function askDatabase(database: Database): Promise<string> {
  await database.query('select 1');
  return `${database.driver} answers`;
}

/**
 * Throws if the disk of the database is full. A database server is asked for free space only after it has
 * refused to write.
 */
async function askDisk({ database, disk }: Config, store: Pick<Database, 'checkRoom'>): Promise<string> {
  if (database.driver !== 'pglite') {
    await store.checkRoom?.().catch((cause: unknown) => {
      throw new TriageError(
        'storage-failed',
        `The disk of the database server is full: ${getErrorMessage(cause)}`,
        { cause },
      );
    });
    return 'the database writes';
  }
  const { bavail, bsize } = await statfs(database.dataDir);
  const free = `${formatSize(bavail * bsize)} free`;
  if (bavail * bsize >= disk.minFreeMegabytes * MEGABYTE) return free;
  const minimum = `the minimum of ${disk.minFreeMegabytes} MB`;
  throw new TriageError('storage-failed', `The data directory has ${free}, less than ${minimum}.`);
}

/** Checks for accepted webhooks without a build. A short delay is normal. */
async function askDeliveries(database: Database): Promise<Finding> {
  const name = 'deliveries';
  const { landed, oldestMs, refused, refusal } = await createDeliveryStore(database).backlog();
  const remedy = 'see the server log';
  if (refused > 0)
    return note(
      name,
      `${refused} could not be recorded and must be delivered again: ${refusal ?? 'see the server log'}`,
      remedy,
    );
  if ((oldestMs ?? 0) > LATE_MS)
    return note(
      name,
      `${landed} accepted but not yet recorded, the oldest ${Math.round((oldestMs ?? 0) / 1000)} s ago`,
      remedy,
    );
  return ok(name, `${landed} in progress`);
}

/**
 * Lists the checks that the service repeats, as far as they are configured. No build needs any of these
 * services, and no request costs money.
 */
function listRepeatedChecks(config: Config): Check[] {
  const checks = createProviders(config.providers).flatMap((provider) =>
    provider.checks([]).filter(({ freshMs }) => freshMs !== undefined),
  );
  const model = createModelProbe(config);
  if (model !== null)
    checks.push(
      createStatusCheck(
        'analyst',
        'the model server responds',
        model,
        'check the address and the key of the model server; until then, the rules are used',
      ),
    );
  const { driver, baseUrl } = config.webSearch;
  // The other drivers have no request that is free.
  if (driver === 'searxng' && baseUrl !== null)
    checks.push(
      createStatusCheck(
        'webSearch',
        'answers',
        { url: joinPath(baseUrl, 'healthz') },
        'check FAULTLINE_WEB_SEARCH_URL, or set FAULTLINE_WEB_SEARCH=none',
      ),
    );
  return checks;
}

/** Creates the check of a server by the status of its response alone. */
function createStatusCheck(name: string, well: string, question: Probe, remedy: string): Check {
  const ask = async (signal: AbortSignal) => {
    const { status } = await probe(question, signal);
    if (status === 401 || status === 403) return wrong(name, `access is refused (${status})`, remedy);
    return status >= 500 ? wrong(name, `it returned ${status}`, remedy) : ok(name, well);
  };
  return { name, remedy, freshMs: OUTSIDE_FRESH_MS, ask };
}

/**
 * Creates the request for the list of models of the server, which costs nothing. Returns null if no model is
 * configured.
 */
function createModelProbe({ analyst: { driver, llm } }: Config): Probe | null {
  if (driver === 'rules') return null;
  const bearer = (key: string | null) => (key === null ? {} : { authorization: `Bearer ${key}` });
  if (llm.baseUrl !== null) return { url: joinPath(llm.baseUrl, 'models'), headers: bearer(llm.apiKey) };
  const { endpoint, apiKey } = llm.azure;
  if (endpoint !== null)
    return {
      url: joinPath(endpoint, 'openai/models?api-version=2024-10-21'),
      headers: { 'api-key': apiKey ?? '' },
    };
  return llm.apiKey === null
    ? null
    : { url: 'https://api.openai.com/v1/models', headers: bearer(llm.apiKey) };
}
