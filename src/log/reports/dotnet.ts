import type { Outcome, ReportDraft } from './report-draft.ts';
import { draftReport } from './report-draft.ts';
import type { Attributes, XmlHandler } from './xml.ts';
import { numberOf, secondsToMs } from './xml.ts';

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
export function outcomeStatus(result: string | undefined): Outcome['status'] {
  if (/^(?:fail(?:ed|ure)?|error|timeout|aborted|disconnected|notrunnable|false)$/i.test(result ?? '')) return 'failed';
  return /^(?:skip(?:ped)?|notrun|notexecuted|ignored|inconclusive|explicit|pending|inprogress)$/i.test(result ?? '')
    ? 'skipped'
    : 'passed';
}

/** The class is taken off the front of a full name: `Shop.CartTests.Adds(1)` in `Shop.CartTests` is `Adds(1)`. */
export function named(full: string, suite: string | null): { readonly name: string; readonly suite: string | null } {
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
