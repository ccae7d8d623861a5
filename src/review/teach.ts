import { TriageError } from '../domain/errors.ts';
import { answers, debtsOf, debtsWithout, type LibraryEntry } from '../domain/library.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { DecideDeps } from './decide.ts';

export type TeachDeps = Pick<DecideDeps, 'database' | 'payVectors' | 'logger'> & {
  readonly stores: Pick<DecideDeps['stores'], 'library' | 'vectorDebts'>;
  readonly masker: Pick<Masker, 'mask'>;
};

export interface TeachOutcome {
  readonly entry: LibraryEntry;
  /** What answers for its fingerprint now; null: nothing. */
  readonly answering: LibraryEntry | null;
}

/**
 * Takes an entry out of use at once, for recall and for search; what it had replaced answers again. Asked again, it changes nothing.
 * Throws `not-found`, and `invalid-input` for a blank reason.
 */
export async function withdrawEntry(
  deps: TeachDeps,
  { id, by, reason }: { readonly id: string; readonly by: string; readonly reason: string },
): Promise<TeachOutcome> {
  if (reason.trim() === '') throw new TriageError('invalid-input', 'Enter a reason for withdrawing the entry.');
  await entryOf(deps, id);
  const said = (await deps.masker.mask(reason.toWellFormed().replaceAll('\0', '\ufffd'))).text;
  return await change(deps, id, 'library entry withdrawn', (sql) => deps.stores.library.withdraw(id, by, said, sql), by);
}

/**
 * Lets an entry answer although green builds say the same: a person has looked. Asked again, it changes nothing. Throws `not-found`,
 * and `conflict` where it is withdrawn or no green build says the same.
 */
export async function confirmStays(deps: TeachDeps, { id, by }: { readonly id: string; readonly by: string }): Promise<TeachOutcome> {
  const entry = await entryOf(deps, id);
  if (entry.withdrawn !== null) {
    throw new TriageError('conflict', `${entry.withdrawn.by} withdrew this entry at ${entry.withdrawn.at}; decide such a failure again.`);
  }
  if (entry.flag === null) throw new TriageError('conflict', 'No green build contradicts this entry, so there is nothing to confirm.');
  return await change(deps, id, 'flagged library entry stays', (sql) => deps.stores.library.stay(id, by, sql), by);
}

async function entryOf({ stores }: TeachDeps, id: string): Promise<LibraryEntry> {
  const entry = await stores.library.find(id);
  if (entry === null) throw new TriageError('not-found', `There is no library entry ${id}.`);
  return entry;
}

type Change = (sql: Parameters<Parameters<DecideDeps['database']['transaction']>[0]>[0]) => Promise<LibraryEntry | null>;

/** The one transaction: the entry, and what the index is owed for it and for what answers now. */
async function change(deps: TeachDeps, id: string, said: string, act: Change, by: string): Promise<TeachOutcome> {
  const { library, vectorDebts } = deps.stores;
  const { owed, changed, ...outcome } = await deps.database.transaction(async (sql) => {
    const known = await library.find(id, sql);
    if (known === null) throw new TriageError('not-found', `There is no library entry ${id}.`);
    const key = { fingerprint: known.fingerprint.value, repository: known.repository };
    await library.alone(key, sql);
    const before = await library.recall(key, sql);
    const done = await act(sql);
    const entry = done ?? (await library.find(id, sql)) ?? known;
    const answering = await library.recall(key, sql);
    const isBack = answering?.id === id && answers(entry);
    const debts = done === null ? [] : isBack ? debtsOf(entry, before?.id ?? null) : debtsWithout(entry, answering);
    await vectorDebts.owe(debts, sql);
    return { entry, answering, owed: debts, changed: done !== null };
  });
  if (owed.length > 0) {
    await deps.payVectors?.(
      'error_library',
      owed.map((debt) => debt.id),
    );
  }
  if (changed) deps.logger.info({ entryId: id, by }, said);
  return outcome;
}
