/** What a failing test's title says. */
export interface Title {
  readonly name: string;
  readonly suite: string | null;
  readonly file: string | null;
  readonly line: number | null;
}

/** Titles of what is no test: counts, steps and endings of a build, sentences about the run. */
const NO_TEST =
  /^\W{0,8}(?:\d[\d,]{0,8}|all|some|no|one|any) (?:of \d{1,6} )?(?:[\w-]{1,20} )?(?:tests?|specs?|examples?|scenarios?|suites?|files?|assertions?|problems?|errors?|warnings?|failures?|failed|passed|checks?|cases?|packages?|targets?|jobs?|tasks?|steps?|runs?|pending|skipped|TESTS?|SPECS?)\b|\b\d{1,7} (?:passed|failed|skipped)\b|^(?:BUILD|Build|Builds|> Task|Task|Job|Jobs|Step|Stage|Process|Command|Execution|make|npm|yarn|pnpm|Errors?|error|ERROR|Warnings?|warning|WARN|Tests? (?:run|suites?|files?|execution|Files|Suites|results?|status|summary|coverage)|Tests?|TESTS?|Summary|Results?|Status|Totals?|Coverage|exit|Exit|Fatal|fatal|Unable|Cannot|Could|Can't|Failed|FAILED|Failures?|Compilation|Compil\w{1,8}|Exited|Finished|Running|The following|Some|There (?:was|were)|Please|Caused by|Exception|Traceback|Uncaught|Unhandled|Console|Deprecation|Executed|Snapshot|Ran|Run|Request|Login|Download\w{0,5}|Upload\w{0,5}|Install\w{0,6}|Deploy\w{0,6}|Connect\w{0,5}|Fetch\w{0,5}|Health ?check|Lint\w{0,4}|Type ?check\w{0,4}|Format\w{0,5}|Audit)\b(?:[:!. ]|$)|^[:>$+#=|-]|^[\w.-]{1,60}: (?:error|warning|fatal|note)\b|:\/\/|\bexit(?:ed)? (?:code|status|with)\b|\b(?:error|Error|Exception): |^Cannot log after|^process\.exit|^E\d{3,5}\b|\.{3}$|^\S{1,60}:$/;
const TIME =
  /\s{1,20}(?:\(\d[\d.,]{0,12} ?(?:ms|s|m|sec|µs)\)|\[\s{0,8}[<>]?\s?\d[\d.,]{0,12} ?(?:ms|s|m|sec|µs)?\]|\d[\d.,]{0,12} ?(?:ms|s)(?: \(.{1,40}\))?|\(gas: \d{1,12}\)|took \d[\d.]{0,12} sec|- \d[\d.]{0,12}s)$/;
const BDD_NODE = /\s?\[(?:It|BeforeEach|AfterEach|JustBeforeEach|(?:Before|After)(?:Suite|All)|DeferCleanup[^\]\n]{0,40})\]\s?/;
const PARTS: readonly RegExp[] = [
  /^(?<file>[^\s:]{1,300}):(?<line>\d{1,7}):\d{1,6} › (?<name>.{1,400})$/,
  /^(?<file>[^\s:]{1,300}\.\w{1,6})(?::(?<line>\d{1,7}))? (?:>|›) (?:(?<suite>\S.{0,400}) (?:>|›) )?(?<name>.{1,400})$/,
  /^(?<file>[^\s:]{1,300}\.\w{1,6})::(?:(?<suite>[\w:]{1,300})::)?(?<name>\w{1,300}(?:\[.{0,300})?.{0,100})$/,
  /^(?<name>[^\s(].{0,300}?) => (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):\d{1,6}$/,
  /^(?:Gradle \S.{0,100} > ){0,3}(?<suite>\S.{0,400}) (?:>|›) (?<name>.{1,400})$/,
  /^(?:(?<suite>\S.{0,200}?)\s{1,4})?"(?<name>[^"\n]{1,300})"$/,
  /^(?<name>\S[^()]{0,300}?) ?\((?<suite>[A-Za-z_][\w$-]{0,200}(?:\.[\w$<>-]{1,200}){1,20}|[A-Z]\w{0,200})\)$/,
  /^-?\[?(?<suite>[A-Z][\w.]{1,200}) (?<name>test\w{1,200})\]?$/,
  /^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\\{1,2}[\w$]{1,200}){0,10})(?:::|#)(?<name>(?:test|it)?\w{1,200}(?:\(.{0,200}\))?(?: with data set .{1,200})?)(?: \[(?<file>[^\s:]{1,300}):(?<line>\d{1,7})\])?$/,
  /^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\.[\w$]{1,200}){1,20})\.(?<name>[\w$]{1,300}(?:\[.{0,200}\]|\(.{0,200}\)){0,2})$/,
  /^(?<suite>[A-Za-z]\w{0,200}): (?<name>\w{1,200}_test_?)\b.{0,200}$/,
];

/** Whether a marked text may be the title of a test. */
export function isTestTitle(title: string): boolean {
  return /[\p{L}]{2}/u.test(title) && !NO_TEST.test(title);
}

/** Takes a title apart: its file and place, its suite, its name; times, projects and marks of nodes are left out. */
export function readTitle(title: string): Title {
  const text = plain(title);
  for (const pattern of PARTS) {
    const groups = pattern.exec(text)?.groups;
    if (groups?.name === undefined) continue;
    const { file = null, line } = groups;
    const name = groups.name.trim();
    // Python names the test again behind its class.
    const suite = groups.suite?.endsWith(`.${name}`) === true ? groups.suite.slice(0, -name.length - 1) : groups.suite;
    return { name, suite: suite?.trim() || null, file, line: line === undefined ? null : Number(line) };
  }
  return { name: text.replace(/^"(?<inner>[^"]{1,300})"$/, '$<inner>'), suite: null, file: null, line: null };
}

function plain(title: string): string {
  const text = title
    .trim()
    .replace(/[ ─]{2,200}$/, '')
    .replace(TIME, '')
    .replace(/^(?:\[xUnit\.net [\d:.]{1,20}\]\s{1,8}|[A-Z]\w{1,30}(?: [A-Z]\w{1,30}){0,3} ?\d[\d.]{0,20} \([^()\n]{1,60}\) )/, '')
    .replace(/^\[[^\]\n]{1,60}\] (?:› )?(?=\S)/, '');
  if (!BDD_NODE.test(text)) return text.replace(/:$/, '').trim();
  return text
    .replace(BDD_NODE, ' ')
    .replace(/\s\[[\w:, -]{1,200}\]$/, '')
    .trim();
}
