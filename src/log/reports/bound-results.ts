import type { TestResult } from '../../domain/build.ts';
import { formatCount } from '../../lib/text.ts';

/**
 * The maximum numbers of results that are kept for one build: of failed tests, and of all tests. The others
 * are only counted; the report's text still contains them.
 */
const MAX_FAILED = 5_000;
const MAX_KEPT = 50_000;

/**
 * Keeps the first results of failed tests, and then those of other tests, in their order. Also returns a note
 * on the results that are only counted, or null if there are none.
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
