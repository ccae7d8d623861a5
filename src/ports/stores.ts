import z from 'zod';
import type { Build, GreenBuild, SourceText, Templates } from '../domain/build.ts';
import type { Thread, Turn } from '../domain/conversation.ts';
import { Finding } from '../domain/evidence.ts';
import type { FailureRow } from '../domain/failure.ts';

/** Keeps threads of follow-up questions. They go with the analysis they are about. */
export interface ConversationStore {
  find(id: string): Promise<Thread | null>;
  /** Newest question first. */
  list(
    filter: {
      readonly analysisId?: string;
      readonly buildId?: string;
      /** Only about builds of these: `owner/name`, or `owner/*`. */
      readonly repositories?: readonly string[];
    },
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Thread[]>;
  /** The last `limit` turns of a thread, oldest first. */
  turns(threadId: string, limit: number): Promise<Turn[]>;
  /**
   * Adds a turn, and stores the thread where it is the first. Throws `conflict` where a turn of that position is there already:
   * somebody else asked meanwhile.
   */
  append(thread: Thread, turn: Turn): Promise<void>;
  /** With all its turns; false where there is none. */
  remove(id: string): Promise<boolean>;
}

/** The red stretch of a pipeline's branch that a build ends. */
interface ConsecutiveFailures {
  readonly count: number;
  readonly firstBuild: Build | null;
  readonly lastGreen: Build | null;
  /** Of them those that failed in the very same way, counted back to the first that did not. */
  readonly same: number;
  readonly firstSame: Build | null;
}

/** Read-only questions about the past, for tools and flakiness. */
export interface HistoryStore {
  /** False where no past is kept at all, as in a terminal without a database; absent: kept. */
  readonly kept?: boolean;
  /** Failures of the same test, or with the same fingerprint, in earlier builds of the repository; newest first. */
  failureHistory(query: {
    repository: string;
    fingerprint: string;
    test: string | null;
    beforeBuildId: string;
    limit: number;
  }): Promise<FailureRow[]>;
  /** How many builds of this pipeline and branch in a row, ending with this one, failed; and since which. */
  consecutiveFailures(query: {
    repository: string;
    pipeline: string;
    branch: string | null;
    buildId: string;
    /** Counts beside them how many in a row failed in this way; absent: none are. */
    fingerprint?: string;
  }): Promise<ConsecutiveFailures>;
  /** Failures whose message resembles the text (trigram similarity ≥ `minScore`), best first, other builds only. */
  similarFailures(query: {
    text: string;
    excludeBuildId: string;
    minScore: number;
    limit: number;
    /** Only of these: `owner/name`, or `owner/*`. */
    repositories?: readonly string[];
  }): Promise<(FailureRow & { readonly score: number })[]>;
}

/** A tool's answer as it is kept: masked, bounded, and with the sentence that said how much there was. */
export const KeptResult = z.object({ findings: z.array(Finding), summary: z.string() });
export type KeptResult = z.infer<typeof KeptResult>;

/** Answers of tools, kept across runs. Losing any of it at any time costs time only. */
export interface ToolCacheStore {
  /** What is kept under the key and has not expired, else null. Marks it as used. */
  get(key: string): Promise<KeptResult | null>;
  /** Keeps an answer for `ttlMs`; what is larger than the store takes is not kept. Makes room by forgetting what was not used for longest. */
  put(
    of: { readonly key: string; readonly tool: string; readonly repository: string; readonly ttlMs: number },
    result: KeptResult,
  ): Promise<void>;
  /** Forgets what has expired, and the longest unused where there is too much; says how many answers. */
  sweep(): Promise<number>;
}

/** What one log of a failed build is compared with. */
export interface PassingBasis {
  /** For people: "build 1234", "the green build". */
  readonly name: string;
  /** What the same log of each green build says, newest first; a line that any of them says is known. */
  readonly templates: readonly Templates[];
  /** The newest of the green builds; null where only its log is at hand. */
  readonly build: GreenBuild | null;
}

/** What is known of green builds, log by log. */
export interface PassingLogs {
  /**
   * What `log`, one of all the sources of a failed build, is compared with; null where no green build of it is known. Says the same as
   * the reading of that build was given. Throws what the stores throw.
   */
  of(build: Build, sources: readonly Pick<SourceText, 'name' | 'kind'>[], log: string): Promise<PassingBasis | null>;
}
