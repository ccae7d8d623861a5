import type { Analysis } from '../../src/domain/analysis.ts';
import type { Build } from '../../src/domain/build.ts';
import type { Experiment } from '../../src/domain/experiment.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { Review } from '../../src/domain/review.ts';
import { type ArrangedAnswer, arrangeAnswers } from '../../src/notifications/build-answers.ts';

/** Creates a failed build of a shop's cart. */
export function sampleBuild(change: Partial<Build> = {}): Build {
  return {
    id: 'bld_1',
    provider: 'github',
    repository: 'shop/api',
    pipeline: 'ci',
    number: '812',
    attempt: 1,
    externalId: '9001',
    job: 'test',
    branch: 'main',
    commit: 'a41f9c2d00000000000000000000000000000000',
    author: 'ada',
    pullRequest: null,
    url: 'https://ci.example/shop/api/812',
    status: 'failed',
    startedAt: '2026-10-12T14:00:00.000Z',
    finishedAt: '2026-10-12T14:01:00.000Z',
    receivedAt: '2026-10-12T14:01:02.000Z',
    ...change,
  };
}

/** Creates the failing test of that build. */
export function sampleFailure(change: Partial<Failure> = {}): Failure {
  return {
    id: 'fal_1',
    buildId: 'bld_1',
    test: {
      name: 'cart total',
      suite: 'cart',
      file: 'test/cart.test.ts',
      line: 88,
      message: 'expected 10.20, got 10.21',
      expected: '10.20',
      actual: '10.21',
      framework: 'vitest',
      at: { source: 'build.log', line: 288501 },
    },
    message: 'expected 10.20, got 10.21',
    frames: [{ file: 'src/cart/tax.ts', line: 41, function: 'sum', own: true }],
    excerpt: {
      source: 'build.log',
      lineStart: 288500,
      lineEnd: 288502,
      text: 'FAIL cart total\nexpected 10.20, got 10.21\n    at sum (src/cart/tax.ts:41)',
      reason: 'vitest failure',
      weight: 10,
    },
    fingerprint: { algorithm: 'faultline', version: 1, value: 'f00d' },
    generic: false,
    ...change,
  };
}

/** Arranges the answers of one build, each with the failures that it names. */
export function sampleAnswers(
  analyses: readonly Analysis[],
  failures: readonly Failure[] = [sampleFailure()],
): ArrangedAnswer[] {
  const answers = analyses.map((analysis) => {
    const sample = failures.filter(({ id }) => analysis.failureIds.includes(id));
    return { analysis, sample, failures: Math.max(1, sample.length) };
  });
  return arrangeAnswers(answers);
}

/** Creates the confident answer to it. */
export function sampleAnalysis(change: Partial<Analysis> = {}): Analysis {
  return {
    id: 'ana_9f2c',
    buildId: 'bld_1',
    triageId: 'tri_1',
    failureIds: ['fal_1'],
    fingerprint: 'f00d',
    category: 'TEST_FAILURE',
    kind: 'assertion',
    classification: {
      category: 'TEST_FAILURE',
      kind: 'assertion',
      confidence: 0.94,
      probabilities: {
        CODE_ERROR: 0.03,
        INFRA_ERROR: 0.01,
        CONFIG_ERROR: 0.01,
        DEPENDENCY_ERROR: 0.01,
        TEST_FAILURE: 0.94,
      },
      abstained: false,
      because: 'assertion mismatch',
    },
    answer: {
      title: 'The cart total is rounded twice',
      rootCause: 'The new tax step rounds each line before summing; the total differs by 0.01.',
      fixRecommendation: 'Round once, after the sum, in `src/cart/tax.ts:41`.',
      confidence: 0.91,
      claims: [
        {
          text: 'The total differs by 0.01',
          evidence: ['E1'],
          quotes: [
            { source: 'build.log', line: 288502, text: 'at sum (src/cart/tax.ts:41)' },
            { source: 'build.log', line: 288501, text: 'expected 10.20, got 10.21' },
          ],
        },
      ],
      suspects: [
        {
          path: 'src/cart/tax.ts',
          line: 41,
          commit: 'a41f9c2d0000',
          author: 'ada',
          score: 0.81,
          reason: 'frame 2 of the stack',
        },
      ],
      hypotheses: [],
    },
    verdict: {
      grades: { E1: 'relevant' },
      unsupportedClaims: [],
      gaps: [],
      confidence: 0.91,
      action: 'auto_notify',
      reasons: [],
    },
    evidence: [
      {
        id: 'E1',
        tool: 'log',
        title: 'vitest failure',
        text: 'FAIL cart total\nexpected 10.20, got 10.21\n    at sum (src/cart/tax.ts:41)',
        source: 'build.log',
        lineStart: 288500,
        lineEnd: 288502,
      },
    ],
    steps: [
      {
        node: 'classify',
        round: 0,
        startedAt: '2026-10-12T14:01:03.000Z',
        milliseconds: 900,
        summary: 'TEST_FAILURE (0.94) assertion',
        by: 'rules',
      },
    ],
    usage: {
      inputTokens: 13_190,
      outputTokens: 1020,
      costUsd: 0.021,
      modelCalls: 5,
      toolCalls: 3,
      iterations: 2,
    },
    analyst: 'llm',
    model: 'small-1',
    promptHashes: { classify: '4f1c' },
    notes: [],
    terminationReason: 'enough_information',
    recalled: null,
    reduction: { logLines: 311_101, logBytes: 29_600_000, keptLines: 412, tokens: 1980 },
    milliseconds: 12_100,
    createdAt: '2026-10-12T14:01:15.000Z',
    ...change,
  };
}

