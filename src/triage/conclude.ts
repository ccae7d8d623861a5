import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { newId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../ports/database.ts';
import type { Logger } from '../ports/logger.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Stores } from '../ports/stores.ts';

export interface ConcludeDeps {
  readonly database: Database;
  readonly stores: Pick<Stores, 'analyses' | 'reviews' | 'triages'>;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Saves the answer, and in the same transaction opens a review where a person must look. A second conclusion of the same
 * triage changes nothing. A sure answer is published after the commit; publishing that fails is logged and never undoes it.
 */
export async function conclude(build: Build, analysis: Analysis, deps: ConcludeDeps, signal: AbortSignal): Promise<Analysis> {
  const { stores } = deps;
  const saved = await deps.database.transaction(async (sql) => {
    const { analysis: stored, created } = await stores.analyses.insertOnce(analysis, sql);
    if (!created) return { stored, created };
    await stores.triages.conclude(stored.triageId, stored.id, sql);
    if (stored.verdict.action !== 'auto_notify') await stores.reviews.open(reviewOf(build, stored, deps.clock.now()), sql);
    return { stored, created };
  });
  if (saved.created && saved.stored.verdict.action === 'auto_notify') await publish(build, saved.stored, deps, signal);
  return saved.stored;
}

async function publish(build: Build, analysis: Analysis, deps: ConcludeDeps, signal: AbortSignal): Promise<void> {
  try {
    await deps.publisher.publish(build, analysis, signal);
  } catch (error) {
    deps.logger.error({ buildId: build.id, analysisId: analysis.id, publisher: deps.publisher.driver, error }, 'publishing failed');
  }
}

function reviewOf(build: Build, analysis: Analysis, now: number) {
  return {
    id: newId('rev', now),
    analysisId: analysis.id,
    buildId: build.id,
    repository: build.repository,
    title: analysis.answer.title,
    category: analysis.category,
    confidence: analysis.verdict.confidence,
    why: analysis.verdict.reasons,
    openedAt: new Date(now).toISOString(),
  };
}
