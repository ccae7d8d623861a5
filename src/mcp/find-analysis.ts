import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { findBuild } from '../publish/find-build.ts';
import { line } from './bounded-text.ts';
import type { InstallationDeps } from './deps.ts';

export interface Found {
  readonly build: Build | null;
  /** One for the id of an analysis; all causes for that of a build. */
  readonly analyses: readonly Analysis[];
}

/**
 * What an id names: an analysis, or a build by our id or as `provider:number`. Throws `not-found`, and `conflict` where a build is
 * known but has no answer yet.
 */
export async function findAnalyses(id: string, { stores }: InstallationDeps): Promise<Found> {
  if (!id.startsWith('bld_') && !id.includes(':')) {
    const analysis = await stores.analyses.find(id);
    if (analysis === null) throw new TriageError('not-found', `There is no failure ${line(id, 100)}.`);
    return { build: await stores.builds.find(analysis.buildId), analyses: [analysis] };
  }
  const build = await findBuild(stores.builds, id, {});
  const analyses = await stores.analyses.listByBuild(build.id);
  if (analyses.length > 0) return { build, analyses };
  const job = await stores.triages.findByBuild(build.id);
  if (job === null) throw new TriageError('not-found', `The build ${build.id} has nothing to analyze: its status is ${build.status}.`);
  if (job.state === 'failed')
    throw new TriageError('conflict', `The build ${build.id} could not be analyzed: ${line(job.error ?? '', 300)}`);
  throw new TriageError('conflict', `The build ${build.id} is being analyzed (${job.state}). Ask again in a few seconds.`, {
    retryable: true,
  });
}
