import type { Outcome, ReportDraft } from './report-draft.ts';
import { draftReport } from './report-draft.ts';
import type { XmlHandler } from './xml.ts';
import { numberOf } from './xml.ts';

interface OpenMethod {
  readonly outcome: Outcome;
  readonly isConfig: boolean;
  readonly retried: boolean;
  type: string | null;
  message: string;
  trace: string;
}

const MAX_TEXT = 20_000;

/** TestNG's `testng-results.xml`. Rows of a data provider are one test; a configuration method counts only where it failed. */
export function readTestng(source: string): { readonly draft: ReportDraft; readonly handler: XmlHandler } {
  const draft = draftReport(source, 'testng', { retries: false });
  const retried = new Set<string>();
  let suite: string | null = null;
  let open: OpenMethod | null = null;
  let into: 'message' | 'trace' | null = null;
  const handler: XmlHandler = {
    open(name, attributes, line) {
      if (name === 'class') suite = attributes.name ?? null;
      else if (name === 'test-method') {
        const outcome: Outcome = {
          name: attributes.name ?? '(unnamed)',
          suite,
          status: attributes.status === 'FAIL' ? 'failed' : attributes.status === 'SKIP' ? 'skipped' : 'passed',
          durationMs: numberOf(attributes['duration-ms']),
          at: line,
        };
        const isConfig = attributes['is-config'] === 'true';
        open = { outcome, isConfig, retried: attributes.retried === 'true', type: null, message: '', trace: '' };
      } else if (name === 'exception' && open !== null) open.type = attributes.class ?? null;
      else if (name === 'message') into = 'message';
      else if (/^(?:full|short)-stacktrace$/.test(name)) into = 'trace';
    },
    text(text) {
      if (open !== null && into !== null && open[into].length < MAX_TEXT) open[into] += text.slice(0, MAX_TEXT);
    },
    close(name) {
      if (name === 'message' || name.endsWith('-stacktrace')) into = null;
      if (name !== 'test-method' || open === null) return;
      addMethod(draft, open, retried);
      open = null;
    },
  };
  return { draft, handler };
}

function addMethod(draft: ReportDraft, { outcome, isConfig, retried, type, message, trace }: OpenMethod, tries: Set<string>): void {
  const key = `${outcome.suite ?? ''}\u0001${outcome.name}`;
  // A try that was followed by another is written as skipped.
  if (retried) tries.add(key);
  if (retried || (isConfig && outcome.status !== 'failed')) return;
  const flaky = outcome.status === 'passed' && tries.has(key);
  draft.add({ ...outcome, flaky, type, message: message.trim() || null, detail: trace.trim() });
}
