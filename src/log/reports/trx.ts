import { append } from '../../lib/lists.ts';
import { named, outcomeStatus } from './dotnet.ts';
import { draftReport, type Outcome, type ReportDraft } from './report-draft.ts';
import type { Attributes, XmlHandler } from './xml.ts';

interface OpenResult {
  readonly testId: string;
  readonly outcome: Outcome;
  message: string;
  stack: string;
  output: string;
  /** It holds results of its own, one a data row, which tell all that it tells. */
  hasInner: boolean;
}

const MAX_TEXT = 20_000;
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
