import { TAG } from '../extract/tests/block.ts';

/**
 * The message of a line about a test that may be repeated. `again`: it is repeated, and reported as failing
 * only if the last attempt failed. `passed` and `failed`: the result of its last attempt, from a runner that
 * reports each attempt as a failure. `output`: its output follows.
 */
export type TryVerdict = 'again' | 'passed' | 'failed' | 'output';

/**
 * One form in which a runner reports an attempt. The group `title` names the test, the optional group `suite`
 * its suite.
 */
interface RetryMark {
  readonly says: TryVerdict;
  readonly pattern: RegExp;
  /** Matches the line that ends the output of the attempt. If absent, the attempt has no output. */
  readonly until?: RegExp;
}

/** The marker that was read from one line. */
export interface ReadMark {
  readonly says: TryVerdict;
  readonly title: string;
  readonly suite: string | null;
  readonly until: RegExp | undefined;
}

const JEST_HEAD = String.raw`^\s{0,4}LOGGING RETRY ERRORS\s`;
const NEXTEST =
  String.raw`\[\s{0,8}[>\d.]{1,12}s\] (?:\([\s\d/─]{1,20}\) )?` +
  String.raw`(?<suite>\S{1,200}) (?<title>\S.{0,300})$`;
const NEXTEST_END =
  /^\s{1,12}(?:TRY \d{1,3} [A-Z]{2,8}|(?:FLAKY|DELAY) \d{1,3}\/\d{1,3}|[A-Z]{3,8}|Summary) {1,4}\[|^[-─]{8,}/;
const TARGET = String.raw`(?<title>(?:@{0,2}[\w.~+-]{0,100})?\/\/[^\s:]{0,300}:[^\s:]{1,200})`;
const GO_TEST = String.raw`(?<title>\S{1,400}(?: Test\S{1,400})?) \(re-run \d{1,4}\)`;
const CTEST = String.raw`^\s{4,12}Test {1,4}#\d{1,5}: (?<title>\S{1,200}) \.{2,80}`;
const PLAYWRIGHT =
  String.raw`\s{1,6}\d{1,6} (?<title>\S.{0,500}?) \(retry #\d{1,4}\)` + String.raw`(?: \([^()\n]{1,20}\))?$`;

/** Markers of runners for repeated tests. No runner prints its marker for a test that ran once. */
// biome-ignore format: one row for each mark
const MARKS: readonly RetryMark[] = [
  // Jest (retryTimes with logErrorsBeforeRetry), Vitest (retry), Cypress, minitest-retry, rspec-retry,
  // pytest-rerunfailures, flaky
  { says: 'again', pattern: new RegExp(String.raw`${JEST_HEAD}{1,4}(?<title>\S.{0,500})$`),
    until: new RegExp(String.raw`${JEST_HEAD}|^\s{0,4}(?:PASS|FAIL)\s|^Test Suites: `) },
  { says: 'again',
    pattern: new RegExp(
      String.raw`^\s{0,12}[✓✔√] (?<title>\S.{0,500}?)(?: \d[\d.]{0,10} ?m?s)?` +
      String.raw` \(retry x\d{1,4}[^)\n]{0,40}\)(?: \d[\d.]{0,10} ?m?s)?$`,
    ) },
  { says: 'again', pattern: /^\s{1,40}\(Attempt \d{1,3} of \d{1,3}\) (?<title>\S.{0,400})$/ },
  { says: 'again', pattern: /^\[MinitestRetry\] retry '(?<title>[^'\n]{1,300})' count: \d/ },
  { says: 'again', pattern: /^\d{1,3}(?:st|nd|rd|th) Try error in (?<title>[^\s:]{1,300}:\d{1,7}):$/,
    until: /^RSpec::Retry: / },
  { says: 'again', pattern: /^RSpec::Retry: \d{1,3}(?:st|nd|rd|th) try (?<title>[^\s:]{1,300}:\d{1,7})$/ },
  { says: 'failed', pattern: /^rspec '?(?<title>[^\s:']{1,300}:\d{1,7})'? # / },
  { says: 'again',
    pattern: new RegExp(
      String.raw`^(?:\[gw\d{1,4}\](?: \[ {0,3}\d{1,3}%\])? )?RERUN (?<title>[^\s:]{1,300}\.py::\S.{0,400}?)` +
      String.raw`(?: - .{0,1000})?\s{0,4}$`,
    ) },
  { says: 'again', pattern: /^(?<title>[^\s:]{1,300}\.py::\S.{0,400}?) RERUN\b/ },
  { says: 'again', pattern: /^(?<title>\w{1,300}) failed \(\d{1,4} runs? remaining out of \d{1,4}\)\.$/,
    until: /^(?:\w.{0,300} (?:passed|failed)\b|={3})/ },
  // Playwright, gotestsum, nextest, Bazel, ctest --repeat
  { says: 'passed', pattern: new RegExp(String.raw`^\s{0,12}(?:[✓✔√]|ok)${PLAYWRIGHT}`) },
  { says: 'failed', pattern: new RegExp(String.raw`^\s{0,12}(?:[✘×x]|not ok)${PLAYWRIGHT}`) },
  { says: 'passed', pattern: new RegExp(String.raw`^\W{0,4}PASS:? ${GO_TEST}`) },
  { says: 'failed', pattern: new RegExp(String.raw`^(?!=)\W{0,4}FAIL:? ${GO_TEST}`) },
  { says: 'output', pattern: /^=== \W{0,4}FAIL: \S{1,400} (?<title>\S{1,400}) \(/,
    until: /^$|^(?:===|DONE) / },
  { says: 'passed',
    pattern: new RegExp(String.raw`^\s{1,12}(?:FLAKY \d{1,3}/\d{1,3}|TRY \d{1,3} PASS) ${NEXTEST}`) },
  { says: 'failed',
    pattern: new RegExp(String.raw`^\s{1,12}TRY \d{1,3} (?:FAIL|TMT|SIG[A-Z]{3,5}|ABORT) ${NEXTEST}`),
    until: NEXTEST_END },
  { says: 'passed', pattern: new RegExp(String.raw`^${TARGET}\s{2,200}FLAKY, failed in \d{1,4} out of \d`) },
  { says: 'passed', pattern: new RegExp(String.raw`^FLAKY: ${TARGET} \(`) },
  { says: 'output', pattern: new RegExp(`^={10,40} Test output for ${TARGET}:$`), until: /^={60,}$/ },
  { says: 'passed', pattern: new RegExp(String.raw`${CTEST}\s{1,4}Passed\b`) },
  { says: 'failed', pattern: new RegExp(String.raw`${CTEST}\s?\*{3}`) },
];

