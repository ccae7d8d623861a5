import { RUST_PANIC } from '../tools/traces.ts';
import { matchGroups } from './block.ts';
import type { Named, Runner, Shape } from './shapes.ts';

const RULE = /^(?:-{60,120}|={60,120}|\.{60,120})$/;
const EQUALS = /^={20,200}$/;
const PYTEST_BANNER = /^(?:={6,400}|={3,200}\s{0,4}(?<title>[^=\s](?:.{0,200}?[^=\s])?)\s{0,4}={3,200})$/;
const PYTEST_SUBTEST = / (?:\[[^\]\n]{0,200}\] ?)?\(\w{1,60}=.{0,300}\)$| \[[^\]\n]{1,200}\]$/;
const GINKGO_NODE = new RegExp(
  String.raw`\s?\[(?:It|BeforeEach|AfterEach|JustBeforeEach|BeforeSuite|AfterSuite|BeforeAll|` +
    String.raw`AfterAll|DeferCleanup[^\]\n]{0,40}|Measurement)\]\s?`,
);
const SWIFT_TEST = String.raw`Test (?:"(?<name>[^"\n]{1,300})"|(?<bare>\w{1,200}\([\w:]{0,200}\)))`;
const NEXTEST = String.raw`\[\s{0,8}[>\d.]{1,12}s\] (?:\([\s\d/]{1,20}\) )?\S{1,200} (?<name>\S.{0,300})$`;
const NEXTEST_FAIL = new RegExp(`^\\s{1,12}(?:FAIL|TIMEOUT|SIG[A-Z]{3,5}) ${NEXTEST}`);
const NEXTEST_END = new RegExp(
  String.raw`^\s{1,12}(?:[A-Z]{3,8}|TRY \d{1,3} [A-Z]{3,8}|FLAKY \d{1,3}/\d{1,3}|Summary|` +
    String.raw`Cancell?ing) |^\s{0,8}─{4,}$|^error: test run failed`,
);
/** The end of a group of subtests in which a Perl test failed. */
export const FAILED_SUBTESTS = /^\s{4,40}# Looks like you failed \d{1,6} tests? of /;
/** Messages of a system that stopped something for running too long. */
const STOPPED = /\b(?:timed[ -]?out|time limit|exceeded|cancell?ed|terminated|killed)\b/i;

/**
 * Runners of scripting languages and of Gherkin, recognized by one or two lines. A new runner is a row here.
 */
