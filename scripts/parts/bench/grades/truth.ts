import type { Analysis } from '../../../../src/domain/analysis.ts';
import type { Category } from '../../../../src/domain/category.ts';
import type { Failure } from '../../../../src/domain/failure.ts';
import type { GradeQuestion } from '../../../../src/domain/outcome.ts';
import type { Fault } from './faults.ts';
import type { FixedHistory } from './histories.ts';

/** Determines for each question whether an answer is right, from the planted fault and not from the fix. */
export function readTruth(
  { fault: first, second }: FixedHistory,
  failures: readonly Failure[],
  { category, kind, answer }: Analysis,
): Record<GradeQuestion, boolean> {
  const isSecond = failures.some(({ test }) => /adds.up.the.prices/.test(test?.name ?? ''));
  const fault = isSecond && second !== null ? second : first;
  const saysTransient = answer.transient === undefined ? category === 'INFRA_ERROR' : answer.transient >= 0.5;
  return {
    category: listCategories(fault, failures).includes(category),
    suspect: answer.suspects.some(({ path }) => fault.files.includes(path)),
    transient: saysTransient === fault.isTransient || kind === 'flaky_timing',
    excuse: false,
    advice: isAdviceRight(fault, answer),
  };
}

function listCategories({ categories }: Fault, failures: readonly Failure[]): readonly Category[] {
  if (categories.length > 0) return categories;
  const texts = failures.flatMap(({ test, message }) => [test?.message ?? '', message]);
  const isAssertion = texts.some((text) => /assert|expected/i.test(text));
  // An exception of the code in a test is accepted as a failure of the test, too.
  return isAssertion ? ['TEST_FAILURE'] : ['CODE_ERROR', 'TEST_FAILURE'];
}

/** Checks advice. It is right if it names a file of the fault, or if it names none and recommends the right action. */
function isAdviceRight({ files, act }: Fault, answer: Analysis['answer']): boolean {
  const named = answer.fixRecommendation.match(/[\w.-]+(?:\/[\w.-]+)*\.(?:js|py|json|ya?ml|txt|md)\b/g) ?? [];
  if (files.some((path) => named.some((name) => path === name || path.endsWith(`/${name}`)))) return true;
  return answer.act === act && (named.length === 0 || act === 'rerun');
}
