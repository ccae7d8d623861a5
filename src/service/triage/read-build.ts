import type { Build, SourceText } from '../../domain/build.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { Reading, Survey } from '../../domain/reading.ts';
import type { TriageJob } from '../../domain/triage.ts';
import { mapInParallel } from '../../lib/collections.ts';
import { type BuildReading, readCauses } from '../../log/causes/read-causes.ts';
import { surveyFiles } from '../../log/inventory/inventory.ts';
import type { Masker } from '../../log/mask/mask.ts';
import { collectOwnSecrets } from '../../log/mask/own-secrets.ts';
import type { ReadableSource } from '../../log/read-log.ts';
import { type ReadOptions, readSources } from '../../log/read-sources.ts';
import type { LogThreads } from '../../log/worker-pool.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { Stores } from '../../stores/stores.ts';
import { keepPictures } from '../intake/pictures.ts';
import { keepShownSecrets } from '../intake/shown-secrets.ts';
import { mayRetry, type TriageRun } from './triage-run.ts';

/** Masks all texts of a build. A secret that is found in one is hidden in all. Line numbers do not change. */
export async function maskSources(
  sources: readonly SourceText[],
  masker: Masker,
): Promise<{ sources: SourceText[]; secrets: number; own: readonly string[] }> {
  const masked = await masker.maskAll(sources.map(({ text }) => text));
  return {
    sources: sources.map((source, at) => ({ ...source, text: masked[at]?.text ?? '' })),
    secrets: masked.reduce((sum, { count }) => sum + count, 0),
    own: collectOwnSecrets(masked),
  };
}

/** The options for reading masked sources. `secrets` is the number of secrets that were hidden in them. */
type ReadMaskedOptions = Omit<ReadOptions, 'maskedSecrets'> & { readonly secrets: number };

/** Reads masked sources. Without sources, returns a reading that says so. */
export function readMasked(sources: readonly ReadableSource[], options: ReadMaskedOptions): Reading {
  return readSources(sources, toReadOptions(options));
}

/** Reads masked sources and separates their causes, in a thread if threads are given. */
export async function readAside(
  sources: readonly ReadableSource[],
  options: ReadMaskedOptions,
  threads: Pick<LogThreads, 'read'> | undefined,
  signal: AbortSignal,
): Promise<BuildReading> {
  return threads === undefined
    ? readCauses(sources, toReadOptions(options))
    : threads.read(sources, toReadOptions(options), signal);
}

function toReadOptions({ secrets, ...how }: ReadMaskedOptions): ReadOptions {
  return { ...how, maskedSecrets: secrets };
}

/** The threads that survey and read large logs. */
export type ReadingThreads = Pick<LogThreads, 'read' | 'survey'>;

export interface GatherDeps {
  readonly stores: {
    readonly builds: Pick<Stores['builds'], 'find' | 'saveTestResults' | 'saveShownSecrets'>;
    readonly triages: Pick<Stores['triages'], 'findByBuild' | 'markFetched'>;
    readonly ciLinks: Pick<Stores['ciLinks'], 'saveLogPages'>;
    readonly pictures: Pick<Stores['pictures'], 'save'>;
  };
  readonly archive: Pick<BuildArchive, 'put' | 'list' | 'read' | 'remove'>;
  readonly masker: Masker;
  /** The threads for large files. If absent, files are surveyed in this thread. */
  readonly threads?: ReadingThreads;
  /** The build sources by provider. Uploads have none. */
  readonly buildSources: Readonly<Partial<Record<Build['provider'], BuildSource>>>;
  readonly logger: Logger;
}

interface Gathered {
  /** The masked sources to read: all logs and reports, and the artifacts that the survey chose. */
  readonly sources: readonly SourceText[];
  readonly notes: readonly string[];
  /** The survey; null if the build has only one log. */
  readonly survey: Survey | null;
}

/** The number of texts that are read from the archive at once. */
const AT_ONCE = 4;

/**
 * Returns the texts of a build that are worth reading. If its CI may have more than is archived, fetches,
 * masks and stores them; archived texts that no longer exist there are kept. Throws temporary errors, unless
 * this is the last attempt, and `not-found` if the build was deleted in the meantime: then none of its texts
 * stay archived.
 */
