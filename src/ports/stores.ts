import z from 'zod';
import { Action, type Analysis } from '../domain/analysis.ts';
import type { Build, GreenBuild, NewBuild, SourceText, Templates, TestResult } from '../domain/build.ts';
import { Category } from '../domain/category.ts';
import { Finding } from '../domain/evidence.ts';
import type { Failure, FailureRow } from '../domain/failure.ts';
import type { OutboxEntry } from '../domain/outbox.ts';
import type { FailureGroup } from '../domain/reading.ts';
import type { FailureFilter } from '../domain/search.ts';
import type { Triage, TriageJob } from '../domain/triage.ts';
import type { PreferenceStore, SessionStore, TokenStore } from './access.ts';
import type { BuildArchive } from './build-archive.ts';
import type { CauseStore } from './causes.ts';
import type { Page, Sql } from './database.ts';
import type { DeliveryStore } from './deliveries.ts';
import type { ExperimentStore } from './experiments.ts';
import type { FlakinessStore, InsightsStore } from './insights.ts';
import type { RunStepStore } from './job-queue.ts';
import type { LibraryStore, RuleStore } from './library.ts';
import type { CalibrationStore, CaseStore, RecordingStore } from './measurements.ts';
import type { NoticeStore, PublicationStore } from './notices.ts';
import type { OutboxStore } from './outbox.ts';
import type { ConversationStore, QuestionStore, ReviewStore } from './reviews.ts';

/** The part that is all of a build. */
export const WHOLE_BUILD = 'whole';

