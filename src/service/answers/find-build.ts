import { type Build, Provider } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { ShownStores } from '../../stores/stores.ts';

export interface BuildNumber {
  readonly provider: Provider;
  readonly number: string;
  readonly repository?: string | undefined;
  readonly pipeline?: string | undefined;
}

const MAX_CANDIDATES = 20;

/** The build of our id, or of `provider:number`. Throws TriageError `not-found` or `conflict`. */
export async function findBuild(
  builds: ShownStores['builds'],
  id: string,
  narrow: Pick<BuildNumber, 'repository' | 'pipeline'>,
): Promise<Build> {
  const [, provider, number] = /^([a-z]+):(.+)$/.exec(id) ?? [];
  if (provider !== undefined && number !== undefined) {
    const known = Provider.safeParse(provider);
    if (!known.success) throw new TriageError('not-found', `There is no provider "${provider}"; known are ${Provider.options.join(', ')}.`);
    return await findByNumber(builds, { provider: known.data, number, ...narrow });
  }
  const build = await builds.find(id);
  if (build === null) throw new TriageError('not-found', `There is no build ${id}.`);
  return build;
}

/**
 * The newest attempt of the one build that bears this number. Throws TriageError `not-found`, or `conflict` with the
 * candidates in its details where several repositories or pipelines have such a build.
 */
export async function findByNumber(builds: ShownStores['builds'], { provider, number, repository, pipeline }: BuildNumber): Promise<Build> {
  const filter = { provider, number, ...(repository !== undefined && { repository }), ...(pipeline !== undefined && { pipeline }) };
  const newest = newestAttempts(await builds.list(filter, { limit: 200, offset: 0 }));
  const [build] = newest;
  if (build === undefined) throw new TriageError('not-found', `There is no build ${number} of ${provider}${where(repository, pipeline)}.`);
  if (newest.length === 1) return build;
  const candidates = newest
    .slice(0, MAX_CANDIDATES)
    .map(({ id, repository, pipeline, attempt }) => ({ id, repository, pipeline, attempt }));
  const message = `${newest.length} builds of ${provider} have the number ${number}; say which with repository and pipeline, or use an id.`;
  throw new TriageError('conflict', message, { details: { candidates } });
}

function newestAttempts(builds: readonly Build[]): Build[] {
  const newest = new Map<string, Build>();
  for (const build of builds) {
    const key = JSON.stringify([build.repository, build.pipeline]);
    const known = newest.get(key);
    if (known === undefined || build.attempt > known.attempt) newest.set(key, build);
  }
  return [...newest.values()];
}

function where(repository: string | undefined, pipeline: string | undefined): string {
  return `${repository === undefined ? '' : ` in ${repository}`}${pipeline === undefined ? '' : ` (${pipeline})`}`;
}
