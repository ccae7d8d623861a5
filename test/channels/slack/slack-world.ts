import type { Analysis } from '../../../src/domain/analysis.ts';
import type { Build } from '../../../src/domain/build.ts';
import type { Decision } from '../../../src/domain/review.ts';
import type { BuildSituation, Cause, Situation } from '../../../src/ports/notices.ts';
import { createFailure, NO_HISTORY } from '../../notifications/sample-situation.ts';
import { sampleAnalysis, sampleBuild } from '../../support/sample-analysis.ts';

/** One cause as the database tells it. */
export function sampleCause(analysis: Analysis = sampleAnalysis(), change: Partial<Cause> = {}): Cause {
  return {
    analysis,
    failures: 3,
    tests: ['cart total', 'cart tax', 'invoice total'],
    sample: ['cart total', 'cart tax', 'invoice total'].map(createFailure),
    review: null,
    history: NO_HISTORY,
    record: null,
    isMuted: false,
    ...change,
  };
}

/** The newest build of `main`, red with one cause unless told otherwise. */
export function sampleHead(change: Partial<BuildSituation> = {}): BuildSituation {
  const job = { state: 'done', error: null } as const;
  return {
    build: sampleBuild(),
    job,
    failures: 3,
    causes: [sampleCause()],
    openCauses: 0,
    question: null,
    lastFailed: null,
    ...change,
  };
}

export function createBranchSituation(...heads: readonly BuildSituation[]): Situation {
  return {
    about: { type: 'branch', repository: 'shop/api', pipeline: 'ci', branch: 'main' },
    heads,
    defaultBranch: 'main',
    usualMs: null,
  };
}

/** Put to a person by a triage that goes on with the answer. */
export const openQuestion: NonNullable<BuildSituation['question']> = {
  id: 'que_1',
  kind: 'question',
  triageId: 'tri_1',
  buildId: 'bld_1',
  repository: 'shop/api',
  title: 'cart',
  state: 'waiting',
  category: 'CONFIG_ERROR',
  question: 'Is Postgres 17 expected?',
  answer: null,
  answeredBy: null,
  answeredAt: null,
  openedAt: '2026-10-12T14:02:00.000Z',
  expiresAt: '2026-10-13T14:02:00.000Z',
};

/** `main` after a build that passed. */
export function createPassedSituation(fixedBy: Partial<Build> = {}): Situation {
  const { id, category, answer } = sampleAnalysis();
  const passed = sampleBuild({
    id: 'bld_9',
    number: '813',
    status: 'passed',
    finishedAt: '2026-10-12T14:42:00.000Z',
    ...fixedBy,
  });
  const lastFailed = {
    build: sampleBuild(),
    fixedBy: passed,
    failures: 3,
    causes: [{ id, category, answer }],
  };
  return createBranchSituation(sampleHead({ build: passed, job: null, failures: 0, causes: [], lastFailed }));
}

/** A review of the sample analysis, decided. */
export function createDecision(change: Partial<Decision>): NonNullable<Cause['review']> {
  const decision: Decision = {
    id: 'dec_1',
    reviewId: 'rev_1',
    analysisId: 'ana_9f2c',
    reviewer: 'grace',
    type: 'accept',
    decidedAt: '2026-10-12T14:09:00.000Z',
    ...change,
  };
  return { id: 'rev_1', openedAt: '2026-10-12T14:02:00.000Z', decision };
}
