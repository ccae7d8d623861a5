import { z } from 'zod';
import type { JsonDocument } from './json.ts';
import { count, readItems, text } from './json.ts';
import type { ReportDraft } from './report-draft.ts';
import { draftReport } from './report-draft.ts';

/** pytest-json-report. */
export const Pytest = z.object({ tests: z.array(z.unknown()), exitcode: z.number(), root: z.string() });

const Stage = z
  .object({
    duration: count,
    outcome: text,
    crash: z.object({ path: z.string(), lineno: z.number(), message: z.string() }).nullish(),
    longrepr: text,
  })
  .nullish();
const PytestTest = z.object({ nodeid: z.string(), outcome: z.string(), lineno: count, setup: Stage, call: Stage, teardown: Stage });

export function readPytest(document: JsonDocument, { tests, root }: z.infer<typeof Pytest>): ReportDraft {
  const draft = draftReport(document.source, 'pytest');
  readItems(draft, tests, PytestTest, (test) => {
    const [file = '', ...names] = test.nodeid.split('::');
    const stages = [test.setup, test.call, test.teardown];
    const broken = stages.find((stage) => stage?.outcome === 'failed');
    const status = /^(?:failed|error)$/.test(test.outcome) ? 'failed' : /^(?:passed|xpassed)$/.test(test.outcome) ? 'passed' : 'skipped';
    const crash = broken?.crash;
    const inFile = crash?.path === file || crash?.path === `${root}/${file}`;
    draft.add({
      name: names.at(-1) ?? test.nodeid,
      suite: [file.replace(/\.py$/, '').replaceAll('/', '.'), ...names.slice(0, -1)].join('.') || null,
      file,
      // pytest counts lines from 0.
      line: inFile ? (crash?.lineno ?? null) : test.lineno === null || test.lineno === undefined ? null : test.lineno + 1,
      status,
      durationMs: Math.round(stages.reduce((sum, stage) => sum + (stage?.duration ?? 0), 0) * 1e6) / 1e3,
      message: crash?.message ?? null,
      detail: broken?.longrepr ?? '',
      at: status === 'failed' ? document.lineOf(test.nodeid) : null,
    });
  });
  return draft;
}

/** RSpec's `json` formatter. */
export const Rspec = z.object({ examples: z.array(z.unknown()), summary_line: z.string() });

const Example = z.object({
  description: z.string(),
  full_description: z.string(),
  status: z.string(),
  file_path: text,
  line_number: count,
  run_time: count,
  exception: z.object({ class: text, message: text, backtrace: z.array(z.string()).nullish() }).nullish(),
});

export function readRspec(document: JsonDocument, { examples }: z.infer<typeof Rspec>): ReportDraft {
  const draft = draftReport(document.source, 'rspec');
  readItems(draft, examples, Example, (example) => {
    const status = example.status === 'failed' ? 'failed' : example.status === 'passed' ? 'passed' : 'skipped';
    const { description, full_description: full } = example;
    draft.add({
      name: description,
      suite: full.endsWith(description) ? full.slice(0, -description.length).trim() || null : null,
      file: example.file_path ?? null,
      line: example.line_number ?? null,
      status,
      durationMs: example.run_time === null || example.run_time === undefined ? null : Math.round(example.run_time * 1e6) / 1e3,
      message: example.exception?.message ?? null,
      type: example.exception?.class ?? null,
      detail: example.exception?.backtrace?.slice(0, 100).join('\n') ?? '',
      at: status === 'failed' ? document.lineOf(full) : null,
    });
  });
  return draft;
}

/** Cucumber's JSON: a list of features. */
export const Cucumber = z
  .array(z.object({ keyword: z.string(), name: z.string(), uri: text, elements: z.array(z.unknown()).nullish() }))
  .min(1);

const Step = z.object({
  keyword: z.string().default(''),
  name: z.string().default(''),
  hidden: z.boolean().nullish(),
  result: z.object({ status: z.string(), duration: count, error_message: text }).nullish(),
});
const Scenario = z.object({
  name: z.string(),
  type: text,
  line: count,
  steps: z.array(Step).default([]),
  before: z.array(Step).nullish(),
  after: z.array(Step).nullish(),
});

export function readCucumber(document: JsonDocument, features: z.infer<typeof Cucumber>): ReportDraft {
  const draft = draftReport(document.source, 'cucumber');
  for (const feature of features) {
    readItems(draft, feature.elements ?? [], Scenario, (scenario) => {
      if (scenario.type === 'background') return;
      const steps = [...(scenario.before ?? []), ...scenario.steps, ...(scenario.after ?? [])];
      const broken = steps.find(({ result }) => /^(?:failed|undefined|ambiguous)$/i.test(result?.status ?? ''));
      const isSkipped = steps.some(({ result }) => /^(?:skipped|pending)$/i.test(result?.status ?? ''));
      const status = broken !== undefined ? 'failed' : isSkipped ? 'skipped' : 'passed';
      const complaint = broken?.result?.error_message ?? (broken?.result ? `step is ${broken.result.status}` : null);
      draft.add({
        name: scenario.name,
        suite: feature.name || null,
        file: feature.uri ?? null,
        line: scenario.line ?? null,
        status,
        // Nanoseconds.
        durationMs: Math.round(steps.reduce((sum, { result }) => sum + (result?.duration ?? 0), 0) / 1e3) / 1e3,
        message: broken === undefined ? null : `${broken.keyword.trim()} ${broken.name}: ${complaint?.split('\n', 1)[0] ?? ''}`.trim(),
        detail: complaint ?? '',
        at: status === 'failed' ? document.lineOf(scenario.name) : null,
      });
    });
  }
  return draft;
}
