import type { FailingTest } from '../../../domain/failure.ts';

/**
 * The confidence in a form: `sure` names tests and nothing else, `marked` counts wherever tests ran, `weak`
 * only among passing tests or with a time.
 */
export type Trust = 'sure' | 'marked' | 'weak';

/** One form in which runners mark a failing test. The group `title` holds the test's title. */
interface Form {
  readonly pattern: RegExp;
  readonly trust: Trust;
  /** True if a time must follow the title. Times are removed before a pattern is tried. */
  readonly timed?: true;
  /** The framework, if only one runner uses this form. */
  readonly framework?: string;
}

/**
 * Forms in which runners mark the name of a failed test: by words, brackets and signs before and after it.
 */
// biome-ignore format: one row for each form
export const FORMS: readonly Form[] = [
  { trust: 'sure', pattern: /^FAIL! {1,3}: (?<title>\w[\w:]{0,200}\([^()\n]{0,200}\))/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?\s{0,40}-{3} FAIL: ` +
      String.raw`(?<title>\S{1,400}?)(?: \([\d.]{1,12}s\))?$`,
    ) },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^(?:FAILED|ERROR) (?<title>[^\s:]{1,300}\.\w{1,5}::\S.{0,400}?)` +
      '(?: - (?<message>.{1,1000}))?$',
    ) },
  { trust: 'sure', framework: 'vitest',
    pattern: /^\s{0,4}FAIL\s{1,4}(?:\|?[\w@/-]{1,60}\|?\s{1,3})?(?<title>\S{1,300}\.\w{1,6} > .{1,500})$/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^test (?<title>\S.{0,400}?)(?: - should panic)?(?: \[should (?:fail to compile|` +
      String.raw`pass)\])? \.{3} (?:FAILED|mismatch|error)\b`,
    ) },
  { trust: 'sure', pattern: /^-{4} (?<title>\S.{0,300}) stdout -{4}$/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\s{0,4}\d{1,5}\) (?<title>(?:\[[^\]\n]{1,60}\] › )?` +
      String.raw`[^\s:]{1,300}:\d{1,7}:\d{1,6} › \S.{0,400}?)[ ─]{0,200}$`,
    ) },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\[FAIL(?:[.:] (?:Reason: )?(?<message>[^\]\n]{1,300}))?` +
      String.raw`\] (?<title>\w{1,200}\([^)\n]{0,200}\)) \(.{1,100}\)$`,
    ) },
  { trust: 'sure',
    pattern: /^(?:\d\d:)?\d\d:\d\d \+\d{1,6}(?: ~\d{1,6})? -\d{1,6}: (?<title>\S.{0,400}?) \[E\]$/ },
  { trust: 'sure', framework: 'maven',
    pattern: new RegExp(
      String.raw`^(?:\[\w{1,8}\] )?(?<title>(?!Tests run:)\S.{0,400}?)\s{1,4}(?:-- )?` +
      String.raw`Time elapsed: [\d.,]{1,12} ?s(?:ec)?\s{1,4}<<< (?:FAILURE|ERROR)!`,
    ) },
  { trust: 'sure', pattern: /^Test Case '(?<title>[^'\n]{1,300})' failed \(/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\W{0,8}Test (?<title>"[^"\n]{1,300}"|\w{1,200}\([\w:]{0,200}\)) (?:recorded an issue at ` +
      String.raw`(?<file>[^\s:]{1,300}):(?<line>\d{1,7})|(?:with .{1,40} )?failed after \d)`,
    ) },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^(?:\[junit\] |\s{1,12}\[junit\] )?Testcase: (?<title>.{1,300}?)` +
      String.raw`:\s{1,4}(?:FAILED|Caused an ERROR)$`,
    ) },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\[ {1,4}FAILED {1,4}\] (?<title>[\w/]{1,200}\.[\w/]{1,200})` +
      String.raw`(?:, where .{1,300}?)?(?: \(\d{1,9} ms\))?$`,
    ) },
  { trust: 'sure', framework: 'rspec',
    pattern: /^\S{1,40} '?(?<file>[^\s:']{1,300}):(?<line>\d{1,7})'? # (?<title>\S.{0,400})$/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\t\s{0,8}\d{1,6} - (?<title>\S{1,200}) \((?<message>Failed|` +
      String.raw`Timeout|SEGFAULT|Child aborted)\)`,
    ) },
  { trust: 'sure', pattern: /^\s{0,20}- (?<title>\S.{0,300}?) \*{3} FAILED \*{3}/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^(?:\{\d{1,4}\} )?(?<title>[A-Za-z_]\w{0,100}(?:(?:\.|::)\w{1,200}){1,20}(?:\[.{1,200}\]|` +
      String.raw`\(.{1,200}\))?)(?: \[[\d.]{1,16}s\])? \.{3} (?:FAILED|FAIL|ERROR)$`,
    ) },
  { trust: 'sure', pattern: /^(?:Failure|Error): (?<title>\w{1,200}\([A-Z][\w:]{1,200}\)):?$/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\W{1,8}\d{1,5}\. (?:Failure|Error): (?<title>\S.{0,300}?)` +
      String.raw` \(@(?<file>[^\s#()]{1,300})#(?<line>\d{1,7})\)`,
    ) },
  { trust: 'sure', framework: 'harness',
    pattern: /TEST-UNEXPECTED-\w{1,20} \| (?<title>[^|\n]{1,300}?) \| (?<message>.{0,300})/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^(?<file>[^\s:(]{1,300})[:(](?<line>\d{1,7})\)?: error:? (?:-\[|` +
      String.raw`in ")(?<title>[^\]"\n]{1,300})(?:\] |"): ?(?<message>.{1,500})$`,
    ) },
  { trust: 'sure', pattern: /^\s{0,12}#\s{1,8}Failed test '(?<title>[^'\n]{1,300})'/ },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\W{1,8}(?:Failure|Error) \('?(?<file>[^\s:'()]{1,300}):(?<line>\d{1,7})` +
      String.raw`(?::\d{1,6})?'?\): (?<title>\S.{0,300}?)\s{0,2}[─-]{0,200}$`,
    ) },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^\s{0,8}(?<title>\S.{0,300}?): (?:Test Failed|Error During Test)` +
      String.raw` at (?<file>[^\n]{1,300}):(?<line>\d{1,7})$`,
    ) },
  { trust: 'sure', pattern: /^\s{0,40}not ok \d{1,7}(?: -)? (?<title>[^#\n]{1,400}?)(?: # time=.{1,40})?$/ },
  { trust: 'marked',
    pattern: new RegExp(
      String.raw`^(?:\(fail\)|\[-\]|==> X|\s{0,8}(?:\S{1,4} )?\[(?:FAIL|Fail|FAILED|` +
      String.raw`PANICKED!|TIMEDOUT)\]) (?<title>(?!\[\d)\S.{0,400})$`,
    ) },
  { trust: 'marked',
    pattern: new RegExp(
      String.raw`^\s{0,4}_{2,200} (?:ERROR (?:at (?:setup|teardown) of|collecting) )?` +
      String.raw`(?<title>\S.{0,300}?) _{2,200}$`,
    ) },
  { trust: 'sure', framework: 'jest', pattern: /^\s{0,6}● (?<title>\S.{0,300} › \S.{0,300})$/ },
  { trust: 'marked', framework: 'jest', pattern: /^\s{0,6}● (?<title>\S.{0,500})$/ },
  { trust: 'marked', pattern: /^(?:FAIL|FAILED): (?<title>\S.{0,400})$/ },
  { trust: 'marked', pattern: /^ERROR: (?<title>[\w./:[\]-]{2,300}(?: [([].{1,300})?)$/ },
  { trust: 'sure', pattern: /^\s{0,4}FAIL\s{1,4}(?<title>(?:\S.{0,200}\s{1,4})?"[^"\n]{1,300}")$/ },
  { trust: 'marked', pattern: /^\s{2,12}• (?<title>\S.{0,300}(?: > | › |::)\S.{0,200})$/ },
  { trust: 'marked',
    pattern: new RegExp(
      String.raw`^\s{2,12}(?:FAIL|FAILED|TIMEOUT|SIG[A-Z]{3,5})\s{1,4}` +
      String.raw`(?:\[\s{0,8}[>\d.]{1,12}s\] \S{1,200} )?(?<title>\S.{0,400})$`,
    ) },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^(?:FAILED|ERROR) (?<title>[^\s:]{0,250}\btests?\b[^\s:]{0,250}\.\w{1,5}|` +
      String.raw`[^\s:]{0,250}test_\w{1,100}\.\w{1,5})(?: - (?<message>.{1,1000}))?$`,
    ) },
  { trust: 'sure',
    pattern: new RegExp(
      String.raw`^(?<title>[^\s:]{1,300}\.\w{1,5}::\S{1,300}) .{0,200}?\b(?<message>Killed|` +
      String.raw`Segmentation fault|Aborted|Fatal Python error|Terminated)\b`,
    ) },
  { trust: 'sure', framework: 'junit',
    pattern: new RegExp(
      String.raw`\bMethodSource \[className = '(?<suite>[\w$.]{1,300})` +
      String.raw`', methodName = '(?<title>[^'\n]{1,200})'`,
    ) },
  { trust: 'marked',
    pattern: new RegExp(
      String.raw`^[.FEsxiI]{0,200}thread '(?<title>\w{1,100}(?:::\w{1,200}){1,10})` +
      String.raw`' (?:\(\d{1,10}\) )?panicked at `,
    ) },
  { trust: 'marked', pattern: /^(?<title>\S.{0,300}?) \[FAIL\]$/ },
  { trust: 'sure', timed: true, pattern: /^\s{0,20}\[-\] (?<title>\S.{0,400})$/ },
  { trust: 'marked',
    pattern: new RegExp(
      String.raw`^\s{0,20}(?<title>\S.{0,400}?)[\s.…:*|](?:FAIL(?:ED)?|ERROR|` +
      String.raw`(?<=\*{3})Failed|(?<=\*)failed)\*?(?: \*{3}| \|)?$`,
    ) },
  { trust: 'marked', timed: true,
    pattern: /^\s{0,6}(?:X|FAIL|FAILED|Fail|Failed|failed) (?<title>[\w.<>+`"$-]{2,300}(?:\([^\n]{0,300})?)$/ },
  { trust: 'weak', pattern: /^\s{0,40}[✗✖✕✘×⨯] (?:\[fail\]: )?(?<title>\S.{0,400})$/ },
  { trust: 'weak', timed: true, pattern: /^\s{2,40}x (?<title>\S.{0,400})$/ },
];

/** Color codes whose escape character was lost. */
export const LOST_ESCAPES = /\[\d{1,2}(?:;\d{1,3}){0,4}m/g;

/** Headings of lists whose items are failing tests, and headings of other lists. */
export const LIST = new RegExp(
  String.raw`^\W{0,8}(?:\d{1,6} (?:failing|of \d{1,6} tests? failed:?|tests? failed:?)|(?:Failures|` +
    'Failed examples|Failed tests|Tests in error|Errors|FAILED TESTS|failing tests|' +
    'Fail(?:ed|ing) test files|Failing scenarios|The following tests FAILED|' +
    String.raw`There (?:was|were) \d{1,5} (?:failure|error)s?):?)\s{0,4}$`,
  'i',
);
export const OTHER_LIST = new RegExp(
  String.raw`^\W{0,8}(?:\d{1,6} (?:flaky|pending|skipped|did not run|passed)|(?:Pending|Skipped|` +
    String.raw`Flakes|Flaked tests|Warnings|There (?:was|were) \d{1,5} (?:risky|incomplete|` +
    String.raw`skipped|warning|notice|deprecat)[^\n]{0,40}):?[^\n]{0,90})$`,
  'i',
);
export const ITEM = /^\s{0,8}\d{1,5}\) (?<title>\S.{0,500}?)\s{0,8}$/;
/** Lines below a title that are not part of the test's name. */
export const DETAIL = new RegExp(
  String.raw`^\s{0,40}(?:at |[A-Z]\w{0,60}Error\b|(?:Message|Stack|Output|Failure/Error|` +
    String.raw`expected|Expected|got|Got|left|right|code)\b|#|%%)`,
);
/** Items of an unnumbered list: a test with its class, with its class and line, or with its file. */
export const LISTED: readonly RegExp[] = [
  new RegExp(
    String.raw`^(?<title>[\w$ [\]{}=,.:-]{1,200}\((?:[a-z][\w$]{0,100}\.){0,20}` +
      String.raw`[A-Z][\w$.[\]]{2,300}\))(?::? (?<message>.{0,400}))?$`,
  ),
  new RegExp(
    String.raw`^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\.[\w$]{1,200}){0,20})\.(?<title>[\w$[\]]{1,200})` +
      String.raw`:(?<line>\d{1,6})(?:->[\w$.:<>]{1,300}){0,8} (?:» ?)?(?<message>.{0,400})$`,
  ),
  new RegExp(
    String.raw`^(?:(?:rerun )?cucumber )?(?:file://)?(?<file>[^\s:]{1,300}\.feature):(?<line>\d{1,7})` +
      String.raw`\s{1,80}(?:# )?(?:Scenario(?: Outline| Template)?: )?(?<title>\S.{0,300})$`,
  ),
  /^(?<title>\w{1,100}(?:::\w{1,200}){1,10})$/,
  /^\s{0,4}[*•-] (?<title>\S{1,300}(?: > | › |::)\S.{0,300})$/,
];
/** A test file in such a list, with its result. */
export const LISTED_FILE =
  /^\s{0,4}[*•-] (?<file>[^\s:]{1,300}\.\w{1,6})(?: \((?:exit(?: code)?:? )?\d{1,3}\))?$/;
/** The error of a file that could not be loaded. */
export const LOAD_ERROR = /^\s{0,4}(?:\w{1,60}Error|Error)\b/;
export const FILE_HEAD =
  /^\s{0,4}FAIL(?:ED)?:?\s{1,3}(?:[\w@/-]{1,60} )?(?<file>\S{1,300}\.\w{1,6})(?: [([].{1,60}[)\]])?\s{0,4}$/;
export const TOTALS = new RegExp(
  String.raw`\b[1-9]\d{0,6} (?:(?:out )?of \d{1,6} )?(?:tests? |specs? |examples? |scenarios? |` +
    String.raw`suites? |test cases? )?(?:FAIL(?:ED)?|failed|failing|failures?)\b|` +
    String.raw`\b[1-9]\d{0,6} errors? (?:in \d|during collection)|\b(?:Tests?|Test Suites|Test Files|` +
    String.raw`Failed|Failures|Errors|FAILED|failed|failures|errors)\s{0,4}[:=(|]\s{0,4}[1-9]|` +
    String.raw`^FAILED\b|^FAIL$|^FAILURES!|^test result: FAILED|^# (?:FAIL|ERROR|XPASS):\s{1,8}[1-9]|` +
    String.raw`(?:tests?|specs?|assertions?) [^\n]{0,40}\bfail`,
  'i',
);
export const PASSED =
  /^\s{0,40}(?:[✓√✔]|\[\+\]|ok\b|PASS\b|\(pass\)|- .{1,200}$)|\b(?:PASS(?:ED)?|ok|OK)\b.{0,20}$/;
/** Lines that are not a result of a runner: echoed commands, and tests that failed as expected. */
export const NO_RESULT = new RegExp(
  String.raw`^(?:\+{1,3} |[$>%] |##\[|::|\s{0,8}(?:echo|printf|grep|if|run:) )|` +
    String.raw`\b(?:XFAIL|expected fail|known (?:issue|failure)|TODO|SKIP)\b`,
);

/** Titles that are not tests: counts, steps and endings of a build, sentences about the run. */
const NO_TEST = new RegExp(
  String.raw`^\W{0,8}(?:\d[\d,]{0,8}|all|some|no|one|any) (?:of \d{1,6} )?(?:[\w-]{1,20} )?(?:tests?|` +
    'specs?|examples?|scenarios?|suites?|files?|assertions?|problems?|errors?|warnings?|' +
    'failures?|failed|passed|checks?|cases?|packages?|targets?|jobs?|tasks?|steps?|runs?|' +
    String.raw`pending|skipped|TESTS?|SPECS?)\b|\b\d{1,7} (?:passed|failed|skipped)\b|^(?:BUILD|Build|` +
    'Builds|> Task|Task|Job|Jobs|Step|Stage|Process|Command|Execution|make|npm|yarn|pnpm|' +
    'Errors?|error|ERROR|Warnings?|warning|WARN|Tests? (?:run|suites?|files?|execution|Files|' +
    'Suites|results?|status|summary|coverage)|Tests?|TESTS?|Summary|Results?|Status|Totals?|' +
    "Coverage|exit|Exit|Fatal|fatal|Unable|Cannot|Could|Can't|Failed|FAILED|Failures?|" +
    String.raw`Compilation|Compil\w{1,8}|Exited|Finished|Running|The following|Some|There (?:was|were)|` +
    'Please|Caused by|Exception|Traceback|Uncaught|Unhandled|Console|Deprecation|Executed|' +
    String.raw`Snapshot|Ran|Run|Request|Login|Download\w{0,5}|Upload\w{0,5}|Install\w{0,6}|` +
    String.raw`Deploy\w{0,6}|Connect\w{0,5}|Fetch\w{0,5}|Health ?check|Lint\w{0,4}|Type ?check\w{0,4}|` +
    String.raw`Format\w{0,5}|Audit)\b(?:[:!. ]|$)|^[:>$+#=|-]|^[\w.-]{1,60}: (?:error|warning|fatal|` +
    String.raw`note)\b|://|\bexit(?:ed)? (?:code|status|with)\b|^coverage: |\b(?:error|Error|Exception)` +
    String.raw`: |\.(?:o|obj|lo|a|so|lib|dll|exe|pdb)$|^[A-Z]\w{0,20}(?:\s{2,40}[A-Z]\w{0,20}){2,10}$|` +
    String.raw`^Cannot log after|^process\.exit|^E\d{3,5}\b|\.{3}$|^\S{1,60}:$`,
);
/** The duration of a test, after its title. */
export const TIME = new RegExp(
  String.raw`\s{1,20}(?:\(\d[\d.,]{0,12} ?(?:ms|s|m|sec|µs)\)|\[\s{0,8}[<>]?\s?\d[\d.,]{0,12} ?(?:ms|` +
    String.raw`s|m|sec|µs)?\]|\d[\d.,]{0,12} ?(?:ms|s|sec)(?: \([\d.|ms ]{1,40}\))?|` +
    String.raw`in \d[\d.,]{0,12} ?s|\(gas: \d{1,12}\)|took \d[\d.]{0,12} sec|- \d[\d.]{0,12}s)$`,
);
const BDD_NODE = new RegExp(
  String.raw`\s?\[(?:It|BeforeEach|AfterEach|JustBeforeEach|(?:Before|After)(?:Suite|All)|` +
    String.raw`DeferCleanup[^\]\n]{0,40})\]\s?`,
);
/** Notations of a title's parts. */
const PARTS: readonly RegExp[] = [
  /^(?<suite>[\w\\]{2,300})::(?<name>\w{1,200} with data set (?:#\d{1,6}|"[^"\n]{0,200}"))/,
  /^(?<name>[^\s(].{0,300}?) => (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):\d{1,6}$/,
  /^(?:(?<suite>[^\s"][^"\n]{0,200}) )?"(?<name>[^"\n]{1,300})"$/,
  new RegExp(
    String.raw`^(?<name>[^\s()][^()]{0,300}?) ?\((?<suite>[A-Za-z_][\w$-]{0,200}` +
      String.raw`(?:\.[\w$<>[\]-]{1,200}){1,20}|[A-Z]\w{0,200})\)$`,
  ),
  /^-?\[?(?<suite>[A-Z][\w.]{1,200}) (?<name>test\w{1,200})\]?$/,
  /^(?<suite>[A-Za-z_$][\w$]{0,200})#(?<name>\w{1,200}) \[(?<file>[^\s:]{1,300}):(?<line>\d{1,7})\]$/,
  new RegExp(
    String.raw`^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\\{1,2}[\w$]{1,200}){0,10})(?:::|` +
      String.raw`#)(?<name>\w{1,200}(?:[ (].{0,300})?)$`,
  ),
  /^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\.[\w$]{1,200}){1,20})\.(?<name>[\w$]{1,300}(?:[[(].{0,300})?)$/,
  /^(?<suite>[A-Za-z]\w{0,200}): (?<name>\w{1,200}_test_?)\b.{0,200}$/,
];
/** A test's file, with or without a position, before the rest of a title. */
const FILE_FIRST =
  /^(?<file>[^\s:]{1,300}\.\w{1,6})(?::(?<line>\d{1,7})(?<column>:\d{1,6})?)?(?<mark> > | › |::)/;
/** Text before a title: workers, counters, browsers, and suites. */
const BEFORE = new RegExp(
  String.raw`^(?:\{\d{1,4}\} |\d{1,6}/\d{1,6} (?:Test\s{1,4}#\d{1,6}: )?|- |` +
    String.raw`\[xUnit\.net [\d:.]{1,20}\]\s{1,8}|[A-Z][A-Za-z]{1,30}(?: [A-Z][A-Za-z]{1,30}){0,3}` +
    String.raw` ?\d[\d.]{0,20} \([^()\n]{1,60}\) |(?:Gradle (?:Test Run|` +
    String.raw`Test Executor|suite)\b[^>\n]{0,100} > ){1,3})`,
);

/** Checks whether a marked text may be the title of a test. */
export function isTestTitle(title: string): boolean {
  return /[\p{L}]{2}/u.test(title) && !NO_TEST.test(title);
}

/**
 * Splits a title into file, line, suite and name. Drops durations, project names and markers of processes.
 */
export function readTitle(title: string): Pick<FailingTest, 'name' | 'suite' | 'file' | 'line'> {
  const text = cleanTitle(title);
  const first = FILE_FIRST.exec(text);
  if (first?.groups?.file !== undefined) {
    const { file, line, column, mark = '' } = first.groups;
    const rest = text.slice(first[0].length);
    const place = { file, line: line === undefined ? null : Number(line) };
    return { ...place, ...(column === undefined ? splitAt(rest, [mark]) : { suite: null, name: rest }) };
  }
  const split = splitAt(text, [' > ', ' › ']);
  if (split.suite !== null) return { ...split, file: null, line: null };
  for (const pattern of PARTS) {
    const groups = pattern.exec(text)?.groups;
    if (groups?.name === undefined) continue;
    const { file = null, line } = groups;
    const name = groups.name.trim();
    // Python prints the test's name again after its class.
    const suite =
      groups.suite?.endsWith(`.${name}`) === true ? groups.suite.slice(0, -name.length - 1) : groups.suite;
    return { name, suite: suite?.trim() || null, file, line: line === undefined ? null : Number(line) };
  }
  return { name: text.replace(/^"(?<inner>[^"]{1,300})"$/, '$<inner>'), suite: null, file: null, line: null };
}

/** Splits a title at the last separator into suite and name. Text in brackets is not split. */
function splitAt(text: string, marks: readonly string[]): Pick<FailingTest, 'suite' | 'name'> {
  const bracket = text.search(/[[("]/);
  const head = bracket <= 0 ? text : text.slice(0, bracket);
  for (const mark of marks) {
    const at = (mark === '::' ? head : text).lastIndexOf(mark);
    if (at > 0) return { suite: text.slice(0, at).trim(), name: text.slice(at + mark.length).trim() };
  }
  return { suite: null, name: text.trim() };
}

function cleanTitle(title: string): string {
  const text = title
    .trim()
    .replace(/[ ─]{2,200}$/, '')
    .replace(TIME, '')
    .replace(BEFORE, '')
    .replace(/[\s.…:*|]{1,80}$/, '')
    .replace(/^\[[^\]\n]{1,60}\] (?:› )?(?=\S)/, '');
  if (!BDD_NODE.test(text)) return text.replace(/:$/, '').trim();
  return text
    .replace(BDD_NODE, ' ')
    .replace(/\s\[[\w:, -]{1,200}\]$/, '')
    .trim();
}
