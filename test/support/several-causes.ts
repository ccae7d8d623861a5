import type { Analysis } from '../../src/domain/analysis.ts';
import type { NewBuild } from '../../src/domain/build.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { FailureGroup } from '../../src/domain/reading.ts';
import {
  type ArrangedAnswer,
  arrangeAnswers,
  pairWithFailures,
} from '../../src/notifications/build-answers.ts';
import type { Stores } from '../../src/stores/stores.ts';
import { sampleAnalysis, sampleFailure } from './sample-analysis.ts';

/**
 * The causes and failed tests of a build with three causes and fifteen failed tests, in the order of the
 * first failures.
 */
const CAUSES = [
  {
    id: 'ana_price',
    title: 'total() adds one too much',
    kind: 'assertion',
    category: 'TEST_FAILURE',
    tests: createNames('total of', 2),
  },
  {
    id: 'ana_label',
    title: 'label() reads a missing name',
    kind: 'null_reference',
    category: 'CODE_ERROR',
    tests: createNames('label', 3),
  },
  {
    id: 'ana_redis',
    title: 'Redis does not answer',
    kind: 'service_unavailable',
    category: 'INFRA_ERROR',
    tests: createNames('stores order', 10),
  },
] as const;

/** Stores a failed build with these causes and returns its id. */
export async function storeSeveralCauses(stores: Stores, build: NewBuild): Promise<string> {
  const { id } = (await stores.builds.upsert(build)).build;
  await stores.failures.saveGroups(id, GROUPS);
  for (const analysis of ANALYSES) {
    const triage = await stores.triages.open(id, analysis.fingerprint);
    await stores.analyses.insertOnce({ ...analysis, buildId: id, triageId: triage.id });
  }
  return id;
}

/**
 * The titles in the order in which the causes should be fixed: first the cause that blocks others, then the
 * one with more failures.
 */
export const TITLES = ['Redis does not answer', 'label() reads a missing name', 'total() adds one too much'];

export const GROUPS: readonly FailureGroup[] = CAUSES.map(({ id, title, tests }) => {
  const fingerprint = { algorithm: 'faultline', version: 1, value: `f-${id}` };
  const failures = tests.map((name): Failure => {
    const { test, ...failure } = sampleFailure();
    const own = test === null ? null : { ...test, name, message: `Error: ${title}` };
    return { ...failure, id: `fal_${id}_${name}`, test: own, message: `Error: ${title}`, fingerprint };
  });
  return { fingerprint, generic: false, failures };
});

export const ANALYSES: readonly Analysis[] = CAUSES.map(({ id, title, kind, category }, index) => {
  const failureIds = GROUPS[index]?.failures.map((failure) => failure.id) ?? [];
  return sampleAnalysis({
    id,
    kind,
    category,
    failureIds,
    fingerprint: `f-${id}`,
    answer: { ...sampleAnalysis().answer, title },
  });
});

/** Returns the answers in the form that outputs receive. */
export function createSeveralAnswers(): ArrangedAnswer[] {
  return arrangeAnswers(pairWithFailures(ANALYSES, GROUPS));
}

function createNames(what: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${what} ${index + 1}`);
}
