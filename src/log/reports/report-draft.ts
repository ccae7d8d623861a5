import type { TestResult } from '../../domain/build.ts';
import type { Diagnostic, FailingTest, LogRange } from '../../domain/failure.ts';
import type { PassedOnRetry } from '../../domain/reading.ts';
import { extractSides, joinLedLines } from '../extract/tests/block.ts';
import { isForeignFile, readFrame } from '../frames.ts';
import { createPassageReader, type Passage, type Stretch } from './passages.ts';

type Maybe<T> = T | null | undefined;

/** One run of one test, as a report describes it. Unknown facts are absent. */
export interface Outcome {
  readonly name: string;
  readonly suite?: Maybe<string>;
  readonly file?: Maybe<string>;
  /** The line number, 1-based. */
  readonly line?: Maybe<number>;
  readonly status: TestResult['status'];
  readonly durationMs?: Maybe<number>;
  /** The name of the machine. */
  readonly runner?: Maybe<string>;
  /**
   * The message in the report's own words. If absent, the most informative line of detail, type or output is
   * used.
   */
  readonly message?: Maybe<string>;
  /** The type of the exception. */
  readonly type?: Maybe<string>;
  /** The stack trace or diff. Message, place and compared values are read from it if they are absent. */
  readonly detail?: string;
  /** The output of the test. It is used if there is no detail. */
  readonly output?: string;
  readonly expected?: Maybe<string>;
  readonly actual?: Maybe<string>;
  /** Paths of the files that the report attaches to it. */
  readonly attachments?: readonly string[];
  /** True if the test first failed and then passed on another attempt. */
  readonly flaky?: boolean;
  /** The line of the report, 1-based. */
  readonly at?: Maybe<number>;
  /** The positions of a failing test's name, message and text in the report. */
  readonly said?: readonly Stretch[];
}

/** A report under construction. */
export interface ReportDraft {
  /** The number of tests that were added so far. */
  readonly size: number;
  add(outcome: Outcome): void;
  /** Adds a diagnostic. `passage` is its position in the report, for quotation. */
  diagnose(diagnostic: Omit<Diagnostic, 'at'>, line: number | null, passage?: Stretch | null): void;
  /** Adds a note. Above a limit, further notes are only counted. */
  note(text: string): void;
  finish(): TestReport;
}

/** The runs of one test in this report. */
interface Story {
  last: Outcome;
  failed: Outcome | null;
  passes: number;
  flaky: boolean;
}

const MAX_TESTS = 1_000_000;
/**
 * The maximum number of failing tests that are reported separately. If there are more, the first one of each
 * cause is kept, and then the first of the others.
 */
const MAX_FAILING = 500;
/**
 * The maximum number of characters of details and output of all failing tests together. Above it, only names
 * and messages are kept.
 */
const MAX_SAID = 32_000_000;
const MAX_DIAGNOSTICS = 10_000;
/** The maximum number of diagnostics that can be quoted. */
const MAX_QUOTABLE = 200;
const MAX_NOTES = 50;
const MAX_NAME = 2_000;
const MAX_MESSAGE = 1_000;
const MAX_RUNNER = 200;
/** The files that are kept of a test, and the characters of their paths. */
const MAX_ATTACHMENTS = 20;
const MAX_PATH = 500;

/** The options of a report. */
interface DraftOptions {
  /** True if a repeated test is another attempt of the same test; the default. */
  readonly retries?: boolean;
  /** The text of the report. */
  readonly text: string;
}

/**
 * Creates an empty report of `framework`. Runs of the same test are merged into one test. It has failed if
 * any run did, unless `retries` is true and the last run is the only one that passed. Throws Error above a
 * million tests.
 */
