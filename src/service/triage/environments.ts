import type { Build } from '../../domain/build.ts';
import type { EnvironmentRecord } from '../../domain/environment-record.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { MAX_CHANGES, type VersionChange, type VersionChanges } from '../../domain/version-changes.ts';
import { compareRecords, findAbsent } from '../../log/environment/compare-records.ts';
import { findUnavailable, linkChanges } from '../../log/environment/link-changes.ts';
import type { EnvironmentStore, GreenRecord } from '../../stores/environments.ts';
import { createGreenKey } from './passing-builds.ts';

/** The records of the last green runs by log, for comparison with the logs of a failed build. */
export type GreenRecords = ReadonlyMap<
  string,
  Omit<GreenRecord, 'build'> & Partial<Pick<GreenRecord, 'build'>>
>;

/**
 * Stores the environment of a failed build, and finds the environment of the last green run of each of its
 * logs.
 */
export async function keepAndFindGreen(
  build: Build,
  records: readonly EnvironmentRecord[],
  environments: EnvironmentStore,
): Promise<GreenRecords> {
  const keys = new Map(records.map(({ log }) => [log, createGreenKey(build, log, records.length)]));
  const keyed = records.map((record) => ({ log: keys.get(record.log) ?? record.log, record }));
  await environments.save(build.id, keyed);
  const found = await environments.lastGreen(build.id, [...new Set(keys.values())]);
  return new Map(
    [...keys].flatMap(([log, key]) => {
      const green = found.get(key);
      return green === undefined ? [] : [[log, green] as const];
    }),
  );
}

/** Uses the record of one green log for every log of a failed build. */
export function useGreenRecord(
  green: EnvironmentRecord,
  records: readonly EnvironmentRecord[],
  commit: string | null,
): GreenRecords {
  return new Map(records.map(({ log }) => [log, { record: green, commit }]));
}

/**
 * Compares the environment of a failed build with that of its last green run and links the differences to the
 * failure. Only logs of the failure are compared. Returns undefined if there is no green run or no
 * difference.
 */
export function findVersionChanges(
  subject: TriageSubject,
  records: readonly EnvironmentRecord[],
  greens: GreenRecords,
): VersionChanges | undefined {
  const sources = new Set(subject.excerpts.map(({ source }) => source));
  const ofFailure = records.filter(({ log }) => sources.size === 0 || sources.has(log));
  const compared = ofFailure.flatMap((red) => {
    const green = greens.get(red.log);
    return green === undefined ? [] : [{ red, green }];
  });
  const [first] = compared;
  if (first === undefined) return undefined;
  const { commit } = subject.build;
  const isSameCommit = commit !== null && compared.every(({ green }) => green.commit === commit);
  const found = compared.flatMap(({ red, green }): VersionChange[] => [
    ...findUnavailable(findAbsent(green.record, red), red, subject),
    ...linkChanges(compareRecords(green.record, red), subject, isSameCommit),
  ]);
  const all = removeRepeats(found);
  if (all.length === 0) return undefined;
  return {
    since: first.green.build ?? null,
    isSameCommit,
    changes: all.slice(0, MAX_CHANGES),
    more: Math.max(0, all.length - MAX_CHANGES),
  };
}

/** Removes repeated changes. Changes that explain the failure take precedence. */
function removeRepeats(changes: readonly VersionChange[]): VersionChange[] {
  const inOrder = changes.toSorted((left, right) => Number(right.link !== null) - Number(left.link !== null));
  const seen = new Map(inOrder.toReversed().map((change) => [`${change.kind} ${change.name}`, change]));
  return inOrder.filter((change) => seen.get(`${change.kind} ${change.name}`) === change);
}
