import type { Clock } from '../lib/time.ts';
import type { Database } from '../ports/database.ts';
import type { NoticeRule } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import { createPreferenceStore, createSessionStore, createTokenStore } from './access.ts';
import { createBuildStore, createDeliveryStore } from './builds.ts';
import { createConversationStore, createQuestionStore } from './conversations.ts';
import { createAnalysisStore, createFailureStore, createHistoryStore } from './failures.ts';
import { createFlakinessStore } from './flakiness.ts';
import { createInsightsStore } from './insights.ts';
import { createLibraryStore, createRuleStore, createVectorDebtStore } from './library.ts';
import { createCalibrationStore, createCaseStore, createRecordingStore } from './measurements.ts';
import { createNoticeStore, createOutboxStore } from './outbox.ts';
import { createPassingBuildStore } from './passing-builds.ts';
import { createReviewStore } from './reviews.ts';
import { createToolCacheStore } from './tool-cache.ts';
import { createRunStepStore, createTriageStore, type Traceparent } from './triages.ts';

/** All stores over one database. The clock dates what arrives and makes ids; leases and claims use the database's own. `traceparent`: of whoever owes work now. `rules`: who is kept informed. */
export function createStores(db: Database, clock: Clock, traceparent?: Traceparent, rules: readonly NoticeRule[] = []): Stores {
  return {
    deliveries: createDeliveryStore(db),
    builds: createBuildStore(db, clock),
    failures: createFailureStore(db),
    history: createHistoryStore(db.reader ?? db),
    triages: createTriageStore(db, clock, traceparent),
    analyses: createAnalysisStore(db),
    reviews: createReviewStore(db),
    questions: createQuestionStore(db),
    library: createLibraryStore(db),
    rules: createRuleStore(db),
    passingBuilds: createPassingBuildStore(db),
    toolCache: createToolCacheStore(db),
    conversations: createConversationStore(db),
    vectorDebts: createVectorDebtStore(db),
    tokens: createTokenStore(db),
    outbox: createOutboxStore(db),
    flakiness: createFlakinessStore(db),
    insights: createInsightsStore(db),
    notices: createNoticeStore(db, rules),
    sessions: createSessionStore(db),
    runSteps: createRunStepStore(db),
    preferences: createPreferenceStore(db),
    calibrations: createCalibrationStore(db),
    cases: createCaseStore(db.reader ?? db),
    recordings: createRecordingStore(db),
  };
}
