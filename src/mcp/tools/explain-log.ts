import { z } from 'zod';
import { CauseOutput, causeOutput, describeAnalysis, line, takeFitting } from '../shapes.ts';
import { defineTool, type ExplainLog, type McpTool } from '../tool.ts';

const BUDGET_BYTES = 5_000;
/** In characters. Reading takes about a second a megabyte of processor time. */
const MAX_LOG = 500_000;
const MAX_CAUSES = 3;
const TIMEOUT_MS = 30_000;

const Input = z.strictObject({
  log: z
    .string()
    .min(1)
    .max(MAX_LOG, `Longer than ${MAX_LOG} characters: paste the part that fails, from its first error to the end`)
    .describe('The text of the log, or its failing part'),
});

/** `explain_log`: a log from anywhere, explained by rules alone. */
export function explainLog(explain: ExplainLog): McpTool {
  return defineTool({
    name: 'explain_log',
    title: 'Explain a pasted log',
    description:
      'Explains a CI log that you paste: category, cause, fix and the key lines with their numbers in the pasted text. Needs no stored build and stores nothing. Uses rules, no model. Prefer get_failure for a stored build: it knows the history. Paste the failing part, not the whole log.',
    input: Input,
    output: z.object({ causes: z.array(CauseOutput.omit({ id: true })) }),
    timeoutMs: TIMEOUT_MS,
    run: async ({ log }, { signal }) => {
      const analyses = await explain(log, signal);
      const [main, ...others] = analyses;
      if (main === undefined) return { text: 'No failure was found in this log.', data: { causes: [] } };
      const { text } = takeFitting(describeAnalysis(main), BUDGET_BYTES);
      const rows = others.slice(0, MAX_CAUSES - 1).map((one) => `- ${one.category}: ${line(one.answer.title, 200)}`);
      const more = others.length >= MAX_CAUSES ? [`- … ${others.length - MAX_CAUSES + 1} more`] : [];
      const listed = others.length === 0 ? '' : `\nOther causes in this log:\n${[...rows, ...more].join('\n')}`;
      return { text: `${text}${listed}`, data: { causes: analyses.slice(0, MAX_CAUSES).map(causeOutput) } };
    },
  });
}
