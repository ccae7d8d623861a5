import { describe } from 'vitest';
import { testCalibrationsContract } from './stores/calibrations.ts';
import { testCasesContract } from './stores/cases.ts';
import { testCausesContract } from './stores/causes.ts';
import { testChangesContract } from './stores/changes.ts';
import { testConversationsContract } from './stores/conversations.ts';
import { testDeliveriesAndBuildsContract } from './stores/deliveries-and-builds.ts';
import { testEnvironmentsContract } from './stores/environments.ts';
import { testFailuresAndHistoryContract } from './stores/failures-and-history.ts';
import { testFlakinessContract } from './stores/flakiness.ts';
import { testGreensContract } from './stores/greens.ts';
import { testHealthContract } from './stores/health.ts';
import { testInsightsContract } from './stores/insights.ts';
import { testLearningContract } from './stores/learning.ts';
import { testLibraryContract } from './stores/library.ts';
import { testNotificationRulesContract } from './stores/notification-rules.ts';
import { testRecordingsContract } from './stores/recordings.ts';
import { reviewQueueContract } from './stores/review-queue.ts';
import { testReviewsContract } from './stores/reviews.ts';
import { scopeContract } from './stores/scope.ts';
import { testSituationContract } from './stores/situation.ts';
import { testTokensContract } from './stores/tokens.ts';
import { testToolCacheContract } from './stores/tool-cache.ts';
import { testTriagesAndAnalysesContract } from './stores/triages-and-analyses.ts';
import { workContract } from './stores/work.ts';
import { createStoresWorld, type StoresUnderTest } from './stores/world.ts';

/** What every implementation of the stores promises. */
export function testStoresContract(name: string, open: () => Promise<StoresUnderTest>): void {
  describe(`stores: ${name}`, () => {
    const world = createStoresWorld(open);
    testDeliveriesAndBuildsContract(world);
    testFailuresAndHistoryContract(world);
    testCausesContract(world);
    testTriagesAndAnalysesContract(world);
    testReviewsContract(world);
    reviewQueueContract(world);
    testLibraryContract(world);
    testLearningContract(world);
    testGreensContract(world);
    testEnvironmentsContract(world);
    testFlakinessContract(world);
    testChangesContract(world);
    testInsightsContract(world);
    testHealthContract(world);
    testToolCacheContract(world);
    testRecordingsContract(world);
    testConversationsContract(world);
    workContract(world);
    testNotificationRulesContract(world);
    testSituationContract(world);
    testTokensContract(world);
    scopeContract(world);
    testCasesContract(world);
    testCalibrationsContract(world);
  });
}
