import { z } from 'zod';
import { messageOf } from '../../domain/errors.ts';
import { readNunit, readTrx, readXunit } from './dotnet.ts';
import { isGoJson, readGoJson } from './go-json.ts';
import {
  Ctrf,
  Cucumber,
  count,
  Jest,
  type JsonDocument,
  Mocha,
  openJson,
  Pytest,
  parseJson,
  Rspec,
  readCtrf,
  readCucumber,
  readItems,
  readJest,
  readMocha,
  readPytest,
  readRspec,
  text,
} from './json.ts';
import { readJUnit, readTestng } from './junit.ts';
import { draftReport, type ReportDraft, type TestReport } from './report-draft.ts';
import { isTap, readTap } from './tap.ts';
import { numberOf, readXml, rootElement, type XmlHandler } from './xml.ts';

interface XmlFormat {
  readonly roots: readonly string[];
  readonly title: string;
  readonly open: (source: string, xml: string) => { readonly draft: ReportDraft; readonly handler: XmlHandler };
}

const XML: readonly XmlFormat[] = [
  { roots: ['testsuites', 'testsuite', 'testcase'], title: 'JUnit report', open: readJUnit },
  { roots: ['assemblies', 'assembly'], title: 'xUnit.net report', open: readXunit },
  { roots: ['test-run', 'test-results'], title: 'NUnit report', open: readNunit },
  { roots: ['TestRun'], title: 'TRX report', open: readTrx },
  { roots: ['testng-results'], title: 'TestNG report', open: readTestng },
  { roots: ['checkstyle'], title: 'Checkstyle report', open: readCheckstyle },
];

interface Outcome {
  readonly report: TestReport;
  /** Why it could not be read, or not to its end; a sentence. */
  readonly broken: string | null;
}

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
  return { report: nothing(), broken: `${name} is no test report that can be read: ${why}.` };
}

function readXmlReport(name: string, text: string, root: string): Outcome {
  const format = XML.find(({ roots }) => roots.includes(root));
  if (format === undefined) {
    const why = `its root element is <${root.slice(0, 40)}>`;
    return { report: nothing(), broken: `${name} is not a well-formed JUnit report or other test report: ${why}.` };
  }
  const { draft, handler } = format.open(name, text);
  try {
    readXml(text, handler);
    return { report: draft.finish(), broken: null };
  } catch (error) {
    return { report: draft.finish(), broken: brokenNote(name, format.title, error, draft.size) };
  }
}

function attempt(name: string, title: string, work: () => ReportDraft): Outcome {
  try {
    return { report: work().finish(), broken: null };
  } catch (error) {
    return { report: nothing(), broken: brokenNote(name, title, error, 0) };
  }
}

function readJson(source: string, value: unknown, text: string): ReportDraft | null {
  const document = openJson(source, value, text);
  const ctrf = Ctrf.safeParse(value);
  if (ctrf.success) return readCtrf(document, ctrf.data);
  const sarif = Sarif.safeParse(value);
  if (sarif.success) return readSarif(document, sarif.data);
  const jest = Jest.safeParse(value);
  if (jest.success) return readJest(document, jest.data);
  const mocha = Mocha.safeParse(value);
  if (mocha.success) return readMocha(document, mocha.data);
  const pytest = Pytest.safeParse(value);
  if (pytest.success) return readPytest(document, pytest.data);
  const rspec = Rspec.safeParse(value);
  if (rspec.success) return readRspec(document, rspec.data);
  const cucumber = Cucumber.safeParse(value);
  return cucumber.success ? readCucumber(document, cucumber.data) : null;
}

function brokenNote(name: string, title: string, error: unknown, tests: number): string {
  const why = messageOf(error).trim().split('\n', 1)[0]?.trim().replace(/\.$/, '') ?? '';
  return `${name} is not a well-formed ${title}: ${why}. ${tests} tests were read before that.`;
}

function refuse(why: string): never {
  throw new Error(why);
}

function nothing(): TestReport {
  return { failingTests: [], testResults: [], diagnostics: [], notes: [] };
}

/** Checkstyle XML, which many linters write: one diagnostic an error or warning. */
function readCheckstyle(source: string): { readonly draft: ReportDraft; readonly handler: XmlHandler } {
  const draft = draftReport(source, 'checkstyle');
  let file: string | null = null;
  const handler: XmlHandler = {
    open(name, attributes, line) {
      if (name === 'file') file = attributes.name ?? null;
      if (name !== 'error' || attributes.severity === 'info' || attributes.severity === 'ignore') return;
      const diagnostic = {
        tool: 'checkstyle',
        severity: attributes.severity === 'warning' ? ('warning' as const) : ('error' as const),
        file,
        line: numberOf(attributes.line),
        column: numberOf(attributes.column),
        code: attributes.source?.slice(0, 200) ?? null,
        message: (attributes.message ?? '').slice(0, 1_000),
      };
      draft.diagnose(diagnostic, line);
    },
    text: () => {},
    close: () => {},
  };
  return { draft, handler };
}

const Run = z.object({ tool: z.object({ driver: z.object({ name: z.string() }) }), results: z.array(z.unknown()).nullish() });

/** SARIF 2: what static analysis complains about. */
const Sarif = z.object({ version: z.string().startsWith('2.'), runs: z.array(Run) });

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

function readSarif(document: JsonDocument, { runs }: z.infer<typeof Sarif>): ReportDraft {
  const draft = draftReport(document.source, 'sarif');
  for (const run of runs) {
    readItems(draft, run.results ?? [], Result, (result) => {
      if (result.level === 'note' || result.level === 'none' || (result.kind ?? 'fail') !== 'fail') return;
      if ((result.suppressions ?? []).length > 0) return;
      const place = result.locations?.[0]?.physicalLocation;
      const message = result.message.text ?? '';
      const diagnostic = {
        tool: run.tool.driver.name.slice(0, 100),
        severity: result.level === 'error' ? ('error' as const) : ('warning' as const),
        file: place?.artifactLocation?.uri ?? null,
        line: place?.region?.startLine ?? null,
        column: place?.region?.startColumn ?? null,
        code: result.ruleId ?? null,
        message: message.slice(0, 1_000),
      };
      draft.diagnose(diagnostic, document.lineOf(message));
    });
  }
  return draft;
}
