import { z } from 'zod';
import { draftReport, type ReportDraft } from './report-draft.ts';
import { createLineCounter } from './xml.ts';

/** A JSON report: its value, and where its text says something. */
export interface JsonDocument {
  readonly source: string;
  readonly value: unknown;
  /** The line on which the text says this as a JSON string, searched from the last one found; null where it does not, or at too long a line. */
  readonly lineOf: (said: string) => number | null;
}

/** Characters; a value takes several times as much memory as its text. */
const MAX_JSON = 64 * 1024 * 1024;
const MAX_SEARCHES = 2_000;
/** Searches of the whole text for what it writes in another way, such as with `\\/` for `/`. */
const MAX_MISSES = 10;
const MAX_LINE = 4_000;

/** A text field of which a report may hold more than we want. */
export const text = z.string().nullish();
export const count = z.number().nullish();

/** Parses JSON; undefined where the text is none or too large. */
export function parseJson(source: string): unknown {
  if (source.length > MAX_JSON || !/^[\ufeff\s]{0,1000}[{[]/.test(source)) return undefined;
  try {
    return JSON.parse(source.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/** Reads a list item by item, so that one strange item does not hide the others; a note says how many were strange. */
export function readItems<Item extends z.ZodType>(
  draft: ReportDraft,
  items: readonly unknown[],
  schema: Item,
  read: (item: z.infer<Item>) => void,
): void {
  let strange = 0;
  for (const item of items) {
    const parsed = schema.safeParse(item);
    if (parsed.success) read(parsed.data);
    else strange++;
  }
  if (strange > 0) draft.note(`${strange} of ${items.length} entries of the report are not as its format describes and were left out.`);
}

/** Opens a parsed document. */
export function openJson(source: string, value: unknown, json: string): JsonDocument {
  const lineAt = createLineCounter(json);
  let searches = 0;
  let misses = 0;
  let from = 0;
  return {
    source,
    value,
    lineOf(said) {
      if (said === '' || misses > MAX_MISSES || ++searches > MAX_SEARCHES) return null;
      const needle = JSON.stringify(said);
      let at = json.indexOf(needle, from);
      if (at === -1) {
        misses++;
        at = from === 0 ? -1 : json.indexOf(needle);
      }
      if (at === -1) return null;
      from = at + needle.length;
      const before = json.slice(Math.max(0, at - MAX_LINE), at).lastIndexOf('\n');
      const after = json.slice(at, at + MAX_LINE).indexOf('\n');
      const isLong = (before === -1 && at > MAX_LINE) || (after === -1 && json.length - at > MAX_LINE);
      return isLong ? null : lineAt(at);
    },
  };
}

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
