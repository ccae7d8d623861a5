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
/** How long a test took, behind its title. */
export const TIME =
  /\s{1,20}(?:\(\d[\d.,]{0,12} ?(?:ms|s|m|sec|µs)\)|\[\s{0,8}[<>]?\s?\d[\d.,]{0,12} ?(?:ms|s|m|sec|µs)?\]|\d[\d.,]{0,12} ?(?:ms|s|sec)(?: \([\d.|ms ]{1,40}\))?|in \d[\d.,]{0,12} ?s|\(gas: \d{1,12}\)|took \d[\d.]{0,12} sec|- \d[\d.]{0,12}s)$/;
const BDD_NODE = /\s?\[(?:It|BeforeEach|AfterEach|JustBeforeEach|(?:Before|After)(?:Suite|All)|DeferCleanup[^\]\n]{0,40})\]\s?/;
/** A title's own notation, where it is one of these. */
const PARTS: readonly RegExp[] = [
  /^(?<suite>[\w\\]{2,300})::(?<name>\w{1,200} with data set (?:#\d{1,6}|"[^"\n]{0,200}"))/,
  /^(?<name>[^\s(].{0,300}?) => (?<file>[^\s:]{1,300}):(?<line>\d{1,7}):\d{1,6}$/,
  /^(?:(?<suite>[^\s"][^"\n]{0,200}) )?"(?<name>[^"\n]{1,300})"$/,
  /^(?<name>[^\s()][^()]{0,300}?) ?\((?<suite>[A-Za-z_][\w$-]{0,200}(?:\.[\w$<>[\]-]{1,200}){1,20}|[A-Z]\w{0,200})\)$/,
  /^-?\[?(?<suite>[A-Z][\w.]{1,200}) (?<name>test\w{1,200})\]?$/,
  /^(?<suite>[A-Za-z_$][\w$]{0,200})#(?<name>\w{1,200}) \[(?<file>[^\s:]{1,300}):(?<line>\d{1,7})\]$/,
  /^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\\{1,2}[\w$]{1,200}){0,10})(?:::|#)(?<name>\w{1,200}(?:[ (].{0,300})?)$/,
  /^(?<suite>[A-Za-z_$][\w$]{0,200}(?:\.[\w$]{1,200}){1,20})\.(?<name>[\w$]{1,300}(?:[[(].{0,300})?)$/,
  /^(?<suite>[A-Za-z]\w{0,200}): (?<name>\w{1,200}_test_?)\b.{0,200}$/,
];
/** A test's file, and a place in it, before the rest of a title. */
const FILE_FIRST = /^(?<file>[^\s:]{1,300}\.\w{1,6})(?::(?<line>\d{1,7})(?<column>:\d{1,6})?)?(?<mark> > | › |::)/;
/** What stands before a title: workers, counters, browsers, and the runs around a test. */
const BEFORE =
  /^(?:\{\d{1,4}\} |\d{1,6}\/\d{1,6} (?:Test\s{1,4}#\d{1,6}: )?|- |\[xUnit\.net [\d:.]{1,20}\]\s{1,8}|[A-Z][A-Za-z]{1,30}(?: [A-Z][A-Za-z]{1,30}){0,3} ?\d[\d.]{0,20} \([^()\n]{1,60}\) |(?:Gradle (?:Test Run|Test Executor|suite)\b[^>\n]{0,100} > ){1,3})/;

/** Whether a marked text may be the title of a test. */
export function isTestTitle(title: string): boolean {
  return /[\p{L}]{2}/u.test(title) && !NO_TEST.test(title);
}

/** Takes a title apart: its file and place, its suite, its name; times, projects and marks of nodes are left out. */
export function readTitle(title: string): Title {
  const text = plain(title);
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
    // Python names the test again behind its class.
    const suite = groups.suite?.endsWith(`.${name}`) === true ? groups.suite.slice(0, -name.length - 1) : groups.suite;
    return { name, suite: suite?.trim() || null, file, line: line === undefined ? null : Number(line) };
  }
  return { name: text.replace(/^"(?<inner>[^"]{1,300})"$/, '$<inner>'), suite: null, file: null, line: null };
}

/** The name behind the last of these marks, and the suite before it; what stands in brackets stays together. */
function splitAt(text: string, marks: readonly string[]): Pick<Title, 'suite' | 'name'> {
  const bracket = text.search(/[[("]/);
  const head = bracket <= 0 ? text : text.slice(0, bracket);
  for (const mark of marks) {
    const inHead = head.lastIndexOf(mark);
    const at = inHead === -1 && mark !== '::' ? text.lastIndexOf(mark) : mark === '::' ? inHead : text.lastIndexOf(mark);
    if (at > 0) return { suite: text.slice(0, at).trim(), name: text.slice(at + mark.length).trim() };
  }
  return { suite: null, name: text.trim() };
}

function plain(title: string): string {
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