interface BuildFilter {
  readonly provider?: Build['provider'];
  readonly repository?: string;
  readonly pipeline?: string;
  /** The CI's own number; with several attempts, repositories or pipelines, each that has it is listed. */
  readonly number?: string;
  readonly status?: Build['status'];
  readonly branch?: string;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

export interface BuildStore {
  /**
   * Stores a build, or returns the known one: with the same (provider, repository, pipeline, number, attempt), or the same
   * (provider, repository, externalId, attempt) where it has an externalId; two events of one run that come at once make one
   * build. A known build only gains fields and its status may change from unknown. A number that equals the externalId, or
   * is its `provisionalNumber`, is provisional (job events do not name the run's number): it and its pipeline give way to the real ones.
   * `past`: a new one is imported from then, in ISO 8601. Nobody outside is ever told of it, and its triage waits behind others.
   */
  upsert(build: NewBuild, sql?: Sql, past?: string): Promise<{ readonly build: Build; readonly created: boolean }>;
  find(id: string, sql?: Sql): Promise<Build | null>;
  /** The build of the provider's own run id: of that attempt; else of the attempt whose `failedPart` is known; else of the newest. */
  findByExternalId(
    key: { provider: string; repository: string; externalId: string; attempt?: number; failedPart?: string },
    sql?: Sql,
  ): Promise<Build | null>;
  list(filter: BuildFilter, page: Page): Promise<Build[]>;
  saveTestResults(buildId: string, results: readonly TestResult[], sql?: Sql): Promise<void>;
  /**
   * Keeps that the CI said this part of the build failed. `true` where that is news: neither this part nor `WHOLE_BUILD`,
   * which is told when the build has ended, was told before.
   */
  addFailedPart(buildId: string, part: string, sql?: Sql): Promise<boolean>;
  /**
   * Deletes uploads that were never kept whole: this one, or all of them where no other process can be receiving one. Returns the ids of what
   * was deleted.
   */
  withdrawUnfinished(buildId: string | null): Promise<string[]>;
  /** When retention deleted the texts of a build that stays; null where it did not. */
  logsForgottenAt(buildId: string): Promise<string | null>;
}

export interface FailureStore {
  /**
   * Adds what is new and returns all groups of the build, in the order in which they were first saved. A group is new where
   * its fingerprint is. Within a known group a failure is new where its test is, or, without a test, its message. What is stored stays as it is, ids included.
   */
  saveGroups(buildId: string, groups: readonly FailureGroup[], sql?: Sql): Promise<FailureGroup[]>;
  listByBuild(buildId: string): Promise<Failure[]>;
  /** Newest first. Throws `timeout` where it takes longer than three seconds. */
  search(filter: FailureFilter, page: Page): Promise<FailureRow[]>;
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

export interface TriageStore {
  /**
   * Requests a triage of a build: one job per build. Each call says that there is news: a job that has ended is
   * queued again, a running one is marked `dirty`, one that waits need not wait any longer. Call inside the transaction
   * that stores the build.
   */
  request(buildId: string, sql?: Sql): Promise<TriageJob>;
  /** Takes the job for `leaseMs`, or returns null where it is done, failed for good, to be left alone yet, or somebody else's. */
  lease(jobId: string, leaseMs: number): Promise<TriageJob | null>;
  /** Prolongs a held lease; false where it was lost. */
  renew(job: TriageJob, leaseMs: number): Promise<boolean>;
  /**
   * Whether this lease is still the newest; nobody can take the job until the transaction of `sql` ends. To be asked first
   * in every transaction that writes what the lease allows.
   */
  holds(job: TriageJob, sql: Sql): Promise<boolean>;
  /** Ends the job; queues it again where it is dirty. `refused` where the lease number is stale. */
  finish(job: TriageJob, state: 'done' | 'failed', error: string | null, sql?: Sql): Promise<'ended' | 'requeued' | 'refused'>;
  /** Keeps that the stored logs cover what was requested when `job` was read; what was requested since is still to be fetched. */
  markFetched(job: TriageJob, sql?: Sql): Promise<void>;
  /**
   * Gives a job back, to be left alone for `delayMs`, and takes the try off `attempts`. With a delay it counts among the
   * `retries`; without one, as when the process stops, not at all. A stale lease changes nothing.
   */
  release(job: TriageJob, error: string, delayMs: number): Promise<void>;
  /** A step of the work is finished: the tries that died before it count no more, only the one that goes on. */
  progressed(job: TriageJob): Promise<void>;
  /** Gives back every running job, and says how many; only for a database that no other process can have open. */
  reclaim(): Promise<number>;
  find(jobId: string): Promise<TriageJob | null>;
  findByBuild(buildId: string, sql?: Sql): Promise<TriageJob | null>;
  /** Jobs that are pending now but that nobody holds: queued and not left alone, or running with an expired lease. */
  pending(limit: number): Promise<TriageJob[]>;
  /** The triage of one failure group; created on first call. */
  open(buildId: string, fingerprint: string, sql?: Sql): Promise<Triage>;
  conclude(triageId: string, analysisId: string, sql: Sql): Promise<void>;
}

export interface AnalysisStore {
  /** Saves the analysis of a triage. A triage has exactly one: a second call returns the stored one and `created: false`. */
  insertOnce(analysis: Analysis, sql?: Sql): Promise<{ readonly analysis: Analysis; readonly created: boolean }>;
  find(id: string): Promise<Analysis | null>;
  listByBuild(buildId: string): Promise<Analysis[]>;
  /** The heads of the analyses of these builds, oldest first: for lists, where the whole of each would be too much. */
  heads(buildIds: readonly string[]): Promise<AnalysisHead[]>;
}

/** What a list says of an analysis. */
export const AnalysisHead = z.object({
  id: z.string(),
  buildId: z.string(),
  /** Null where nobody judged. */
  category: Category.nullable(),
  title: z.string(),
  /** 0..1, the verdict's. */
  confidence: z.number(),
  action: Action,
  failures: z.int(),
  /** A person confirmed its cause, or one like it before. */
  decided: z.boolean(),
});
export type AnalysisHead = z.infer<typeof AnalysisHead>;

/** What one log of a green build says; `log` is what the same log of another build is found by. */
export interface PassingLog {
  readonly log: string;
  readonly templates: Templates;
}

export interface PassingBuildStore {
  /** Keeps which branch the CI calls the repository's default. */
  saveDefaultBranch(of: { readonly provider: string; readonly repository: string; readonly branch: string }, sql?: Sql): Promise<void>;
  /** Whether templates of this build would stay: fewer than `builds` newer ones of its pipeline and branch have some. */
  isWanted(buildId: string, builds: number): Promise<boolean>;
  /**
   * Stores the templates, finishes the entry of the outbox, and forgets those of all but the newest `builds` builds of each log and branch, except what
   * a build that is being triaged was compared with. `false` where the lease is stale: nothing changes.
   */
  keep(entry: OutboxEntry, logs: readonly PassingLog[], builds: number): Promise<boolean>;
  /**
   * The templates that each of these logs of a failed build is compared with: of the newest `builds` green builds of the same
   * pipeline before it, of the same branch, else of the default branch; newest first. What was chosen for a log stays
   * chosen; logs without any are left out.
   */
  choose(buildId: string, logs: readonly string[], builds: number): Promise<readonly ChosenPassingLog[]>;
  /** Templates of a repository's green builds, or of all repositories' where null; newest first, at most `limit` logs. */
  newest(repository: string | null, limit: number): Promise<readonly (ChosenPassingLog & { readonly seenAt: string })[]>;
}

/** Templates of one log of one green build, chosen for a failed build. */
export interface ChosenPassingLog extends PassingLog {
  readonly build: GreenBuild;
}

/** A tool's answer as it is kept: masked, bounded, and with the sentence that told how much there was. */
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

export interface Stores {
  readonly deliveries: DeliveryStore;
  readonly builds: BuildStore;
  readonly failures: FailureStore;
  readonly history: HistoryStore;
  readonly triages: TriageStore;
  readonly analyses: AnalysisStore;
  readonly reviews: ReviewStore;
  readonly questions: QuestionStore;
  readonly library: LibraryStore;
  readonly rules: RuleStore;
  readonly passingBuilds: PassingBuildStore;
  readonly toolCache: ToolCacheStore;
  readonly conversations: ConversationStore;
  readonly tokens: TokenStore;
  readonly outbox: OutboxStore;
  readonly publications: PublicationStore;
  readonly flakiness: FlakinessStore;
  readonly causes: CauseStore;
  readonly experiments: ExperimentStore;
  readonly insights: InsightsStore;
  readonly notices: NoticeStore;
  readonly sessions: SessionStore;
  readonly runSteps: RunStepStore;
  readonly preferences: PreferenceStore;
  /** Of operators: no route may ask it. */
  readonly cases: CaseStore;
  /** What stated confidence has turned out to mean. Of operators and workers: no route may ask it. */
  readonly calibrations: CalibrationStore;
  /** What runs asked and were told. */
  readonly recordings: RecordingStore;
}

/**
 * All that a route may ask of the stores. What is not named here is for workers and operators: a route that asks it does not compile, nor
 * does `scopeStores` while it does not say of each method here how it is held to repositories.
 */
export interface ShownStores extends Pick<Stores, 'reviews' | 'insights' | 'causes' | 'experiments' | 'preferences'> {
  readonly deliveries: Pick<Stores['deliveries'], 'find'>;
  readonly builds: Pick<BuildStore, 'find' | 'list' | 'logsForgottenAt'>;
  readonly triages: Pick<TriageStore, 'findByBuild'>;
  readonly analyses: Pick<AnalysisStore, 'find' | 'listByBuild' | 'heads'>;
  readonly runSteps: Pick<Stores['runSteps'], 'after'>;
  readonly failures: Pick<FailureStore, 'listByBuild' | 'search'>;
  readonly history: Pick<HistoryStore, 'failureHistory' | 'similarFailures'>;
  readonly library: Pick<Stores['library'], 'insert' | 'find' | 'recall' | 'alone' | 'list' | 'ofDecision' | 'withdraw' | 'stay'>;
  readonly rules: Pick<Stores['rules'], 'add' | 'find' | 'list' | 'countActive' | 'withdraw'>;
  readonly questions: Pick<Stores['questions'], 'find' | 'list' | 'answer'>;
  readonly flakiness: Omit<Stores['flakiness'], 'follow' | 'ofTests'>;
  readonly passingBuilds: Pick<PassingBuildStore, 'newest'>;
  readonly notices: Pick<NoticeStore, 'changed'>;
  readonly outbox: Pick<OutboxStore, 'add'>;
}

/** All that a route may ask of the archive, which knows builds by their ids alone. */
export type ShownArchive = Pick<BuildArchive, 'list' | 'lines' | 'pieces'>;

export const SCOPED = Symbol('scoped');

/** The mark of what is held to the repositories that its asker may see; only src/api/scoped-stores.ts sets it. */
export interface Scoped {
  readonly [SCOPED]: true;
}

/** Stores as routes take them: they hold only what the asker may see, and everything else is as if it were not there. */
export type ScopedStores = { readonly [Name in keyof ShownStores]: ShownStores[Name] & Scoped };

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
   * the reading of that build was told. Throws what the stores throw.
   */
  of(build: Build, sources: readonly Pick<SourceText, 'name' | 'kind'>[], log: string): Promise<PassingBasis | null>;
}
