import type { Build } from '../domain/build.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { Provider } from '../providers/provider.ts';
import type { ShownStores } from '../stores/stores.ts';

export interface RerunDeps {
  readonly stores: { readonly ciLinks: Pick<ShownStores['ciLinks'], 'beginRerun' | 'endRerun'> };
  readonly providers: readonly Pick<Provider, 'name' | 'rerun'>[];
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
}

/** The time limit in milliseconds of one rerun request with everything it involves. */
const LIMIT_MS = 20_000;

/** Checks whether a rerun of the build's failed jobs can be requested. */
export function canRerun({ provider, status }: Build, providers: RerunDeps['providers']): boolean {
  return status === 'failed' && (providers.find(({ name }) => name === provider)?.rerun ?? null) !== null;
}

/**
 * Asks the CI of a build once to rerun its failed jobs, and records the user and the result. A refusal by the
 * CI is recorded and not thrown. Throws `invalid-config` if reruns are not configured, `invalid-input` for a
 * build that did not fail, and `conflict` if another user has just requested a rerun.
 */
export async function rerunFailedJobs(
  { stores, providers, masker, logger }: RerunDeps,
  build: Build,
  by: string,
): Promise<void> {
  const rerun = providers.find(({ name }) => name === build.provider)?.rerun ?? null;
  if (rerun === null)
    throw new TriageError(
      'invalid-config',
      `Re-running jobs of ${build.provider} is not enabled. An administrator can enable it.`,
    );
  if (build.status !== 'failed')
    throw new TriageError('invalid-input', 'Only failed builds have jobs to re-run.');
  const id = await stores.ciLinks.beginRerun(build.id, by);
  if (id === null)
    throw new TriageError(
      'conflict',
      'Somebody has just re-run the failed jobs. Wait a minute before the next try.',
    );
  const known = { buildId: build.id, provider: build.provider, repository: build.repository, by };
  try {
    await rerun(build, { logger, signal: AbortSignal.timeout(LIMIT_MS) });
    await stores.ciLinks.endRerun(id, null);
    logger.info(known, 'failed jobs re-run');
  } catch (error) {
    await stores.ciLinks.endRerun(id, (await masker.mask(getErrorMessage(error))).text.slice(0, 500));
    logger.warn({ ...known, error }, 'failed jobs could not be re-run');
  }
}
