import z from 'zod';
import type { Build, GreenBuild, SourceText, Templates } from '../domain/build.ts';
import type { Thread, Turn } from '../domain/conversation.ts';
import { Finding } from '../domain/evidence.ts';
import type { FailureRow } from '../domain/failure.ts';

/** The store of threads of follow-up questions. A thread is deleted with its analysis. */
export interface ConversationStore {
  find(id: string): Promise<Thread | null>;
  /** Lists threads; the thread with the newest question comes first. */
  list(
    filter: {
      readonly analysisId?: string;
      readonly buildId?: string;
      /** The repositories of the builds that the threads are about: `owner/name`, or `owner/*`. */
      readonly repositories?: readonly string[];
    },
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Thread[]>;
  /** Returns the last `limit` turns of a thread, oldest first. */
  turns(threadId: string, limit: number): Promise<Turn[]>;
  /**
   * Adds a turn. The first turn also stores the thread. Throws `conflict` if a turn with that position
   * already exists, because another user asked in the meantime.
   */
  append(thread: Thread, turn: Turn): Promise<void>;
  /** Removes a thread with all its turns. Returns false if there is none. */
  remove(id: string): Promise<boolean>;
}

/** The consecutive failed builds of a pipeline's branch that end with a given build. */
interface ConsecutiveFailures {
  readonly count: number;
  readonly firstBuild: Build | null;
  readonly lastGreen: Build | null;
  /** The number of these builds that failed in the same way, counted back to the first build that did not. */
  readonly same: number;
  readonly firstSame: Build | null;
}

/** The store for read-only questions about the past, for tools and flakiness. */
export interface HistoryStore {
  /** False if no past is stored, as in a terminal without a database. True if absent. */
  readonly kept?: boolean;
  /**
   * Finds failures of the same test, or with the same fingerprint, in earlier builds of the repository.
   * Newest first.
   */
  failureHistory(query: {
    repository: string;
    fingerprint: string;
    test: string | null;
    beforeBuildId: string;
    limit: number;
  }): Promise<FailureRow[]>;
  /**
   * Counts the consecutive failed builds of this pipeline and branch that end with this build, and finds the
   * first of them.
   */
  consecutiveFailures(query: {
    repository: string;
    pipeline: string;
    branch: string | null;
    buildId: string;
    /** The fingerprint for which `same` is counted. If absent, it is not counted. */
    fingerprint?: string;
  }): Promise<ConsecutiveFailures>;
  /**
   * Finds failures in other builds whose message resembles the text (trigram similarity ≥ `minScore`). Best
   * first.
   */
  similarFailures(query: {
    text: string;
    excludeBuildId: string;
    minScore: number;
    limit: number;
    /** The repositories to include: `owner/name`, or `owner/*`. */
    repositories?: readonly string[];
  }): Promise<(FailureRow & { readonly score: number })[]>;
}

/** A tool's answer in the cache: masked, bounded, and with its summary. */
export const KeptResult = z.object({ findings: z.array(Finding), summary: z.string() });
export type KeptResult = z.infer<typeof KeptResult>;

/** The cache of tool answers across runs. Entries may be lost at any time, which only costs time. */
export interface ToolCacheStore {
  /**
   * Returns the result stored under the key, or null if there is none or it has expired. Marks it as used.
   */
  get(key: string): Promise<KeptResult | null>;
  /**
   * Stores an answer for `ttlMs`, unless it is larger than the store accepts. Makes room by deleting the
   * least recently used answers.
   */
  put(
    of: { readonly key: string; readonly tool: string; readonly repository: string; readonly ttlMs: number },
    result: KeptResult,
  ): Promise<void>;
  /**
   * Deletes expired answers, and the least recently used ones if there are too many. Returns the number of
   * deleted answers.
   */
  sweep(): Promise<number>;
}

/** The passing logs with which one log of a failed build is compared. */
export interface PassingBasis {
  /** The display name: "build 1234", "the green build". */
  readonly name: string;
  /**
   * The templates of the same log in each green build, newest first. A line that occurs in any of them is
   * known.
   */
  readonly templates: readonly Templates[];
  /** The newest of the green builds. Null if only its log is available. */
  readonly build: GreenBuild | null;
}

/** The known content of green builds, by log. */
export interface PassingLogs {
  /**
   * Returns the basis for comparing `log`, one of the sources of a failed build. Returns null if no green
   * build with this log is known. The result equals the basis that was used when the build was read. Throws
   * the errors of the stores.
   */
  of(
    build: Build,
    sources: readonly Pick<SourceText, 'name' | 'kind'>[],
    log: string,
  ): Promise<PassingBasis | null>;
}