// biome-ignore format: one row for each shape
export const SCRIPT_RUNNERS: readonly Runner[] = [
  { name: 'unittest', literals: ['FAIL: ', 'ERROR: '], shapes: [
    { above: EQUALS, head: /^(?:FAIL|ERROR): (?<name>\S.{0,500}?)$/, body: 'open',
      until: /^={20,200}$|^Ran \d{1,7} tests? in /, limit: 300, finish: readUnittestName },
  ] },
  { name: 'trial', literals: ['[FAIL]', '[ERROR]'], shapes: [
    { above: EQUALS, head: /^\[(?:FAIL|ERROR)\]$/, body: 'open', until: /^(?:={70,90}|-{70,90})$/,
      limit: 200, finish: readTrialName },
  ] },
  { name: 'pytest', literals: ['__ ', ' __', '= FAILURES =', '= ERRORS =', '= PASSES =', '= XPASSES =',
    '= XFAILURES =', '= tests coverage =', 'warnings summary', 'FAILED ', 'ERROR ', ' FAILED',
    'short test summary', 'ERROR collecting', ' killed', 'segmentation fault', ' aborted', 'terminated',
    'fatal python error'], banner: PYTEST_BANNER, shapes: [
    { under: /^(?:FAILURES|ERRORS)$/,
      head: new RegExp(
        '^_{2,200} (?:(?:(?<collecting>ERROR collecting)|ERROR at (?:setup|' +
        String.raw`teardown) of) )?(?<name>\S.{0,300}?) _{2,200}$`,
      ), body: 'open', until: PYTEST_BANNER, limit: 400, raises: true, finish: normalizePytestName },
    ...[
      new RegExp(
        String.raw`^(?:FAILED|ERROR|SUBFAIL(?:ED)?(?:\[[^\]]{0,200}\])?(?: ?\(.{0,300}?\))?)` +
        String.raw` (?<file>[^\s:]{1,300}\.\w{1,5})(?:::(?<rest>.{1,500}?))?(?: - (?<message>.{1,1000})|$)`,
      ),
      new RegExp(
        String.raw`^\[gw\d{1,4}\](?: \[ {0,3}\d{1,3}%\])? (?:FAILED|` +
        String.raw`ERROR) (?<file>[^\s:]{1,300}\.py)::(?<rest>\S.{0,400}?)\s{0,4}$`,
      ),
      new RegExp(
        String.raw`^(?<file>[^\s:]{1,300}\.py)::(?<rest>.{1,400}?) (?:FAILED\b|ERROR\b|` +
        String.raw`(?:\S{0,200}: line \d{1,5}: {1,8}\d{1,8} )?(?:Killed|Segmentation fault|` +
        String.raw`Aborted|Fatal Python error|Terminated)\b)`,
      ),
    ].map((head): Shape => ({ head, body: 'none', finish: normalizePytestName })),
  ] },
  { name: 'cucumber', literals: [' scenarios:', '.feature:'],
    opens: new RegExp(
      String.raw`^\s{0,8}(?:\d{1,5}\) )?(?:Scenario(?: Outline| Template)?|Example): .{1,300}?\s# ` +
      String.raw`(?:file://)?(?<key>[^\s:]{1,300}\.feature:\d{1,7})`,
    ), banner: /^\s{0,4}(?<title>[A-Z]\w{1,20}) [sS]cenarios:$/, shapes: [
    { under: /^(?:Failing|Failed|Errored)$/,
      head: new RegExp(
        String.raw`^\s{0,6}(?:(?:rerun )?cucumber (?:-p \S{1,60} )?|file://)?` +
        String.raw`(?<file>[^\s:]{1,300}\.feature):(?<line>\d{1,7})(?:\s{1,80}(?:# )?` +
        String.raw`(?:Scenario(?: Outline| Template)?: )?(?<name>\S.{0,300}))?$`,
      ), opened: ({ file, line }) => `${file}:${line}`, body: 'none',
      until: /^\s{0,8}(?:Scenario|Example|Rule|Feature|Failing|Failed|Errored)\b[^:]{0,20}:/i,
      finish: readScenarioMessage },
  ] },
  { name: 'robot', literals: ['| FAIL |'], shapes: [
    { head: /^(?<name>\S.{0,300}) \| FAIL \|$/, body: 'open', until: RULE,
      never: /^\d{1,7} tests?, \d{1,7} passed, \d{1,7} failed/,
      finish: (named) => ({ ...named, name: named.name?.split(' :: ')[0] }),
      suite: /^(?<suite>[A-Z][^|:\n]{0,200})(?: :: .{0,300})?$/ },
  ] },
  { name: 'node-test', literals: ['test at '], shapes: [
    { head: /^\s{0,20}test at (?<file>[^\n]{1,300}?):(?<line>\d{1,7}):\d{1,6}$/,
      next: /^\s{0,20}✖ (?<name>\S.{0,400}?) \(\d[\d.]{0,16}ms\)$/, limit: 80 },
  ] },
  { name: 'bun-test', literals: ['(fail) '], shapes: [
    { head: /^\(fail\) (?:(?<suite>\S.{0,300}) > )?(?<name>\S.{0,300}?) \[\d[\d.]{0,12}m?s\]$/,
      above: /^error: \S.{0,500}$/, within: 30, titled: true, body: 'none' },
  ] },
  { name: 'pester', literals: ['[-] '], shapes: [
    { head: /^\s{0,20}\[-\] (?<name>\S.{0,300}?) \d[\d.,]{0,10}m?s(?: \(.{1,40}\))?$/,
      suite: /^\s{0,4}Describing (?<suite>\S.{0,200})$/, until: /^\s{1,20}\[[+!-]\] /, limit: 30 },
  ] },
  {
    name: 'minitest',
    literals: ['#test_', ') Failure:', ') Error:'],
    shapes: [
      { above: /^\s{0,4}(?:\d{1,5}\) )?(?:Failure|Error):$/, head: createMinitestTitle() },
      { head: /^\s{0,4}\d{1,5}\) (?:Failure|Error):$/, next: createMinitestTitle() },
    ].map(
      (shape): Shape => ({
        ...shape,
        body: 'open',
        limit: 40,
        until: new RegExp(
          String.raw`^\s{0,4}\d{1,5}\) \w{1,20}:$|^(?:Failure|Error):$|` +
          String.raw`^\d{1,7} (?:runs|tests), |^bin/rails test `,
        ),
      }),
    ),
  },
  { name: 'pest', literals: ['  FAILED  ', '  • '], shapes: [
    { head: new RegExp(
        String.raw`^\s{2,4}(?:FAILED|•)\s{1,4}(?<suite>[\w\\]{2,300})` +
        String.raw` > (?<name>\S.{0,300}?)(?:\s{3,200}\w{1,100})?$`,
      ), body: 'open', until: /^\s{2}(?:Tests: |─{20})/ },
  ] },
  { name: 'codeception', literals: [' Test  '], shapes: [
    { head: /^\s{0,4}Test {1,4}(?<file>[^\s:]{1,300}):(?<name>\w{1,200})$/,
      above: /^\d{1,5}\) (?<suite>[\w\\]{2,200}): \S/, titled: true, body: 'open',
      until: /^$|^--$|^\d{1,5}\) / },
  ] },
  { name: 'prove', literals: ['Failed test'], shapes: [
    { unless: FAILED_SUBTESTS,
      head: new RegExp(
        String.raw`^\s{0,12}#?\s{1,8}Failed test (?:'(?<name>.{1,300}?)'|\((?<bare>.{1,300}?)\))(?:$|` +
        String.raw` at (?<file>\S{1,300}) line (?<line>\d{1,7})\.)`,
      ), body: 'open', until: /^(?!\s{0,12}#\s{2,})/, limit: 8, finish: proveCheck },
  ] },
  { name: 'prove', literals: ['Dubious, test returned', ' subtests'], fillsIn: 'alike', shapes: [
    { head: new RegExp(
        String.raw`^(?<message>(?:Failed \d{1,5}/\d{1,5} subtests|Dubious, test returned|` +
        'No subtests run).{0,200})',
      ), above: /^(?:\[[\d:]{5,10}\] )?(?<file>\S{1,200}\.(?:t|sh|pl)) \.{2,80}/, within: 300, body: 'none',
      finish: (named) => ({ ...named, name: named.file }) },
  ] },
  { name: 'bats', literals: ['in test file '], shapes: [
    { head: new RegExp(
        String.raw`^\s{1,8}\((?:from function .{1,200} in file .{1,300}, line \d{1,7},)?` +
        String.raw`\s{0,4}in test file (?<file>[^\n]{1,300}), line (?<line>\d{1,7})\)$`,
      ), above: /^[^✗✖\n]{0,300}[✗✖] (?<name>\S.{0,300}?)(?: \[\d{1,9}(?:ms)?\])?$/, within: 4, titled: true,
      until: /^\s{0,3}\S/, limit: 30 },
  ] },
];

/**
 * Runners of compiled languages, recognized by one or two lines. A new runner is a row here. Runners with
 * `fillsIn` come after the runners whose output they complete.
 */
// biome-ignore format: one row for each shape
export const COMPILED_RUNNERS: readonly Runner[] = [
  { name: 'gradle', literals: [' FAILED'], shapes: [
    { head: new RegExp(
        String.raw`^(?:Gradle (?:Test Run|Test Executor|suite)\b[^>\n]{0,100} > ){0,3}(?!(?:Task|FAIL|` +
        String.raw`Gradle)\b)(?<suite>[\w$.].{0,400}) > (?<name>\S.{0,400}) FAILED$`,
      ), finish: splitGradleName },
    // Kotlin's native and browser targets write class and method as one name.
    { head: new RegExp(
        String.raw`^(?<suite>(?:[a-z_]\w{0,80}\.){1,20}[A-Z][\w$]{0,200})` +
        String.raw`\.(?<name>[\w$]{1,200}(?:\[[\w, ]{1,60}\])?) FAILED$`,
      ) },
  ] },
  { name: 'junit', literals: ['\tFAILED', 'Caused an ERROR', 'JUnit Jupiter:', 'JUnit Vintage:'],
    strip: /^\s{0,12}(?:\[junit\] ?)?/, shapes: [
    { head: /^\s{0,4}(?:FAILED|Caused an ERROR)$/,
      above: /^Testcase: (?<name>.{1,300}?)(?:\((?<suite>[\w$.]{1,200})\))?(?: took [\d.]{1,12} sec)?:?$/,
      titled: true, body: 'open', until: /^(?:Testcase: .{0,300})?$/, limit: 40,
      suite: /^Test(?:suite: | )?(?<suite>[\w$.]{3,300})(?: FAILED)?$/,
      finish: (named, body) => ({ ...named, suite: named.suite ?? findClass(named.name ?? '', body) }) },
    // Ant's brief format reports a test on one line.
    { head: /^Testcase: (?<name>.{1,300}?)\((?<suite>[\w$.]{1,300})\):\s{1,4}(?:FAILED|Caused an ERROR)$/,
      body: 'open', until: /^$|^Test(?:case|suite)?:? \S/, limit: 40 },
    { head: /^JUnit (?:Jupiter|Vintage):/,
      next: /className = '(?<suite>[\w$.]{1,300})', methodName = '(?<name>[^']{1,200})'/, body: 'open',
      until: /^$|^JUnit (?:Jupiter|Vintage):|^Test run /, limit: 40 },
  ] },
  { name: 'testng', literals: ['FAILED: '], fillsIn: 'alike', shapes: [
    { head: /^FAILED: (?:(?<suite>[\w$.]{1,400})\.)?(?<name>[\w$]{1,400}(?:\(.{0,300}\))?)$/, body: 'open',
      until: /^$|^(?:FAILED|PASSED|SKIPPED): /, needs: /^[a-z][\w.$]{2,300}(?:Error|Exception|Failure)\b/,
      finish: (named, body) => ({ ...named, suite: named.suite ?? findClass(named.name ?? '', body) }) },
  ] },
  { name: 'scala-tests', literals: ['*** FAILED ***', '[error]   ', '==> X ', '[error] Test '], shapes: [
    { framework: 'munit',
      head: new RegExp(
        String.raw`^(?:\[(?:info|error|warn)\] ?)?==> X (?<suite>[\w.$]{1,200})\.(?<name>\S.{0,300}?)` +
        String.raw`\s{1,4}\d{1,6}\.\d{1,4}s ?(?<message>.{0,500})`,
      ), limit: 20, finish: readScalaPlace },
    { framework: 'junit',
      head: new RegExp(
        String.raw`^\[error\] Test (?<suite>[\w.$]{1,300})\.(?<name>[^\s.]{1,300}) failed: ` +
        String.raw`(?<message>.{0,500}?)(?:, took [\d.]{1,12} sec)?$`,
      ), body: 'open', until: /^(?!\[error\]\s{2,8}at )/, limit: 20 },
    { framework: 'scalatest',
      head: /^(?:\[(?:info|error|warn)\] ?)?\s{0,20}- (?<name>\S.{0,300}?) \*\*\* FAILED \*\*\*/,
      suite: /^(?:\[info\] )?(?<suite>[A-Z]\w{1,100}):$/, body: 'open',
      until: /^(?:\[(?:info|error|warn)\] ?)?\s{0,20}[-+\w]\S{0,40} (?!did not|was not)|^\S{1,40}:$/,
      limit: 12 },
    { framework: 'specs2', head: /^\[error\]\s{1,20}[x!✘] (?<name>\S.{0,300})$/,
      next: new RegExp(
        String.raw`^\[\w{1,8}\]\s{1,20}(?<message>\S.{0,500}?) ?\((?<file>[\w$-]{1,120}\.(?:scala|` +
        String.raw`java)):(?<line>\d{1,7})\)`,
      ), body: 'none' },
  ] },
  { name: 'bazel', literals: ['  FAILED in ', '  TIMEOUT in '], shapes: [
    { head: new RegExp(
        String.raw`^(?<name>(?:@{0,2}[\w.~+-]{0,100})?//[^\s:]{0,300}:\S{1,200})\s{2,200}(?:\(cached\) )?` +
        '(?:FAILED|(?<message>TIMEOUT))(?: in .{1,60})?$',
      ), body: 'none' },
  ] },
  { name: 'ginkgo', literals: ['[FAIL] ', '[PANICKED!] ', '[Panic!] ', '[TIMEDOUT] ', '[FAILED] ['], shapes: [
    { head: /^\s{0,4}\[(?:FAIL|Fail|PANICKED!|Panic!|TIMEDOUT)\] (?<name>\S.{0,400})$/,
      next: /^(?:\s{0,4}(?<file>[^\s:]{1,300}\.go):(?<line>\d{1,7})$)?/, body: 'none', finish: readGinkgo },
    { head: /^\W{0,4}\[FAILED\] \[\d.{0,40}$/, next: /^\s{0,40}(?<name>\S.{0,400})$/, body: 'open',
      until: /^\s{0,8}-{10,}$|^\s{0,4}Summarizing /, finish: readGinkgo },
  ] },
  { name: 'gtest', literals: ['[  FAILED  ]', '[ RUN      ]'], opens: /^\[ RUN {6}\] (?<key>\S{1,400})$/,
    shapes: [
    { head: new RegExp(
        String.raw`^\[ {2}FAILED {2}\] (?<suite>[\w/]{1,200})\.(?<name>[\w/]{1,200})` +
        String.raw`(?:, where .{1,300}?)?(?: \(\d{1,9} ms\))?$`,
      ), opened: ({ suite, name }) => `${suite}.${name}`, body: 'none' },
  ] },
  { name: 'ctest', literals: ['***Failed', '***Timeout', '***Exception', '***Not Run', '(Failed)',
    '(Timeout)', '(SEGFAULT)', '(Child aborted)', '(Not Run)'], fillsIn: 'alike', shapes: [
    { head: new RegExp(
        String.raw`^\s{0,4}\d{1,5}/\d{1,5} Test {1,4}#\d{1,5}: (?<name>\S{1,200}) \.{2,80}\s?\*{3}` +
        String.raw`(?:Failed|(?<message>Timeout|Exception(?:: \w{1,30})?|Not Run))`,
      ), body: 'open',
      until: /^\s{0,12}(?:Start {1,8}\d|\d{1,5}\/\d{1,5} Test)|^\d{1,3}% tests passed|^The following tests/,
      limit: 60 },
    { head: new RegExp(
        String.raw`^\t\s{0,8}\d{1,6} - (?<name>\S{1,200}) \((?:Failed|(?<message>Timeout|SEGFAULT|` +
        String.raw`Child aborted|Not Run|ILLEGAL|NUMERICAL|OTHER_FAULT|BAD_COMMAND|Subprocess \w{1,30}))\)`,
      ), body: 'none' },
  ] },
  { name: 'catch2', literals: [': FAILED:'], shapes: [
    { head: /^(?<file>[^\s:(]{1,300})[:(](?<line>\d{1,7})\)?: FAILED:$/, between: /^-{60,100}$/,
      body: 'open', until: RULE },
  ] },
  { name: 'doctest', literals: ['TEST CASE:  '], shapes: [
    { head: /^TEST CASE:\s{1,4}(?<name>\S.{0,300})$/, body: 'open', until: EQUALS, limit: 100,
      needs: /^[^\s:(]{1,300}[:(]\d{1,7}\)?: (?:FATAL )?ERROR: /,
      never: /^(?:Allowed to fail|Failed as expected|Should have failed)/ },
  ] },
  { name: 'python-doctest', literals: ['Failed example:'], shapes: [
    { head: /^Failed example:$/, titled: true, body: 'open', until: /^\*{30,100}$/,
      above: /^File "(?<file>[^"\n]{1,300})", line (?<line>\d{1,7}), in (?<name>[\w.<>]{1,200})$/ },
  ] },
  { name: 'boost-test', literals: ['error: in "', 'error in "'], shapes: [
    { head: new RegExp(
        String.raw`^(?:(?<file>[^\s:(]{1,300})|unknown location)[:(](?<line>\d{1,7})\)?: (?:fatal )?` +
        String.raw`error:? in "(?:(?<suite>[^"\n]{1,300})/)?(?<name>[^"\n/]{1,300})` +
        '": (?<message>.{1,1000})$',
      ), body: 'none' },
  ] },
  {
    name: 'dotnet',
    literals: ['  Failed ', '  X ', '[FAIL]', ') Failed : ', ') Error : ', 'Failed '],
    shapes: [
      /^\s{0,4}(?:X |Failed |failed )(?<name>[\w.<>+`]{2,300}(?:\([^\n]{0,300}\))?) (?:\[(?:FAIL|< ?1 ?m?s|\d[\d ,.msh]{0,20})\]|\(\d[\d ,.msh]{0,20}\))$/,
      /^\s{0,4}(?:\[xUnit\.net [\d:.]{1,20}\])?\s{1,8}(?<name>[\w.<>+`]{2,300}(?:\([^\n]{0,300}\))?) \[FAIL\]$/,
      /^\d{1,5}\) (?:Failed|Error) : (?<name>\S[^\n]{0,300})$/,
    ].map(
      (head): Shape => ({
        head,
        body: 'open',
        limit: 50,
        until:
          new RegExp(
            String.raw`^\s{0,4}(?:Passed|Failed|X|Skipped|passed|failed|skipped) \S|^(?:Total tests|` +
            String.raw`Test Run|Failed!|Passed!)|^\d{1,5}\) |^Results File`,
          ),
      }),
    ),
  },
  { name: 'xctest', literals: ['error: -[', ' : XCT', "' failed (", ' recorded an issue ', ' failed after '],
    shapes: [
    { head: new RegExp(
        String.raw`^(?<file>[^\s:][^:\n]{0,300}\.(?:swift|mm?)):(?<line>\d{1,7}): error: (?:-\[)?` +
        String.raw`(?<suite>[\w.]{1,200}?)[ .](?<name>\w{1,200})\]? : (?<message>.{1,1000})$`,
      ), body: 'none' },
    { head: /^Test Case '(?:-\[)?(?<suite>[\w.]{1,200}?)[ .](?<name>\w{1,200})\]?' failed \(/, body: 'none' },
    {
      framework: 'swift-testing',
      head: new RegExp(
        `^\\W{0,8}${SWIFT_TEST} recorded an issue(?: with \\d{1,4} arguments? .{1,300}?)? at (?<file>[^\\s:]{1,300}):(?<line>\\d{1,7}):\\d{1,6}: (?<message>.{1,1000})$`,
      ),
      body: 'none',
      finish: readBareName,
    },
    { framework: 'swift-testing',
      head: new RegExp(`^\\W{0,8}${SWIFT_TEST} (?:with \\d{1,6} test cases )?failed after \\d`),
      body: 'none', finish: readBareName },
  ] },
  { name: 'exunit', literals: [') test ', ') doctest ', ') property '], shapes: [
    { head: /^\s{2,4}\d{1,5}\) (?<name>(?:test|doctest|property) .{1,300}) \((?<suite>[\w.]{1,200})\)$/,
      next: /^(?:\s{2,12}(?<file>[^\s:]{1,300}\.exs?):(?<line>\d{1,7})$)?/, body: 'open', until: /^\S/ },
  ] },
  { name: 'eunit', literals: [": module '"],
    shapes: [{ head: new RegExp(
      String.raw`^\s{1,6}\d{1,5}\) (?<suite>\w{1,100}):(?<name>\w{1,200})` +
      String.raw`(?:/\d{1,2}(?:_\d{1,5})?)?: module '`,
    ) }] },
  { name: 'erlang-tests', literals: ['*failed*', '_SUITE ==> ', ' failed on line '], shapes: [
    { framework: 'eunit',
      head: /^\s{0,12}(?<suite>\w{1,100}): (?<name>\w{1,200}_test_?)\b.{0,200}\.{3}\s?\*failed\*/,
      body: 'open', until: /^(?!in |\*\*|\s{2,}\S)/, limit: 20 },
    { framework: 'common-test',
      head: /^\W{0,8}(?<suite>\w{1,100}_SUITE) ==> (?:\w{1,100}\.)?(?<name>\w{1,200}): FAILED$/,
      next: /^(?:\W{0,8}\w{1,100}_SUITE ==> (?<message>\S.{0,500}))?/, body: 'none' },
    { framework: 'common-test',
      head: /^(?<suite>\w{1,100}_SUITE):(?<name>\w{1,200}) failed on line (?<line>\d{1,7})$/, body: 'open',
      until: /^\s{0,8}$|^-(?: -){5}/, limit: 20 },
  ] },
  { name: 'haskell-tests', literals: ['To rerun use: --match', 'to rerun this test only'], shapes: [
    { framework: 'hspec', head: /^\s{0,8}To rerun use: --match/,
      above: /^\s{2,4}\d{1,5}\) (?<name>\S.{0,400})$/, within: 60, titled: true, body: 'none' },
    { framework: 'tasty', head: /to rerun this test only/,
      above: /^\s{0,60}(?<name>\S.{0,300}?):\s{1,200}FAIL(?: \(\d.{0,20}s\))?$/, within: 60, titled: true,
      body: 'none' },
  ] },
  { name: 'dart', literals: [' (failed)', ' (failed, timed out)'], shapes: [
    // The reporter for GitHub Actions.
    { head: new RegExp(
        String.raw`^(?:##\[group\]|::group::)❌ (?<file>\S{1,300}\.dart)` +
        String.raw`: (?<name>\S.{0,400}?) \(failed(?:, timed out)?\)$`,
      ), body: 'open', until: /^(?:##\[endgroup\]|::endgroup::)/, limit: 150, finish: readFlutterMessage },
  ] },
  { name: 'cargo', literals: [' stdout ----', ' ... FAILED', ' FAIL [', ' TIMEOUT [', ' SIGSEGV [',
    ' SIGABRT [', ' TMT [', ' ABORT [', ' has been running for over '], shapes: [
    { head: /^---- (?!end stdout)(?<name>\S.{0,300}) stdout ----$/, body: 'open',
      until: /^failures:$|^test result:/, finish: readRustPanic },
    { head: /^test (?<name>\S.{0,300}?)(?: - should panic)? \.{3} FAILED$/, body: 'none' },
    // The output of a test is below its result where it ran. If the result is listed again, nothing is below
    // it.
    { head: NEXTEST_FAIL, body: 'open', until: NEXTEST_END, needs: /panicked at /, limit: 100,
      finish: readRustPanic },
    { head: NEXTEST_FAIL, body: 'none' },
    { head: /^test (?<name>\S.{0,300}?) (?<message>has been running for over \d{1,6} seconds)$/,
      body: 'open', until: /^test result: /, needs: STOPPED, finish: readHungTest },
    // nextest reports every failed try. Only the results below its totals are final.
    { above: /^\s{2,8}Summary \[/, within: 300,
      head: new RegExp(`^\\s{1,12}TRY \\d{1,3} (?:FAIL|TMT|SIG[A-Z]{3,5}|ABORT) ${NEXTEST}`), body: 'none' },
  ] },
  { name: 'go', literals: ['--- FAIL: ', '=== RUN   ', '=== CONT  ', '=== NAME  ', '=== FAIL: ',
    '"Action":"fail"', 'running tests:'], opens: /^=== (?:RUN {3}|CONT {2}|NAME {2})(?<key>\S{1,400})/,
    nested: true, shapes: [
    { head: /^\s{0,40}--- FAIL: (?<name>\S{1,400})(?: \([\d.]{1,12}s\))?/, opened: ({ name = '' }) => name,
      until: /^\s{0,40}(?:---|===) |^(?:FAIL|PASS|ok|exit status)\b/, limit: 80, finish: chooseGoMessage },
    // gotestsum's list of failed tests, with every try of tests that were rerun.
    { head: /^=== \W{0,4}FAIL: \S{1,400} (?<name>\S{1,400})(?: \(re-run \d{1,4}\))? \([\d.]{1,12}s\)$/,
      body: 'open', until: /^$|^(?:===|DONE) /, limit: 80, finish: chooseGoMessage },
    { above: /^panic: (?<message>test timed out after \S{1,40})$/, titled: true, head: /^running tests:$/,
      next: /^\s{1,8}(?<name>\S{1,400}) \(\d[\dhms.]{1,20}\)$/, body: 'none' },
    { head: /^\{.{0,200}"Action":"fail","Package":"(?<suite>[^"]{1,400})","Test":"(?<name>[^"]{1,400})"/,
      body: 'none' },
  ] },
];

/**
 * Chooses the message of a Go test, because Go prints log lines and failures alike: a line that compares
 * values, or else the last line.
 */
function chooseGoMessage(named: Named, body: readonly string[]): Named {
  const printed = body.flatMap(
    (text) => /^\s{4,40}(?!logger\.go)[\w./-]{1,200}\.go:\d{1,7}: (\S.{0,1000})$/.exec(text)?.[1] ?? [],
  );
  const isPanic = body.some((text) => /^\s{0,8}panic: /.test(text));
  const message = printed.find((text) => /\b(?:want|wanted|expected|got)\b/i.test(text)) ?? printed.at(-1);
  return message === undefined || isPanic || printed.length < 2 ? named : { ...named, message };
}

/** Reads a test that was still running when the run was aborted. */
function readHungTest(named: Named, body: readonly string[]): Named | null {
  return body.some((text) => text.startsWith(`test ${named.name} ... `)) ? null : named;
}

function createMinitestTitle(): RegExp {
  return /^(?:(?<suite>\w[^#\n]{0,200})#(?<name>test_.{1,300}?)|(?<old>test\w{0,200})\((?<class>[\w:]{1,200})\))(?: \[(?<file>[^\s:]{1,300}):(?<line>\d{1,7})\])?:$/;
}

function readUnittestName(named: Named): Named {
  const groups =
    /^(?<name>\S[^()]{0,200}?(?:\(.{0,200}?\))?) \((?<path>[\w.<>-]{1,300})\)(?: .{0,300})?$/.exec(
      named.name ?? '',
    )?.groups;
  const path = groups?.path?.split('.') ?? [];
  const name = groups?.name ?? named.name;
  return { name, suite: (path.at(-1) === name ? path.slice(0, -1) : path).join('.') };
}

function readTrialName(_: Named, body: readonly string[]): Named | null {
  const path = body.findLast((text) => /^[A-Za-z_][\w.]{2,300}$/.test(text.trimEnd()))?.trimEnd();
  if (path === undefined) return null;
  const dot = path.lastIndexOf('.');
  return { name: path.slice(dot + 1), suite: path.slice(0, Math.max(0, dot)) };
}

/**
 * Normalizes the name of a test, which pytest writes as a path in the summary and as a dotted name above the
 * failure. The suffix of a subtest is removed.
 */
function normalizePytestName(named: Named): Named {
  const { file, rest } = named;
  const title = (rest ?? named.name ?? file ?? '').replace(/ <- .{1,300}$/, '').replace(PYTEST_SUBTEST, '');
  if (named.collecting !== undefined || (rest === undefined && file !== undefined))
    return { ...named, name: title, file: title };
  const mark = rest === undefined ? '.' : '::';
  // The brackets of a parametrized test may contain dots and colons.
  const head = title.split('[')[0] ?? title;
  const at = head.lastIndexOf(mark);
  const suite = at === -1 ? undefined : title.slice(0, at).replaceAll('::', '.');
  return { ...named, suite, name: title.slice(at === -1 ? 0 : at + mark.length) };
}

function readScenarioMessage(named: Named, body: readonly string[]): Named {
  const SAID =
    /^\s{2,20}(?:(?:Assertion Failed|ASSERT FAILED|ERROR): )?(?<said>(?:(?<=FAILED: |Failed: )|[\w:.]{1,80}(?:Error|Exception)\b).{1,500})/;
  return { ...named, message: matchGroups(body, SAID)?.said ?? '' };
}

/**
 * Reads `# Failed test 'adds up'`, its place on the same line or the next, and the actual and expected values
 * below.
 */
function proveCheck(named: Named, body: readonly string[]): Named | null {
  const printed = body.map((text) => text.replace(/^\s{0,12}#\s{0,20}/, ''));
  const place =
    named.file === undefined
      ? matchGroups(printed, /^(?:in|at) (?<file>\S{1,300}) (?:at )?line (?<line>\d{1,7})\.$/)
      : named;
  if (place?.file === undefined) return null;
  const { actual } = matchGroups(printed, /^got: (?<actual>.{1,300})$/) ?? {};
  const { expected } = matchGroups(printed, /^expected: (?<expected>.{1,300})$/) ?? {};
  const message =
    actual === undefined
      ? (printed.find((text) => !/^(?:in|at) \S{1,300} /.test(text)) ?? '')
      : `got: ${actual} expected: ${expected}`;
  return {
    name: named.name ?? named.bare,
    suite: place.file,
    file: place.file,
    line: place.line,
    message,
    expected,
    actual,
  };
}

function readBareName(named: Named): Named {
  return { ...named, name: named.name ?? named.bare };
}

function readGinkgo(named: Named, body: readonly string[]): Named | null {
  if (!GINKGO_NODE.test(named.name ?? '')) return null;
  const name = named.name?.replace(GINKGO_NODE, ' ').replace(/\s\[[\w:, -]{1,200}\]$/, '');
  const trimmed = body.map((text) => text.trim());
  const start = trimmed.findIndex((text) => text.startsWith('[FAILED] '));
  const message =
    start === -1
      ? ''
      : trimmed
          .slice(start, start + 4)
          .join(' ')
          .replace('[FAILED] ', '');
  return {
    ...named,
    ...matchGroups(body, /In \[\w{1,20}\] at: (?<file>[^\s:]{1,300}):(?<line>\d{1,7})/),
    name,
    message,
  };
}

function findClass(name: string, body: readonly string[]): string | undefined {
  const method = name.replace(/\(.*$/, '').replaceAll('$', '\\$');
  return matchGroups(body, new RegExp(`at (?<suite>[\\w.$]{1,300})\\.${method}\\(`))?.suite;
}

function readScalaPlace(named: Named): Named {
  const place = /(?<file>[^\s:]{1,300}\.scala):(?<line>\d{1,7})/.exec(named.message ?? '')?.groups;
  return { ...named, ...place };
}

/** Splits the class from a title that begins with it. */
function splitGradleName(named: Named): Named {
  const full =
    /^(?<suite>(?:[a-z_]\w{0,80}\.){1,20}[A-Z][\w$]{0,200}|[\w$]{1,100}(?:\.[\w$]{1,100}){1,20}(?=\.[\w$]{1,200}(?:\[.{1,200})?$))\.(?<name>\S.{0,400})$/.exec(
      named.name ?? '',
    )?.groups;
  return { ...named, ...full };
}

/**
 * Reads the exception out of the frame that Flutter draws around it. Other tests begin with such a frame as
 * well.
 */
function readFlutterMessage(named: Named, body: readonly string[]): Named {
  const at = body.findIndex((text) => /^The following .{1,200} was thrown .{1,200}:$/.test(text.trim()));
  return at === -1 ? named : { ...named, message: body[at + 1] ?? '' };
}

function readRustPanic(named: Named, body: readonly string[]): Named {
  const at = body.findIndex((text) => text.includes('panicked at'));
  const { file, line, old } = RUST_PANIC.exec(body[at] ?? '')?.groups ?? {};
  return { ...named, file, line, message: at === -1 ? undefined : (old ?? body[at + 1]) };
}
