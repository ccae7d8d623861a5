import { getErrorMessage } from '../../domain/errors.ts';
import { formatCount } from '../../lib/text.ts';
import { boundResults } from './bound-results.ts';
import { parseJson, readJson } from './json.ts';
import { repairJson } from './json-text.ts';
import { isGoJson, isTap, readGoJson, readTap } from './line-formats.ts';
import type { ReportDraft, TestReport } from './report-draft.ts';
import { escapeBareSigns, findRootElement, prepareXml, readXml, type XmlText } from './xml.ts';
import {
  type OpenReport,
  readCheckstyle,
  readJUnit,
  readNunit,
  readTestng,
  readTrx,
  readXunit,
} from './xml-formats.ts';

interface XmlFormat {
  readonly roots: readonly string[];
  readonly title: string;
  readonly open: (source: string, xml: string) => OpenReport;
}

const XML: readonly XmlFormat[] = [
  { roots: ['testsuites', 'testsuite', 'testcase'], title: 'JUnit report', open: readJUnit },
  { roots: ['assemblies', 'assembly'], title: 'xUnit.net report', open: readXunit },
  { roots: ['test-run', 'test-results'], title: 'NUnit report', open: readNunit },
  { roots: ['TestRun'], title: 'TRX report', open: readTrx },
  { roots: ['testng-results'], title: 'TestNG report', open: readTestng },
  { roots: ['checkstyle'], title: 'Checkstyle report', open: readCheckstyle },
];

/** The content of a report, and a sentence that says why it could not be read completely. */
type Outcome = ReturnType<typeof attempt>;

const NOTHING: TestReport = {
  source: '',
  failingTests: [],
  passages: new Map(),
  quotable: [],
  testResults: [],
  diagnostics: [],
  passedOnRetry: [],
  notes: [],
};

/**
 * Reads a test report; its content determines the format. Never throws: an invalid or unknown report returns
 * what was read before the error, with a note. The formats are listed in docs/explanation/reports.md.
 */
export function parseReport(name: string, text: string): TestReport {
  const { report, broken } = read(name, text);
  return broken === null ? report : { ...report, notes: [...report.notes, broken] };
}

/** The results of a report's tests, and remarks on the report. */
export type ReportResults = Pick<TestReport, 'testResults' | 'notes'>;

/** Reads only the results of a report's tests. */
export function readResults(name: string, text: string): ReportResults {
  const { testResults, notes } = parseReport(name, text);
  const { kept, note } = boundResults(testResults);
  return { testResults: kept, notes: note === null ? notes : [...notes, note] };
}

/**
 * Checks whether a text is one document in a known report format. Returns false for TAP and `go test -json`,
 * because these are also the log of a run. They are read as reports only if they were submitted as such.
 */
export function isReport(text: string): boolean {
  const root = findRootElement(text);
  if (root !== null) return XML.some(({ roots }) => roots.includes(root));
  const value = parseJson(text);
  if (value === undefined) return false;
  // Parsing a value with endless nesting throws, which must not affect the caller.
  return attempt('', '', () => readJson('', value, text) ?? refuse('')).broken === null;
}

/** Checks whether a text is an XML report, even if it is invalid further down. */
export function isXmlReport(text: string): boolean {
  if (!/^[\ufeff\s]{0,1000}</.test(text)) return false;
  const root = findRootElement(text);
  return (
    root !== null &&
    (XML.some(({ roots }) => roots.includes(root)) || /^[\ufeff\s]{0,1000}<\?xml\s/.test(text))
  );
}

/** Checks whether a text is TAP or `go test -json`. */
export function isLineReport(text: string): boolean {
  return isGoJson(text) || isTap(text);
}

/**
 * Checks whether a file in an archive is neither a log nor a report, such as a web page, or XML or JSON of
 * another kind.
 */
export function isStray(name: string, text: string): boolean {
  if (/^[\ufeff\s]{0,1000}(?:<\?xml|<!doctype|<html|<svg)/i.test(text)) return true;
  return /\.(?:xml|trx)$/i.test(name)
    ? findRootElement(text) !== null
    : /\.json$/i.test(name) && parseJson(text) !== undefined;
}

