import { z } from 'zod';
import { flakeProbability, type TestFlakiness } from '../../domain/flakiness.ts';
import { present } from '../../lib/collections.ts';
import { proportion } from '../../lib/statistics.ts';
import { FlakyTest, flakyTest } from '../../service/answers/flaky.ts';
import { Cursor, line, takeFitting } from '../shapes.ts';
import { cursorOf, defineTool, FIELDS, type InstallationDeps, type McpTool, offsetOf } from '../tool.ts';

const NAME = 'flaky_tests';
const BUDGET_BYTES = 3_500;

const Input = z.strictObject({
  repository: FIELDS.repository.optional(),
  test: z.string().min(1).max(300).optional().describe('Only this test, by its exact name'),
  limit: z.int().min(1).max(50).default(10),
  cursor: FIELDS.cursor.optional(),
});

const Test = FlakyTest.pick({
  ...{ repository: true, suite: true, name: true, runs: true, flakes: true, rerun: true, recovered: true },
  ...{ since: true, rate: true, probability: true },
});
const Output = z.object({
  tests: z.array(Test),
  next: Cursor,
});

/** `flaky_tests`: tests that failed and passed without a change between, with counts. */
export function flakyTests({ stores }: InstallationDeps): McpTool {
  return defineTool({
    name: NAME,
    title: 'List flaky tests',
    description:
      'Lists tests that failed and then passed without a change, highest share first, with counts and a 95 % interval. Use it to judge whether a failed test may be flaky. A flaky past is a hint only: it never proves that the failure at hand is harmless.',
    input: Input,
    output: Output,
    run: async ({ limit, cursor, ...given }) => {
      const offset = offsetOf(NAME, cursor);
      const tests = await stores.flakiness.list(present(given), { limit, offset });
      if (tests.length === 0) {
        const text = offset > 0 ? 'No more flaky tests.' : 'No test is known to be flaky here.';
        return { text, data: { tests: [], next: null } };
      }
      const { text, shown } = takeFitting(
        tests.map((test, index) => entryOf(test, offset + index + 1)),
        BUDGET_BYTES,
      );
      const next = shown < tests.length || tests.length === limit ? cursorOf(NAME, offset + shown) : null;
      const listed = tests.slice(0, shown).map((test) => ({ ...flakyTest(test), name: line(test.name, 300) }));
      return { text: `${text}\n${next === null ? 'End of list.' : `… perhaps more, cursor: ${next}`}`, data: { tests: listed, next } };
    },
  });
}

function entryOf(test: TestFlakiness, number: number): string {
  const { share: flaked, low, high } = proportion(test.flakes, test.runs);
  const share = `${rounded(flaked)} of runs (${test.flakes} of ${test.runs}; 95 % interval ${rounded(low)} to ${rounded(high)})`;
  const probability = flakeProbability(test);
  const rerun = probability === null ? 'never rerun on the same commit' : `passed on rerun on ${test.recovered} of ${test.rerun} commits`;
  const since = test.since === null ? '' : ` · since ${test.since.slice(0, 10)}`;
  const suite = test.suite === null ? '' : `${test.suite} › `;
  return `${number}. ${line(`${suite}${test.name}`, 200)}\n   ${line(test.repository, 100)} · flaked in ${share} · ${rerun}${since}`;
}

function rounded(share: number): string {
  return `${Math.round(share * 100)} %`;
}
