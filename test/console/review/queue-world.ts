import type { FastifyInstance } from 'fastify';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { NewBuild } from '../../../src/domain/build.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { NewReview, Review } from '../../../src/domain/review.ts';
import {
  createFailingTest,
  sampleAnalysis,
  sampleBuild,
  sampleGroup,
  sampleReview,
} from '../../stores/samples.ts';
import type { TestConsole } from '../../support/console.ts';

export interface ItemChanges {
  readonly build?: Partial<NewBuild>;
  readonly failure?: Partial<Failure>;
  readonly analysis?: Partial<Analysis>;
  readonly review?: Partial<NewReview>;
  readonly fingerprint?: string;
}

let count = 0;

/** Stores a failed build with an analysis that waits for a person. */
export async function storeItem(
  { stores }: Pick<TestConsole, 'stores'>,
  changes: ItemChanges = {},
): Promise<Review> {
  const number = String(++count);
  const fingerprint = changes.fingerprint ?? `fp-${number}`;
  const { build } = await stores.builds.upsert(
    sampleBuild({ number, commit: `c0ffee${number.padStart(6, '0')}`, ...changes.build }),
  );
  const [group] = await stores.failures.saveGroups(build.id, [
    sampleGroup(build.id, fingerprint, {
      test: createFailingTest(`cart total ${number}`),
      ...changes.failure,
    }),
  ]);
  const triage = await stores.triages.open(build.id, fingerprint);
  const failureIds = group?.failures.map(({ id }) => id) ?? [];
  const wanted = sampleAnalysis(
    { buildId: build.id, triageId: triage.id, fingerprint },
    { id: createId('ana'), failureIds, ...changes.analysis },
  );
  const { analysis } = await stores.analyses.insertOnce(wanted);
  return await stores.reviews.open(
    sampleReview(analysis, { repository: build.repository, ...changes.review }),
  );
}

/** Where a redirect leads. */
export function locationOf(answer: Awaited<ReturnType<FastifyInstance['inject']>>): string {
  return String(answer.headers.location);
}

/** The version that a page's forms carry. */
export function versionIn(body: string): string {
  return /name="version" value="(\d+)"/.exec(body)?.[1] ?? '';
}
