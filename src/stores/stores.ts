import type { Scoped } from '../domain/access.ts';
import type { Clock } from '../lib/time.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Database } from '../ports/database.ts';
import type { NoticeRule } from '../ports/notices.ts';
import { createPreferenceStore, createSessionStore, createTokenStore } from './access.ts';
import { createBuildStore } from './builds.ts';
import { createCauseStore } from './causes.ts';
import { createCiLinkStore } from './ci-links.ts';
import { createConversationStore, createQuestionStore } from './conversations.ts';
import { createDeliveryStore } from './deliveries.ts';
import { createEnvironmentStore } from './environments.ts';
import {
  createAnalysisStore,
  createExperimentStore,
  createFailureStore,
  createHistoryStore,
} from './failures.ts';
import { createFlakinessStore } from './flakiness.ts';
import { createGradeStore } from './grades.ts';
import { createHealthStore } from './health.ts';
import { createInsightsStore } from './insights.ts';
import { createLibraryStore, createRuleStore } from './library.ts';
import { createCalibrationStore, createCaseStore, createRecordingStore } from './measurements.ts';
import { createNoticeStore } from './notices.ts';
import { createNotificationRuleStore } from './notification-rules.ts';
import { createPassingBuildStore } from './passing-builds.ts';
import { createPictureStore } from './pictures.ts';
import { createPublicationStore } from './publications.ts';
import { createPublishedEventStore, type EventSettings } from './published-events.ts';
import { createRepositoryThreadStore } from './repository-threads.ts';
import { createReviewStore } from './reviews.ts';
import { createToolCacheStore } from './tool-cache.ts';
import { createChangeStore, createRunStepStore, createTriageStore, type Traceparent } from './triages.ts';
import { createTrustStore } from './trust.ts';
import { createWorkStore } from './work.ts';

/**
 * Creates all stores over one database. The clock dates incoming data and creates ids; leases and claims use
 * the database's own clock. `traceparent` identifies the request that is being handled; `rules` lists the
 * notification channels to keep informed, and `events` the channels that publish decisions and outcomes.
 */
export function createStores(
  db: Database,
  clock: Clock,
  traceparent?: Traceparent,
  rules: readonly NoticeRule[] = [],
  events: EventSettings = { decisions: [], outcomes: [], undoMs: 0 },
) {
  const work = createWorkStore(db);
  const publishedEvents = createPublishedEventStore(db, work, events);
  return {
    deliveries: createDeliveryStore(db),
    builds: createBuildStore(db, clock),
    failures: createFailureStore(db),
    history: createHistoryStore(db.reader ?? db),
    triages: createTriageStore(db, clock, traceparent),
    analyses: createAnalysisStore(db),
    reviews: createReviewStore(db, publishedEvents),
    questions: createQuestionStore(db),
    library: createLibraryStore(db),
    rules: createRuleStore(db),
    passingBuilds: createPassingBuildStore(db, work),
    environments: createEnvironmentStore(db),
    toolCache: createToolCacheStore(db),
    conversations: createConversationStore(db),
    repositoryThreads: createRepositoryThreadStore(db),
    tokens: createTokenStore(db),
    work,
    publications: createPublicationStore(db, work),
    publishedEvents,
    flakiness: createFlakinessStore(db),
    causes: createCauseStore(db),
    pictures: createPictureStore(db),
    experiments: createExperimentStore(clock),
    insights: createInsightsStore(db),
    health: createHealthStore(db),
    trust: createTrustStore(db),
    grades: createGradeStore(db, publishedEvents),
    ciLinks: createCiLinkStore(db),
    notices: createNoticeStore(db, work, rules),
    notificationRules: createNotificationRuleStore(db, work),
    sessions: createSessionStore(db),
    runSteps: createRunStepStore(db),
    changes: createChangeStore(db),
    preferences: createPreferenceStore(db),
    recordings: createRecordingStore(db),
    // These are for operators and workers; no route may use them.
    calibrations: createCalibrationStore(db),
    cases: createCaseStore(db.reader ?? db),
  };
}

export type Stores = ReturnType<typeof createStores>;

/**
 * The methods of the stores that a route may use. All other methods are for workers and operators: a route
 * that uses one does not compile, and `scopeStores` does not compile if a method here has no check of its
 * scope.
 */
export interface ShownStores
  extends Pick<Stores, 'reviews' | 'insights' | 'health' | 'causes' | 'experiments' | 'preferences'> {
  readonly deliveries: Pick<Stores['deliveries'], 'find'>;
  readonly builds: Pick<Stores['builds'], 'find' | 'list' | 'offers' | 'repositories' | 'logsForgottenAt'>;
  readonly triages: Pick<Stores['triages'], 'findByBuild'>;
  readonly pictures: Pick<Stores['pictures'], 'list' | 'read'>;
  readonly analyses: Pick<Stores['analyses'], 'find' | 'listByBuild' | 'heads'>;
  readonly runSteps: Pick<Stores['runSteps'], 'after'>;
  readonly environments: Pick<Stores['environments'], 'find'>;
  readonly failures: Pick<Stores['failures'], 'listByBuild' | 'groupsOfBuild' | 'histories' | 'search'>;
  readonly history: Pick<Stores['history'], 'failureHistory' | 'similarFailures'>;
  readonly library: Pick<
    Stores['library'],
    | 'insert'
    | 'find'
    | 'recall'
    | 'alone'
    | 'list'
    | 'offers'
    | 'ofDecision'
    | 'withdraw'
    | 'restore'
    | 'stay'
  >;
  readonly rules: Pick<Stores['rules'], 'add' | 'find' | 'list' | 'countActive' | 'withdraw' | 'restore'>;
  readonly questions: Pick<Stores['questions'], 'find' | 'list' | 'answer'>;
  readonly flakiness: Omit<Stores['flakiness'], 'follow' | 'ofTests'>;
  readonly passingBuilds: Pick<Stores['passingBuilds'], 'newest'>;
  readonly notices: Pick<Stores['notices'], 'changed' | 'situation' | 'pages'>;
  readonly work: Pick<Stores['work'], 'add'>;
  readonly ciLinks: Omit<Stores['ciLinks'], 'saveLogPages'>;
  readonly trust: Pick<Stores['trust'], 'changes' | 'answers'>;
  readonly grades: Pick<Stores['grades'], 'find' | 'counts' | 'list' | 'listFixedBefore'>;
  readonly notificationRules: Pick<
    Stores['notificationRules'],
    | 'list'
    | 'find'
    | 'add'
    | 'change'
    | 'remove'
    | 'events'
    | 'messages'
    | 'owners'
    | 'setOwner'
    | 'answers'
    | 'changes'
  >;
}

/** The methods of the archive that a route may use. The archive identifies builds only by their ids. */
export type ShownArchive = Pick<BuildArchive, 'list' | 'lines' | 'pieces'>;

/**
 * Stores for routes, limited to the repositories that the caller may see. Everything else is treated as
 * absent.
 */
export type ScopedStores = { readonly [Name in keyof ShownStores]: Scoped<ShownStores[Name]> };
