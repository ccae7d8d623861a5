import { z } from 'zod';
import { type Analysis, saidCategory } from '../../domain/analysis.ts';
import { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { AnalysisSummary, summaryOf } from '../../service/answers/views.ts';
import { CauseOutput, causeOutput, describeAnalysis, describeStanding, line, takeFitting } from '../shapes.ts';
import { defineTool, findAnalyses, type InstallationDeps, type McpTool } from '../tool.ts';

const BUDGET_BYTES = 4_000;
const OTHER_CAUSES = 10;
const MAX_TESTS = 20;

export const FailureId = z
  .string()
  .min(1)
  .max(300)
  .describe('An ID from list_failures, or a build as provider:number, such as github:812 or jenkins:4711');

const Output = z.object({
  cause: CauseOutput,
  build: Build.pick({
    id: true,
    provider: true,
    repository: true,
    pipeline: true,
    number: true,
    branch: true,
    commit: true,
    url: true,
  }).nullable(),
  tests: z.array(z.string()),
  others: z.array(AnalysisSummary).describe('Other causes of this build'),
});

/** `get_failure`: the answer for one failure. */
export function getFailure(deps: InstallationDeps): McpTool {
  return defineTool({
    name: 'get_failure',
    title: 'Get the cause of a failure',
    description:
      'Explains one CI failure: category, root cause, fix, how sure the answer is, the log lines that prove it with their numbers, suspected files and failing tests. Usually all you need. Call get_evidence for more lines or the full text of a piece of evidence (E1, E2, …). For a build with several causes, the main one is explained and the others are listed by id.',
    input: z.strictObject({ id: FailureId }),
    output: Output,
    run: async ({ id }) => {
      const { build, analyses } = await findAnalyses(id, deps);
      const [main, ...others] = analyses;
      if (main === undefined) throw new TriageError('not-found', 'There is no analysis for it.');
      const tests = await testsOf(main, deps);
      const { text, rest } = takeFitting([`${main.id}`, ...describeAnalysis(main, { build, tests })], BUDGET_BYTES);
      const cut = rest === 0 ? '' : `\n… ${rest} more parts; get_evidence has the evidence in full`;
      const data = {
        cause: causeOutput(main),
        build,
        tests: tests.slice(0, MAX_TESTS).map((name) => line(name, 200)),
        others: others.slice(0, OTHER_CAUSES).map((one) => ({ ...summaryOf(one), title: line(one.answer.title, 120) })),
      };
      return { text: `${text}${cut}${otherCauses(others)}`, data };
    },
  });
}

async function testsOf(analysis: Analysis, { stores }: InstallationDeps): Promise<string[]> {
  const ids = new Set(analysis.failureIds);
  const failures = await stores.failures.listByBuild(analysis.buildId);
  return failures.flatMap(({ id, test }) => (ids.has(id) && test !== null ? [test.name] : []));
}

function otherCauses(others: readonly Analysis[]): string {
  if (others.length === 0) return '';
  const rows = others
    .slice(0, OTHER_CAUSES)
    .map((one) => `- ${one.id} · ${saidCategory(one)} · ${describeStanding(one)}: ${line(one.answer.title, 120)}`);
  const more = others.length > OTHER_CAUSES ? [`- … ${others.length - OTHER_CAUSES} more: list_failures lists them`] : [];
  return `\nOther causes of this build:\n${[...rows, ...more].join('\n')}`;
}