export function draftReport(
  source: string,
  framework: string,
  { retries = true, text }: DraftOptions,
): ReportDraft {
  const stories = new Map<string, Story>();
  const diagnostics: Diagnostic[] = [];
  const quotable: Stretch[] = [];
  const notes: string[] = [];
  let diagnosed = 0;
  const bound = (outcome: Outcome): Outcome => {
    const { message, detail = '', output = '', ...rest } = outcome;
    if (outcome.status !== 'failed') return { ...rest, said: [] };
    diagnosed += detail.length + output.length;
    return diagnosed > MAX_SAID ? { ...rest, message, said: [] } : outcome;
  };
  return {
    get size() {
      return stories.size;
    },
    add(outcome) {
      const key = `${outcome.suite ?? ''}\u0001${outcome.name}\u0001${outcome.file ?? ''}`;
      const story = stories.get(key);
      if (story === undefined && stories.size >= MAX_TESTS)
        throw new Error(`it holds more than ${MAX_TESTS} tests`);
      stories.set(key, withRun(story, bound(outcome)));
    },
    diagnose(diagnostic, line, passage = null) {
      const at = line === null ? null : { source, line };
      if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push({ ...diagnostic, at });
      if (passage !== null && quotable.length < MAX_QUOTABLE) quotable.push(passage);
    },
    note(remark) {
      notes.push(remark);
    },
    finish() {
      const ended = [...stories.values()].map((story) => readEnding(story, retries));
      const failed = ended.flatMap(({ outcome }) => (outcome.status === 'failed' ? [outcome] : []));
      const read = createPassageReader(text);
      const stated = keepFirstOfEachCause(failed, MAX_FAILING).map((outcome) => {
        const passage = read(outcome.said ?? []);
        return { passage, test: createFailingTest(source, framework, outcome, passage) };
      });
      if (stated.length < failed.length)
        notes.unshift(
          `${source}: ${failed.length} tests failed. ${stated.length} of them, the first of each ` +
            'cause, are told apart.',
        );
      const passedOnRetry = ended.flatMap(({ flaky, outcome: { suite, name, status } }) =>
        flaky && status === 'passed' ? { name, suite: suite ?? null, at: null } : [],
      );
      return {
        source,
        failingTests: stated.map(({ test }) => test),
        passages: Map.groupBy(
          stated.flatMap(({ test, passage }) => (passage.length === 0 ? [] : [{ test, lines: passage }])),
          ({ test }) => namePassage(test),
        ),
        quotable: read(quotable),
        testResults: ended.map(({ outcome }) => toTestResult(outcome)),
        diagnostics,
        passedOnRetry,
        notes: limitNotes(notes),
      };
    },
  };
}

/** The text of a report about one failing test. */
export interface TestPassage {
  readonly test: FailingTest;
  readonly lines: Passage;
}

/**
 * Finds the text of a report about a test, by its name and its lines in the report. If the report has several
 * tests of that name on one line, the message decides.
 */
export function findPassages(
  report: TestReport,
  test: FailingTest,
  spans: readonly LogRange[],
): readonly TestPassage[] {
  const starts = spans.filter(({ source }) => source === report.source).map(({ lineStart }) => lineStart);
  if (starts.length === 0) return [];
  const named = (report.passages.get(namePassage(test)) ?? []).filter(({ lines }) =>
    starts.includes(lines[0]?.line ?? 0),
  );
  const exact =
    named.length < 2 ? [] : named.filter((testPassage) => testPassage.test.message === test.message);
  return exact.length > 0 ? exact : named;
}

/**
 * Creates the key of a failing test in a report. It is the same after the test is merged with one of a log.
 */
export function namePassage({ suite, name }: Pick<FailingTest, 'suite' | 'name'>): string {
  return `${suite ?? ''}\u0001${name}`;
}

/**
 * Keeps at most `most` tests in their order: the first one of each cause, and then the first of the others.
 */
function keepFirstOfEachCause(failed: readonly Outcome[], most: number): readonly Outcome[] {
  if (failed.length <= most) return failed;
  const causes = new Set<string>();
  const isFirst = failed.map(({ message, type, detail = '' }) => {
    const text = message?.trim() || detail.slice(0, 400).trim() || type || '';
    const cause = text.slice(0, 200).replace(/\d+/g, '0');
    return !causes.has(cause) && causes.add(cause).size <= most;
  });
  let room = most - causes.size;
  return failed.filter((_, at) => isFirst[at] === true || room-- > 0);
}

function withRun(story: Story | undefined, outcome: Outcome): Story {
  const hasFailed = outcome.status === 'failed';
  const passes = outcome.status === 'passed' ? 1 : 0;
  if (story === undefined)
    return { last: outcome, failed: hasFailed ? outcome : null, passes, flaky: outcome.flaky ?? false };
  // A skipped run says nothing about an earlier one.
  story.last = outcome.status === 'skipped' ? story.last : outcome;
  if (hasFailed) story.failed ??= outcome;
  story.passes += passes;
  story.flaky ||= outcome.flaky ?? false;
  return story;
}