function read(name: string, given: string): Outcome {
  const text = withoutPreface(given);
  const root = findRootElement(text);
  if (root !== null) return readXmlReport(name, text, root);
  if (isGoJson(text)) return attempt(name, 'go test report', () => readGoJson(name, text));
  const value = parseJson(text);
  if (value !== undefined) return readJsonReport(name, value, text, null);
  const repaired = repairJson(text);
  if (repaired !== null)
    return readJsonReport(
      name,
      repaired.value,
      text,
      `${name} is damaged: ${repaired.damage}. It was read without that.`,
    );
  if (isTap(text)) return attempt(name, 'TAP report', () => readTap(name, text));
  const why = text.trim() === '' ? 'it is empty' : 'it is neither XML nor JSON nor TAP';
  return { report: NOTHING, broken: `${name} is no test report that can be read: ${why}.` };
}

/** The maximum number of characters that a program printed before the document in the same file. */
const MAX_PREFACE = 20_000;
const DOCUMENT = new RegExp(
  String.raw`\n[ \t]{0,100}(?=<(?:\?xml|testsuites?|testcase|assemblies|test-run|` +
    String.raw`test-results|TestRun|testng-results|checkstyle)[\s>])`,
);

/** Replaces the text before an XML document by blanks. The number of lines does not change. */
function withoutPreface(text: string): string {
  if (/^[\ufeff\s]{0,1000}[<{[]/.test(text)) return text;
  const found = DOCUMENT.exec(text.slice(0, MAX_PREFACE));
  if (found === null) return text;
  const end = found.index + found[0].length;
  return text.slice(0, end).replace(/[^\n]/g, ' ') + text.slice(end);
}

function readJsonReport(name: string, value: unknown, text: string, damage: string | null): Outcome {
  return attempt(name, 'JSON report', () => {
    const draft = readJson(name, value, text) ?? refuse('its fields are of no format that is known');
    if (damage !== null) draft.note(damage);
    return draft;
  });
}

function readXmlReport(name: string, text: string, root: string): Outcome {
  const format = XML.find(({ roots }) => roots.includes(root));
  if (format === undefined) {
    const why = `its root element is <${root.slice(0, 40)}>`;
    return {
      report: NOTHING,
      broken: `${name} is not a well-formed JUnit report or other test report: ${why}.`,
    };
  }
  const prepared = prepareXml(text);
  const once = readPrepared(name, prepared.text, format);
  const escaped = once.why === null ? prepared.text : escapeBareSigns(prepared.text);
  const again = escaped === prepared.text ? once : readPrepared(name, escaped, format);
  const { draft } = again.draft.size > once.draft.size ? again : once;
  const control = findControlNote(name, prepared);
  if (control !== null) draft.note(control);
  return {
    report: draft.finish(),
    broken: once.why === null ? null : formatBrokenNote(name, format.title, once.why, draft.size),
  };
}

/**
 * Reads a document as far as possible. Returns a phrase that says why it is not well-formed, or null if it
 * is.
 */
function readPrepared(
  name: string,
  xml: string,
  format: XmlFormat,
): { readonly draft: ReportDraft; readonly why: string | null } {
  const { draft, handler } = format.open(name, xml);
  try {
    const fault = readXml(xml, handler);
    return { draft, why: fault === null ? null : `line ${fault.line}: ${fault.why}` };
  } catch (error) {
    return { draft, why: describeError(error) };
  }
}

function findControlNote(name: string, { forbidden }: XmlText): string | null {
  if (forbidden === null) return null;
  const { count, line } = forbidden;
  const them = count === 1 ? 'it' : 'them';
  return (
    `${name} is damaged: it holds ${formatCount(count, 'control character')} that XML forbids, the first ` +
    `on line ${line}. It was read without ${them}.`
  );
}

function attempt(
  name: string,
  title: string,
  work: () => ReportDraft,
): { readonly report: TestReport; readonly broken: string | null } {
  try {
    return { report: work().finish(), broken: null };
  } catch (error) {
    return { report: NOTHING, broken: formatBrokenNote(name, title, describeError(error), 0) };
  }
}

function formatBrokenNote(name: string, title: string, why: string, tests: number): string {
  return (
    `${name} is not a well-formed ${title}: ${why}. It is damaged; ${formatCount(tests, 'test')} could ` +
    'be read.'
  );
}

function describeError(error: unknown): string {
  return getErrorMessage(error).trim().split('\n', 1)[0]?.trim().replace(/\.$/, '') ?? '';
}

function refuse(why: string): never {
  throw new Error(why);
}
