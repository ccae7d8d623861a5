import type { Analysis } from '../../src/domain/analysis.ts';
import type { NewBuild } from '../../src/domain/build.ts';
import type { Failure, Fingerprint } from '../../src/domain/failure.ts';
import { createId } from '../../src/domain/ids.ts';
import type { LibraryEntry } from '../../src/domain/library.ts';
import type { FailureGroup } from '../../src/domain/reading.ts';
import type { Decision, NewReview } from '../../src/domain/review.ts';

export function sampleBuild(change: Partial<NewBuild> = {}): NewBuild {
  return {
    provider: 'github',
    repository: 'acme/shop',
    pipeline: 'CI',
    number: '57',
    attempt: 1,
    externalId: null,
    job: null,
    branch: 'main',
    commit: null,
    author: null,
    pullRequest: null,
    url: null,
    status: 'failed',
    startedAt: null,
    finishedAt: null,
    ...change,
  };
}

export function sampleFingerprint(value: string): Fingerprint {
  return { algorithm: 'message', version: 1, value };
}

export function sampleFailure(buildId: string, fingerprint: string, change: Partial<Failure> = {}): Failure {
  return {
    id: createId('fal'),
    buildId,
    test: null,
    message: 'expected 3 items but found 2',
    frames: [{ file: 'cart.py', line: 12, function: 'add', own: true }],
    excerpt: null,
    fingerprint: sampleFingerprint(fingerprint),
    generic: false,
    ...change,
  };
}

export function sampleGroup(
  buildId: string,
  fingerprint: string,
  change: Partial<Failure> = {},
): FailureGroup {
  return {
    fingerprint: sampleFingerprint(fingerprint),
    generic: false,
    failures: [sampleFailure(buildId, fingerprint, change)],
  };
}

export function createFailingTest(name: string): NonNullable<Failure['test']> {
  return {
    name,
    suite: null,
    file: null,
    line: null,
    message: null,
    expected: null,
    actual: null,
    framework: 'pytest',
    at: null,
  };
}

export function sampleAnalysis(
  keys: { buildId: string; triageId: string; fingerprint: string },
  change: Partial<Analysis> = {},
): Analysis {
  return {
    id: createId('ana'),
    ...keys,
    failureIds: [],
    category: 'TEST_FAILURE',
    kind: 'assertion',
    classification: {
      category: 'TEST_FAILURE',
      kind: 'assertion',
      confidence: 0.8,
      probabilities: {
        CODE_ERROR: 0.1,
        INFRA_ERROR: 0.03,
        CONFIG_ERROR: 0.03,
        DEPENDENCY_ERROR: 0.04,
        TEST_FAILURE: 0.8,
      },
      abstained: false,
      because: 'an assertion failed',
    },
    answer: {
      title: 'The cart loses an item',
      rootCause: 'add() overwrites the last item',
      fixRecommendation: 'Append instead of assigning',
      confidence: 0.8,
      claims: [
        {
          text: 'The count is one short',
          evidence: ['E1'],
          quotes: [{ source: 'log', line: 3, text: 'found 2' }],
        },
      ],
      suspects: [],
      hypotheses: [],
    },
    verdict: {
      grades: { E1: 'relevant' },
      unsupportedClaims: [],
      gaps: [],
      confidence: 0.8,
      action: 'human_review',
      reasons: ['0.80'],
    },
    evidence: [
      { id: 'E1', tool: 'log', title: 'Failure', text: 'found 2', source: 'log', lineStart: 3, lineEnd: 3 },
    ],
    steps: [],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0, toolCalls: 1, iterations: 1 },
    analyst: 'rules',
    model: null,
    promptHashes: {},
    notes: [],
    terminationReason: 'enough_information',
    recalled: null,
    reduction: { logLines: 10, logBytes: 200, keptLines: 4, tokens: 40 },
    milliseconds: 12,
    createdAt: new Date().toISOString(),
    ...change,
  };
}

export type OpenReview = NewReview;

export function sampleReview(analysis: Analysis, change: Partial<OpenReview> = {}): OpenReview {
  return {
    id: createId('rev'),
    analysisId: analysis.id,
    buildId: analysis.buildId,
    repository: 'acme/shop',
    title: analysis.answer.title,
    category: analysis.category,
    confidence: 0.8,
    why: ['confidence below 0.85'],
    openedAt: new Date().toISOString(),
    ...change,
  };
}

export function sampleDecision(
  review: { id: string; analysisId: string },
  change: Partial<Decision> = {},
): Decision {
  return {
    id: createId('dec'),
    reviewId: review.id,
    analysisId: review.analysisId,
    reviewer: 'ada',
    type: 'accept',
    decidedAt: new Date().toISOString(),
    ...change,
  };
}

export function sampleEntry(fingerprint: string, change: Partial<LibraryEntry> = {}): LibraryEntry {
  return {
    id: createId('lib'),
    fingerprint: sampleFingerprint(fingerprint),
    message: 'expected 3 items but found 2',
    test: null,
    repository: 'acme/shop',
    category: 'CODE_ERROR',
    kind: 'null_reference',
    title: 'The cart loses an item',
    rootCause: 'add() overwrites',
    fixRecommendation: 'Append',
    analysisId: createId('ana'),
    confirmedBy: 'ada',
    confirmedAt: '2026-01-02T03:04:05.678Z',
    timesSeen: 1,
    lastSeenAt: '2026-01-02T03:04:05.678Z',
    decisionId: null,
    telling: ['expected 3 items but found 2'],
    withdrawn: null,
    flag: null,
    stays: null,
    ...change,
  };
}