function readEnding(
  { last, failed, passes, flaky }: Story,
  retries: boolean,
): { outcome: Outcome; flaky: boolean } {
  if (failed === null) return { outcome: last, flaky };
  if (retries && last.status === 'passed' && passes === 1) return { outcome: last, flaky: true };
  return { outcome: failed, flaky };
}

function limitNotes(notes: readonly string[]): string[] {
  if (notes.length <= MAX_NOTES) return [...notes];
  return [...notes.slice(0, MAX_NOTES), `… and ${notes.length - MAX_NOTES} more remarks about this report.`];
}

function toTestResult({ name, suite, file, status, durationMs, runner }: Outcome): TestResult {
  return {
    name: toOneLine(name),
    suite: suite == null ? null : toOneLine(suite),
    file: file ?? null,
    status,
    durationMs:
      durationMs !== undefined && durationMs !== null && Number.isFinite(durationMs) && durationMs >= 0
        ? durationMs
        : null,
    ...(runner && { runner: runner.slice(0, MAX_RUNNER) }),
  };
}

/** Joins a name's lines, because names are displayed and compared as one line. */
function toOneLine(name: string): string {
  if (!/[\r\n]/.test(name)) return name.slice(0, MAX_NAME);
  const lines = name.slice(0, MAX_NAME).split(/[\r\n]/);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

function createFailingTest(
  source: string,
  framework: string,
  outcome: Outcome,
  passage: Passage,
): FailingTest {
  const plain = withoutEscapes(outcome.detail ?? '');
  const given = restoreLines(withoutEscapes(outcome.message ?? '').trim(), plain);
  const message = isTitle(given, outcome.name) ? '' : given;
  const output = withoutEscapes(outcome.output ?? '');
  // CTest writes the error to the output, and only "Failed" as the detail.
  const detail = plain.trim() === '' ? output : plain;
  const split = extractSides(`${message}\n${detail}`);
  const { name, suite, file } = toTestResult(outcome);
  const words = findInformativeMessage(message, {
    type: outcome.type ?? null,
    detail: withoutTitle(plain, name),
    output,
  });
  return {
    name,
    suite,
    ...findPlace(detail === '' ? message : `${placeLine(plain) ?? ''}\n${detail}`, {
      file,
      line: outcome.line ?? null,
      suite,
    }),
    message: words === null ? null : completeWholeMessage(words).slice(0, MAX_MESSAGE),
    expected: outcome.expected ?? split.expected,
    actual: outcome.actual ?? split.actual,
    framework,
    ...findPosition(source, outcome.at ?? null, passage),
    ...listAttachments(`${output}\n${plain}`, outcome.attachments ?? []),
  };
}

/** Lists the files of a test: those that its output names in Jenkins' form, and those of the report. */
function listAttachments(output: string, named: readonly string[]): Pick<FailingTest, 'attachments'> {
  const found = output.matchAll(/\[\[ATTACHMENT\|([^\]\n]{1,500})\]\]/g);
  const printed = [...found].map(([, path]) => path ?? '');
  const isPath = ({ length }: string) => length > 0 && length <= MAX_PATH;
  const paths = [...new Set([...printed, ...named])].filter(isPath);
  return paths.length === 0 ? {} : { attachments: paths.slice(0, MAX_ATTACHMENTS) };
}

/** Returns the lines that report a test, and the line that names it. */
function findPosition(
  source: string,
  line: number | null,
  passage: Passage,
): Pick<FailingTest, 'at' | 'spans'> {
  const [first] = passage;
  if (first === undefined) return { at: line === null ? null : { source, line } };
  const at = passage.some((passageLine) => passageLine.line === line) ? (line ?? first.line) : first.line;
  return {
    at: { source, line: at },
    spans: [{ source, lineStart: first.line, lineEnd: passage.at(-1)?.line ?? first.line }],
  };
}

/** Placeholders that reporters write if there is no message. */
const EMPTY_WORDS =
  /^(?:(?:test |subtest )?(?:failed|failure|error|not ok)|unknown|null|undefined|no message)?[.!:]?$/i;
