import { draftReport, type Outcome, type ReportDraft } from './report-draft.ts';
import { type Attributes, numberOf, secondsToMs, type XmlHandler } from './xml.ts';

interface OpenSuite {
  readonly name: string | null;
  readonly file: string | null;
  readonly runner: string | null;
  readonly declared: number | null;
  seen: number;
}

interface OpenCase {
  readonly outcome: Outcome;
  /** It stands for its suite, which complained outside of any case. */
  readonly ofSuite: boolean;
  status: Outcome['status'];
  flaky: boolean;
  message: string | null;
  type: string | null;
  text: string;
  output: string;
}

interface State {
  readonly source: string;
  readonly draft: ReportDraft;
  readonly suites: OpenSuite[];
  open: OpenCase | null;
  into: 'text' | 'output' | null;
}

const MAX_TEXT = 20_000;
const RERUNS = new Set(['rerunFailure', 'rerunError', 'flakyFailure', 'flakyError']);

/**
 * JUnit XML of any dialect. Surefire tells a rerun inside a test case, and lists each row of a data provider under one name; the others
 * list a second try as a second case of the same name.
 */
export function readJUnit(source: string, xml: string): { readonly draft: ReportDraft; readonly handler: XmlHandler } {
  const retries = !/surefire-test-report|surefire\.test\.class\.path/.test(xml.slice(0, 20_000));
  const state: State = { source, draft: draftReport(source, 'junit-xml', { retries }), suites: [], open: null, into: null };
  const handler: XmlHandler = {
    open: (name, attributes, line) => openTag(state, name, attributes, line),
    text: (text) => addText(state, text),
    close: (name) => closeTag(state, name),
  };
  return { draft: state.draft, handler };
}

function openTag(state: State, name: string, attributes: Attributes, line: number): void {
  if (name === 'testsuite') openSuite(state, attributes);
  else if (name === 'testcase') openCase(state, attributes, line);
  else if (state.open !== null) openOutcome(state, state.open, name, attributes);
  else if ((name === 'failure' || name === 'error') && state.suites.length > 0) {
    const suite = openCase(state, { name: state.suites.at(-1)?.name ?? '(suite)' }, line, true);
    openOutcome(state, suite, name, attributes);
  }
}

function openSuite(state: State, attributes: Attributes): void {
  const file = attributes.file ?? attributes.filepath ?? state.suites.at(-1)?.file ?? null;
  // Jest and others write this where they know no machine.
  const runner = attributes.hostname === 'localhost' ? null : (attributes.hostname ?? state.suites.at(-1)?.runner ?? null);
  state.suites.push({ name: attributes.name || null, file, runner, declared: numberOf(attributes.tests), seen: 0 });
}

function openCase(state: State, attributes: Attributes, line: number, ofSuite = false): OpenCase {
  const suite = state.suites.at(-1);
  if (suite !== undefined && !ofSuite) suite.seen++;
  const outcome: Outcome = {
    name: attributes.name ?? '(unnamed)',
    suite: classOf(attributes) ?? suite?.name ?? null,
    file: attributes.file ?? attributes.filepath ?? suite?.file ?? null,
    line: numberOf(attributes.line),
    status: 'passed',
    durationMs: secondsToMs(attributes.time ?? attributes.duration),
    runner: suite?.runner ?? null,
    at: line,
  };
  const open = { outcome, ofSuite, status: statusOf(attributes), flaky: false, message: null, type: null, text: '', output: '' };
  state.open = open;
  state.into = null;
  return open;
}

/** Node's own reporter says that each test is of class `test`. */
function classOf({ classname, class: name }: Attributes): string | null {
  return classname === 'test' ? null : classname || name || null;
}

/** CTest and GoogleTest also say in an attribute how a test ended. */
function statusOf({ status, result }: Attributes): Outcome['status'] {
  if (/^(?:fail(?:ed|ure)?|error)$/i.test(status ?? '')) return 'failed';
  return /^(?:notrun|disabled|skipped|suppressed)$/i.test(status ?? '') || /^(?:skipped|suppressed)$/i.test(result ?? '')
    ? 'skipped'
    : 'passed';
}

function openOutcome(state: State, open: OpenCase, name: string, attributes: Attributes): void {
  if (name === 'failure' || name === 'error') {
    state.into = open.message === null && open.text === '' ? 'text' : null;
    open.status = 'failed';
    open.message ??= attributes.message ?? null;
    open.type ??= attributes.type ?? null;
  } else if (name === 'skipped' || name === 'disabled') {
    if (open.status === 'passed') open.status = 'skipped';
  } else if (name === 'flakyFailure' || name === 'flakyError') open.flaky = true;
  else if (name === 'system-out' || name === 'system-err') state.into = 'output';
  if (RERUNS.has(name)) state.into = null;
}

function addText({ open, into }: State, text: string): void {
  if (open === null || into === null) return;
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
  state.draft.add({ ...outcome, status, flaky, message, type, detail: text, output });
}

function closeSuite(state: State): void {
  if (state.open !== null) closeCase(state);
  const suite = state.suites.pop();
  if (suite?.declared == null || suite.seen === 0 || suite.declared === suite.seen) return;
  state.draft.note(`${state.source}: suite ${suite.name ?? '(unnamed)'} says it has ${suite.declared} tests but lists ${suite.seen}.`);
}

interface OpenMethod {
  readonly outcome: Outcome;
  readonly isConfig: boolean;
  readonly retried: boolean;
  type: string | null;
  message: string;
  trace: string;
}

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
