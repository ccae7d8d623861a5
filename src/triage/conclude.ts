import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { type NewReview, openingOf } from '../domain/review.ts';
import { isDrawn } from '../lib/statistics.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Failpoint, Sql } from '../ports/database.ts';
import type { Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { TriageRun } from './run.ts';

export interface ConcludeDeps {
  readonly database: Database;
  readonly stores: Pick<Stores, 'acts' | 'analyses' | 'notices' | 'reviews' | 'triages'>;
  /** The drivers of the publishers that every sure answer is owed to. */
  readonly publishers: readonly string[];
  /** One sure answer in so many waits for a person too, as a sample; absent or 0: none. */
  readonly auditEvery?: number;
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
 * Saves the answer, and in the same transaction opens a review where a person must look, or owes a sure answer to every publisher; notices are
 * wanted anew in any case.
 * Throws `cancelled` where the worker has lost the build meanwhile: then nothing is written. A second conclusion of the same triage
 * changes nothing. What the graph kept is forgotten after the commit; where that fails it is logged and undoes nothing.
 */
export async function conclude(build: Build, draft: Draft, deps: ConcludeDeps, run: TriageRun): Promise<Analysis> {
  const { stores } = deps;
  const saved = await deps.database.transaction(async (sql) => {
    if (!(await run.fence(sql))) throw new TriageError('cancelled', 'Another worker has taken over this build', { retryable: true });
    const analysis = await draft(sql);
    const { analysis: stored, created } = await stores.analyses.insertOnce(analysis, sql);
    if (!created) return { stored, created };
    await stores.triages.conclude(stored.triageId, stored.id, sql);
    if (isSure(stored)) await stores.acts.owe({ publishers: deps.publishers, buildId: build.id, analysisId: stored.id }, sql);
    const review = reviewFor(build, stored, deps);
    if (review !== null) await stores.reviews.open(review, sql);
    await stores.notices.changed({ buildId: build.id, delayMs: 0 }, sql);
    deps.failpoint?.('concluding', build.id);
    return { stored, created };
  });
  deps.failpoint?.('concluded', build.id);
  if (saved.created) run.progressed?.();
  if (saved.created) deps.onConcluded?.(build, saved.stored);
  if (saved.created) deps.wakePublishers?.();
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

/** What a person must look at, or what of the sure answers was drawn as a sample. */
function reviewFor(build: Build, analysis: Analysis, { clock, auditEvery = 0 }: ConcludeDeps): NewReview | null {
  if (!isSure(analysis)) return openingOf(build, analysis, { now: clock.now(), origin: 'unsure', why: analysis.verdict.reasons });
  // What a person said before is no answer of a machine's, so nothing is learned from counting it.
  if (analysis.terminationReason === 'known_failure' || !isDrawn(sampleName(build, analysis), auditEvery)) return null;
  const why = [`published automatically; one in ${auditEvery} such answers is reviewed`];
  return openingOf(build, analysis, { now: clock.now(), origin: 'audit', why });
}

/** The same build read again is drawn again, or not again. */
function sampleName({ provider, repository, pipeline, number, attempt }: Build, { fingerprint }: Analysis): string {
  return JSON.stringify([provider, repository, pipeline, number, attempt, fingerprint]);
}