/** Creates the same answer without confidence, so that a person is asked. */
export function createUnsureAnalysis(change: Partial<Analysis> = {}): Analysis {
  const sure = sampleAnalysis();
  return sampleAnalysis({
    answer: {
      ...sure.answer,
      confidence: 0.61,
      hypotheses: [
        {
          text: '`tax.ts:41` throws when the list is empty.',
          category: 'CODE_ERROR',
          settledBy: 'the value of `items` at line 40',
        },
        {
          text: '`TAX_TABLE` is not set in this job.',
          category: 'CONFIG_ERROR',
          settledBy: "the job's environment",
        },
      ],
    },
    verdict: {
      ...sure.verdict,
      confidence: 0.61,
      action: 'human_review',
      reasons: ['one claim rests on a single line'],
    },
    ...change,
  });
}

/** Creates an answer from a library entry that a person confirmed. */
export function createRecalledAnalysis(): Analysis {
  return sampleAnalysis({
    analyst: 'recall',
    terminationReason: 'known_failure',
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0, toolCalls: 0, iterations: 0 },
    milliseconds: 42,
    recalled: {
      entryId: 'lib_1',
      confirmedBy: 'grace',
      confirmedAt: '2026-10-12T15:00:00.000Z',
      timesSeen: 14,
    },
  });
}

/** Creates the item of that answer in the queue. */
export function sampleReview(change: Partial<Review> = {}): Review {
  return {
    id: 'rev_1',
    analysisId: 'ana_9f2c',
    buildId: 'bld_1',
    repository: 'shop/api',
    title: 'The cart total is rounded twice',
    category: 'TEST_FAILURE',
    kind: 'assertion',
    fingerprint: 'f00d',
    pullRequest: null,
    risk: 1,
    origin: 'unsure',
    confidence: 0.61,
    why: ['one claim rests on a single line'],
    state: 'waiting',
    claimedBy: null,
    claimedAt: null,
    claimExpiresAt: null,
    version: 1,
    openedAt: '2026-10-12T14:01:16.000Z',
    decision: null,
    ...change,
  };
}

/** Creates an experiment in which a failing test ran three times here and three times on the base. */
export function sampleExperiment(change: Partial<Experiment> = {}): Experiment {
  const arm = { what: 'alone', other: 0, exitCodes: [1, 1, 1], milliseconds: [90, 80, 85] } as const;
  return {
    command: ['npm', 'test'],
    narrowed: ['npm', 'test', '--', '-t', '^adds$'],
    tests: ['adds'],
    dependsOnOthers: false,
    polluters: [],
    arms: [
      {
        ...arm,
        exitCodes: [1, 1, 1],
        milliseconds: [90, 80, 85],
        where: 'here',
        commit: null,
        passed: 0,
        failed: 3,
      },
      {
        ...arm,
        exitCodes: [0, 0, 0],
        milliseconds: [90, 80, 85],
        where: 'base',
        commit: 'cfa15e99a',
        passed: 3,
        failed: 0,
      },
    ],
    verdict: 'this-change',
    sentence: 'Fails 3 of 3 here, 0 of 3 on the base (cfa15e99a): introduced by this change.',
    notes: [],
    excerpt: 'expected 5, got 6',
    ...change,
  };
}
