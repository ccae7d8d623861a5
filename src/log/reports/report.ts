import { messageOf } from '../../domain/errors.ts';
import { parseJson, readJson } from './json.ts';
import { isGoJson, isTap, readGoJson, readTap } from './line-formats.ts';
import type { ReportDraft, TestReport } from './report-draft.ts';
import { readXml, rootElement } from './xml.ts';
import { type OpenReport, readCheckstyle, readJUnit, readNunit, readTestng, readTrx, readXunit } from './xml-formats.ts';

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

/** What a report says, and a sentence on why it could not be read, or not to its end. */
type Outcome = ReturnType<typeof attempt>;

const NOTHING: TestReport = { failingTests: [], testResults: [], diagnostics: [], passedOnRetry: [], notes: [] };

/**
 * Reads a test report; its format is known by its content. Never throws: what is broken or unknown gives what was read before that, and a
 * note. Formats are listed in docs/explanation/reading.md.
 */
export function parseReport(name: string, text: string): TestReport {
  const { report, broken } = read(name, text);
  return broken === null ? report : { ...report, notes: [...report.notes, broken] };
}

/**
 * Whether a text is one document of a known report format. TAP and `go test -json` are not: they are as much the log of a run, and read
 * as reports only where they are given as such.
 */
export function isReport(text: string): boolean {
  const root = rootElement(text);
  if (root !== null) return XML.some(({ roots }) => roots.includes(root));
  const value = parseJson(text);
  if (value === undefined) return false;
  // A value nested without end may be no format's, but must not stop who asks.
  return attempt('', '', () => readJson('', value, text) ?? refuse('')).broken === null;
}

/** Whether a text is a report in XML, of whatever is broken further down. */
export function isXmlReport(text: string): boolean {
  if (!/^[\ufeff\s]{0,1000}</.test(text)) return false;
  const root = rootElement(text);
  return root !== null && (XML.some(({ roots }) => roots.includes(root)) || /^[\ufeff\s]{0,1000}<\?xml\s/.test(text));
}

/** Whether a text is TAP or `go test -json`. */
export function isLineReport(text: string): boolean {
  return isGoJson(text) || isTap(text);
}

/** Whether a file found among others is neither a log nor a report: a web page, or XML or JSON of another kind. */
export function isStray(name: string, text: string): boolean {
  if (/^[\ufeff\s]{0,1000}(?:<\?xml|<!doctype|<html|<svg)/i.test(text)) return true;
  return /\.(?:xml|trx)$/i.test(name) ? rootElement(text) !== null : /\.json$/i.test(name) && parseJson(text) !== undefined;
}

function read(name: string, text: string): Outcome {
  const root = rootElement(text);
  if (root !== null) return readXmlReport(name, text, root);
  if (isGoJson(text)) return attempt(name, 'go test report', () => readGoJson(name, text));
  const value = parseJson(text);
  if (value !== undefined)
    return attempt(name, 'JSON report', () => readJson(name, value, text) ?? refuse('its fields are of no format that is known'));
  if (isTap(text)) return attempt(name, 'TAP report', () => readTap(name, text));
  const why = text.trim() === '' ? 'it is empty' : 'it is neither XML nor JSON nor TAP';
  return { report: NOTHING, broken: `${name} is no test report that can be read: ${why}.` };
}

function readXmlReport(name: string, text: string, root: string): Outcome {
  const format = XML.find(({ roots }) => roots.includes(root));
  if (format === undefined) {
    const why = `its root element is <${root.slice(0, 40)}>`;
    return { report: NOTHING, broken: `${name} is not a well-formed JUnit report or other test report: ${why}.` };
  }
  const { draft, handler } = format.open(name, text);
  try {
    readXml(text, handler);
    return { report: draft.finish(), broken: null };
  } catch (error) {
    return { report: draft.finish(), broken: brokenNote(name, format.title, error, draft.size) };
  }
}

function attempt(name: string, title: string, work: () => ReportDraft): { readonly report: TestReport; readonly broken: string | null } {
  try {
    return { report: work().finish(), broken: null };
  } catch (error) {
    return { report: NOTHING, broken: brokenNote(name, title, error, 0) };
  }
}

function brokenNote(name: string, title: string, error: unknown, tests: number): string {
  const why = messageOf(error).trim().split('\n', 1)[0]?.trim().replace(/\.$/, '') ?? '';
  return `${name} is not a well-formed ${title}: ${why}. ${tests} tests were read before that.`;
}

function refuse(why: string): never {
  throw new Error(why);
}
