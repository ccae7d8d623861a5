import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Build, GreenBuild, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Excerpt } from '../../domain/failure.ts';
import { indexChangesWithout } from '../../domain/library.ts';
import { PASSING_BUILD, type WorkEnd, type WorkItem } from '../../domain/work.ts';
import { readRecordInTurns } from '../../log/environment/read-record.ts';
import {
  areKnownLines,
  type GreenLog as ComparedLog,
  collectGreenTemplates,
  findGreenLog,
  formatNewSince,
  type GreenTemplates,
} from '../../log/green/green-diff.ts';
import { extractTemplatesInSteps } from '../../log/green/templates.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import type { Database } from '../../ports/database.ts';
import type { PassingLogs } from '../../ports/stores.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { WorkHandler } from '../../ports/work.ts';
import type { KeyedRecord } from '../../stores/environments.ts';
import type { ChosenPassingLog, PassingBuildStore, PassingLog } from '../../stores/passing-builds.ts';
import type { Stores } from '../../stores/stores.ts';
import { maskSources } from './read-build.ts';

export interface LearnDeps {
  readonly stores: {
    readonly builds: Pick<Stores['builds'], 'find'>;
    readonly passingBuilds: Pick<Stores['passingBuilds'], 'isWanted' | 'keep'>;
    readonly environments: Pick<Stores['environments'], 'save'>;
  };
  readonly archive: Pick<BuildArchive, 'list' | 'read'>;
  readonly masker: Masker;
  /** The build sources by provider. Uploads have none. */
  readonly buildSources: Readonly<Partial<Record<Build['provider'], Pick<BuildSource, 'fetchGreen'>>>>;
  /**
   * The dependencies for checking whether entries of the library also match a passing build. If absent,
   * entries are not flagged.
   */
  readonly flagging?: FlagDeps;
  /** The number of passing builds that are kept for each log. */
  readonly greenBuilds: number;
}

/** The maximum total size of all decompressed logs of one passing build. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Stores the lines of a passed build's logs as templates. The logs are masked first and not stored. Skips the
 * build if there is no log, or if enough newer builds have templates. Throws the errors of its CI and of the
 * stores.
 */
export async function learnGreen(
  entry: WorkItem,
  deps: LearnDeps,
  signal: AbortSignal,
): Promise<WorkEnd | null> {
  const { builds, passingBuilds } = deps.stores;
  const build = await builds.find(entry.key);
  if (build === null || !(await passingBuilds.isWanted(entry.key, deps.greenBuilds)))
    return { outcome: 'skipped' };
  const logs = await fetchLogs(build, deps, signal);
  const kept: PassingLog[] = [];
  const records: KeyedRecord[] = [];
  const pause = async () => {
    await nextTurn();
    signal.throwIfAborted();
  };
  const masked = await maskSources(logs, deps.masker);
  for (const { name, text } of masked.sources) {
    await pause();
    const log = createGreenKey(build, name, logs.length);
    kept.push({ log, templates: await extractTemplatesInSteps(text, pause) });
    records.push({ log, record: await readRecordInTurns(name, text, pause) });
  }
  const filled = kept.filter(({ templates }) => templates.lines.length > 0);
  if (filled.length === 0) return { outcome: 'skipped', error: 'There is no log.' };
  await deps.stores.environments.save(build.id, records);
  // This happens before the job ends. After a crash in between, both are repeated, and a build counts only
  // once.
  if (deps.flagging !== undefined) await flagContradicted(build, filled, deps.flagging);
  if (!(await passingBuilds.keep(entry, filled, deps.greenBuilds))) {
    throw new TriageError('cancelled', 'Another process has taken over this green build', {
      retryable: true,
    });
  }
  return null;
}

async function fetchLogs(build: Build, deps: LearnDeps, signal: AbortSignal): Promise<readonly SourceText[]> {
  const source = deps.buildSources[build.provider];
  return source === undefined
    ? await readUploadedLogs(build, deps.archive)
    : await source.fetchGreen(build, signal, MAX_BYTES);
}

async function readUploadedLogs(build: Build, archive: LearnDeps['archive']): Promise<SourceText[]> {
  const logs: SourceText[] = [];
  let room = MAX_BYTES;
  for (const { name, kind, notes, bytes } of await archive.list(build.id)) {
    if (kind !== 'log' || bytes > room) continue;
    const text = await archive.read(build.id, name);
    if (text === null) continue;
    room -= bytes;
    logs.push({ name, kind, notes, text });
  }
  return logs;
}

interface FlagDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly stores: Pick<Stores, 'library' | 'work'>;
  readonly logger: Pick<Logger, 'info'>;
}

/** The maximum number of entries of a repository that are compared with a passing build, newest first. */
const MAX_ENTRIES = 500;
/** The number of entries that are compared before other work gets a turn. */
const TURN = 50;

/**
 * Flags entries of the library whose lines a passing build contains as well, because such lines do not
 * explain a failure. A flagged entry is used in neither recall nor search until a person confirms it. A build
 * counts once, however often it is compared.
 */
