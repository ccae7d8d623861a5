import type { FailingTest } from '../domain/failure.ts';
import { takeFirstOfEach } from '../lib/collections.ts';

/** Tells whether a report and a log describe the same run of a test. */
export type Agreement = (reported: FailingTest, logged: FailingTest) => boolean;

/**
 * Merges the tests of reports and logs into one entry for each test, although reports and logs write names
 * differently ("renderReceipt > prints" versus a suite and a name). A merged test has the report's name,
 * suite and message, because the history is stored under these, and the log's position, file and line. If
 * report and log do not agree, they describe different attempts, and everything except the name is taken from
 * the log.
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
    if (agree(report, twin)) return merge(report, twin);
    const { name, suite, attachments } = report;
    const joined = { ...twin, name, suite, spans: joinSpans(report, twin) };
    return attachments === undefined ? joined : { ...joined, attachments };
  });
  return [...merged, ...left];
}

/**
 * Creates the key of a test. `apart` distinguishes tests of the same name that failed separately, by their
 * log or their message.
 */
function createTestKey({ suite, name }: FailingTest, apart: string | null | undefined): string {
  return [suite, name, apart].join('\u0001');
}

/** Merges the entries of one test in several reports, with its lines in each report. */
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
 * Removes parent tests: `TestA` fails because `TestA/case` does. Reports list both, but only the case counts.
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
 * before it, so that a common ending consists of whole words.
 */
function toTestWords({ suite, name, file }: FailingTest) {
  return {
    all: spaceOut(`${suite ?? ''} ${removeEnding(name)}`),
    name: spaceOut(removeEnding(name)),
    file: file === null ? null : spaceOut(removeEnding(file)),
  };
}

/**
 * Removes the extension of a source file. Logs name a module that could not be loaded by its path, reports by
 * its dotted name.
 */
function removeEnding(name: string): string {
  return name.replace(/\.(?:py|[cm]?[jt]sx?)$/, '');
}

function spaceOut(text: string): string {
  return (text.normalize('NFC').match(/[\p{L}\p{N}_]+/gu) ?? []).map((word) => ` ${word}`).join('');
}

/**
 * Finds the log's test whose words have the same ending. If several match, returns the one in the file that
 * the report names.
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
 * Checks whether two tests may be the same. The name may include the suite, so one may have additional words
 * in front.
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
 * Merges a test of a report with the same test of a log. File and line are taken from one of the two, and so
 * are expected and actual.
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
 * Checks whether a message is informative. "Failed" or the bare name of an exception says less than the log.
 */
function isInformative(message: string | null): boolean {
  return (
    message !== null && /\s/.test(message.trim()) && !/^(?:test )?failed\b.{0,20}$/i.test(message.trim())
  );
}
