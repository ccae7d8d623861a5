import type { Analysis } from '../../src/domain/analysis.ts';
import type { Build } from '../../src/domain/build.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { FailureHistory, ProvingBuild } from '../../src/domain/failure-history.ts';
import type { Decision } from '../../src/domain/review.ts';
import type { BuildSituation, Cause, Situation } from '../../src/ports/notices.ts';
import { sampleAnalysis, sampleBuild, sampleFailure } from '../support/sample-analysis.ts';

/** The failed build of a pull request. */
export function pullRequestBuild(change: Partial<Build> = {}): Build {
  return sampleBuild({ branch: 'fix/tax', pullRequest: 1204, ...change });
}

export const NO_HISTORY: FailureHistory = {
  generic: false,
  isDefault: false,
  defaultBranch: null,
  otherPullRequests: 0,
  seenElsewhere: false,
  own: { firstAt: '2026-10-12T14:00:00.000Z', times: 1, passed: null },
  passedAgain: null,
  test: null,
};

/** A build of the default branch, by somebody else than the author of the pull request. */
export function createMainBuild(change: Partial<ProvingBuild> = {}): ProvingBuild {
  const build = { id: 'bld_main', pipeline: 'ci', number: '790', attempt: 1, url: null, commit: 'b5d1e22c' };
  return { ...build, author: 'Max', receivedAt: '2026-10-12T09:00:00.000Z', ...change };
}

/** The default branch passes. */
export const PASSES: NonNullable<FailureHistory['defaultBranch']> = {
  name: 'main',
  status: 'passed',
  newest: createMainBuild(),
  since: null,
  times: 0,
  lastFailed: null,
  fixedBy: null,
};
/** The default branch fails in the same way. */
export const FAILS: NonNullable<FailureHistory['defaultBranch']> = {
  ...PASSES,
  status: 'failed',
  since: createMainBuild(),
  times: 1,
  lastFailed: createMainBuild(),
};
export const FIRST_HERE: FailureHistory = { ...NO_HISTORY, defaultBranch: PASSES };

export function createCause(analysis: Analysis = sampleAnalysis(), change: Partial<Cause> = {}): Cause {
  const tests = ['cart total', 'cart tax', 'invoice total'];
  return {
    analysis,
    failures: 3,
    tests,
    sample: tests.map(createFailure),
    review: null,
    history: NO_HISTORY,
    record: null,
    isMuted: false,
    ...change,
  };
}

/** The failure of that test. */
export function createFailure(name: string): Failure {
  const { test, ...failure } = sampleFailure();
  return { ...failure, id: `fal_${name}`, test: test === null ? null : { ...test, name } };
}

export function createHead(change: Partial<BuildSituation> = {}): BuildSituation {
  const causes = change.causes ?? [];
  return {
    build: pullRequestBuild(),
    job: { state: causes.length === 0 ? 'running' : 'done', error: null },
    failures: causes.reduce((total, { failures }) => total + failures, 0),
    causes,
    openCauses: 0,
    question: null,
    lastFailed: null,
    ...change,
  };
}

export function createSituation(...heads: readonly BuildSituation[]): Situation {
  const about = { type: 'pull-request', repository: 'shop/api', pullRequest: 1204 } as const;
  return { about, heads, defaultBranch: 'main', usualMs: null };
}

export function createDecision(
  type: Decision['type'],
  change: Partial<Decision> = {},
): NonNullable<Cause['review']> {
  const decision = {
    id: 'dec_1',
    reviewId: 'rev_1',
    analysisId: 'ana_9f2c',
    reviewer: 'grace',
    type,
    decidedAt: '2026-10-12T14:09:30.000Z',
  };
  return { id: 'rev_1', openedAt: '2026-10-12T14:02:00.000Z', decision: { ...decision, ...change } };
}