export async function flagContradicted(
  build: Build,
  logs: readonly PassingLog[],
  deps: FlagDeps,
): Promise<void> {
  const { library, work } = deps.stores;
  const hit: string[] = [];
  for (const [number, { id, telling }] of (
    await library.listIdentifyingLines(build.repository, MAX_ENTRIES)
  ).entries()) {
    if (number % TURN === TURN - 1) await nextTurn();
    if (logs.some(({ templates }) => areKnownLines(telling, [templates]))) hit.push(id);
  }
  if (hit.length === 0) return;
  await deps.database.transaction(async (sql) => {
    for (const entry of await library.flag(hit, { buildId: build.id, at: build.receivedAt }, sql)) {
      const answering = await library.recall(
        { fingerprint: entry.fingerprint.value, repository: entry.repository },
        sql,
      );
      await work.add(indexChangesWithout(entry, answering), sql);
      deps.logger.info(
        { entryId: entry.id, buildId: build.id },
        'library entry flagged: a green build says the same',
      );
    }
  });
}

/**
 * Returns the key that the same log has in two builds of a pipeline: its name, as fetched. The only log of an
 * upload always has the same key.
 */
export function createGreenKey(build: Pick<Build, 'provider'>, name: string, logs: number): string {
  return build.provider === 'upload' && logs === 1 ? '' : name;
}

/**
 * Creates a source of passing logs that the store has chosen, or now chooses, for a log. A repeated
 * comparison of the build uses the same ones.
 */
export function createStoredGreens(deps: BesideDeps): PassingLogs {
  return {
    of: async (build, sources, log) => {
      const beside = await diffAgainstPassing(build, sources, deps, log);
      const green = beside?.green.logs?.get(log);
      return green === undefined ? null : { ...green, build: beside?.builds.get(log) ?? null };
    },
  };
}

/** Creates a source with one given passing log for every log of the failed build; none if null. */
export function useGivenGreen(green: GreenTemplates | null): PassingLogs {
  return {
    of: async (_build, sources, log) => {
      const isLog = sources.some(({ name, kind }) => name === log && kind === 'log');
      const found = green === null || !isLog ? undefined : findGreenLog(green, log);
      return found === undefined ? null : { ...found, build: null };
    },
  };
}

/** The passing builds with which the logs of a failed build are compared. */
export interface PassingComparison {
  readonly green: GreenTemplates;
  /** The newest passing build for comparison, by log name. */
  readonly builds: ReadonlyMap<string, GreenBuild>;
}

interface BesideDeps {
  readonly passingBuilds: Pick<PassingBuildStore, 'choose'>;
  /** The number of passing builds with which a log is compared; 0 for none. */
  readonly greenBuilds: number;
}

/**
 * Returns the passing builds with which each log of a failed build is compared, or only those of the log
 * `only`. Returns null if no log has any. The choice for a log does not change later, so that a build that is
 * read again keeps its causes.
 */
export async function diffAgainstPassing(
  build: Build,
  sources: readonly Pick<SourceText, 'name' | 'kind'>[],
  deps: BesideDeps,
  only?: string,
): Promise<PassingComparison | null> {
  const names = sources.filter(({ kind }) => kind === 'log').map(({ name }) => name);
  const wanted = only === undefined ? names : names.filter((name) => name === only);
  if (deps.greenBuilds === 0 || wanted.length === 0) return null;
  const keys = new Map(wanted.map((name) => [name, createGreenKey(build, name, names.length)]));
  const chosen = Map.groupBy(
    await deps.passingBuilds.choose(build.id, [...new Set(keys.values())], deps.greenBuilds),
    ({ log }) => log,
  );
  if (chosen.size === 0) return null;
  const logs = new Map<string, ComparedLog>();
  const builds = new Map<string, GreenBuild>();
  for (const [name, key] of keys) {
    const [newest, ...older] = chosen.get(key) ?? [];
    if (newest === undefined) continue;
    logs.set(name, {
      name: formatBuildName(newest),
      templates: [newest, ...older].map(({ templates }) => templates),
    });
    builds.set(name, newest.build);
  }
  return { green: collectGreenTemplates(logs), builds };
}

/** Finds the passing build since which the most informative new excerpt is new, according to its reason. */
export function findGreenBehind(
  excerpts: readonly Excerpt[],
  beside: PassingComparison | null,
): GreenBuild | null {
  if (beside === null) return null;
  for (const { source, reason } of [...excerpts].sort((a, b) => b.weight - a.weight)) {
    const build = beside.builds.get(source);
    if (build !== undefined && reason.includes(formatNewSince(formatBuildName({ build })))) return build;
  }
  return null;
}

function formatBuildName({ build }: Pick<ChosenPassingLog, 'build'>): string {
  return `build ${build.number}`;
}

/** The maximum time in milliseconds for one passing build, without fetching. */
const LEASE_MS = 300_000;

/**
 * Creates the handler that extracts templates of passed builds, one at a time, newest first. It waits while
 * `isPaused` returns true. If one build is given up, the next passing build replaces it.
 */
export function createPassingBuildHandler(deps: LearnDeps, isPaused?: WorkHandler['isPaused']): WorkHandler {
  return {
    topic: PASSING_BUILD,
    leaseMs: LEASE_MS,
    newestFirst: true,
    limits: { attempts: 5, retries: 11 },
    longestDelayMs: 300_000,
    ...(isPaused === undefined ? {} : { isPaused }),
    handle: async ([entry], { signal }) =>
      entry === undefined
        ? null
        : await learnGreen(entry, deps, AbortSignal.any([signal, AbortSignal.timeout(LEASE_MS)])),
  };
}
