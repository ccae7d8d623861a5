import { append } from '../../lib/collections.ts';
import { draftReport, type Outcome, type ReportDraft } from './report-draft.ts';
import { type Attributes, numberOf, secondsToMs, type XmlHandler } from './xml.ts';

interface OpenTest {
  readonly outcome: Outcome;
  type: string | null;
  message: string;
  stack: string;
  output: string;
}

const MAX_TEXT = 20_000;

/** xUnit.net's own XML, versions 2 and 3. */
export function readXunit(source: string): { readonly draft: ReportDraft; readonly handler: XmlHandler } {
  return reader(draftReport(source, 'xunit', { retries: false }), ['test', 'error'], (name, attributes, line) => {
    if (name === 'error') {
      return { name: attributes.name || attributes.type || '(fixture)', suite: attributes.type ?? null, status: 'failed', at: line };
    }
    return {
      ...named(attributes.name ?? attributes.method ?? '(unnamed)', attributes.type ?? null),
      file: attributes['source-file'] ?? null,
      line: numberOf(attributes['source-line']),
      status: outcomeStatus(attributes.result),
      durationMs: secondsToMs(attributes.time),
      at: line,
    };
  });
}

/** NUnit XML, version 3 and the older `test-results`. */
export function readNunit(source: string): { readonly draft: ReportDraft; readonly handler: XmlHandler } {
  return reader(draftReport(source, 'nunit', { retries: false }), ['test-case'], (_, attributes, line) => {
    const full = attributes.fullname ?? attributes.name ?? '(unnamed)';
    const suite = attributes.classname ?? suiteOf(full);
    return {
      ...named(full, suite),
      status: outcomeStatus(attributes.result ?? (attributes.executed === 'False' ? 'Skipped' : attributes.success)),
      durationMs: secondsToMs(attributes.duration ?? attributes.time),
      at: line,
    };
  });
}

/** What .NET's frameworks and runners call the end of a test. What is neither bad nor left out has passed. */
function outcomeStatus(result: string | undefined): Outcome['status'] {
  if (/^(?:fail(?:ed|ure)?|error|timeout|aborted|disconnected|notrunnable|false)$/i.test(result ?? '')) return 'failed';
  return /^(?:skip(?:ped)?|notrun|notexecuted|ignored|inconclusive|explicit|pending|inprogress)$/i.test(result ?? '')
    ? 'skipped'
    : 'passed';
}

/** The class is taken off the front of a full name: `Shop.CartTests.Adds(1)` in `Shop.CartTests` is `Adds(1)`. */
function named(full: string, suite: string | null): { readonly name: string; readonly suite: string | null } {
  return { name: suite !== null && full.startsWith(`${suite}.`) ? full.slice(suite.length + 1) : full, suite };
}

type Describe = (name: string, attributes: Attributes, line: number) => Outcome;

/** Both have a test with a failure inside, which has a message and a stack. */
function reader(draft: ReportDraft, tests: readonly string[], describe: Describe): { draft: ReportDraft; handler: XmlHandler } {
  let open: OpenTest | null = null;
  let into: 'message' | 'stack' | 'output' | null = null;
  let inFailure = false;
  const handler: XmlHandler = {
    open(name, attributes, line) {
      if (tests.includes(name)) open = { outcome: describe(name, attributes, line), type: null, message: '', stack: '', output: '' };
      if (name === 'failure') inFailure = true;
      if (name === 'failure' && open !== null) open.type = attributes['exception-type'] ?? null;
      if (name === 'output') into = 'output';
      if (inFailure && name === 'message') into = 'message';
      if (inFailure && name === 'stack-trace') into = 'stack';
    },
    text(text) {
      if (open !== null && into !== null && open[into].length < MAX_TEXT) open[into] += text.slice(0, MAX_TEXT);
    },
    close(name) {
      if (name === 'failure') inFailure = false;
      if (name === 'message' || name === 'stack-trace' || name === 'output') into = null;
      if (open === null || !tests.includes(name)) return;
      const { outcome, type, message, stack, output } = open;
      draft.add({ ...outcome, type, message: message.trim() || null, detail: stack === '' ? '' : `${message}\n${stack}`, output });
      open = null;
    },
  };
  return { draft, handler };
}

