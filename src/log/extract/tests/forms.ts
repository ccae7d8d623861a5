/** How sure a form is: `sure` names tests and nothing else, `marked` wherever tests ran, `weak` only among passing tests or with a time. */
export type Trust = 'sure' | 'marked' | 'weak';

/** One way in which runners mark a failing test; the group `title` names it. */
export interface Form {
  readonly pattern: RegExp;
  readonly trust: Trust;
  /** True where a time must stand behind the title. Times are taken off before a pattern is tried. */
  readonly timed?: true;
  /** The runner that alone marks its tests so. */
  readonly framework?: string;
}

/** How runners mark the name of a test that failed, in words, brackets and signs, before and behind it. */
export const FORMS: readonly Form[] = [
  { trust: 'sure', pattern: /^FAIL! {1,3}: (?<title>\w[\w:]{0,200}\([^()\n]{0,200}\))/ },
  { trust: 'sure', pattern: /^(?:\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d )?\s{0,40}-{3} FAIL: (?<title>\S{1,400}?)(?: \([\d.]{1,12}s\))?$/ },
  { trust: 'sure', pattern: /^(?:FAILED|ERROR) (?<title>[^\s:]{1,300}\.\w{1,5}::\S.{0,400}?)(?: - (?<message>.{1,1000}))?$/ },
  {
    trust: 'sure',
    framework: 'vitest',
    pattern: /^\s{0,4}FAIL\s{1,4}(?:\|?[\w@/-]{1,60}\|?\s{1,3})?(?<title>\S{1,300}\.\w{1,6} > .{1,500})$/,
  },
  {
    trust: 'sure',
    pattern: /^test (?<title>\S.{0,400}?)(?: - should panic)?(?: \[should (?:fail to compile|pass)\])? \.{3} (?:FAILED|mismatch|error)\b/,
  },
  { trust: 'sure', pattern: /^-{4} (?<title>\S.{0,300}) stdout -{4}$/ },
  {
    trust: 'sure',
    pattern: /^\s{0,4}\d{1,5}\) (?<title>(?:\[[^\]\n]{1,60}\] › )?[^\s:]{1,300}:\d{1,7}:\d{1,6} › \S.{0,400}?)[ ─]{0,200}$/,
  },
  {
    trust: 'sure',
    pattern: /^\[FAIL(?:[.:] (?:Reason: )?(?<message>[^\]\n]{1,300}))?\] (?<title>\w{1,200}\([^)\n]{0,200}\)) \(.{1,100}\)$/,
  },
  { trust: 'sure', pattern: /^(?:\d\d:)?\d\d:\d\d \+\d{1,6}(?: ~\d{1,6})? -\d{1,6}: (?<title>\S.{0,400}?) \[E\]$/ },
  {
    trust: 'sure',
    framework: 'maven',
    pattern:
      /^(?:\[\w{1,8}\] )?(?<title>(?!Tests run:)\S.{0,400}?)\s{1,4}(?:-- )?Time elapsed: [\d.,]{1,12} ?s(?:ec)?\s{1,4}<<< (?:FAILURE|ERROR)!/,
  },
  { trust: 'sure', pattern: /^Test Case '(?<title>[^'\n]{1,300})' failed \(/ },
  {
    trust: 'sure',
    pattern:
      /^\W{0,8}Test (?<title>"[^"\n]{1,300}"|\w{1,200}\([\w:]{0,200}\)) (?:recorded an issue at (?<file>[^\s:]{1,300}):(?<line>\d{1,7})|(?:with .{1,40} )?failed after \d)/,
  },
  { trust: 'sure', pattern: /^(?:\[junit\] |\s{1,12}\[junit\] )?Testcase: (?<title>.{1,300}?):\s{1,4}(?:FAILED|Caused an ERROR)$/ },
  { trust: 'sure', pattern: /^\[ {1,4}FAILED {1,4}\] (?<title>[\w/]{1,200}\.[\w/]{1,200})(?:, where .{1,300}?)?(?: \(\d{1,9} ms\))?$/ },
  { trust: 'sure', framework: 'rspec', pattern: /^\S{1,40} '?(?<file>[^\s:']{1,300}):(?<line>\d{1,7})'? # (?<title>\S.{0,400})$/ },
  { trust: 'sure', pattern: /^\t\s{0,8}\d{1,6} - (?<title>\S{1,200}) \((?<message>Failed|Timeout|SEGFAULT|Child aborted)\)/ },
  { trust: 'sure', pattern: /^\s{0,20}- (?<title>\S.{0,300}?) \*{3} FAILED \*{3}/ },
  {
    trust: 'sure',
    pattern:
      /^(?:\{\d{1,4}\} )?(?<title>[A-Za-z_]\w{0,100}(?:(?:\.|::)\w{1,200}){1,20}(?:\[.{1,200}\]|\(.{1,200}\))?)(?: \[[\d.]{1,16}s\])? \.{3} (?:FAILED|FAIL|ERROR)$/,
  },
  { trust: 'sure', pattern: /^(?:Failure|Error): (?<title>\w{1,200}\([A-Z][\w:]{1,200}\)):?$/ },
  { trust: 'sure', pattern: /^\W{1,8}\d{1,5}\. (?:Failure|Error): (?<title>\S.{0,300}?) \(@(?<file>[^\s#()]{1,300})#(?<line>\d{1,7})\)/ },
  { trust: 'sure', framework: 'harness', pattern: /TEST-UNEXPECTED-\w{1,20} \| (?<title>[^|\n]{1,300}?) \| (?<message>.{0,300})/ },
  {
    trust: 'sure',
    pattern:
      /^(?<file>[^\s:(]{1,300})[:(](?<line>\d{1,7})\)?: error:? (?:-\[|in ")(?<title>[^\]"\n]{1,300})(?:\] |"): ?(?<message>.{1,500})$/,
  },
  { trust: 'sure', pattern: /^\s{0,12}#\s{1,8}Failed test '(?<title>[^'\n]{1,300})'/ },
  {
    trust: 'sure',
    pattern:
      /^\W{1,8}(?:Failure|Error) \('?(?<file>[^\s:'()]{1,300}):(?<line>\d{1,7})(?::\d{1,6})?'?\): (?<title>\S.{0,300}?)\s{0,2}[─-]{0,200}$/,
  },
  { trust: 'sure', pattern: /^\s{0,8}(?<title>\S.{0,300}?): (?:Test Failed|Error During Test) at (?<file>[^\n]{1,300}):(?<line>\d{1,7})$/ },
  { trust: 'sure', pattern: /^\s{0,40}not ok \d{1,7}(?: -)? (?<title>[^#\n]{1,400}?)(?: # time=.{1,40})?$/ },
  {
    trust: 'marked',
    pattern: /^(?:\(fail\)|\[-\]|==> X|\s{0,8}(?:\S{1,4} )?\[(?:FAIL|Fail|FAILED|PANICKED!|TIMEDOUT)\]) (?<title>(?!\[\d)\S.{0,400})$/,
  },
  { trust: 'marked', pattern: /^\s{0,4}_{2,200} (?:ERROR (?:at (?:setup|teardown) of|collecting) )?(?<title>\S.{0,300}?) _{2,200}$/ },
  { trust: 'sure', framework: 'jest', pattern: /^\s{0,6}● (?<title>\S.{0,300} › \S.{0,300})$/ },
  { trust: 'marked', framework: 'jest', pattern: /^\s{0,6}● (?<title>\S.{0,500})$/ },
  { trust: 'marked', pattern: /^(?:FAIL|FAILED|ERROR): (?<title>\S.{0,400})$/ },
  { trust: 'sure', pattern: /^\s{0,4}FAIL\s{1,4}(?<title>(?:\S.{0,200}\s{1,4})?"[^"\n]{1,300}")$/ },
  {
    trust: 'marked',
    pattern: /^\s{2,12}(?:FAIL|FAILED|•|TIMEOUT|SIG[A-Z]{3,5})\s{1,4}(?:\[\s{0,8}[>\d.]{1,12}s\] \S{1,200} )?(?<title>\S.{0,400})$/,
  },
  {
    trust: 'sure',
    pattern:
      /^(?:FAILED|ERROR) (?<title>[^\s:]{0,250}\btests?\b[^\s:]{0,250}\.\w{1,5}|[^\s:]{0,250}test_\w{1,100}\.\w{1,5})(?: - (?<message>.{1,1000}))?$/,
  },
  {
    trust: 'sure',
    pattern:
      /^(?<title>[^\s:]{1,300}\.\w{1,5}::\S{1,300}) .{0,200}?\b(?<message>Killed|Segmentation fault|Aborted|Fatal Python error|Terminated)\b/,
  },
  {
    trust: 'sure',
    framework: 'junit',
    pattern: /\bMethodSource \[className = '(?<suite>[\w$.]{1,300})', methodName = '(?<title>[^'\n]{1,200})'/,
  },
  { trust: 'marked', pattern: /^[.FEsxiI]{0,200}thread '(?<title>\w{1,100}(?:::\w{1,200}){1,10})' (?:\(\d{1,10}\) )?panicked at / },
  { trust: 'marked', pattern: /^(?<title>\S.{0,300}?) \[FAIL\]$/ },
  { trust: 'sure', timed: true, pattern: /^\s{0,20}\[-\] (?<title>\S.{0,400})$/ },
  {
    trust: 'marked',
    pattern: /^\s{0,20}(?<title>\S.{0,400}?)[\s.…:*|](?:FAIL(?:ED)?|ERROR|(?<=\*{3})Failed|(?<=\*)failed)\*?(?: \*{3}| \|)?$/,
  },
  {
    trust: 'marked',
    timed: true,
    pattern: /^\s{0,6}(?:X|FAIL|FAILED|Fail|Failed|failed) (?<title>[\w.<>+`"$-]{2,300}(?:\([^\n]{0,300})?)$/,
  },
  { trust: 'weak', pattern: /^\s{0,40}[✗✖✕✘×⨯] (?:\[fail\]: )?(?<title>\S.{0,400})$/ },
  { trust: 'weak', timed: true, pattern: /^\s{2,40}x (?<title>\S.{0,400})$/ },
];

/** Colours whose escape character was lost on the way. */
export const LOST_ESCAPES = /\[\d{1,2}(?:;\d{1,3}){0,4}m/g;

/** Lists in which each item is a failing test, and lists whose items are none. */
export const LIST =
  /^\W{0,8}(?:\d{1,6} (?:failing|of \d{1,6} tests? failed:?|tests? failed:?)|(?:Failures|Failed examples|Failed tests|Tests in error|Errors|FAILED TESTS|failing tests|Failing scenarios|The following tests FAILED|There (?:was|were) \d{1,5} (?:failure|error)s?):?)\s{0,4}$/i;
export const OTHER_LIST =
  /^\W{0,8}(?:\d{1,6} (?:flaky|pending|skipped|did not run|passed)|(?:Pending|Skipped|Flakes|Flaked tests|Warnings|There (?:was|were) \d{1,5} (?:risky|incomplete|skipped|warning|notice|deprecat)[^\n]{0,40}):?[^\n]{0,90})$/i;
export const ITEM = /^\s{0,8}\d{1,5}\) (?<title>\S.{0,500}?)\s{0,8}$/;
/** Lines below a title that are no part of it. */
export const DETAIL =
  /^\s{0,40}(?:at |[A-Z]\w{0,60}Error\b|(?:Message|Stack|Output|Failure\/Error|expected|Expected|got|Got|left|right|code)\b|#|%%)/;
/** Items of a list without numbers: a test with its class, with its class and line, with its file. */
export const LISTED: readonly RegExp[] = [
  /^(?<title>[\w$ [\]{}=,.:-]{1,200}\((?:[a-z][\w$]{0,100}\.){0,20}[A-Z][\w$.[\]]{2,300}\))(?::? (?<message>.{0,400}))?$/,
  /^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\.[\w$]{1,200}){0,20})\.(?<title>[\w$[\]]{1,200}):(?<line>\d{1,6})(?:->[\w$.:<>]{1,300}){0,8} (?:» ?)?(?<message>.{0,400})$/,
  /^(?:(?:rerun )?cucumber )?(?:file:\/\/)?(?<file>[^\s:]{1,300}\.feature):(?<line>\d{1,7})\s{1,80}(?:# )?(?:Scenario(?: Outline| Template)?: )?(?<title>\S.{0,300})$/,
  /^(?<title>\w{1,100}(?:::\w{1,200}){1,10})$/,
  /^\s{0,4}[*•-] (?<title>\S{1,300}(?: > | › |::)\S.{0,300})$/,
];
/** How a file fails that could not be loaded. */
export const LOAD_ERROR = /^\s{0,4}(?:\w{1,60}Error|Error)\b/;
export const FILE_HEAD = /^\s{0,4}FAIL(?:ED)?:?\s{1,3}(?:[\w@/-]{1,60} )?(?<file>\S{1,300}\.\w{1,6})(?: [([].{1,60}[)\]])?\s{0,4}$/;
export const TOTALS =
  /\b[1-9]\d{0,6} (?:(?:out )?of \d{1,6} )?(?:tests? |specs? |examples? |scenarios? |suites? |test cases? )?(?:FAIL(?:ED)?|failed|failing|failures?)\b|\b[1-9]\d{0,6} errors? (?:in \d|during collection)|\b(?:Tests?|Test Suites|Test Files|Failed|Failures|Errors|FAILED|failed|failures|errors)\s{0,4}[:=(|]\s{0,4}[1-9]|^FAILED\b|^FAIL$|^FAILURES!|^test result: FAILED|(?:tests?|specs?|assertions?) [^\n]{0,40}\bfail/i;
export const PASSED = /^\s{0,40}(?:[✓√✔]|\[\+\]|ok\b|PASS\b|\(pass\)|- .{1,200}$)|\b(?:PASS(?:ED)?|ok|OK)\b.{0,20}$/;
/** Lines that are echoed, not said by a test runner; and tests that failed as they should. */
export const NO_RESULT =
  /^(?:\+{1,3} |[$>%] |##\[|::|\s{0,8}(?:echo|printf|grep|if|run:) )|\b(?:XFAIL|expected fail|known (?:issue|failure)|TODO|SKIP)\b/;
