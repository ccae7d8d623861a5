import type { Stretch } from './passages.ts';
import { draftReport, type Outcome, type ReportDraft } from './report-draft.ts';
import { type Attributes, attributeAt, convertSecondsToMs, parseNumber, type XmlHandler } from './xml.ts';

/** A report in one format that is being read. */
export interface OpenReport {
  readonly draft: ReportDraft;
  readonly handler: XmlHandler;
}

const MAX_TEXT = 20_000;
/** The maximum number of parts of a test's text that are kept. The first ones are the most informative. */
const MAX_STRETCHES = 12;
const NAME = /\s(?:fullname|testName|name)\s{0,10}=\s{0,10}["']/;
const MESSAGE = /\smessage\s{0,10}=\s{0,10}["']/;

interface OpenSuite {
  readonly name: string | null;
  readonly file: string | null;
  readonly runner: string | null;
  readonly declared: number | null;
  seen: number;
}

interface OpenCase {
  readonly outcome: Outcome;
  /** True if it stands for its suite, which failed outside of any test case. */
  readonly ofSuite: boolean;
  status: Outcome['status'];
  flaky: boolean;
  message: string | null;
  type: string | null;
  text: string;
  output: string;
  /** The offset of the end of its tag, followed by those of the tags of its errors. */
  readonly tags: number[];
  readonly texts: Stretch[];
  readonly outputs: Stretch[];
  readonly attachments: string[];
}

interface State {
  readonly source: string;
  readonly xml: string;
  readonly draft: ReportDraft;
  readonly suites: OpenSuite[];
  open: OpenCase | null;
  into: 'text' | 'output' | null;
}

const RERUNS = new Set(['rerunFailure', 'rerunError', 'flakyFailure', 'flakyError']);

/**
 * Reads JUnit XML of any dialect. Surefire writes a rerun inside the test case, and lists each row of a data
 * provider under the same name. Other dialects write a second attempt as a second test case of the same name.
 */
export function readJUnit(source: string, xml: string): OpenReport {
  const retries = !/surefire-test-report|surefire\.test\.class\.path/.test(xml.slice(0, 20_000));
  const draft = draftReport(source, 'junit-xml', { retries, text: xml });
  const state: State = { source, xml, draft, suites: [], open: null, into: null };
  const handler: XmlHandler = {
    open: (name, attributes, line, end) => openTag(state, name, attributes, { line, end }),
    text: (text, at) => addText(state, text, at),
    close: (name) => closeTag(state, name),
    // If the document is truncated inside a test, its result is only known if it failed.
    end: () => state.open?.status === 'failed' && closeCase(state),
  };
  return { draft: state.draft, handler };
}

/** The position at which a tag ends. */
interface TagEnd {
  readonly line: number;
  readonly end: number;
}

function openTag(state: State, name: string, attributes: Attributes, at: TagEnd): void {
  if (name === 'testsuite') openSuite(state, attributes);
  else if (name === 'testcase') openCase(state, attributes, at);
  else if (state.open !== null) openOutcome(state, state.open, name, attributes, at);
  else if ((name === 'failure' || name === 'error') && state.suites.length > 0) {
    const suite = openCase(state, { name: state.suites.at(-1)?.name ?? '(suite)' }, at, true);
    openOutcome(state, suite, name, attributes, at);
  }
}

function openSuite(state: State, attributes: Attributes): void {
  const file = attributes.file ?? attributes.filepath ?? state.suites.at(-1)?.file ?? null;
  // Jest and others write this if they do not know the machine.
  const runner =
    attributes.hostname === 'localhost' ? null : (attributes.hostname ?? state.suites.at(-1)?.runner ?? null);
  state.suites.push({
    name: attributes.name || null,
    file,
    runner,
    declared: parseNumber(attributes.tests),
    seen: 0,
  });
}

function openCase(state: State, attributes: Attributes, { line, end }: TagEnd, ofSuite = false): OpenCase {
  const suite = state.suites.at(-1);
  if (suite !== undefined && !ofSuite) suite.seen++;
  const outcome: Outcome = {
    name: attributes.name ?? '(unnamed)',
    // Node's reporter writes the class `test` for every test.
    suite:
      (attributes.classname === 'test' ? null : attributes.classname || attributes.class || null) ??
      suite?.name ??
      null,
    file: attributes.file ?? attributes.filepath ?? suite?.file ?? null,
    line: parseNumber(attributes.line),
    status: 'passed',
    durationMs: convertSecondsToMs(attributes.time ?? attributes.duration),
    runner: suite?.runner ?? null,
    at: line,
  };
  const entry = {
    message: null,
    type: null,
    text: '',
    output: '',
    tags: ofSuite ? [] : [end],
    texts: [],
    outputs: [],
    attachments: [],
  };
  const open: OpenCase = { outcome, ofSuite, status: readStatus(attributes), flaky: false, ...entry };
  state.open = open;
  state.into = null;
  return open;
}

/** Reads the status from attributes that CTest and GoogleTest write. */
function readStatus({ status, result }: Attributes): Outcome['status'] {
  if (/^(?:fail(?:ed|ure)?|error)$/i.test(status ?? '')) return 'failed';
  return /^(?:notrun|disabled|skipped|suppressed)$/i.test(status ?? '') ||
    /^(?:skipped|suppressed)$/i.test(result ?? '')
    ? 'skipped'
    : 'passed';
}

function openOutcome(
  state: State,
  open: OpenCase,
  name: string,
  attributes: Attributes,
  { end }: TagEnd,
): void {
  if (name === 'failure' || name === 'error') {
    state.into = open.message === null && open.text === '' ? 'text' : null;
    if (state.into === 'text') open.tags.push(end);
    open.status = 'failed';
    open.message ??= attributes.message ?? null;
    open.type ??= attributes.type ?? null;
  } else if (name === 'skipped' || name === 'disabled') {
    if (open.status === 'passed') open.status = 'skipped';
  } else if (name === 'flakyFailure' || name === 'flakyError') open.flaky = true;
  else if (name === 'system-out' || name === 'system-err') state.into = 'output';
  else if (name === 'property' && /attachment|screenshot/i.test(attributes.name ?? ''))
    open.attachments.push(attributes.value ?? '');
  if (RERUNS.has(name)) state.into = null;
}

function addText({ open, into }: State, text: string, at: Stretch): void {
  if (open === null || into === null) return;
  const stretches = into === 'text' ? open.texts : open.outputs;
  if (stretches.length < MAX_STRETCHES) stretches.push(at);
  if (into === 'text') {
    if (open.text.length < MAX_TEXT) open.text += text.slice(0, MAX_TEXT);
  } else if (text.trim() !== '') open.output = (open.output + text.slice(-MAX_TEXT)).slice(-MAX_TEXT);
}

function closeTag(state: State, name: string): void {
  const isFailure = name === 'failure' || name === 'error';
  if (name === 'testcase' || (isFailure && state.open?.ofSuite)) closeCase(state);
  else if (name === 'testsuite') closeSuite(state);
  else if (isFailure || name === 'system-out' || name === 'system-err') state.into = null;
}

function closeCase(state: State): void {
  const { open } = state;
  state.open = null;
  state.into = null;
  if (open === null) return;
  const { outcome, status, flaky, message, type, text, output, attachments } = open;
  const stretches = status === 'failed' ? listStretches(state.xml, open) : [];
  state.draft.add({
    ...outcome,
    status,
    flaky,
    message,
    type,
    detail: text,
    output,
    said: stretches,
    ...(status === 'failed' && { attachments: attachments.slice(0, MAX_STRETCHES) }),
  });
}

/**
 * Returns the positions of a test's name, message and text. Those of its output are used only if there are no
 * others.
 */
function listStretches(
  xml: string,
  { tags, texts, outputs, text }: Pick<OpenCase, 'tags' | 'texts' | 'outputs' | 'text'>,
): Stretch[] {
  const attributes = tags.flatMap((end) =>
    [attributeAt(xml, end, NAME) ?? [], attributeAt(xml, end, MESSAGE) ?? []].flat(),
  );
  return [...attributes, ...texts, ...(text.trim() === '' ? outputs : [])];
}

function closeSuite(state: State): void {
  if (state.open !== null) closeCase(state);
  const suite = state.suites.pop();
  if (suite?.declared == null || suite.seen === 0 || suite.declared === suite.seen) return;
  state.draft.note(
    `${state.source}: suite ${suite.name ?? '(unnamed)'} says it has ${suite.declared} tests but ` +
      `lists ${suite.seen}.`,
  );
}

/** A test with the content of its elements so far. */
interface OpenTest {
  readonly outcome: Outcome;
  readonly attributes: Attributes;
  type: string | null;
  message: string;
  stack: string;
  output: string;
  /** The positions of its name, message and text. */
  readonly said: Stretch[];
  /** True if it contains tests of its own, one for each data row, which repeat its content. */
  hasInner: boolean;
}

/** A format that has an element for each test, with other elements in it. */
interface TestFormat {
  readonly isTest: (name: string) => boolean;
  readonly outcome: (name: string, attributes: Attributes, line: number) => Outcome;
  /** Returns the kind of an element's text, by the names of the element and of its parent. */
  readonly classifyText: (name: string, around: string) => 'message' | 'stack' | 'output' | undefined;
  /** Returns the exception type of an element, or null or undefined if it has none. */
  readonly type?: (name: string, attributes: Attributes) => string | null | undefined;
  readonly add: (test: OpenTest) => void;
}

function openTests(
  xml: string,
  draft: ReportDraft,
  { isTest, outcome, classifyText, type, add }: TestFormat,
): OpenReport {
  const path: string[] = [];
  const open: OpenTest[] = [];
  const handler: XmlHandler = {
    open(name, attributes, line, end) {
      path.push(name);
      const around = open.at(-1);
      if (isTest(name)) {
        if (around !== undefined) around.hasInner = true;
        const names = [attributeAt(xml, end, NAME) ?? []].flat();
        const empty = { type: null, message: '', stack: '', output: '', said: names, hasInner: false };
        open.push({ outcome: outcome(name, attributes, line), attributes, ...empty });
      } else if (around !== undefined) around.type = type?.(name, attributes) ?? around.type;
    },
    text(text, at) {
      const field = classifyText(path.at(-1) ?? '', path.at(-2) ?? '');
      const test = open.at(-1);
      if (test === undefined || field === undefined) return;
      if (test[field].length < MAX_TEXT) test[field] += text.slice(0, MAX_TEXT);
      if (test.said.length < MAX_STRETCHES) test.said.push(at);
    },
    close(name) {
      path.pop();
      const test = isTest(name) ? open.pop() : undefined;
      if (test !== undefined && !test.hasInner) add(test);
    },
    // If the document is truncated inside a test, its result is only known if it failed.
    end() {
      for (const test of open.splice(0)) if (test.outcome.status === 'failed' && !test.hasInner) add(test);
    },
  };
  return { draft, handler };
}

/** Adds a .NET test, with its message followed by its stack trace. */
function addTest(
  draft: ReportDraft,
  { outcome, type, message, stack, output, said }: OpenTest,
  named: Partial<Outcome> = {},
): void {
  const detail = stack === '' ? '' : `${message}\n${stack}`;
  draft.add({ ...outcome, ...named, type, message: message.trim() || null, detail, output, said });
}

/**
 * Reads TestNG's `testng-results.xml`. Rows of a data provider are one test. A configuration method is
 * included only if it failed.
 */
export function readTestng(source: string, xml: string): OpenReport {
  const draft = draftReport(source, 'testng', { retries: false, text: xml });
  const tries = new Set<string>();
  let suite: string | null = null;
  const { handler } = openTests(xml, draft, {
    isTest: (name) => name === 'test-method',
    outcome: (_, { name = '(unnamed)', status, 'duration-ms': ms }, at) => ({
      name,
      suite,
      status: status === 'FAIL' ? 'failed' : status === 'SKIP' ? 'skipped' : 'passed',
      durationMs: parseNumber(ms),
      at,
    }),
    classifyText: (name) =>
      name === 'message' ? 'message' : /^(?:full|short)-stacktrace$/.test(name) ? 'stack' : undefined,
    type: (name, attributes) => (name === 'exception' ? attributes.class : null),
    add: ({ outcome, attributes, type, message, stack, said }) => {
      const key = `${outcome.suite ?? ''}\u0001${outcome.name}`;
      const retried = attributes.retried === 'true';
      // A try that was repeated is written as skipped.
      if (retried) tries.add(key);
      if (retried || (attributes['is-config'] === 'true' && outcome.status !== 'failed')) return;
      const flaky = outcome.status === 'passed' && tries.has(key);
      draft.add({ ...outcome, flaky, type, message: message.trim() || null, detail: stack.trim(), said });
    },
  });
  const open: XmlHandler['open'] = (name, attributes, line, end) => {
    if (name === 'class') suite = attributes.name ?? null;
    handler.open(name, attributes, line, end);
  };
  return { draft, handler: { ...handler, open } };
}

/** Reads xUnit.net's own XML, versions 2 and 3. */
export function readXunit(source: string, xml: string): OpenReport {
  return readNet(source, xml, 'xunit', /^(?:test|error)$/, (name, attributes, at) => {
    if (name === 'error')
      return {
        name: attributes.name || attributes.type || '(fixture)',
        suite: attributes.type,
        status: 'failed',
        at,
      };
    return {
      ...removeClass(attributes.name ?? attributes.method ?? '(unnamed)', attributes.type ?? null),
      file: attributes['source-file'],
      line: parseNumber(attributes['source-line']),
      status: mapOutcomeStatus(attributes.result),
      durationMs: convertSecondsToMs(attributes.time),
      at,
    };
  });
}

/** Reads NUnit XML, version 3 and the older `test-results`. */
export function readNunit(source: string, xml: string): OpenReport {
  return readNet(source, xml, 'nunit', /^test-case$/, (_, attributes, at) => {
    const full = attributes.fullname ?? attributes.name ?? '(unnamed)';
    return {
      ...removeClass(full, attributes.classname ?? extractSuite(full)),
      status: mapOutcomeStatus(
        attributes.result ?? (attributes.executed === 'False' ? 'Skipped' : attributes.success),
      ),
      durationMs: convertSecondsToMs(attributes.duration ?? attributes.time),
      at,
    };
  });
}

/**
 * Reads the XML of xUnit.net or NUnit. In both, a failed test contains an element with a message and a stack
 * trace.
 */
function readNet(
  source: string,
  xml: string,
  framework: string,
  tests: RegExp,
  outcome: TestFormat['outcome'],
): OpenReport {
  const draft = draftReport(source, framework, { retries: false, text: xml });
  const inFailure = { message: 'message', 'stack-trace': 'stack' } as const;
  return openTests(xml, draft, {
    isTest: (name) => tests.test(name),
    outcome,
    classifyText: (name, around) =>
      name === 'output'
        ? 'output'
        : around === 'failure' && (name === 'message' || name === 'stack-trace')
          ? inFailure[name]
          : undefined,
    type: (name, attributes) => (name === 'failure' ? attributes['exception-type'] : null),
    add: (test) => addTest(draft, test),
  });
}

/**
 * Maps the result of a test in .NET frameworks to a status. A test that was neither failed nor skipped has
 * passed.
 */
function mapOutcomeStatus(result: string | undefined): Outcome['status'] {
  if (/^(?:fail(?:ed|ure)?|error|timeout|aborted|disconnected|notrunnable|false)$/i.test(result ?? ''))
    return 'failed';
  return /^(?:skip(?:ped)?|notrun|notexecuted|ignored|inconclusive|explicit|pending|inprogress)$/i.test(
    result ?? '',
  )
    ? 'skipped'
    : 'passed';
}

/** Removes the class from a full name: `Shop.CartTests.Adds(1)` in `Shop.CartTests` becomes `Adds(1)`. */
function removeClass(
  full: string,
  suite: string | null,
): { readonly name: string; readonly suite: string | null } {
  return {
    name: suite !== null && full.startsWith(`${suite}.`) ? full.slice(suite.length + 1) : full,
    suite,
  };
}

function extractSuite(full: string): string | null {
  const name = full.split('(', 1)[0] ?? full;
  return name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : null;
}

const TRX_TEXTS: Readonly<Record<string, 'message' | 'stack' | 'output'>> = {
  Message: 'message',
  StackTrace: 'stack',
  StdOut: 'output',
  StdErr: 'output',
};

/**
 * Reads Visual Studio's test results. Classes are listed after all results, so tests are added at the end of
 * the document.
 */
export function readTrx(source: string, xml: string): OpenReport {
  const draft = draftReport(source, 'trx', { retries: false, text: xml });
  const done: OpenTest[] = [];
  const classes = new Map<string, string>();
  let unitTest = '';
  let runInfo: string | null = null;
  let inText = false;
  const tests = openTests(xml, draft, {
    isTest: (name) => name.endsWith('TestResult'),
    outcome: (_, { testName = '(unnamed)', outcome, duration }, at) => ({
      name: testName,
      status: mapOutcomeStatus(outcome),
      durationMs: convertClockToMs(duration),
      at,
    }),
    classifyText: (name) => TRX_TEXTS[name],
    add: (test) => done.push(test),
  }).handler;
  const handler: XmlHandler = {
    open(name, attributes, line, end) {
      tests.open(name, attributes, line, end);
      inText = name === 'Text';
      if (name === 'UnitTest') unitTest = attributes.id ?? '';
      // The class is followed by its assembly: `Shop.CartTests, Shop.Tests, Version=1.0.0.0`.
      else if (name === 'TestMethod' && attributes.className !== undefined)
        classes.set(unitTest, attributes.className.split(',', 1)[0]?.trim() ?? '');
      else if (name === 'RunInfo' && attributes.outcome !== 'Warning') runInfo = '';
    },
    text(text, at) {
      tests.text?.(text, at);
      if (inText && runInfo !== null && runInfo.length < MAX_TEXT) runInfo += text.slice(0, MAX_TEXT);
    },
    close(name) {
      tests.close?.(name);
      inText = false;
      if (name === 'RunInfo') {
        if (runInfo?.trim()) draft.note(`${source}: ${runInfo.trim().slice(0, 500)}`);
        runInfo = null;
      }
    },
    end() {
      tests.end?.();
      for (const test of done)
        addTest(
          draft,
          test,
          removeClass(test.outcome.name, classes.get(test.attributes.testId ?? '') ?? null),
        );
    },
  };
  return { draft, handler };
}

/** Converts `00:00:01.5000000` to milliseconds. */
function convertClockToMs(duration: string | undefined): number | null {
  const match = /^(?:(\d{1,5})\.)?(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,9})?)$/.exec(duration ?? '');
  if (match === null) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return (
    Math.round(((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1e6) / 1e3
  );
}

/** Reads Checkstyle XML, which many linters write: one diagnostic for each error or warning. */
export function readCheckstyle(source: string, xml: string): OpenReport {
  const draft = draftReport(source, 'checkstyle', { text: xml });
  let file: string | null = null;
  const handler: XmlHandler = {
    open(name, attributes, line, end) {
      if (name === 'file') file = attributes.name ?? null;
      if (name !== 'error' || attributes.severity === 'info' || attributes.severity === 'ignore') return;
      const diagnostic = {
        tool: 'checkstyle',
        severity: attributes.severity === 'warning' ? ('warning' as const) : ('error' as const),
        file,
        line: parseNumber(attributes.line),
        column: parseNumber(attributes.column),
        code: attributes.source?.slice(0, 200) ?? null,
        message: (attributes.message ?? '').slice(0, 1_000),
      };
      draft.diagnose(diagnostic, line, attributeAt(xml, end, MESSAGE));
    },
  };
  return { draft, handler };
}
