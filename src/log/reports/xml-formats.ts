import type { Stretch } from './passages.ts';
import { draftReport, type Outcome, type ReportDraft } from './report-draft.ts';
import { type Attributes, attributeAt, convertSecondsToMs, parseNumber, type XmlHandler } from './xml.ts';

/** A report of one format that is being read. */
export interface OpenReport {
  readonly draft: ReportDraft;
  readonly handler: XmlHandler;
}

const MAX_TEXT = 20_000;
/** Stretches of a test's text that are kept: the first ones tell. */
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
  /** It represents its suite, which complained outside of any case. */
  readonly ofSuite: boolean;
  status: Outcome['status'];
  flaky: boolean;
  message: string | null;
  type: string | null;
  text: string;
  output: string;
  /** The offsets at which its tag ends, and at which the tags of what went wrong in it end. */
  readonly tags: number[];
  readonly texts: Stretch[];
  readonly outputs: Stretch[];
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
 * Reads JUnit XML of any dialect. Surefire writes a rerun inside a test case, and lists each row of a data
 * provider under the same name; the other dialects list a second try as a second case of the same name.
 */
export function readJUnit(source: string, xml: string): OpenReport {
  const retries = !/surefire-test-report|surefire\.test\.class\.path/.test(xml.slice(0, 20_000));
  const draft = draftReport(source, 'junit-xml', { retries, text: xml });
  const state: State = { source, xml, draft, suites: [], open: null, into: null };
  const handler: XmlHandler = {
    open: (name, attributes, line, end) => openTag(state, name, attributes, { line, end }),
    text: (text, at) => addText(state, text, at),
    close: (name) => closeTag(state, name),
    // Of a test that the document breaks off in, only a failure is known.
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
  // Jest and others write this where they know no machine.
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
    // Node's own reporter says that each test is of class `test`.
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
  };
  const open: OpenCase = { outcome, ofSuite, status: readStatus(attributes), flaky: false, ...entry };
  state.open = open;
  state.into = null;
  return open;
}

/** Reads the attribute in which CTest and GoogleTest also say how a test ended. */
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
  const { outcome, status, flaky, message, type, text, output } = open;
  const stretches = status === 'failed' ? listStretches(state.xml, open) : [];
  state.draft.add({ ...outcome, status, flaky, message, type, detail: text, output, said: stretches });
}

/**
 * Returns the places of a test's name, message and text; those of its output only if it says nothing more.
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

/** A test with what the elements in it said. */
interface OpenTest {
  readonly outcome: Outcome;
  readonly attributes: Attributes;
  type: string | null;
  message: string;
  stack: string;
  output: string;
  /** The places of its name, message and text. */
  readonly said: Stretch[];
  /** It holds tests of its own, one a data row, which say all that it says. */
  hasInner: boolean;
}

/** A format whose documents have an element for each test, and others in it for what it said. */
interface TestFormat {
  readonly isTest: (name: string) => boolean;
  readonly outcome: (name: string, attributes: Attributes, line: number) => Outcome;
  /** Returns the kind of an element's text, by its name and that of the element around it. */
  readonly classifyText: (name: string, around: string) => 'message' | 'stack' | 'output' | undefined;
  /** Returns the exception type that an element names; null or undefined if it names none. */
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
    // Of a test that the document breaks off in, only a failure is known.
    end() {
      for (const test of open.splice(0)) if (test.outcome.status === 'failed' && !test.hasInner) add(test);
    },
  };
  return { draft, handler };
}

/** Adds a test of .NET, with its stack below its message. */
function addTest(
  draft: ReportDraft,
  { outcome, type, message, stack, output, said }: OpenTest,
  named: Partial<Outcome> = {},
): void {
  const detail = stack === '' ? '' : `${message}\n${stack}`;
  draft.add({ ...outcome, ...named, type, message: message.trim() || null, detail, output, said });
}

/**
 * Reads TestNG's `testng-results.xml`. Rows of a data provider are one test; a configuration method counts
 * only if it failed.
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
      // A try that was followed by another is written as skipped.
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
 * Reads the XML of xUnit.net or NUnit: both have a test with a failure inside, which has a message and a
 * stack.
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
 * Maps the terms of .NET's frameworks and runners for the end of a test to a status. A test that neither
 * ended badly nor was left out has passed.
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

/**
 * Removes the class from the front of a full name: `Shop.CartTests.Adds(1)` in `Shop.CartTests` is `Adds(1)`.
 */
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
 * Reads Visual Studio's test results. Classes come after all results, so nothing is known before the
 * document's end.
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
      // `Shop.CartTests, Shop.Tests, Version=1.0.0.0` is the class and its assembly.
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
