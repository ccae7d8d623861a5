import type { ReportDraft } from './report-draft.ts';
import { draftReport } from './report-draft.ts';
import type { XmlHandler } from './xml.ts';
import { numberOf } from './xml.ts';

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
