import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Failure } from '../../domain/failure.ts';
import { percent } from '../answer-facts.ts';
import { clip } from '../visible-text.ts';
import type { Exported } from './sarif.ts';

/** A report in the Common Test Report Format 1.0.0, of it what Faultline writes. */
export interface CtrfReport {
  readonly reportFormat: 'CTRF';
  readonly specVersion: '1.0.0';
  readonly runId: string;
  readonly timestamp: string;
  readonly generatedBy: 'faultline';
  readonly results: {
    readonly tool: { readonly name: string };
    readonly summary: CtrfSummary;
    readonly tests: readonly CtrfTest[];
    readonly environment: Readonly<Record<string, string | number>>;
    readonly extra: Readonly<Record<string, unknown>>;
  };
}

type Outcome = 'tests' | 'passed' | 'failed' | 'skipped' | 'pending' | 'other' | 'start' | 'stop';
type CtrfSummary = Readonly<Record<Outcome, number>>;

interface CtrfTest {
  readonly name: string;
  readonly status: 'failed';
  /** Milliseconds; 0, since a failure does not keep it. */
  readonly duration: 0;
  readonly suite?: readonly string[];
  readonly message: string;
  readonly trace?: string;
  readonly filePath?: string;
  readonly line?: number;
  /** What Faultline says of it. */
  readonly ai?: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** More of one build is left out: `extra.leftOut` says how many. */
const MAX_TESTS = 5_000;
const MAX_TEXT = 4_000;

/**
 * What failed, as a CTRF report: one failed test a failure, with the cause in `ai` and its category in `extra`. Failed tests only: what
 * passed is not in it, and its summary counts what is. Bounded; its texts are masked already.
 */
export function ctrfOf({ build, analyses, failures, publicUrl }: Exported): CtrfReport {
  const shown = failures.slice(0, MAX_TESTS);
  const byFailure = new Map(analyses.flatMap((analysis) => analysis.failureIds.map((id) => [id, analysis] as const)));
  const stop = millisecondsOf(build.finishedAt ?? build.receivedAt);
  return {
    reportFormat: 'CTRF',
    specVersion: '1.0.0',
    runId: build.id,
    timestamp: build.receivedAt,
    generatedBy: 'faultline',
    results: {
      tool: { name: 'faultline' },
      summary: {
        ...{ tests: shown.length, passed: 0, failed: shown.length, skipped: 0, pending: 0, other: 0 },
        ...{ start: build.startedAt === null ? stop : millisecondsOf(build.startedAt), stop },
      },
      tests: shown.map((failure) => testOf(failure, byFailure.get(failure.id), publicUrl)),
      environment: environmentOf(build),
      extra: { failedTestsOnly: true, leftOut: failures.length - shown.length },
    },
  };
}

function testOf({ test, message, excerpt, frames }: Failure, analysis: Analysis | undefined, publicUrl: string | null): CtrfTest {
  const place = test?.file ? { file: test.file, line: test.line } : frames.find(({ own }) => own);
  return {
    name: text(test?.name ?? message, 500) || 'failed step',
    status: 'failed',
    duration: 0,
    ...(test?.suite ? { suite: [text(test.suite, 500)] } : {}),
    message: text(message),
    ...(excerpt === null ? {} : { trace: text(excerpt.text) }),
    ...(place === undefined ? {} : { filePath: text(place.file, 1_000) }),
    ...(place?.line ? { line: place.line } : {}),
    ...(analysis === undefined ? { extra: {} } : told(analysis, publicUrl)),
  };
}

function told(analysis: Analysis, publicUrl: string | null) {
  const { answer, verdict, category, kind, id, recalled } = analysis;
  const fix = answer.fixRecommendation.trim() === '' ? '' : ` Fix: ${answer.fixRecommendation}`;
  return {
    ai: text(`${answer.title} (${category}, ${percent(verdict.confidence)}). ${answer.rootCause}${fix}`),
    extra: {
      ...{ analysisId: id, category, kind, confidence: verdict.confidence, action: verdict.action },
      confirmedBy: recalled?.confirmedBy ?? null,
      ...(publicUrl === null ? {} : { url: `${publicUrl.replace(/\/$/, '')}/analyses/${encodeURIComponent(id)}` }),
    },
  };
}

function environmentOf(build: Build): Readonly<Record<string, string | number>> {
  const { pipeline, number, url, repository, commit, branch } = build;
  return {
    ...{ buildId: build.id, buildName: pipeline, repositoryName: repository },
    ...(/^\d{1,9}$/.test(number) ? { buildNumber: Number(number) } : {}),
    ...(url === null ? {} : { buildUrl: url }),
    ...(commit === null ? {} : { commit }),
    ...(branch === null ? {} : { branchName: branch }),
  };
}

function text(value: string, limit = MAX_TEXT): string {
  return clip(value, limit).toWellFormed();
}

function millisecondsOf(time: string): number {
  return Math.trunc(Date.parse(time));
}
