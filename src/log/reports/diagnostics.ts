import { z } from 'zod';
import { count, type JsonDocument, readItems, text } from './json.ts';
import { draftReport, type ReportDraft } from './report-draft.ts';
import { numberOf, type XmlHandler } from './xml.ts';

/** Checkstyle XML, which many linters write: one diagnostic an error or warning. */
export function readCheckstyle(source: string): { readonly draft: ReportDraft; readonly handler: XmlHandler } {
  const draft = draftReport(source, 'checkstyle');
  let file: string | null = null;
  const handler: XmlHandler = {
    open(name, attributes, line) {
      if (name === 'file') file = attributes.name ?? null;
      if (name !== 'error' || attributes.severity === 'info' || attributes.severity === 'ignore') return;
      const diagnostic = {
        tool: 'checkstyle',
        severity: attributes.severity === 'warning' ? ('warning' as const) : ('error' as const),
        file,
        line: numberOf(attributes.line),
        column: numberOf(attributes.column),
        code: attributes.source?.slice(0, 200) ?? null,
        message: (attributes.message ?? '').slice(0, 1_000),
      };
      draft.diagnose(diagnostic, line);
    },
    text: () => {},
    close: () => {},
  };
  return { draft, handler };
}

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
