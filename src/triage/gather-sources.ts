import type { Build, SourceText } from '../domain/build.ts';
import { messageOf } from '../domain/errors.ts';
import type { TriageJob } from '../domain/triage.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { BuildSource } from '../ports/build-source.ts';
import type { Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import { maskSources } from './read-build.ts';
import { mayPass, type TriageRun } from './run.ts';

export interface GatherDeps {
  readonly stores: {
    readonly builds: Pick<Stores['builds'], 'saveTestResults'>;
    readonly triages: Pick<Stores['triages'], 'findByBuild' | 'markFetched'>;
  };
  readonly archive: Pick<BuildArchive, 'put' | 'list' | 'read'>;
  readonly masker: Masker;
  /** By provider; uploads have none. */
  readonly buildSources: Readonly<Partial<Record<Build['provider'], BuildSource>>>;
  readonly logger: Logger;
}

export interface Gathered {
  /** Masked. */
  readonly sources: readonly SourceText[];
  readonly notes: readonly string[];
}

/**
 * The texts of a build. Where the CI that ran it may have more than is archived, they are fetched, masked, and kept; what
 * was archived before and is gone there stays. Throws what may pass when tried again, unless this is the last try.
 */
export async function gatherSources(build: Build, deps: GatherDeps, run: Omit<TriageRun, 'fence'>): Promise<Gathered> {
  // Read first: what is owed from now on will be fetched by another run.
  const job = await deps.stores.triages.findByBuild(build.id);
  const archived = await fromArchive(build, deps.archive);
  const source = deps.buildSources[build.provider];
  if (source === undefined) return { sources: archived, notes: archived.length > 0 ? [] : ['The build came without a log.'] };
  if (archived.length > 0 && !isFetchDue(job)) return { sources: archived, notes: [] };
  try {
    const fetched = await source.fetch(build, run.signal);
    const { sources } = await maskSources(fetched.sources, deps.masker);
    for (const text of sources) await deps.archive.put(build.id, text);
    await deps.stores.builds.saveTestResults(build.id, fetched.testResults);
    if (job !== null) await deps.stores.triages.markFetched(job);
    const names = new Set(sources.map((one) => one.name));
    return { sources: [...sources, ...archived.filter((one) => !names.has(one.name))], notes: fetched.notes };
  } catch (error) {
    if (mayPass(error, run)) throw error;
    deps.logger.warn({ buildId: build.id, provider: build.provider, error }, 'logs could not be fetched');
    return { sources: archived, notes: [`The log could not be read${archived.length > 0 ? ' again' : ''}: ${messageOf(error)}`] };
  }
}

function isFetchDue(job: TriageJob | null): boolean {
  return job !== null && job.fetched < job.owed;
}

async function fromArchive(build: Build, archive: GatherDeps['archive']): Promise<SourceText[]> {
  const sources: SourceText[] = [];
  for (const { name, kind, notes } of await archive.list(build.id)) {
    const text = await archive.read(build.id, name);
    if (text !== null) sources.push({ name, kind, notes, text });
  }
  return sources;
}
