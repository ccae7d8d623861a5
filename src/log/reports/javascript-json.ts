import { z } from 'zod';
import type { JsonDocument } from './json.ts';
import { count, readItems, text } from './json.ts';
import type { ReportDraft } from './report-draft.ts';
import { draftReport } from './report-draft.ts';

/** `jest --json`, and Vitest's reporter of the same shape. */
export const Jest = z.object({ numTotalTests: z.number(), testResults: z.array(z.unknown()) });

const JestFile = z.object({
  name: z.string(),
  status: text,
  message: text,
  assertionResults: z.array(
    z.object({
      title: z.string(),
      fullName: text,
      ancestorTitles: z.array(z.string()).default([]),
      status: z.string(),
      duration: count,
      failureMessages: z.array(z.string()).nullish(),
      location: z.object({ line: z.number() }).nullish(),
      invocations: count,
    }),
  ),
});

export function readJest(document: JsonDocument, { testResults }: z.infer<typeof Jest>): ReportDraft {
  const draft = draftReport(document.source, 'jest');
  readItems(draft, testResults, JestFile, (file) => {
    for (const test of file.assertionResults) {
      const status = test.status === 'failed' ? 'failed' : test.status === 'passed' ? 'passed' : 'skipped';
      draft.add({
        name: test.title,
        suite: test.ancestorTitles.filter((title) => title !== '').join(' > ') || null,
        file: file.name,
        line: test.location?.line ?? null,
        status,
        durationMs: test.duration ?? null,
        ...wordsOf(test.failureMessages ?? []),
        flaky: status === 'passed' && (test.invocations ?? 1) > 1,
        at: status === 'failed' ? document.lineOf(test.fullName ?? test.title) : null,
      });
    }
    // A file that could not be loaded has no test that failed.
    if (file.status !== 'failed' || file.assertionResults.some(({ status }) => status === 'failed')) return;
    draft.add({ name: file.name, file: file.name, status: 'failed', ...wordsOf([file.message ?? '']), at: document.lineOf(file.name) });
  });
  return draft;
}

/** Mocha's `json` reporter. */
export const Mocha = z.object({ stats: z.object({ tests: z.number() }), tests: z.array(z.unknown()), failures: z.array(z.unknown()) });

const MochaTest = z.object({
  title: z.string(),
  fullTitle: z.string(),
  file: text,
  duration: count,
  currentRetry: count,
  speed: text,
  err: z.object({ message: text, stack: text, expected: z.unknown(), actual: z.unknown() }).partial().nullish().catch(null),
});
const Pending = z.object({ pending: z.array(z.object({ fullTitle: z.string() })).default([]) });

export function readMocha(document: JsonDocument, { tests, failures }: z.infer<typeof Mocha>): ReportDraft {
  const draft = draftReport(document.source, 'mocha');
  const pending = new Set(Pending.safeParse(document.value).data?.pending.map(({ fullTitle }) => fullTitle));
  const seen = new Set<string>();
  const add = (test: z.infer<typeof MochaTest>) => {
    const { err } = test;
    seen.add(test.fullTitle);
    const status = err?.message || err?.stack ? 'failed' : pending.has(test.fullTitle) ? 'skipped' : 'passed';
    draft.add({
      name: test.title,
      suite: test.fullTitle.endsWith(test.title) ? test.fullTitle.slice(0, -test.title.length).trim() || null : null,
      file: test.file ?? null,
      status,
      durationMs: test.duration ?? null,
      message: err?.message ?? null,
      detail: err?.stack ?? '',
      expected: shown(err?.expected),
      actual: shown(err?.actual),
      flaky: status === 'passed' && (test.currentRetry ?? 0) > 0,
      at: status === 'failed' ? document.lineOf(test.fullTitle) : null,
    });
  };
  readItems(draft, tests, MochaTest, add);
  // Hooks that failed are no tests, and stand among the failures alone.
  readItems(draft, failures, MochaTest, (test) => {
    if (!seen.has(test.fullTitle)) add(test);
  });
  return draft;
}

function wordsOf(messages: readonly string[]): { message: string | null; detail: string } {
  const detail = messages.join('\n').slice(0, 20_000);
  const message = detail.split(/\n\s{1,10}at /, 1)[0]?.trim() ?? '';
  return { message: message === '' ? null : message, detail };
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 500);
}
