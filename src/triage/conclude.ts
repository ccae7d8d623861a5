import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import { riskOf } from '../domain/review-risk.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { Failpoint } from '../ports/failpoint.ts';
import type { Logger } from '../ports/logger.ts';
import type { Stores } from '../ports/stores.ts';
import type { TriageRun } from './run.ts';

export interface ConcludeDeps {
  readonly database: Database;
  readonly stores: Pick<Stores, 'acts' | 'analyses' | 'reviews' | 'triages'>;
  /** The drivers of the publishers that every sure answer is owed to. */
  readonly publishers: readonly string[];
  /** Told once something is owed outside, so that nobody waits for the next look. */
  readonly wakePublishers?: () => void;
  /** Told of each answer that is new, once it is saved. Must not throw. */
  readonly onConcluded?: (build: Build, analysis: Analysis) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Forgets what the graph kept of a triage in case it had to go on. */
  readonly forget: (triageId: string) => Promise<void>;
  readonly failpoint?: Failpoint;
}

/** Makes the answer inside the transaction that saves it: what it changes is kept or lost together with the answer. */
export type Draft = (sql: Sql) => Promise<Analysis>;

/**
 * Saves the answer, and in the same transaction opens a review where a person must look, or owes a sure answer to every publisher.
 * Throws `cancelled` where the worker has lost the build meanwhile: then nothing is written. A second conclusion of the same triage
 * changes nothing. What the graph kept is forgotten after the commit; where that fails it is logged and undoes nothing.
 */
export async function conclude(build: Build, draft: Draft, deps: ConcludeDeps, run: TriageRun): Promise<Analysis> {
  const { stores } = deps;
  const saved = await deps.database.transaction(async (sql) => {
    if (!(await run.fence(sql))) throw new TriageError('cancelled', 'Another worker has taken this build over', { retryable: true });
    const analysis = await draft(sql);
    const { analysis: stored, created } = await stores.analyses.insertOnce(analysis, sql);
    if (!created) return { stored, created };
    await stores.triages.conclude(stored.triageId, stored.id, sql);
    if (isSure(stored)) await stores.acts.owe({ publishers: deps.publishers, buildId: build.id, analysisId: stored.id }, sql);
    else await stores.reviews.open(reviewOf(build, stored, deps.clock.now()), sql);
    deps.failpoint?.('concluding', build.id);
    return { stored, created };
  });
  deps.failpoint?.('concluded', build.id);
  if (saved.created) run.progressed?.();
  if (saved.created) deps.onConcluded?.(build, saved.stored);
  if (saved.created && isSure(saved.stored)) deps.wakePublishers?.();
  await forget(saved.stored.triageId, deps);
  return saved.stored;
}

function isSure({ verdict }: Analysis): boolean {
  return verdict.action === 'auto_notify';
}

/** What is left is swept at the next start. */
async function forget(triageId: string, deps: ConcludeDeps): Promise<void> {
  try {
    await deps.forget(triageId);
  } catch (error) {
    deps.logger.warn({ triageId, error }, 'the checkpoints of a concluded triage are still there');
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
    risk: riskOf(build, analysis),
    openedAt: new Date(now).toISOString(),
  };
}
