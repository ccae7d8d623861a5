import type { Analysis } from '../../../src/domain/analysis.ts';
import type { NewBuild } from '../../../src/domain/build.ts';
import type { Decision } from '../../../src/domain/review.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild, sampleDecision, sampleReview } from '../../stores/samples.ts';

export const HOSTILE = `<img src=x onerror=alert(1)>"'\u202e`;

export interface Told {
  readonly number: number;
  readonly fingerprint: string;
  readonly confidence: number;
  readonly at: string;
  readonly repository?: string;
  readonly build?: Partial<NewBuild>;
  readonly analysis?: Partial<Analysis>;
  readonly decision?: Partial<Decision>;
}

/** One failed build with its answer, and the decision on it if one is given. */
export async function tell(stores: Stores, told: Told): Promise<Analysis> {
  const { repository = 'acme/shop', confidence, fingerprint, at } = told;
  const finished = { startedAt: new Date(Date.parse(at) - 1_800_000).toISOString(), finishedAt: at };
  const { build } = await stores.builds.upsert(
    sampleBuild({ repository, number: String(told.number), ...finished, ...told.build }),
  );
  const triage = await stores.triages.open(build.id, fingerprint);
  const base = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint }, { createdAt: at });
  const { analysis } = await stores.analyses.insertOnce({
    ...base,
    ...told.analysis,
    verdict: { ...base.verdict, confidence },
  });
  if (told.decision === undefined) return analysis;
  const review = await stores.reviews.open(
    sampleReview(analysis, { repository, confidence, category: analysis.category }),
  );
  await stores.reviews.decide(
    review.id,
    review.version,
    sampleDecision(review, { decidedAt: at, ...told.decision }),
  );
  return analysis;
}

/** Two runs of a test on one commit: it failed, then it passed. */
export async function flake(stores: Stores, repository: string, number: string, name: string): Promise<void> {
  for (const [attempt, status] of [
    [1, 'failed'],
    [2, 'passed'],
  ] as const) {
    const { build } = await stores.builds.upsert(
      sampleBuild({ repository, number, attempt, commit: 'c0ffee' }),
    );
    await stores.builds.saveTestResults(build.id, [
      { name, suite: 'cart', file: null, status, durationMs: null },
    ]);
  }
}
