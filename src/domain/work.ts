import { z } from 'zod';

/** Work that is to be done after the transaction that requests it. */
export interface WorkRequest {
  /**
   * The kind of work: `triage`, `publish:webhook`, `publish:webhook-events`, `notice:github-comment`,
   * `index:error_library`, `passing-build`, `grade`, `remove-logs`, `remove-logs:mongodb`.
   */
  readonly topic: string;
  /**
   * The object of the work. Each key has one entry. A new request for the same key repeats the work with the
   * newer payload.
   */
  readonly key: string;
  /** The build with which the entry is deleted. Absent if the entry does not belong to a build. */
  readonly buildId?: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  /**
   * The minimum delay in milliseconds before the work is done. A change that already waits is not done
   * earlier. 0 if absent.
   */
  readonly delayMs?: number;
  /** False if the work is added only to an entry that exists already. */
  readonly opens?: boolean;
}

/** An item of work at the time when it was read or taken. */
export const WorkItem = z.object({
  topic: z.string(),
  key: z.string(),
  buildId: z.string().nullable(),
  payload: z.record(z.string(), z.unknown()),
  /** The version, which increases with each change of the work to do. */
  version: z.int(),
  /** The highest `version` that was processed or given up; the entry is pending while `version` is higher. */
  settled: z.int(),
  /** True if a worker holds a lease on the entry. */
  held: z.boolean(),
  /** The outcome of the last settled version. Null if none was settled yet. */
  outcome: z.enum(['done', 'skipped', 'superseded', 'failed']).nullable(),
  /** The data that the handler keeps for the entry, such as the ID that the other side uses. */
  result: z.record(z.string(), z.unknown()).nullable(),
  error: z.string().nullable(),
  /**
   * The fencing number, which increases with each lease. A holder with an old number is refused. If it is
   * above 1, a call may have been made before.
   */
  lease: z.int(),
  /**
   * The number of attempts for the newest requests that are running, settled them, or did not end, for
   * example because the process died.
   */
  attempts: z.int(),
  /** The number of attempts for the newest requests that failed with a temporary error. */
  retries: z.int(),
  /** The group of the item. Items of different groups take turns. Null if the order is by time alone. */
  groupKey: z.string().nullable(),
  /** The time from which on the newest request is to be done. */
  dueAt: z.iso.datetime(),
  /** The time of the last change, for example when a worker took it. */
  changedAt: z.iso.datetime(),
});
export type WorkItem = z.infer<typeof WorkItem>;

/** The topic of failed builds to triage; the key is the build's id. */
export const TRIAGE = 'triage';

/** The topic of passed builds to learn from; the key is the build's id. */
export const PASSING_BUILD = 'passing-build';

export function createPassingBuildRequest(buildId: string): WorkRequest {
  return { topic: PASSING_BUILD, key: buildId, buildId };
}

/**
 * The topic of ended builds by which answers are graded. The key is the build's id: of a passed build, which
 * ends failed ones, or of a failed build that was answered after its failure had ended.
 */
export const GRADE = 'grade';

export function gradeEntry(buildId: string): WorkRequest {
  return { topic: GRADE, key: buildId, buildId };
}

/** The topic of builds whose logs the archive must delete. The key is the build's id. */
export const REMOVE_LOGS = 'remove-logs';

/** The topic of builds whose removed texts MongoDB must still delete. The key is the build's id. */
export const REMOVE_FROM_MONGODB = 'remove-logs:mongodb';

export type IndexNamespace = 'knowledge' | 'team_knowledge' | 'error_library';

/**
 * Creates the entry that adds an item to the vector index under this id, or removes it if the item is null.
 */
export function indexEntry(
  namespace: IndexNamespace,
  id: string,
  item: {
    readonly text: string;
    readonly metadata: Readonly<Record<string, string | number | boolean>>;
  } | null,
): WorkRequest {
  return { topic: `index:${namespace}`, key: id, payload: { item } };
}

/** The result of processing an entry. */
export interface WorkEnd {
  readonly outcome: NonNullable<WorkItem['outcome']>;
  /** The result to store. If absent, the stored result stays. */
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: string;
  /** The time in milliseconds for which the entry is left alone after this, whatever changes. */
  readonly pauseMs?: number;
  /** True if the entry is to be deleted, unless it was requested again in the meantime. */
  readonly forget?: boolean;
}