/** Lines of a test's output that only frame it. */
const FRAMING = new RegExp(
  String.raw`^(?:=== |--- (?:FAIL|PASS|SKIP)|FAIL\b|PASS\b|ok\b|[-=_~*#.]{3,}|` +
    String.raw`Traceback \(most recent|stack ?trace:|at \S)`,
  'i',
);
const ERROR_WORDS = /error|fail|assert|exception|expect|panic|mismatch|!=|\bgot\b|\bwant/i;
/** The place that `go test` and others put before a message. */
const PLACED = /^[\w./\\-]{1,200}\.\w{1,5}:\d{1,7}:(?:\d{1,6}:)? ?/;
const MAX_LINES_WORDS = 400;

/**
 * Checks whether a text is a title that Playwright writes as a message and above its text: the place of the
 * test and its name.
 */
function isTitle(text: string, name: string): boolean {
  const words = /^\s{0,20}[\w./\\@-]{1,300}:\d{1,7}:\d{1,6} (?<title>.{1,2000})$/.exec(text)?.groups?.title;
  if (words === undefined) return false;
  const [title, nameLetters] = [extractLetters(words), extractLetters(name)];
  return title !== '' && nameLetters.endsWith(title) && !/error|expect/i.test(words.replace(name, ''));
}

/**
 * Returns a message with its line breaks, which an attribute of XML loses unless they are escaped: Node 20
 * and 22 write "strictly equal:26.97 !== 26.98". The detail has the same characters on several lines.
 */
function restoreLines(message: string, detail: string): string {
  const letters = message.replace(/\s+/g, '');
  if (letters === '' || message.includes('\n')) return message;
  const starts: number[] = [];
  let text = '';
  for (let at = 0; at < detail.length; at += 1) {
    if (/\s/.test(detail.charAt(at))) continue;
    starts.push(at);
    text += detail.charAt(at);
  }
  const first = text.indexOf(letters);
  if (first === -1) return message;
  return detail.slice(starts[first], (starts[first + letters.length - 1] ?? 0) + 1);
}

function extractLetters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '');
}

function withoutTitle(detail: string, name: string): string {
  const [first = '', ...rest] = detail.trimStart().split('\n');
  return isTitle(first, name) ? rest.join('\n') : detail;
}

/**
 * Returns the message or, if it says nothing specific, the most informative line of detail, type or output.
 * Returns null if there is none.
 */
function findInformativeMessage(
  message: string,
  { type, detail, output }: Required<Pick<Outcome, 'detail' | 'output'>> & { type: string | null },
): string | null {
  const trimmed = message.trim();
  if (!EMPTY_WORDS.test(trimmed)) return trimmed;
  const first = placeLine(detail) ?? listOwnLines(detail)[0];
  if (first !== undefined) return first.replace(PLACED, '').trim() || first;
  if (type !== null && !EMPTY_WORDS.test(type.trim())) return type;
  const printed = listOwnLines(output);
  return printed.find((line) => ERROR_WORDS.test(line)) ?? printed.at(-1) ?? (trimmed || type || null);
}

const PLACE_ONLY = new RegExp(
  String.raw`^(?:(?:unknown file|\S{1,300}:\d{1,7})(?:: (?:Failure|error))?|` +
    String.raw`thread '[^'\n]{1,300}' (?:\(\d{1,10}\) )?panicked at \S{1,300}:)$`,
);

/** Completes a message whose first line is only a place, or ends in a colon. */
function completeWholeMessage(message: string): string {
  const lines = message.split('\n');
  const messageLines = lines.length > 1 && PLACE_ONLY.test(lines[0]?.trim() ?? '') ? lines.slice(1) : lines;
  const [first = '', ...below] = messageLines;
  if (!first.trimEnd().endsWith(':')) return messageLines.join('\n');
  const start = below.findIndex((line) => line.trim() !== '');
  return joinLedLines([first.trim(), ...below.slice(Math.max(0, start))]);
}

/**
 * Returns the most informative line that begins with a place, as `go test` and compilers write them. Returns
 * null if there is none.
 */
function placeLine(detail: string): string | null {
  const placed = listOwnLines(detail).filter((line) => PLACED.test(line));
  return placed.find((line) => ERROR_WORDS.test(line.replace(PLACED, ''))) ?? placed[0] ?? null;
}

