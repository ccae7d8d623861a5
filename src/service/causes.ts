import type { Cause, CauseChange } from '../domain/cause.ts';
import { TriageError } from '../domain/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { CauseKey } from '../stores/causes.ts';
import type { ShownStores } from '../stores/stores.ts';

interface ChangeRequest extends CauseKey {
  /** The version that the person saw. */
  readonly version: number;
  readonly change: CauseChange;
}

/**
 * Stores what a person makes of a cause. Throws `not-found`, and `conflict` where it changed since it was
 * read.
 */
export async function changeCause(
  { stores, clock }: { readonly stores: Pick<ShownStores, 'causes'>; readonly clock: Clock },
  { repository, fingerprint, version, change }: ChangeRequest,
  by: string,
): Promise<Cause> {
  const changed = await stores.causes.change({ repository, fingerprint, version }, change, by, clock.now());
  if (changed !== null) return changed;
  const known = (await stores.causes.ofFingerprint(fingerprint)).find(
    (cause) => cause.repository === repository,
  );
  if (known === undefined)
    throw new TriageError('not-found', `There is no cause ${fingerprint} in ${repository}.`);
  throw new TriageError(
    'conflict',
    `This cause changed since you looked at it: it is ${known.state} now. Look again, then repeat.`,
    {
      details: { cause: known },
    },
  );
}