function suiteOf(full: string): string | null {
  const name = full.split('(', 1)[0] ?? full;
  return name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : null;
}

interface OpenResult {
  readonly testId: string;
  readonly outcome: Outcome;
  message: string;
  stack: string;
  output: string;
  /** It holds results of its own, one a data row, which tell all that it tells. */
  hasInner: boolean;
}

const INTO: Readonly<Record<string, 'message' | 'stack' | 'output'>> = {
  Message: 'message',
  StackTrace: 'stack',
  StdOut: 'output',
  StdErr: 'output',
};

/** Visual Studio's test results. Classes are told after all results, so nothing is known before the document's end. */
export function readTrx(source: string): { readonly draft: ReportDraft; readonly handler: XmlHandler } {
  const draft = draftReport(source, 'trx', { retries: false });
  const done: OpenResult[] = [];
  const classes = new Map<string, string>();
  const open: OpenResult[] = [];
  const path: string[] = [];
  let unitTest = '';
  let runInfo: string | null = null;
  const handler: XmlHandler = {
    open(name, attributes, line) {
      path.push(name);
      if (name.endsWith('TestResult')) {
        const parent = open.at(-1);
        if (parent !== undefined) parent.hasInner = true;
        open.push(openResult(attributes, line));
      } else if (name === 'UnitTest') unitTest = attributes.id ?? '';
      else if (name === 'TestMethod' && attributes.className !== undefined) classes.set(unitTest, className(attributes.className));
      else if (name === 'RunInfo' && attributes.outcome !== 'Warning') runInfo = '';
    },
    text(text) {
      const into = INTO[path.at(-1) ?? ''];
      const result = open.at(-1);
      if (result !== undefined && into !== undefined && result[into].length < MAX_TEXT) result[into] += text.slice(0, MAX_TEXT);
      else if (runInfo !== null && path.at(-1) === 'Text' && runInfo.length < MAX_TEXT) runInfo += text.slice(0, MAX_TEXT);
    },
    close(name) {
      path.pop();
      if (name === 'RunInfo') {
        if (runInfo?.trim()) draft.note(`${source}: ${runInfo.trim().slice(0, 500)}`);
        runInfo = null;
      }
      if (name.endsWith('TestResult'))
        append(
          done,
          open.splice(-1).filter(({ hasInner }) => !hasInner),
        );
      if (name === 'TestRun') for (const result of done) addResult(draft, result, classes);
    },
  };
  return { draft, handler };
}

function openResult(attributes: Attributes, line: number): OpenResult {
  const name = attributes.testName ?? '(unnamed)';
  const outcome: Outcome = { name, status: outcomeStatus(attributes.outcome), durationMs: clockToMs(attributes.duration), at: line };
  return { testId: attributes.testId ?? '', outcome, message: '', stack: '', output: '', hasInner: false };
}

function addResult(
  draft: ReportDraft,
  { testId, outcome, message, stack, output }: OpenResult,
  classes: ReadonlyMap<string, string>,
): void {
  const names = named(outcome.name, classes.get(testId) ?? null);
  const detail = stack === '' ? '' : `${message}\n${stack}`;
  draft.add({ ...outcome, ...names, message: message.trim() || null, detail, output });
}

/** `Shop.CartTests, Shop.Tests, Version=1.0.0.0` is the class and its assembly. */
function className(name: string): string {
  return name.split(',', 1)[0]?.trim() ?? name;
}

/** `00:00:01.5000000` in milliseconds. */
function clockToMs(duration: string | undefined): number | null {
  const match = /^(?:(\d{1,5})\.)?(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,9})?)$/.exec(duration ?? '');
  if (match === null) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return Math.round(((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1e6) / 1e3;
}
