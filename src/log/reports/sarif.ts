import { z } from 'zod';
import type { JsonDocument } from './json.ts';
import { count, readItems, text } from './json.ts';
import type { ReportDraft } from './report-draft.ts';
import { draftReport } from './report-draft.ts';

const Run = z.object({ tool: z.object({ driver: z.object({ name: z.string() }) }), results: z.array(z.unknown()).nullish() });

/** SARIF 2: what static analysis complains about. */
export const Sarif = z.object({ version: z.string().startsWith('2.'), runs: z.array(Run) });

const Result = z.object({
  ruleId: text,
  level: text,
  kind: text,
  message: z.object({ text }),
  suppressions: z.array(z.unknown()).nullish(),
  locations: z
    .array(
      z.object({
        physicalLocation: z
          .object({
            artifactLocation: z.object({ uri: text }).nullish(),
            region: z.object({ startLine: count, startColumn: count }).nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
});

export function readSarif(document: JsonDocument, { runs }: z.infer<typeof Sarif>): ReportDraft {
  const draft = draftReport(document.source, 'sarif');
  for (const run of runs) {
    readItems(draft, run.results ?? [], Result, (result) => {
      if (result.level === 'note' || result.level === 'none' || (result.kind ?? 'fail') !== 'fail') return;
      if ((result.suppressions ?? []).length > 0) return;
      const place = result.locations?.[0]?.physicalLocation;
      const message = result.message.text ?? '';
      const diagnostic = {
        tool: run.tool.driver.name.slice(0, 100),
        severity: result.level === 'error' ? ('error' as const) : ('warning' as const),
        file: place?.artifactLocation?.uri ?? null,
        line: place?.region?.startLine ?? null,
        column: place?.region?.startColumn ?? null,
        code: result.ruleId ?? null,
        message: message.slice(0, 1_000),
      };
      draft.diagnose(diagnostic, document.lineOf(message));
    });
  }
  return draft;
}
