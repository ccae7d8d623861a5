import { SaxesParser } from 'saxes';
import type { TestResult } from '../../domain/build.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { FailingTest } from '../../domain/failure.ts';
import { splitExpectation } from '../expectation.ts';

/** What a JUnit XML report says. */
export interface JUnitReport {
  readonly failingTests: readonly FailingTest[];
  readonly testResults: readonly TestResult[];
  readonly notes: readonly string[];
}

interface OpenCase {
  readonly name: string;
  readonly suite: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly durationMs: number | null;
  status: TestResult['status'];
  flaky: boolean;
  message: string | null;
  type: string | null;
  text: string;
  at: number;
}

interface State {
  readonly source: string;
  readonly suites: { name: string | null; file: string | null; declared: number | null; seen: number }[];
  readonly results: TestResult[];
  readonly failing: FailingTest[];
  readonly notes: string[];
  open: OpenCase | null;
  collecting: boolean;
}

type Attributes = Readonly<Record<string, string>>;

const MAX_TEXT = 20_000;
const MAX_CASES = 1_000_000;

/** Reads a JUnit XML report of any dialect. Never throws: a broken report gives what was read before the break, and a note. */
export function parseJUnit(name: string, xml: string): JUnitReport {
  const state = newState(name);
  try {
    run(state, xml);
  } catch (error) {
    state.notes.push(
      `${name} is not a well-formed JUnit report: ${firstLine(messageOf(error))}. ${state.results.length} tests were read before that.`,
    );
  }
  return { failingTests: state.failing, testResults: state.results, notes: state.notes };
}

/** The same, but throws TriageError 'invalid-input' for broken XML, entities, a doctype, or a document that is no JUnit report. */
export function parseJUnitStrict(name: string, xml: string): JUnitReport {
  const state = newState(name);
  try {
    run(state, xml);
  } catch (error) {
    throw new TriageError('invalid-input', `${name} is not a well-formed JUnit report: ${firstLine(messageOf(error))}.`, { cause: error });
  }
  return { failingTests: state.failing, testResults: state.results, notes: state.notes };
}

function newState(source: string): State {
  return { source, suites: [], results: [], failing: [], notes: [], open: null, collecting: false };
}

function run(state: State, xml: string): void {
  const parser = new SaxesParser();
  let root = true;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new Error('it declares a document type, which may define entities and is refused');
  });
  parser.on('opentag', (tag) => {
    if (root && !/^(?:testsuites?|testcase|testrun)$/.test(tag.name)) throw new Error(`its root element is <${tag.name.slice(0, 40)}>`);
    root = false;
    openTag(state, tag.name, tag.attributes, parser.line);
  });
  parser.on('text', (text) => addText(state, text));
  parser.on('cdata', (text) => addText(state, text));
  parser.on('closetag', (tag) => closeTag(state, tag.name));
  parser.write(xml.replace(/^[\ufeff\s]{1,1000}/, '')).close();
}

function openTag(state: State, name: string, attributes: Attributes, line: number): void {
  if (name === 'testsuite') {
    state.suites.push({
      name: attributes.name ?? null,
      file: attributes.file ?? attributes.filepath ?? null,
      declared: numberOf(attributes.tests),
      seen: 0,
    });
  } else if (name === 'testcase') openCase(state, attributes, line);
  else if (state.open !== null) openOutcome(state, state.open, name, attributes);
}

function openCase(state: State, attributes: Attributes, line: number): void {
  const suite = state.suites.at(-1);
  if (state.results.length >= MAX_CASES) throw new Error(`it holds more than ${MAX_CASES} tests`);
  if (suite !== undefined) suite.seen++;
  const seconds = numberOf(attributes.time);
  state.open = {
    name: attributes.name ?? '(unnamed)',
    suite: attributes.classname ?? attributes.class ?? suite?.name ?? null,
    file: attributes.file ?? attributes.filepath ?? suite?.file ?? null,
    line: numberOf(attributes.line),
    durationMs: seconds === null ? null : Math.round(seconds * 1e6) / 1e3,
    status: 'passed',
    flaky: false,
    message: null,
    type: null,
    text: '',
    at: line,
  };
}

function openOutcome(state: State, open: OpenCase, name: string, attributes: Attributes): void {
  if (name === 'failure' || name === 'error') {
    if (open.status !== 'failed') {
      open.status = 'failed';
      open.message = attributes.message ?? null;
      open.type = attributes.type ?? null;
      state.collecting = true;
    }
  } else if (name === 'skipped' || name === 'disabled') {
    if (open.status === 'passed') open.status = 'skipped';
  } else if (name === 'flakyFailure' || name === 'flakyError') open.flaky = true;
}

function addText(state: State, text: string): void {
  if (state.collecting && state.open !== null && state.open.text.length < MAX_TEXT) state.open.text += text.slice(0, MAX_TEXT);
}

function closeTag(state: State, name: string): void {
  if (name === 'failure' || name === 'error') state.collecting = false;
  else if (name === 'testcase') closeCase(state);
  else if (name === 'testsuite') closeSuite(state);
}

function closeCase(state: State): void {
  const open = state.open;
  state.open = null;
  state.collecting = false;
  if (open === null) return;
  const { name, suite, file, durationMs, status } = open;
  state.results.push({ name, suite, file, status, durationMs });
  if (open.flaky && status === 'passed')
    state.notes.push(`${suite === null ? '' : `${suite}.`}${name} failed first and passed on a rerun.`);
  if (status !== 'failed') return;
  const message = open.message?.trim() || firstLine(open.text) || open.type;
  const { expected, actual } = splitExpectation(`${open.message ?? ''}\n${open.text}`);
  state.failing.push({
    name,
    suite,
    file,
    line: open.line,
    message: message?.slice(0, 1_000) ?? null,
    expected,
    actual,
    framework: 'junit-xml',
    at: { source: state.source, line: open.at },
  });
}

function closeSuite(state: State): void {
  const suite = state.suites.pop();
  if (suite?.declared == null || suite.seen === 0 || suite.declared === suite.seen) return;
  state.notes.push(`${state.source}: suite ${suite.name ?? '(unnamed)'} says it has ${suite.declared} tests but lists ${suite.seen}.`);
}

function numberOf(value: string | undefined): number | null {
  const number = value === undefined || value === '' ? Number.NaN : Number(value.replaceAll(',', ''));
  return Number.isFinite(number) ? number : null;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.trim().replace(/\.$/, '') ?? '';
}
