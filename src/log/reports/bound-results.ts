import type { TestResult } from '../../domain/build.ts';
import { formatCount } from '../../lib/text.ts';

/**
 * Results of one build that are kept one by one: of failed tests, and of all. The rest is counted, and is
 * found in the report's text.
 */
const MAX_FAILED = 5_000;
const MAX_KEPT = 50_000;

/**
 * Keeps the first results of failed tests, then those of the others, in their order, and says how many are
 * only counted; null: none.
 */
export function boundResults(results: readonly TestResult[]): {
  readonly kept: readonly TestResult[];
  readonly note: string | null;
} {
  let [failed, others] = [0, 0];
  const kept = results.filter(({ status }) =>
    status === 'failed' ? ++failed <= MAX_FAILED : ++others <= MAX_KEPT - MAX_FAILED,
  );
  if (kept.length === results.length) return { kept: results, note: null };
  const left =
    `${formatCount(results.length - kept.length, 'test result')} ` +
    `of ${results.length} (${failed} failed)`;
  return { kept, note: `${left} are only counted; their names are in the report, which can be searched.` };
}