export async function gatherSources(
  build: Build,
  deps: GatherDeps,
  run: Omit<TriageRun, 'holds'>,
): Promise<Gathered> {
  const { sources, notes } = await collectSources(build, deps, run).finally(() =>
    removeWhereDeleted(build, deps),
  );
  const surveyed = await (deps.threads?.survey(sources, run.signal) ?? surveyFiles(sources));
  return { sources: surveyed.read, notes: notes.concat(surveyed.notes), survey: surveyed.survey };
}

/**
 * Removes the texts that were archived while the build was deleted. The deletion itself removed only those
 * that were archived before.
 */
async function removeWhereDeleted({ id }: Build, { stores, archive }: GatherDeps): Promise<void> {
  if ((await stores.builds.find(id)) !== null) return;
  await archive.remove(id);
  throw new TriageError('not-found', `Build ${id} was deleted while it was triaged.`);
}

type All = Omit<Gathered, 'survey'>;

async function collectSources(build: Build, deps: GatherDeps, run: Omit<TriageRun, 'holds'>): Promise<All> {
  // The job is read before fetching. A request that arrives later is served by another run.
  const job = await deps.stores.triages.findByBuild(build.id);
  const source = deps.buildSources[build.provider];
  const { archived, notes: away } = await readArchived(build, deps, run, source !== undefined);
  if (source === undefined)
    return {
      sources: archived,
      notes: archived.length > 0 || away.length > 0 ? away : ['The build has no log.'],
    };
  if (archived.length > 0 && !isFetchDue(job)) return { sources: archived, notes: [] };
  try {
    const ask = () => source.fetch(build, run.signal);
    const fetched = await (run.withoutSlot === undefined ? ask() : run.withoutSlot(build.provider, ask));
    const texts = await keepPictures(deps.stores, build.id, fetched.sources);
    const { sources, own } = await maskSources(texts, deps.masker);
    for (const text of sources) await deps.archive.put(build.id, text);
    await deps.stores.ciLinks.saveLogPages(build.id, sources);
    await deps.stores.builds.saveTestResults(build.id, fetched.testResults);
    await keepShownSecrets(deps, build.id, own);
    if (job !== null) await deps.stores.triages.markFetched(job);
    const names = new Set(sources.map((other) => other.name));
    return {
      sources: [...sources, ...archived.filter((other) => !names.has(other.name))],
      notes: [...away, ...fetched.notes],
    };
  } catch (error) {
    if (mayRetry(error, run)) throw error;
    deps.logger.warn({ buildId: build.id, provider: build.provider, error }, 'logs could not be fetched');
    return {
      sources: archived,
      notes: [`The log could not be read${archived.length > 0 ? ' again' : ''}: ${getErrorMessage(error)}`],
    };
  }
}

function isFetchDue(job: TriageJob | null): boolean {
  return job !== null && job.fetched < job.requested;
}

/**
 * Reads the archived texts. If the archive stays unavailable, the CI is asked again, or the last attempt
 * continues with the texts at hand.
 */
async function readArchived(
  build: Build,
  deps: GatherDeps,
  run: Omit<TriageRun, 'holds'>,
  canFetch: boolean,
): Promise<{ readonly archived: SourceText[]; readonly notes: readonly string[] }> {
  try {
    return { archived: await fromArchive(build, deps.archive), notes: [] };
  } catch (error) {
    if (!canFetch && mayRetry(error, run)) throw error;
    run.signal.throwIfAborted();
    deps.logger.warn({ buildId: build.id, error }, 'the archive could not be read');
    return {
      archived: [],
      notes: [`The archived logs of the build could not be read: ${getErrorMessage(error)}`],
    };
  }
}

async function fromArchive(build: Build, archive: GatherDeps['archive']): Promise<SourceText[]> {
  const read = await mapInParallel(await archive.list(build.id), AT_ONCE, async ({ name, kind, notes }) => {
    const text = await archive.read(build.id, name);
    return text === null ? [] : [{ name, kind, notes, text }];
  });
  return read.flat();
}
