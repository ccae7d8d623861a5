import type { Analysis } from '../../src/domain/analysis.ts';
import type { Build } from '../../src/domain/build.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { Decision } from '../../src/domain/review.ts';
import type { BuildSituation, Cause, CauseHistory, Situation } from '../../src/ports/notices.ts';
import { sampleAnalysis, sampleBuild, sampleFailure } from '../support/sample-analysis.ts';

/** The failed build of a pull request. */
export function pullRequestBuild(change: Partial<Build> = {}): Build {
  return sampleBuild({ branch: 'fix/tax', pullRequest: 1204, ...change });
}

export const NO_HISTORY: CauseHistory = {
  generic: false,
  defaultBranch: null,
  otherPullRequests: 0,
  seenElsewhere: false,
};
export const FIRST_HERE: CauseHistory = {
  ...NO_HISTORY,
  defaultBranch: { name: 'main', status: 'passed', since: null, lastSeenAt: null },
};

export function causeOf(analysis: Analysis = sampleAnalysis(), change: Partial<Cause> = {}): Cause {
  const tests = ['cart total', 'cart tax', 'invoice total'];
  return {
    analysis,
    failures: 3,
    tests,
    sample: tests.map(failureOf),
    review: null,
    history: NO_HISTORY,
    record: null,
    isMuted: false,
    ...change,
  };
}

/** The failure of that test. */
export function failureOf(name: string): Failure {
  const { test, ...failure } = sampleFailure();
  return { ...failure, id: `fal_${name}`, test: test === null ? null : { ...test, name } };
}

export function headOf(change: Partial<BuildSituation> = {}): BuildSituation {
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

export function situationOf(...heads: readonly BuildSituation[]): Situation {
  const about = { type: 'pull-request', repository: 'shop/api', pullRequest: 1204 } as const;
  return { about, heads, defaultBranch: 'main', usualMs: null };
}

export function decided(
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
