import type { Clock } from '../lib/time.ts';
import type { Database } from '../ports/database.ts';
import type { NoticeRule } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import { createActStore } from './acts.ts';
import { createAnalysisStore } from './analyses.ts';
import { createBuildStore } from './builds.ts';
import { createCalibrationStore } from './calibrations.ts';
import { createCaseStore } from './cases.ts';
import { createConversationStore } from './conversations.ts';
import { createDeliveryStore } from './deliveries.ts';
import { createFailureStore } from './failures.ts';
import { createFlakinessStore } from './flakiness.ts';
import { createGreenStore } from './greens.ts';
import { createHistoryStore } from './history.ts';
import { createInsightsStore } from './insights.ts';
import { createLibraryStore } from './library.ts';
import { createNoticeStore } from './notices.ts';
import { createQuestionStore } from './questions.ts';
import { createRecordingStore } from './recordings.ts';
import { createReviewStore } from './reviews.ts';
import { createRuleStore } from './rules.ts';
import { createRunStepStore } from './run-steps.ts';
import { createPreferenceStore, createSessionStore } from './sessions.ts';
import { createTokenStore } from './tokens.ts';
import { createToolCacheStore } from './tool-cache.ts';
import { createTriageStore, type Traceparent } from './triages.ts';
import { createVectorDebtStore } from './vector-debts.ts';

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
    greens: createGreenStore(db),
    toolCache: createToolCacheStore(db),
    conversations: createConversationStore(db),
    vectorDebts: createVectorDebtStore(db),
    tokens: createTokenStore(db),
    acts: createActStore(db),
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