/** Removes colors and other terminal escapes, which reports copy from terminal output. */
function withoutEscapes(text: string): string {
  return /[\u001b\u009b]/.test(text) ? text.replace(/[\u001b\u009b]\[?[\d;?]{0,30}[A-Za-z]/g, '') : text;
}

function listOwnLines(text: string): string[] {
  return text
    .split('\n', MAX_LINES_WORDS)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !FRAMING.test(line));
}

type Place = Pick<FailingTest, 'file' | 'line'>;

const MAX_LINES_PLACE = 300;
const AT_FILE =
  /(?:^|[\s(#'"])(?<file>(?:[A-Za-z]:)?[\w./\\@+-]{1,250}\.[A-Za-z]{1,5}):(?<line>\d{1,7})(?=$|[:\s),'"])/;
/** The place in a frame of .NET, including paths of Windows. */
const IN_FILE = / in (?<file>(?:[A-Za-z]:)?[^\n:]{1,250}):line (?<line>\d{1,7})$/;
const AT_LINE = /\bat (?<file>[\w./\\-]{1,250}\.\w{1,5}) line (?<line>\d{1,7})\b/;

/**
 * Finds the place of a failure from its stack trace or output. If the file is known, finds its line. If not,
 * the file is the first one in the project's own code that belongs to the suite or looks like a test file, or
 * else the first one at all.
 */
function findPlace(detail: string, known: Place & Pick<FailingTest, 'suite'>): Place {
  const places = listPlacesIn(detail);
  if (known.file !== null) {
    const { file } = known;
    const samePath = places.find((place) => isSameFile(place.file, file));
    return { file, line: samePath?.line ?? known.line };
  }
  // The class `com.example.OuterTest$Inner` is in `OuterTest`, and `tests.test_tax.TestTax` in `test_tax`.
  const names = new Set((known.suite ?? '').split(/[.$+:\\/ ]/).filter((part) => part.length > 2));
  const sameName =
    places.find(({ file }) => names.has(getBaseName(file))) ??
    places.find(({ file }) =>
      /(?:^|[/\\_.-])(?:tests?|specs?|__tests__|t)(?:[/\\_.-]|$)|Tests?\.\w+$/i.test(file),
    ) ??
    places[0];
  return sameName ?? { file: null, line: known.line };
}

function listPlacesIn(detail: string): { readonly file: string; readonly line: number }[] {
  return detail.split('\n', MAX_LINES_PLACE).flatMap((text) => {
    if (text.length > 1_000) return [];
    const net = IN_FILE.exec(text.trimEnd())?.groups;
    if (net?.file !== undefined) return [{ file: net.file, line: Number(net.line) }];
    const frame = readFrame(text);
    if (frame !== null)
      return frame.own && frame.line !== null ? [{ file: frame.file, line: frame.line }] : [];
    const { file, line } = (AT_FILE.exec(text) ?? AT_LINE.exec(text))?.groups ?? {};
    return file === undefined || line === undefined || isForeignFile(file)
      ? []
      : [{ file, line: Number(line) }];
  });
}

function getBaseName(file: string): string {
  return /(?<![^/\\])([^/\\]*?)\.\w+$/.exec(file.slice(-260))?.[1] ?? file;
}

function isSameFile(left: string, right: string): boolean {
  const [a, b] = [
    left.replaceAll('\\', '/').replace(/^\.\//, ''),
    right.replaceAll('\\', '/').replace(/^\.\//, ''),
  ];
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}

/** The content of a test report, in any format. */
export interface TestReport {
  readonly source: string;
  /** The failing tests, at most 500. If there are more, the first one of each cause. */
  readonly failingTests: readonly FailingTest[];
  /**
   * The text of the report about each of them, by {@link namePassage}. Tests in different files may have the
   * same name.
   */
  readonly passages: ReadonlyMap<string, readonly TestPassage[]>;
  /** The lines of the first diagnostics, which can be quoted. */
  readonly quotable: Passage;
  /** Every test once, with its last outcome. */
  readonly testResults: readonly TestResult[];
  /** The findings of a linter's report. */
  readonly diagnostics: readonly Diagnostic[];
  /** Tests that failed first and passed on a rerun. */
  readonly passedOnRetry: readonly PassedOnRetry[];
  /** Remarks on the report: what was invalid, truncated or unknown. */
  readonly notes: readonly string[];
}