/** Literals, case ignored. Every line about a repeated test contains one of them. */
export const RETRY_LITERALS: readonly string[] = [
  'LOGGING RETRY ERRORS',
  '(retry x',
  '(retry #',
  '(Attempt ',
  '[MinitestRetry]',
  ' Try error in ',
  'RSpec::Retry: ',
  'rspec ',
  'RERUN',
  ' remaining out of ',
  '(re-run ',
  '  TRY ',
  'FLAKY',
  'Test output for ',
  ' flaky',
  'Flakes:',
  'Flaked tests:',
  ' failed',
  '  Test #',
  '  Test  #',
  '=== FAIL: ',
  'DONE ',
];

/** Lists of tests that finally passed, and lists of tests that finally failed. */
const LISTS: readonly { readonly head: RegExp; readonly says: 'passed' | 'failed' }[] = [
  { says: 'passed', head: /^\s{0,4}\d{1,6} flaky$|^(?:Flakes|Flaked tests):\s{0,4}$/ },
  { says: 'failed', head: /^\s{0,4}\d{1,6} failed$/ },
];

/** Returns the marker of a line, or null if it has none. */
export function readMark(text: string): ReadMark | null {
  for (const { says, pattern, until } of MARKS) {
    const { title, suite } = pattern.exec(text)?.groups ?? {};
    if (title !== undefined) return { says, title, suite: suite ?? null, until };
  }
  return null;
}

/**
 * Returns the result of the tests that are listed below a line. Returns null if the line is not a heading of
 * such a list.
 */
export function readListHead(text: string): 'passed' | 'failed' | null {
  return LISTS.find(({ head }) => head.test(text.replace(TAG, '')))?.says ?? null;
}

/** The items of such a list: indented more than the heading, or a method with its class. */
const ITEM =
  /^\s{4,12}(?<title>\S.{0,500})$|^(?<method>[\w$]{1,200}(?:[.#][\w$[\]]{1,200}){1,30}(?:\(.{0,300}\))?)$/;

/**
 * Returns the test that an item of such a list names. Returns an empty string for a line about a single
 * attempt, and null at the end of the list.
 */
export function readListItem(text: string): string | null {
  const item = text.replace(TAG, '').trimEnd();
  if (/^\s{1,8}Run \d{1,4}: /.test(item)) return '';
  const { title, method } = ITEM.exec(item)?.groups ?? {};
  return title ?? method ?? null;
}
