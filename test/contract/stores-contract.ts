import { describe } from 'vitest';
import { calibrationsContract } from './stores/calibrations.ts';
import { casesContract } from './stores/cases.ts';
import { causesContract } from './stores/causes.ts';
import { changesContract } from './stores/changes.ts';
import { conversationsContract } from './stores/conversations.ts';
import { deliveriesAndBuildsContract } from './stores/deliveries-and-builds.ts';
import { environmentsContract } from './stores/environments.ts';
import { failuresAndHistoryContract } from './stores/failures-and-history.ts';
import { flakinessContract } from './stores/flakiness.ts';
import { greensContract } from './stores/greens.ts';
import { healthContract } from './stores/health.ts';
import { insightsContract } from './stores/insights.ts';
import { learningContract } from './stores/learning.ts';
import { libraryContract } from './stores/library.ts';
import { notificationRulesContract } from './stores/notification-rules.ts';
import { recordingsContract } from './stores/recordings.ts';
import { reviewQueueContract } from './stores/review-queue.ts';
import { reviewsContract } from './stores/reviews.ts';
import { scopeContract } from './stores/scope.ts';
import { situationContract } from './stores/situation.ts';
import { tokensContract } from './stores/tokens.ts';
import { toolCacheContract } from './stores/tool-cache.ts';
import { triagesAndAnalysesContract } from './stores/triages-and-analyses.ts';
import { workContract } from './stores/work.ts';
import { type StoresUnderTest, storesWorld } from './stores/world.ts';

/** What every implementation of the stores promises. */
export function storesContract(name: string, open: () => Promise<StoresUnderTest>): void {
  describe(`stores: ${name}`, () => {
    const world = storesWorld(open);
    deliveriesAndBuildsContract(world);
    failuresAndHistoryContract(world);
    causesContract(world);
    triagesAndAnalysesContract(world);
    reviewsContract(world);
    reviewQueueContract(world);
    libraryContract(world);
    learningContract(world);
    greensContract(world);
    environmentsContract(world);
    flakinessContract(world);
    changesContract(world);
    insightsContract(world);
    healthContract(world);
    toolCacheContract(world);
    recordingsContract(world);
    conversationsContract(world);
    workContract(world);
    notificationRulesContract(world);
    situationContract(world);
    tokensContract(world);
    scopeContract(world);
    casesContract(world);
    calibrationsContract(world);
  });
}
