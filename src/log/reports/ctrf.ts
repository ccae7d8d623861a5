import { z } from 'zod';
import type { JsonDocument } from './json.ts';
import { count, readItems, text } from './json.ts';
import type { ReportDraft } from './report-draft.ts';
import { draftReport } from './report-draft.ts';

/** Common Test Report Format. */
export const Ctrf = z.object({ results: z.object({ tool: z.object({ name: z.string() }), tests: z.array(z.unknown()) }) });

const Test = z.object({
  name: z.string(),
  status: z.string(),
  /** Milliseconds. */
  duration: count,
  /** A path of suites, or in older versions their names in one. */
  suite: z.union([z.string(), z.array(z.string())]).nullish(),
  message: text,
  trace: text,
  filePath: text,
  line: count,
  flaky: z.boolean().nullish(),
  stdout: z.array(z.string()).nullish(),
});

export function readCtrf(document: JsonDocument, { results }: z.infer<typeof Ctrf>): ReportDraft {
  const draft = draftReport(document.source, 'ctrf');
  readItems(draft, results.tests, Test, (test) => {
    const status = test.status === 'failed' ? 'failed' : test.status === 'passed' ? 'passed' : 'skipped';
    draft.add({
      name: test.name,
      suite: Array.isArray(test.suite) ? test.suite.join(' > ') || null : test.suite || null,
      file: test.filePath ?? null,
      line: test.line ?? null,
      status,
      durationMs: test.duration ?? null,
      message: test.message ?? null,
      detail: test.trace ?? '',
      output: test.stdout?.slice(-200).join('\n') ?? '',
      flaky: test.flaky ?? false,
      at: status === 'failed' ? document.lineOf(test.name) : null,
    });
  });
  return draft;
}
