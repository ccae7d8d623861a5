import type { Logger } from '../../ports/telemetry.ts';
import type { Stores } from '../../stores/stores.ts';

interface ShownSecretsDeps {
  readonly stores: { readonly builds: Pick<Stores['builds'], 'saveShownSecrets'> };
  readonly logger: Logger;
}

/**
 * Records that the logs of a build contained own secrets before they were masked: readers of the logs at the
 * CI can use them until they are rotated.
 */
export async function keepShownSecrets(
  { stores, logger }: ShownSecretsDeps,
  buildId: string,
  digests: readonly string[],
): Promise<void> {
  if (digests.length === 0) return;
  await stores.builds.saveShownSecrets(buildId, digests);
  logger.warn(
    { buildId },
    'a log shows a webhook secret or token of this service; "faultline doctor" says which, and how ' +
      'to rotate it',
  );
}
