import type { Cause, CauseChange } from '../domain/cause.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Clock } from '../lib/time.ts';
import type { CauseKey } from '../stores/causes.ts';
import type { ShownStores } from '../stores/stores.ts';

interface ChangeRequest extends CauseKey {
  /** The version that the person saw. */
  readonly version: number;
  readonly change: CauseChange;
}

interface CauseDeps {
  readonly stores: Pick<ShownStores, 'causes'>;
  readonly clock: Clock;
}

/** The maximum number of causes in one change. */
export const MAX_CHANGED = 100;

/** The result of a change of several causes. */
export interface ChangedCauses {
  readonly changed: readonly Cause[];
  /** The reasons why other causes were not changed, each once. */
  readonly refused: readonly string[];
  /** The time that `stores.causes.undo` needs to undo the change. */
  readonly at: string;
}

/**
 * Makes the same change to several causes. Causes that cannot be changed, for example because they changed
 * since they were read, are skipped and reported.
 */
export async function changeCauses(
  { stores, clock }: CauseDeps,
  requests: readonly ChangeRequest[],
  by: string,
): Promise<ChangedCauses> {
  const now = clock.now();
  const changed: Cause[] = [];
  const refused = new Set<string>();
  for (const request of requests.slice(0, MAX_CHANGED)) {
    try {
      changed.push(await changeCause({ stores, clock: { now: () => now } }, request, by));
    } catch (error) {
      if (!(error instanceof TriageError) || error.retryable) throw error;
      refused.add(getErrorMessage(error));
    }
  }
  return { changed, refused: [...refused], at: new Date(now).toISOString() };
}

/**
 * Stores a person's change to a cause. Throws `not-found`, and `conflict` if the cause changed since it was
 * read.
 */
export async function changeCause(
  { stores, clock }: CauseDeps,
  { repository, fingerprint, version, change }: ChangeRequest,
  by: string,
): Promise<Cause> {
  const changed = await stores.causes.change({ repository, fingerprint, version }, change, by, clock.now());
  if (changed !== null) return changed;
  if (change.what === 'merged') await requireTarget(stores, { repository, fingerprint, into: change.into });
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

/** Throws `invalid-input` if a cause cannot be merged into the other one. */
async function requireTarget(
  { causes }: CauseDeps['stores'],
  { repository, fingerprint, into }: CauseKey & { readonly into: string },
): Promise<void> {
  const target = (await causes.ofFingerprint(into)).find((cause) => cause.repository === repository);
  if (into !== fingerprint && target !== undefined && target.mergedInto === null) return;
  const why =
    into === fingerprint
      ? 'A cause cannot be merged into itself.'
      : target === undefined
        ? `There is no cause ${into} in ${repository}. Causes of one repository can be merged.`
        : `${into} is merged into ${target.mergedInto} itself. Choose that one.`;
  throw new TriageError('invalid-input', why);
}
