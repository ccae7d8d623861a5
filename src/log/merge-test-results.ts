import type { FailingTest } from '../domain/failure.ts';
import { takeFirstOfEach } from '../lib/collections.ts';

/** Tells whether a report and a log speak of the same run of a test. */
export type Agreement = (reported: FailingTest, logged: FailingTest) => boolean;

/**
 * Merges the tests of reports and logs into one entry for each test, although a report and a log write its
 * name differently ("renderReceipt > prints" versus a suite and a name). A merged test has the report's name,
 * suite and message, since the history is kept by these, and the log's position, file and line. If the two do
 * not agree, everything but the name is the log's: they are of different attempts, and what one says is not
 * true of the other.
 */
export function mergeTests(
  reported: readonly FailingTest[],
  logged: readonly FailingTest[],
  agree: Agreement = () => true,
): FailingTest[] {
  const left = new Set(takeFirstOfEach(logged, (test) => createTestKey(test, test.at?.source)));
  const byLastWord = Map.groupBy(
    [...left].map((test) => ({ test, words: toTestWords(test) })),
    ({ words }) => getLastWord(words.all),
  );
  const merged = withoutParents(joinReports(reported)).map((report) => {
    const words = toTestWords(report);
    const twin = findTwin(
      words,
      (byLastWord.get(getLastWord(words.all)) ?? []).filter((candidate) => left.has(candidate.test)),
    );
    if (twin === null) return report;
    left.delete(twin);
    return agree(report, twin)
      ? merge(report, twin)
      : { ...twin, name: report.name, suite: report.suite, spans: joinSpans(report, twin) };
  });
  return [...merged, ...left];
}

/**
 * Creates the key of a test. A test of the same name in another log, or with another message in a report,
 * failed on its own.
 */
function createTestKey({ suite, name }: FailingTest, apart: string | null | undefined): string {
  return [suite, name, apart].join('\u0001');
}

/**
 * Joins the entries that are alike in several reports into one for each test, with its lines in each report.
 */
function joinReports(reported: readonly FailingTest[]): FailingTest[] {
  const joined = new Map<string, FailingTest>();
  for (const test of reported) {
    const key = createTestKey(test, test.message);
    const known = joined.get(key);
    joined.set(key, known === undefined ? test : { ...known, spans: joinSpans(test, known) });
  }
  return [...joined.values()];
}

/**
 * Removes parent tests: `TestA` fails because `TestA/case` does, and reports list both, but only the case is
 * a failing test of its own.
 */
function withoutParents(tests: readonly FailingTest[]): FailingTest[] {
  const parents = new Set(
    tests.flatMap(({ suite, name }) => {
      const parts = name.split('/');
      return parts.slice(1).map((_, index) => `${suite}\u0001${parts.slice(0, index + 1).join('/')}`);
    }),
  );
  return tests.filter(({ suite, name }) => !parents.has(`${suite}\u0001${name}`));
}

type Words = ReturnType<typeof toTestWords>;

/**
 * Returns the words of suite and name in order, of the name alone, and of the file. Every word has a space
 * before it, so that an ending of the text always consists of whole words.
 */
function toTestWords({ suite, name, file }: FailingTest) {
  return {
    all: spaceOut(`${suite ?? ''} ${removeEnding(name)}`),
    name: spaceOut(removeEnding(name)),
    file: file === null ? null : spaceOut(removeEnding(file)),
  };
}

/**
 * Removes the ending of a source file. A module that could not be loaded is named by its path in logs, and by
 * its dotted name in reports.
 */
function removeEnding(name: string): string {
  return name.replace(/\.(?:py|[cm]?[jt]sx?)$/, '');
}

function spaceOut(text: string): string {
  return (text.normalize('NFC').match(/[\p{L}\p{N}_]+/gu) ?? []).map((word) => ` ${word}`).join('');
}

/**
 * Finds the test of the log with the same words at its end; if several have them, the one whose file the
 * report names.
 */
function findTwin(
  testWords: Words,
  logged: readonly { readonly test: FailingTest; readonly words: Words }[],
): FailingTest | null {
  const alike = logged.filter(({ words }) => isAlike(testWords, words));
  const exact = alike.find(({ words }) => words.all === testWords.all);
  const inFile = alike.find(({ words }) => namesFile(testWords, words.file));
  return (exact ?? inFile ?? (alike.length === 1 ? alike[0] : undefined))?.test ?? null;
}

/**
 * Checks whether two tests may be the same. A suite may be written into the name, so one may have more words
 * than the other before those they share.
 */
function isAlike(left: Words, right: Words): boolean {
  if (left.name === '' || right.name === '') return false;
  const [more, less] = left.all.length >= right.all.length ? [left, right] : [right, left];
  return more.all.endsWith(less.all) && (less.all.endsWith(more.name) || more.name.endsWith(less.name));
}

function getLastWord(words: string): string {
  return words.slice(words.lastIndexOf(' '));
}

function namesFile(testWords: Words, file: string | null): boolean {
  return file !== null && (`${testWords.all} `.includes(`${file} `) || testWords.file === file);
}

/**
 * Merges a test of a report with the same test of a log. File and line come from the same one of the two, and
 * so do expected and actual.
 */
function merge(report: FailingTest, log: FailingTest): FailingTest {
  const placed = log.line === null && (log.file === null || isSameFile(log.file, report.file)) ? report : log;
  const valued = report.expected !== null || report.actual !== null ? report : log;
  return {
    ...report,
    file: placed.file,
    line: placed.line,
    message: isInformative(report.message) ? report.message : (log.message ?? report.message),
    expected: valued.expected,
    actual: valued.actual,
    at: log.at ?? report.at,
    spans: joinSpans(report, log),
  };
}

function joinSpans(report: FailingTest, log: FailingTest): NonNullable<FailingTest['spans']> {
  return [...(log.spans ?? []), ...(report.spans ?? [])];
}

function isSameFile(left: string, right: string | null): boolean {
  return right !== null && (left.endsWith(right) || right.endsWith(left));
}

/**
 * Checks whether a message is informative: "Failed", or an exception's bare name, says less than what the log
 * printed.
 */
function isInformative(message: string | null): boolean {
  return (
    message !== null && /\s/.test(message.trim()) && !/^(?:test )?failed\b.{0,20}$/i.test(message.trim())
  );
}
