import type { Analysis } from '../domain/analysis.ts';
import { hasTrait } from '../domain/category.ts';
import type { ExplainedFailures } from '../domain/explained-failures.ts';
import type { Failure } from '../domain/failure.ts';
import type { FailureGroup } from '../domain/reading.ts';
import { sumNumbers, takeFirstOfEach } from '../lib/collections.ts';
import { formatCount } from '../lib/text.ts';
import { normalizeIdentity } from '../log/fingerprint/normalize.ts';
import { clip } from './visible-text.ts';

/** One answer of a build, with the number of failures that it explains, and those that are stored. */
export interface BuildAnswer {
  readonly analysis: Analysis;
  readonly failures: number;
  readonly sample: readonly Failure[];
}

/** An answer at its place among those of its build, with the description of its failures. */
export type ArrangedAnswer<Answer extends BuildAnswer = BuildAnswer> = Answer & {
  readonly explains: ExplainedFailures;
};

/** Finds the failures of each answer by the fingerprint of its group. */
export function pairWithFailures(
  analyses: readonly Analysis[],
  groups: readonly FailureGroup[],
): BuildAnswer[] {
  const byFingerprint = Map.groupBy(groups, ({ fingerprint }) => fingerprint.value);
  return analyses.map((analysis) => {
    const sample = (byFingerprint.get(analysis.fingerprint) ?? []).flatMap(({ failures }) => failures);
    return { analysis, sample, failures: Math.max(1, sample.length, analysis.failureIds.length) };
  });
}

/**
 * Sorts the answers of one build in the order in which to fix them. Answers whose failures stop others come
 * first. Then the answers are sorted by step in the order of the logs, and within a step by the number of
 * failures, the largest first. Last come those that only follow from another job or were not analyzed. A step
 * is a test runner in a log, or a failure without a test. The given answers must be in the order of their
 * first failures.
 */
export function arrangeAnswers<Answer extends BuildAnswer>(
  answers: readonly Answer[],
): ArrangedAnswer<Answer>[] {
  const steps = new Map<string, number>();
  const placed = answers.map((answer) => {
    const step = nameStep(answer);
    if (!steps.has(step)) steps.set(step, steps.size);
    return { answer, stage: rankStage(answer), step: steps.get(step) ?? 0 };
  });
  const inOrder = placed.toSorted((left, right) => {
    return left.stage - right.stage || left.step - right.step || right.answer.failures - left.answer.failures;
  });
  const logs = new Set(answers.flatMap(({ sample }) => sample.flatMap(nameLogs)));
  const isOnly = answers.length === 1 && answers[0]?.failures === 1;
  return inOrder.map(({ answer }) => ({
    ...answer,
    explains: { ...explainFailures(answer, logs.size > 1), isOnly },
  }));
}

/**
 * Returns an introduction such as "3 causes, 15 failed tests, in the order in which to fix them". Returns
 * null if there is only one answer.
 */
export function introduceAnswers(answers: readonly Pick<ArrangedAnswer, 'explains'>[]): string | null {
  if (answers.length < 2) return null;
  const failures = sumNumbers(answers.map(({ explains }) => explains.failures));
  const areTests = answers.every(({ explains }) => explains.areTests);
  const what = formatCount(failures, areTests ? 'failed test' : 'failure');
  return `${formatCount(answers.length, 'cause')}, ${what}, in the order in which to fix them`;
}

/** Returns the names of at most `most` tests, and how many more failed: `["a", "b"]` and 12. */
export function nameTests({ tests, unnamed }: Pick<ExplainedFailures, 'tests' | 'unnamed'>, most: number) {
  // One more name takes no more space than the words that count it.
  const named = unnamed === 0 && tests.length === most + 1 ? tests : tests.slice(0, most);
  return { named, more: named.length === 0 ? 0 : tests.length - named.length + unnamed };
}

function rankStage({ analysis, failures, sample }: BuildAnswer): number {
  const isTolerated = sample.length > 0 && sample.every(({ tolerated }) => tolerated === true);
  if (analysis.terminationReason === 'failed' || analysis.kind === 'upstream_job' || isTolerated) return 2;
  const hitOneTest = failures === 1 && sample[0]?.test != null;
  return hasTrait(analysis.kind, 'stops-the-rest') && !hitOneTest ? 0 : 1;
}

function nameStep({ analysis, sample: [first] }: BuildAnswer): string {
  if (first?.test == null) return analysis.id;
  return JSON.stringify([nameLog(first), first.test.framework]);
}

function nameLog({ test, excerpt }: Failure): string | null {
  return test?.at?.source ?? excerpt?.source ?? null;
}

function nameLogs(failure: Failure): readonly string[] {
  const log = nameLog(failure);
  return failure.logs ?? (log === null ? [] : [log]);
}

function explainFailures(
  { failures, sample }: BuildAnswer,
  areLogsNamed: boolean,
): Omit<ExplainedFailures, 'isOnly'> {
  const tests = sample.flatMap(({ test }) => (test === null ? [] : [test]));
  const known = takeFirstOfEach(tests, ({ suite, name }) => JSON.stringify([suite, name]));
  const suites = Map.groupBy(known, ({ name }) => name);
  const areTests = sample.length > 0 && tests.length === sample.length;
  return {
    failures,
    areTests,
    tests: known.map(({ suite, name }) =>
      suite === null || suites.get(name)?.length === 1 ? name : `${suite} › ${name}`,
    ),
    unnamed: failures - sample.length,
    grouped:
      failures < 2
        ? null
        : `${formatCount(failures, areTests ? 'test' : 'failure')}, because ${findReason(sample)}.`,
    logs: areLogsNamed ? [...new Set(sample.flatMap(nameLogs))] : [],
  };
}

/** Describes the common property of the failures of one answer. */
function findReason(sample: readonly Failure[]): string {
  const [first] = sample;
  if (first === undefined) return 'they have the same fingerprint';
  const haveInCommon = (read: (failure: Failure) => string | null) => {
    const value = read(first);
    return value !== null && value !== '' && sample.every((failure) => read(failure) === value);
  };
  if (sample.every(({ generic }) => generic)) return 'each ended in the same way and says nothing more';
  if (haveInCommon(({ message }) => normalizeIdentity(message)))
    return `each says “${clip(getFirstLine(first.message), 160)}”`;
  if (haveInCommon(nameOwnFrame)) return `each failed at ${clip(nameOwnFrame(first) ?? '', 160)}`;
  if (haveInCommon(({ fingerprint }) => fingerprint.value)) return 'they have the same fingerprint';
  return `their errors lead back to the same one, such as “${clip(getFirstLine(first.message), 160)}”`;
}

function nameOwnFrame({ frames }: Failure): string | null {
  const frame = frames.find(({ own }) => own);
  return frame === undefined ? null : `${frame.file}${frame.line === null ? '' : `:${frame.line}`}`;
}

function getFirstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
