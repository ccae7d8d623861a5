import { z } from 'zod';
import type { Diagnostic } from '../../domain/failure.ts';
import { createStringSearch } from './json-text.ts';
import { createLineCounter } from './line-counter.ts';
import { draftReport, type Outcome, type ReportDraft } from './report-draft.ts';

/** The input and output of a format's reader: the parsed document, and the report that it fills. */
interface JsonReport {
  readonly draft: ReportDraft;
  /** The whole document as parsed, with fields that its schema drops. */
  readonly value: unknown;
  /**
   * Adds a test. `name` and `texts` are its name and its messages as the document writes them; a failed test
   * is located by these in the text.
   */
  readonly add: (name: string, outcome: Outcome, texts?: readonly (string | null | undefined)[]) => void;
  /** Adds a diagnostic. It is located in the text by its message. */
  readonly diagnose: (diagnostic: Omit<Diagnostic, 'at'>) => void;
}

/** The maximum number of characters. A value takes several times as much memory as its text. */
const MAX_JSON = 64 * 1024 * 1024;
const MAX_LINE = 4_000;

/** A text field that is optional in a report. */
const text = z.string().nullish();
const count = z.number().nullish();

/** Parses JSON. Returns undefined if the text is not JSON or too large. */
export function parseJson(source: string): unknown {
  if (source.length > MAX_JSON || !/^[\ufeff\s]{0,1000}[{[]/.test(source)) return undefined;
  try {
    return JSON.parse(source.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Reads a parsed report in any known format, which is recognized by its fields. Returns null if the format is
 * unknown.
 */
export function readJson(source: string, value: unknown, json: string): ReportDraft | null {
  for (const read of FORMATS) {
    const draft = read(source, value, json);
    if (draft !== null) return draft;
  }
  return null;
}

type FormatReader = (source: string, value: unknown, json: string) => ReportDraft | null;

/** Defines a format: its framework, the schema of its documents, and what is read from one. */
function format<Schema extends z.ZodType>(
  framework: string,
  schema: Schema,
  read: (document: z.infer<Schema>, report: JsonReport) => void,
): FormatReader {
  return (source, value, json) => {
    const document = schema.safeParse(value);
    if (!document.success) return null;
    const draft = draftReport(source, framework, { text: json });
    const search = createStringSearch(json);
    const lineAt = createLineCounter(json);
    const add: JsonReport['add'] = (name, outcome, texts = []) => {
      const passage =
        outcome.status === 'failed' ? search.find([name, ...texts.flatMap((text) => text ?? [])]) : [];
      draft.add({
        ...outcome,
        at: passage[0] === undefined ? null : lineAt(passage[0].start),
        said: passage,
      });
    };
    const diagnose: JsonReport['diagnose'] = (diagnostic) => {
      const [passage] = search.find([diagnostic.message]);
      const isPlaced = passage !== undefined && !isLongLine(json, passage.start);
      draft.diagnose(diagnostic, isPlaced ? lineAt(passage.start) : null, isPlaced ? passage : null);
    };
    read(document.data, { draft, value, add, diagnose });
    return draft;
  };
}

/**
 * Reads a list item by item, so that an invalid item does not prevent reading the others. A note states the
 * number of invalid items.
 */
function readItems<Item extends z.ZodType>(
  { draft }: JsonReport,
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
  if (strange > 0)
    draft.note(
      `${strange} of ${items.length} entries of the report are not as its format describes and were ` +
        'left out.',
    );
}

/** Tells whether the line at an offset is too long to be quoted. */
function isLongLine(json: string, at: number): boolean {
  const before = json.slice(Math.max(0, at - MAX_LINE), at).lastIndexOf('\n');
  const after = json.slice(at, at + MAX_LINE).indexOf('\n');
  return (before === -1 && at > MAX_LINE) || (after === -1 && json.length - at > MAX_LINE);
}

function toStatus(status: string): Outcome['status'] {
  return status === 'failed' || status === 'passed' ? status : 'skipped';
}

/** Converts microseconds to milliseconds, rounded to microseconds. */
function toMilliseconds(microseconds: number): number {
  return Math.round(microseconds) / 1e3;
}

function splitMessages(messages: readonly string[]): { message: string | null; detail: string } {
  const detail = messages.join('\n').slice(0, 20_000);
  return { message: detail.split(/\n\s{1,10}at /, 1)[0]?.trim() || null, detail };
}

function formatValue(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 500);
}

/** Returns what precedes a test's own name in its full name. */
function findSuite(full: string, name: string): string | null {
  return full.endsWith(name) ? full.slice(0, -name.length).trim() || null : null;
}

const CtrfTest = z.object({
  name: z.string(),
  status: z.string(),
  /** The duration in milliseconds. */
  duration: count,
  /** The path of suites, or in older versions one string with their names. */
  suite: z.union([z.string(), z.array(z.string())]).nullish(),
  message: text,
  trace: text,
  filePath: text,
  line: count,
  flaky: z.boolean().nullish(),
  stdout: z.array(z.string()).nullish(),
  attachments: z
    .array(z.object({ path: z.string() }))
    .nullish()
    .catch(null),
});

/** The reader of the Common Test Report Format. */
const ctrf = format(
  'ctrf',
  z.object({ results: z.object({ tool: z.object({ name: z.string() }), tests: z.array(z.unknown()) }) }),
  ({ results }, report) =>
    readItems(
      report,
      results.tests,
      CtrfTest,
      ({ name, status, duration, suite, message, trace, filePath, line, flaky, stdout, attachments }) =>
        report.add(
          name,
          {
            name,
            suite: (Array.isArray(suite) ? suite.join(' > ') : suite) || null,
            file: filePath,
            line,
            status: toStatus(status),
            durationMs: duration,
            message,
            detail: trace ?? '',
            output: stdout?.slice(-200).join('\n') ?? '',
            flaky: flaky ?? false,
            attachments: attachments?.map(({ path }) => path) ?? [],
          },
          [message, trace],
        ),
    ),
);

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
const Run = z.object({
  tool: z.object({ driver: z.object({ name: z.string() }) }),
  results: z.array(z.unknown()).nullish(),
});

/** The reader of SARIF 2, the findings of static analysis. */
const sarif = format(
  'sarif',
  z.object({ version: z.string().startsWith('2.'), runs: z.array(Run) }),
  ({ runs }, report) => {
    for (const run of runs) {
      readItems(
        report,
        run.results ?? [],
        Result,
        ({ ruleId, level, kind, message: { text: message }, suppressions, locations }) => {
          if (
            level === 'note' ||
            level === 'none' ||
            (kind ?? 'fail') !== 'fail' ||
            (suppressions ?? []).length > 0
          )
            return;
          const { artifactLocation, region } = locations?.[0]?.physicalLocation ?? {};
          const diagnostic = {
            tool: run.tool.driver.name.slice(0, 100),
            severity: level === 'error' ? ('error' as const) : ('warning' as const),
            file: artifactLocation?.uri ?? null,
            line: region?.startLine ?? null,
            column: region?.startColumn ?? null,
            code: ruleId ?? null,
            message: (message ?? '').slice(0, 1_000),
          };
          report.diagnose(diagnostic);
        },
      );
    }
  },
);

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

/** The reader of `jest --json`, and of Vitest's reporter with the same format. */
const jest = format(
  'jest',
  z.object({ numTotalTests: z.number(), testResults: z.array(z.unknown()) }),
  ({ testResults }, report) =>
    readItems(report, testResults, JestFile, (file) => {
      for (const test of file.assertionResults) {
        const status = toStatus(test.status);
        const messages = test.failureMessages ?? [];
        const outcome: Outcome = {
          name: test.title,
          suite: test.ancestorTitles.filter((title) => title !== '').join(' > ') || null,
          file: file.name,
          line: test.location?.line,
          status,
          durationMs: test.duration,
          ...splitMessages(messages),
          flaky: status === 'passed' && (test.invocations ?? 1) > 1,
        };
        report.add(test.fullName ?? test.title, outcome, messages);
      }
      // Only a file that could not be loaded has failed without a failed test.
      if (file.status !== 'failed' || file.assertionResults.some(({ status }) => status === 'failed')) return;
      const outcome: Outcome = {
        name: file.name,
        file: file.name,
        status: 'failed',
        ...splitMessages([file.message ?? '']),
      };
      report.add(file.name, outcome, [file.message]);
    }),
);

const MochaTest = z.object({
  title: z.string(),
  fullTitle: z.string(),
  file: text,
  duration: count,
  currentRetry: count,
  speed: text,
  err: z
    .object({ message: text, stack: text, expected: z.unknown(), actual: z.unknown() })
    .partial()
    .nullish()
    .catch(null),
});
const Pending = z.object({ pending: z.array(z.object({ fullTitle: z.string() })).default([]) });

/** The reader of Mocha's `json` reporter. */
const mocha = format(
  'mocha',
  z.object({
    stats: z.object({ tests: z.number() }),
    tests: z.array(z.unknown()),
    failures: z.array(z.unknown()),
  }),
  ({ tests, failures }, report) => {
    const pending = new Set(Pending.safeParse(report.value).data?.pending.map(({ fullTitle }) => fullTitle));
    const seen = new Set<string>();
    const add = ({ title, fullTitle, file, duration, currentRetry, err }: z.infer<typeof MochaTest>) => {
      seen.add(fullTitle);
      const status = err?.message || err?.stack ? 'failed' : pending.has(fullTitle) ? 'skipped' : 'passed';
      const outcome: Outcome = {
        name: title,
        suite: findSuite(fullTitle, title),
        file,
        status,
        durationMs: duration,
        message: err?.message,
        detail: err?.stack ?? '',
        expected: formatValue(err?.expected),
        actual: formatValue(err?.actual),
        flaky: status === 'passed' && (currentRetry ?? 0) > 0,
      };
      report.add(fullTitle, outcome, [err?.message, err?.stack]);
    };
    readItems(report, tests, MochaTest, add);
    // Failed hooks are not tests, and only the list of failures contains them.
    readItems(report, failures, MochaTest, (test) => {
      if (!seen.has(test.fullTitle)) add(test);
    });
  },
);

const Stage = z
  .object({
    duration: count,
    outcome: text,
    crash: z.object({ path: z.string(), lineno: z.number(), message: z.string() }).nullish(),
    longrepr: text,
  })
  .nullish();
const PytestTest = z.object({
  nodeid: z.string(),
  outcome: z.string(),
  lineno: count,
  setup: Stage,
  call: Stage,
  teardown: Stage,
});

/** The reader of pytest-json-report. */
const pytest = format(
  'pytest',
  z.object({ tests: z.array(z.unknown()), exitcode: z.number(), root: z.string() }),
  ({ tests, root }, report) =>
    readItems(report, tests, PytestTest, ({ nodeid, outcome: ended, lineno, setup, call, teardown }) => {
      const [file = '', ...names] = nodeid.split('::');
      const stages = [setup, call, teardown];
      const broken = stages.find((stage) => stage?.outcome === 'failed');
      const crash = broken?.crash;
      const inFile = crash?.path === file || crash?.path === `${root}/${file}`;
      const outcome: Outcome = {
        name: names.at(-1) ?? nodeid,
        suite: [file.replace(/\.py$/, '').replaceAll('/', '.'), ...names.slice(0, -1)].join('.') || null,
        file,
        // pytest counts lines from 0.
        line: inFile ? crash?.lineno : typeof lineno === 'number' ? lineno + 1 : null,
        status: /^(?:failed|error)$/.test(ended)
          ? 'failed'
          : /^(?:passed|xpassed)$/.test(ended)
            ? 'passed'
            : 'skipped',
        durationMs: toMilliseconds(stages.reduce((sum, stage) => sum + (stage?.duration ?? 0), 0) * 1e6),
        message: crash?.message,
        detail: broken?.longrepr ?? '',
      };
      report.add(nodeid, outcome, [crash?.message, broken?.longrepr]);
    }),
);

const Example = z.object({
  description: z.string(),
  full_description: z.string(),
  status: z.string(),
  file_path: text,
  line_number: count,
  run_time: count,
  exception: z.object({ class: text, message: text, backtrace: z.array(z.string()).nullish() }).nullish(),
});

/** The reader of RSpec's `json` formatter. */
const rspec = format(
  'rspec',
  z.object({ examples: z.array(z.unknown()), summary_line: z.string() }),
  ({ examples }, report) =>
    readItems(report, examples, Example, ({ description, full_description: full, exception, ...example }) => {
      const trace = exception?.backtrace?.slice(0, 100) ?? [];
      const outcome: Outcome = {
        name: description,
        suite: findSuite(full, description),
        file: example.file_path,
        line: example.line_number,
        status: toStatus(example.status),
        durationMs: typeof example.run_time === 'number' ? toMilliseconds(example.run_time * 1e6) : null,
        message: exception?.message,
        type: exception?.class,
        detail: trace.join('\n'),
      };
      report.add(full, outcome, [exception?.message, ...trace.slice(0, 10)]);
    }),
);

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
const Feature = z.object({
  keyword: z.string(),
  name: z.string(),
  uri: text,
  elements: z.array(z.unknown()).nullish(),
});

/** The reader of Cucumber's JSON, a list of features. */
const cucumber = format('cucumber', z.array(Feature).min(1), (features, report) => {
  for (const feature of features) {
    readItems(report, feature.elements ?? [], Scenario, (scenario) => {
      if (scenario.type === 'background') return;
      const steps = [...(scenario.before ?? []), ...scenario.steps, ...(scenario.after ?? [])];
      const broken = steps.find(({ result }) =>
        /^(?:failed|undefined|ambiguous)$/i.test(result?.status ?? ''),
      );
      const isSkipped = steps.some(({ result }) => /^(?:skipped|pending)$/i.test(result?.status ?? ''));
      const complaint =
        broken?.result?.error_message ?? (broken?.result ? `step is ${broken.result.status}` : null);
      const outcome: Outcome = {
        name: scenario.name,
        suite: feature.name || null,
        file: feature.uri,
        line: scenario.line,
        status: broken !== undefined ? 'failed' : isSkipped ? 'skipped' : 'passed',
        // Cucumber's durations are in nanoseconds.
        durationMs: toMilliseconds(steps.reduce((sum, { result }) => sum + (result?.duration ?? 0), 0) / 1e3),
        message:
          broken === undefined
            ? null
            : `${broken.keyword.trim()} ${broken.name}: ${complaint?.split('\n', 1)[0] ?? ''}`.trim(),
        detail: complaint ?? '',
      };
      report.add(scenario.name, outcome, [broken?.name, complaint]);
    });
  }
});

/** The formats. The first one whose schema fits a document reads it. */
const FORMATS: readonly FormatReader[] = [ctrf, sarif, jest, mocha, pytest, rspec, cucumber];
